"""The outbox: each mail is sent once, retried with backoff, and never sent after its code expired."""

import asyncio
import contextlib
import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

import people
from gamekeeper.http.accounts import mails as sending
from gamekeeper.http.accounts.mails import Sender
from gamekeeper.store.accounts import mails
from gamekeeper.store.engine.interface import DatabaseUnavailable
from loops import over
from outbox import age, ask, list_mails, make_due, only, send, sending_to
from smtp_sink import Rude, Sink
from tidying import tidy
from world import NEW, USERS, MakeWorld, World

pytestmark = pytest.mark.both_engines


def take(world: World, lease_ms: int = 60_000) -> mails.LeasedMail | None:
    return world.run(world.keeper.store.write(partial(mails.lease, lease_ms=lease_ms)))


# --- leasing a mail for delivery -----------------------------------------------------------------------------------


def test_mail_of_dead_sender_is_sent_after_lease(world: World) -> None:
    ask(world)
    first = take(world, lease_ms=0)
    world.wait_for_next_millisecond()
    second = take(world)
    assert first
    assert second
    assert (first.id, second.id, second.tries) == (second.id, first.id, 2)

    async def late(tx: Any) -> None:
        tx.defer(mails.SQL.note_failure, first.id, first.taken_until, 99_000, "I am late")
        tx.defer(mails.SQL.note_refusal, first.id, first.taken_until, "I am late")

    world.run(world.keeper.store.write(late))
    assert (only(world).state, only(world).last_error) == ("sending", None)


def test_instances_send_each_mail_once(make_world: MakeWorld) -> None:
    with Sink().running() as sink:
        each = [sending_to(make_world, sink.port) for _ in range(2)]
        names = [name for name in people.ACCOUNTS if name != "Root"]
        for name in names:
            ask(each[0], name)
        each[0].at_once(Sender(world.keeper.settings).send_due(world.keeper.store) for world in each * 4)
        assert Counter(mail.recipients[0] for mail in sink.received) == Counter(
            f"{name.lower()}@example.test" for name in names
        )
    assert {(mail.state, mail.tries) for mail in list_mails(each[0])} == {("sent", 1)}


# --- retrying a mail -----------------------------------------------------------------------------------------------


def test_failed_mail_is_retried_with_backoff_as_the_same_message(make_world: MakeWorld) -> None:
    with Rude({"dot": "cut"}).running() as rude:
        world = sending_to(make_world, rude.port)
        ask(world)
        for tries, wait in enumerate((1_000, 5_000, 30_000, 120_000, 300_000, 300_000, 300_000), 1):
            before = world.now()
            send(world)
            assert (only(world).state, only(world).tries) == ("queued", tries)
            assert before + wait <= world.sql("SELECT next_try_at FROM mails")[0][0] <= world.now() + wait
            # delay the next attempt by a minute more, so that it is not due yet even on a slow test machine
            world.sql("UPDATE mails SET next_try_at = next_try_at + 60000")
            send(world)
            assert only(world).tries == tries  # the number of attempts is unchanged, because the mail is not due yet
            make_due(world)
    sent = [{line for line in raw.splitlines() if line.startswith((b"Message-ID", b"Date"))} for raw in rude.received]
    assert f"Message-ID: <{only(world).id}@example.test>".encode() in sent[0]
    assert sent == [sent[0]] * 7


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
def test_hanging_delivery_does_not_block_others(make_world: MakeWorld) -> None:
    """Requests are answered and other mails are sent while one delivery hangs."""
    with Rude({"RCPT": "hang"}).running() as rude:
        world = sending_to(make_world, rude.port, smtp_timeout=120)
        ask(world)
        sender, store = Sender(world.keeper.settings), world.keeper.store

        async def meanwhile() -> None:
            hanging = asyncio.ensure_future(sender.send_due(store))
            await asyncio.to_thread(rude.hangs.wait, 60)
            rude.manners.clear()
            assert (await world.send("GET", f"{USERS}/Bob/password/reset")).status == 200
            await sender.send_due(store)
            assert len(rude.received) == 1
            assert not hanging.done()
            rude.hang_up()
            await hanging

        world.run(meanwhile())
    assert sorted(mail.state for mail in list_mails(world)) == ["queued", "sent"]


