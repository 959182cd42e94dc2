"""The write path without HTTP: stored answers, dry runs and replays."""

import functools
from collections.abc import Callable, Coroutine
from typing import Any

import apsw
import asyncpg
import pytest

import people
from gamekeeper.game.core import refusals as no
from gamekeeper.game.core import writes
from gamekeeper.game.core.change import Unlogged
from gamekeeper.game.core.writes import ApplyResult, Decision, Intent
from gamekeeper.game.players import inventory, items
from gamekeeper.ground import crash
from gamekeeper.store.core import idempotency_keys
from gamekeeper.store.engine.interface import ClaimTaken, Locking, Writing
from loops import over
from proof import rows
from world import World

pytestmark = pytest.mark.both_engines

ANN, ROOT = people.USER_IDS["Ann"], people.USER_IDS["Root"]
KEYED = Intent("r1", actor_id=ROOT, token_id=None, key="k", fingerprint="f")


def apply(world: World, intent: Intent, said: bytes = b'"first"') -> ApplyResult:
    return world.run(world.keeper.changes.apply(intent, nothing, lambda _: said))


async def nothing(_: Locking) -> Decision[None]:
    return Decision([], None)


def test_answer_is_stored_for_its_caller_and_key(world: World) -> None:
    assert apply(world, KEYED) == ApplyResult(b'"first"', replayed=False)
    assert apply(world, KEYED, b'"second"') == ApplyResult(b'"first"', replayed=True)
    assert world.run(world.keeper.changes.replay(KEYED)) == ApplyResult(b'"first"', replayed=True)
    for other in (Intent("r", actor_id=ANN, key="k"), Intent("r", actor_id=ROOT, key="l")):
        assert world.run(world.keeper.changes.replay(other)) is None
        assert apply(world, other, b'"other"') == ApplyResult(b'"other"', replayed=False)


@over("intent", Intent("r", actor_id=ROOT), Intent("r", key="k"), Intent("r", actor_id=ROOT, key="k", dry_run=True))
def test_answer_without_caller_or_key_or_of_dry_run_is_not_stored(world: World, intent: Intent) -> None:
    apply(world, KEYED)
    kept = rows(world, "idempotency_keys")
    done = apply(world, intent, b'"anew"')
    assert (done.answer, done.replayed) == (b'"anew"', False)
    assert world.run(world.keeper.changes.replay(intent)) is None
    assert rows(world, "idempotency_keys") == kept


def test_stored_result_replaces_an_answer_that_must_not_be_stored(world: World) -> None:
    async def decide(_: Locking) -> Decision[bytes]:
        return Decision([], b'"secret"', stored_result=b'"it was told"')

    def told() -> ApplyResult:
        return world.run(world.keeper.changes.apply(KEYED, decide, lambda said: said))

    assert told() == ApplyResult(b'"secret"', replayed=False)
    assert told() == ApplyResult(b'"it was told"', replayed=True)


