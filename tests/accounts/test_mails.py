"""The outbox over the API: the state of mails, and retrying one of them with the right permission."""

import json
from functools import partial
from typing import Any

import pytest

import people
from expectations import everything
from gamekeeper.game.accounts import mails as rules
from gamekeeper.ground.instants import format_instant
from gamekeeper.store.accounts import mails
from gamekeeper.store.engine.interface import Writing
from outbox import ask, list_mails, only
from proof import refused, spelt
from world import Answer, MakeWorld, World

MAILS = "/api/keeper/v1/mails"
ANN = people.USER_IDS["Ann"]
RUN_OUT = "its code has expired, was used or was replaced"
FAIL = "UPDATE mails SET tries = 1, failed_at = 1, next_try_at = NULL, last_error = '550 no'"


def retry(world: World, mail_id: str, query: str = "", **more: Any) -> Answer:
    return world.post(f"{MAILS}/{mail_id}/retry{query}", **more)


def store_failed_mail(world: World) -> str:
    """Store a mail to Ann that failed permanently, and return its id."""
    ask(world)
    world.sql(FAIL)
    return only(world).id


def test_mail_has_its_exact_body(world: World) -> None:
    code = ask(world)
    mail = only(world)
    told = {
        "Id": mail.id,
        "UserId": ANN,
        "User": "Ann",
        "Kind": "password_reset",
        "Email": "ann@example.test",
        "State": "queued",
        "QueuedAt": format_instant(mail.queued_at),
        "ExpiresAt": format_instant(mail.expires_at),
        "Tries": 0,
        "NextTryAt": format_instant(mail.next_try_at or 0),
        "SentAt": None,
        "LastError": None,
        "Retriable": True,
    }
    answer = world.get(MAILS)
    assert (answer.status, answer.raw) == (200, spelt({"Mails": [told], "Next": None}))
    assert code.encode() not in answer.raw
    world.sql(FAIL)
    fares = {"State": "failed", "Tries": 1, "NextTryAt": None, "LastError": "550 no"}
    assert world.get(MAILS).json["Mails"] == [told | fares]


def test_outbox_lists_every_mail_once_although_mails_share_a_time(world: World) -> None:
    for name in ("Ann", "Bob", "Ann", "Mona", "Bob"):
        ask(world, name)
    everyone = [mail.id for mail in list_mails(world)]
    world.sql("UPDATE mails SET queued_at = 1000 WHERE user_id = $1", ANN)
    query, found = "", list[str]()
    for _ in everyone:
        page = world.get(f"{MAILS}?limit=2{query}").json
        found += [each["Id"] for each in page["Mails"]]
        if page["Next"] is None:
            break
        query = f"&before={page['Next']}"
    assert (sorted(found), len(found)) == (sorted(everyone), 5)
    page = world.get(f"{MAILS}?user={ANN.upper()}&limit=1").json
    rest = world.get(f"{MAILS}?user={ANN}&before={page['Next']}").json
    assert [each["User"] for each in (*page["Mails"], *rest["Mails"])] == ["Ann", "Ann"]
    assert {page["Mails"][0]["State"], rest["Mails"][0]["State"]} == {"queued", "expired"}
    assert world.get(f"{MAILS}?user={ANN}&limit=2").json["Next"] is None
    refused(world.get(f"{MAILS}?before=1-x"), 400, "bad_field")


def test_retry_makes_a_waiting_mail_due_at_once(world: World) -> None:
    ask(world)
    world.sql("UPDATE mails SET tries = 5, next_try_at = expires_at")
    mail = only(world)
    assert not world.run(world.keeper.store.value(mails.SQL.any_due))
    assert retry(world, mail.id.upper().replace("-", "")).status == 200
    assert world.run(world.keeper.store.value(mails.SQL.any_due))
    assert only(world)._replace(next_try_at=0) == mail._replace(next_try_at=0)


def test_retry_is_recorded_and_refused_for_an_unknown_mail(world: World) -> None:
    mail_id = store_failed_mail(world)
    answer = retry(world, mail_id, headers={"X-Reason": "their mailbox was full"})
    assert answer.json["Warning"].startswith("Mail is not set up")
    row = world.ledger()[-1]
    assert (row.kind, row.actor_id) == ("mail_retried", people.USER_IDS["Root"])
    assert (row.user_id, row.player_id, row.reason) == (ANN, None, "their mailbox was full")
    assert json.loads(row.before or "") == {"MailId": mail_id, "MailState": "failed", "NextTryAt": None}
    due = format_instant(only(world).next_try_at or 0)
    assert json.loads(row.after or "") == {"MailId": mail_id, "MailState": "queued", "NextTryAt": due}
    refused(retry(world, people.NOBODY_ID), 404, "no_such_mail", f"No mail with id '{people.NOBODY_ID}'.")
    world.call("DELETE", "/api/v1/users/Ann")
    refused(retry(world, mail_id), 404, "no_such_mail")


@pytest.mark.both_engines
def test_concurrent_retries_with_one_key_retry_once(make_world: MakeWorld) -> None:
    first, second = make_world(), make_world()
    mail_id, key = store_failed_mail(first), {"Idempotency-Key": "k1"}
    calls = [world.send("POST", f"{MAILS}/{mail_id}/retry", headers=key) for world in (first, second) * 4]
    answers = first.at_once(calls)
    assert {(answer.status, answer.raw) for answer in answers} == {(200, answers[0].raw)}
    assert sum("idempotent-replay" in answer.headers for answer in answers) == 7
    assert [row.kind for row in first.ledger()].count("mail_retried") == 1
    refused(retry(first, people.NOBODY_ID, headers=key), 422, "idempotency_key_reused")


def test_mail_that_cannot_be_retried_is_409(world: World) -> None:
    for fates, why in [
        (["UPDATE mails SET sent_at = 1, next_try_at = NULL"], "it was sent; if it did not arrive"),
        (["UPDATE mails SET taken_until = expires_at, next_try_at = expires_at"], "it is being sent; check again"),
        (["UPDATE resets SET expires_at = 1"], RUN_OUT),
        ([FAIL, "DELETE FROM resets"], RUN_OUT),
    ]:
        world.sql("DELETE FROM resets")
        world.sql("DELETE FROM mails")
        ask(world)
        for each in fates:
            world.sql(each)
        mail_id, before = only(world).id, everything(world)
        answer = retry(world, mail_id)
        refused(answer, 409, "mail_not_retriable")
        assert answer.message.startswith(f"Mail '{mail_id}' cannot be sent again: {why}")
        assert everything(world) == before
        assert not world.get(MAILS).json["Mails"][0]["Retriable"]


# PostgreSQL only: SQLite has one writer, so this race cannot happen
@pytest.mark.parametrize("engine", ["postgres"], indirect=True)
def test_sender_does_not_take_a_mail_during_its_retry(make_world: MakeWorld) -> None:
    """A mail that one sender holds must not become due for another sender, or it would arrive twice."""
    world, other = make_world(), make_world()
    ask(world)
    mail_id = only(world).id

    async def take_meanwhile(tx: Writing) -> mails.LeasedMail | None:
        await rules.retry(tx, mail_id)
        return await other.keeper.store.write(partial(mails.lease, lease_ms=1000))

    assert world.run(world.keeper.store.write(take_meanwhile)) is None
    assert world.run(other.keeper.store.write(partial(mails.lease, lease_ms=1000)))