def test_shutdown_requeues_hanging_mail(make_world: MakeWorld) -> None:
    with Rude({"EHLO": "hang"}).running() as rude:
        world = sending_to(make_world, rude.port, smtp_timeout=60)
        ask(world)

        async def stopped() -> None:
            sending = asyncio.ensure_future(Sender(world.keeper.settings).send_due(world.keeper.store))
            await asyncio.to_thread(rude.hangs.wait, 60)
            sending.cancel()
            with pytest.raises(asyncio.CancelledError):
                await asyncio.wait_for(sending, 30)

        world.run(stopped())
    mail = only(world)
    assert (mail.state, mail.last_error) == ("queued", "The server was shut down during delivery.")


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
@over("turns", 1, 3, 10, 100)
def test_shutdown_lets_delivery_finish(make_world: MakeWorld, turns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Cancel the sender after each number of event loop turns, also just after the server has accepted the mail."""
    monkeypatch.setattr(sending, "SHUTDOWN_SECONDS", 30)
    with Sink().running() as sink:
        world = sending_to(make_world, sink.port)
        ask(world)

        async def stopped() -> None:
            sending = asyncio.ensure_future(Sender(world.keeper.settings).send_due(world.keeper.store))
            for _ in range(turns):
                await asyncio.sleep(0)
            sending.cancel()
            with contextlib.suppress(asyncio.CancelledError):  # the delivery may have completed before it was cancelled
                await sending

        world.run(stopped())
        assert (len(sink.received), only(world).state) == (1, "sent")
        world.sql("DELETE FROM mails")


def test_outcome_is_recorded_after_database_returns(make_world: MakeWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    """The SMTP server accepted the mail: only the recorded outcome prevents a second delivery."""
    monkeypatch.setattr(sending, "POLL_SECONDS", 0.01)
    with Sink().running() as sink:
        world = sending_to(make_world, sink.port)
        ask(world)
        store, write, failing = world.keeper.store, world.keeper.store.write, [3]

        async def flaky(work: Any, claim: int | None = None, **more: Any) -> Any:
            if sink.received and failing[0]:
                failing[0] -= 1
                raise DatabaseUnavailable("gone for a moment")
            return await write(work, claim, **more)

        monkeypatch.setattr(store, "write", flaky)
        send(world)
        assert failing == [0]
        assert (len(sink.received), only(world).state) == (1, "sent")


# --- no mail after its reset code has expired ----------------------------------------------------------------------


def redeem(world: World, code: str) -> None:
    assert world.post(f"{USERS}/Ann/password/reset", {"code": code, "new": NEW}).status == 200


def run_out(world: World, _: str) -> None:
    age(world, 30)


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)  # the statement is the same for all
@pytest.mark.parametrize("end", [redeem, run_out])
def test_mail_with_invalid_code_is_not_sent(make_world: MakeWorld, end: Callable[[World, str], None]) -> None:
    with Sink().running() as sink:
        world = sending_to(make_world, sink.port)
        end(world, ask(world))
        make_due(world)
        send(world)
        assert sink.received == []
        assert (only(world).state, only(world).tries, only(world).code) == ("expired", 0, None)
        tidy(world)
        assert world.sql("SELECT next_try_at FROM mails") == [(None,)]


def test_code_that_is_used_or_expires_during_delivery_is_not_sent(make_world: MakeWorld) -> None:
    with Sink().running() as sink:
        world = sending_to(make_world, sink.port)
        code = ask(world)
        taken = take(world)
        redeem(world, code)
        assert taken
        world.run(Sender(world.keeper.settings).attempt(world.keeper.store, taken))
        assert sink.received == []
    assert only(world).state == "expired"
    world.sql("DELETE FROM mails")
    with Rude({"dot": "hang"}).running() as rude:
        world = sending_to(make_world, rude.port, smtp_timeout=60)
        ask(world)
        world.sql("UPDATE resets SET expires_at = expires_at - 30 * 60000 + 500")
        started = time.monotonic()
        send(world)
        assert time.monotonic() - started < 30
    assert only(world).state == "expired"


def test_sent_mails_are_deleted_after_a_week(make_world: MakeWorld) -> None:
    with Sink().running() as sink:
        world = sending_to(make_world, sink.port)
        ask(world)
        send(world)
    for minutes, left in ((60 * 24 * 7 - 1, 1), (2, 0)):
        age(world, minutes)
        tidy(world)
        assert len(list_mails(world)) == left