def test_replay_writes_a_row_so_that_it_waits_for_the_standby(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    touched: list[tuple[str, str]] = []
    touch = idempotency_keys.touch

    def watched(tx: Writing, account_id: str, key: str) -> None:
        touched.append((account_id, key))
        touch(tx, account_id, key)

    monkeypatch.setattr(idempotency_keys, "touch", watched)
    apply(world, KEYED)
    assert touched == []
    apply(world, KEYED)
    world.run(world.keeper.changes.replay(KEYED))
    assert touched == [(ROOT, "k"), (ROOT, "k")]


def test_retry_during_the_first_request_is_refused_for_now(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """PostgreSQL raises ClaimTaken after five seconds. SQLite has one writer, so requests never run at once."""
    write = world.keeper.store.write
    asked: list[int | None] = []

    async def taken(
        work: Callable[[Writing], Coroutine[Any, Any, ApplyResult]], claim: int | None = None, **more: Any
    ) -> ApplyResult:
        asked.append(claim)
        if claim is not None:
            raise ClaimTaken
        return await write(work, claim, **more)

    monkeypatch.setattr(world.keeper.store, "write", taken)
    assert apply(world, Intent("r", actor_id=ROOT)).answer == b'"first"'
    with pytest.raises(no.IdempotencyInProgress):
        apply(world, KEYED)
    assert asked == [None, writes._find_claim(KEYED)]  # noqa: SLF001 - as below  # pyright: ignore[reportPrivateUsage] - the same


def test_dry_run_reports_a_violated_database_constraint(world: World) -> None:
    async def effect(tx: Writing) -> None:
        # this insert fails, because an idempotency key must not be NULL
        tx.defer(idempotency_keys.SQL.insert, ROOT, None, "f", b"{}", None, None)

    async def decide(_: Locking) -> Decision[None]:
        return Decision([Unlogged(effect)], None)

    with pytest.raises((apsw.ConstraintError, asyncpg.NotNullViolationError)):
        world.apply(decide, Intent("r", ROOT, dry_run=True))


def test_key_of_another_request_is_refused(world: World) -> None:
    apply(world, KEYED)
    other = Intent("r2", actor_id=ROOT, key="k", fingerprint="g")
    with pytest.raises(no.IdempotencyKeyReused):
        apply(world, other)
    with pytest.raises(no.IdempotencyKeyReused):
        world.run(world.keeper.changes.replay(other))


def test_unlogged_effect_has_no_ledger_row(world: World) -> None:
    done: list[Writing] = []

    async def effect(tx: Writing) -> None:
        done.append(tx)

    async def decide(_: Locking) -> Decision[None]:
        return Decision([Unlogged(effect)], None)

    with world.nothing_recorded():
        world.apply(decide, KEYED)
        assert len(done) == 1


def giving(world: World, intent: Intent, **more: Any) -> ApplyResult:
    async def decide(tx: Locking) -> Decision[bytes]:
        room = inventory.read_capacity(world.keeper.settings)
        decision = await items.give(tx, "Bob", people.COIN.id, 2, room, overflow=False)
        return Decision(decision.changes, b'"given"', **more)

    return world.run(world.keeper.changes.apply(intent, decide, lambda said: said))


@over("dry_run", True, False)
def test_change_has_both_effect_and_ledger_row_or_neither(world: World, dry_run: bool) -> None:  # noqa: FBT001 - a case
    seen = len(world.ledger())
    done = giving(world, Intent("r9", ROOT, None, over_link=False, reason="why", dry_run=dry_run))
    assert (done.answer, done.replayed) == (b'"given"', False)
    assert [(each.kind, each.player_id, each.undoes) for each in done.entries] == [("items_given", people.BOB.id, None)]
    written = world.ledger()[seen:]
    held = world.sql("SELECT COUNT(*) FROM slots WHERE player_id = $1", people.BOB.id)[0][0]
    assert (len(written), held) == ((0, 0) if dry_run else (1, 1))
    for row in written:
        assert (row.actor_id, row.token_id, row.over_link) == (ROOT, None, False)
        assert (row.player_id, row.user_id, row.request_id, row.reason) == (people.BOB.id, None, "r9", "why")


def test_state_that_differs_from_the_preview_is_refused(world: World) -> None:
    looked = writes.fingerprint_state(giving(world, Intent("r1", ROOT, dry_run=True)).entries)
    again = writes.fingerprint_state(giving(world, Intent("r2", ANN, reason="another", dry_run=True)).entries)
    assert again == looked
    giving(world, Intent("r3", ROOT, expected=looked))
    with world.nothing_recorded(), pytest.raises(no.ChangedMeanwhile):
        giving(world, Intent("r4", ROOT, key="k", expected=looked))
    assert writes.fingerprint_state(giving(world, Intent("r5", ROOT, dry_run=True)).entries) != looked


def test_ledger_row_has_the_number_of_the_undone_change(world: World) -> None:
    giving(world, Intent("r1", ROOT), undoes=7)
    assert world.sql("SELECT undoes FROM ledger ORDER BY seq DESC LIMIT 1") == [(7,)]


def test_retry_after_erased_answer_is_refused_and_changes_nothing(world: World) -> None:
    giving(world, KEYED)
    world.sql("UPDATE idempotency_keys SET answer = CAST('{}' AS {document})")
    with world.nothing_recorded(), pytest.raises(no.AnswerErased):
        giving(world, KEYED)


def test_answer_deleted_while_it_is_looked_up_leads_to_a_new_answer(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The retention job may delete a stored answer after the retry found that there is one, and before it reads it."""
    find = idempotency_keys.find

    async def delete_first(tx: Writing, account_id: str, key: str) -> idempotency_keys.StoredAnswer | None:
        assert await idempotency_keys.delete_old(tx, 2**60, 10) == 1
        return await find(tx, account_id, key)

    giving(world, KEYED)
    before = world.ledger()
    monkeypatch.setattr(idempotency_keys, "find", delete_first)
    assert not giving(world, KEYED).replayed
    assert len(world.ledger()) == len(before) + 1
    monkeypatch.undo()
    assert giving(world, KEYED).replayed


@over(
    "reason, kept",
    ("ann and Annabel asked; ann, not Anna", "(erased) and (erased) asked; (erased), not Anna"),
    ("joann", "joann"),
    (None, None),
)
def test_reason_is_stored_without_erased_names(world: World, reason: str | None, kept: str | None) -> None:
    giving(world, Intent("r1", ROOT, reason=reason), erased_names=("Ann", "", "Annabel"))
    assert world.ledger()[-1].reason == kept


def test_crash_points_are_passed_in_order(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    passed: list[str] = []
    monkeypatch.setattr(crash, "crash_at", passed.append)
    giving(world, Intent("r1", ROOT))
    assert passed == list(crash.POINTS)


def test_requests_with_the_same_key_have_the_same_claim() -> None:
    claim = writes._find_claim  # noqa: SLF001 - the number of PostgreSQL's advisory lock  # pyright: ignore[reportPrivateUsage] - the same
    assert claim(KEYED) == claim(Intent("other", actor_id=ROOT, key="k", fingerprint="g", reason="why"))
    others = [claim(Intent("r", actor_id=ANN, key="k")), claim(Intent("r", actor_id=ROOT, key="l")), claim(KEYED)]
    assert len(set(others)) == 3
    assert all(each is not None and -(2**63) <= each < 2**63 for each in others)
    assert claim(Intent("r", actor_id=ROOT)) is claim(Intent("r", actor_id=ROOT, key="k", dry_run=True)) is None


def test_claim_numbers_are_the_same_in_every_version() -> None:
    claim = writes._find_claim  # noqa: SLF001 - as above  # pyright: ignore[reportPrivateUsage] - the same
    assert claim(Intent("r", actor_id="a", key="k")) == 7642658976993211372


def test_changes_are_applied_together_or_not_at_all(world: World) -> None:
    def give(quantity: int) -> tuple[Intent, Any]:
        room = inventory.read_capacity(world.keeper.settings)
        rule = functools.partial(
            items.give, key=people.ANN.id, item_id=people.ARROW.id, quantity=quantity, room=room, overflow=False
        )
        return Intent("load", actor_id=ROOT), rule

    before = world.ledger()
    with pytest.raises(no.InventoryFull):
        world.run(world.keeper.changes.apply_together([give(1), give(1_000_000)]))
    assert world.ledger() == before
    world.run(world.keeper.changes.apply_together([give(1), give(2)]))
    assert [each.kind for each in world.ledger()[len(before) :]] == ["items_given", "items_given"]
