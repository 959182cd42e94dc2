"""What is old is thrown away, and nothing with it that somebody still needs."""

import asyncio
import random
from collections.abc import Callable, Iterable
from typing import Any

import pytest

import people
from expectations import refused
from findings import errors
from game_server import LINK
from gamekeeper.game import retention
from gamekeeper.game.codec import ChangeSide
from gamekeeper.game.effects import LedgerTrimmed
from gamekeeper.store import feed, history, ledger
from gamekeeper.store.engine import Reading
from people import ANN, BOB, COIN
from tidying import tidy, trim_older
from world import World

CHANGES = f"{LINK}/changes"
LONG_AGO = 10 * retention.DAY_MS


def items(world: World, what: str, name: str, quantity: int, item_id: str = COIN.id) -> Any:
    body = {"itemid": item_id, "quantity": quantity, "bankoverflow": True}
    return world.post(f"/api/v1/players/{name}/items/{what}", body, by="Shop")


def age(world: World) -> None:
    """All that is in the ledger was written ten days earlier."""
    world.sql("UPDATE ledger SET at = at - $1", LONG_AGO)


def trim(world: World, times: int = 1) -> None:
    """What is a day too old is not kept, however little it is."""
    for _ in range(times):
        world.run(trim_older(world.keeper, LONG_AGO - 2 * retention.DAY_MS))


def last(world: World) -> int:
    return world.run(ledger.read_last(world.keeper.store))


def test_for_ever_unless_told(world: World) -> None:
    age(world)
    before = world.ledger()
    tidy(world)
    assert world.ledger() == before


def test_after_its_days_a_change_is_gone_and_the_sums_still_fit(make_world: Callable[..., World]) -> None:
    world = make_world(ledger_days=8)
    for _ in range(3):
        assert items(world, "give", "Bob", 5).status == 200
    age(world)
    assert items(world, "give", "Ann", 2).status == 200
    recent = world.ledger()[-1]
    tidy(world)
    rows = world.ledger()
    assert [row.player_id for row in rows].count(BOB.id) == 1  # his newest
    assert recent in rows
    assert (rows[-1].kind, rows[-1].request_id) == ("ledger_trimmed", "retention")
    assert errors(world) == []
    assert [row[0] for row in world.sql("SELECT trimmed FROM epoch")] == [recent.seq - 1]


def test_a_step_takes_so_many_at_most(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retention, "BATCH_CHANGES", 4)
    for _ in range(9):
        items(world, "give", "Bob", 1)
    age(world)
    old = {row.seq for row in world.ledger()}
    seen: list[int] = []
    while not seen or seen[-1] < max(old):
        trim(world)
        seen += [row[0] for row in world.sql("SELECT trimmed FROM epoch")]
        assert errors(world) == []
    assert (
        max(after - before for before, after in zip([0, *seen], seen, strict=False)) <= 4 + 1
    )  # numbers may be missing
    before = world.ledger()
    trim(world)  # nothing is left to do
    assert world.ledger() == before


def test_the_sums_fit_whatever_happened_and_however_often_it_is_trimmed(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retention, "BATCH_CHANGES", 7)
    dice = random.Random(5)
    for _ in range(12):
        for _ in range(dice.randint(1, 6)):
            what, name = dice.choice(["give", "give", "take"]), dice.choice(["Ann", "Bob"])
            item = dice.choice([COIN, people.POUCH, people.ARROW])
            items(world, what, name, dice.randint(1, 3), item.id)
        if dice.random() < 0.5:
            age(world)
        trim(world, dice.randint(1, 3))
        assert errors(world) == []
    assert sum(row.kind == "ledger_trimmed" for row in world.ledger()) < 12  # they are trimmed like any other


def test_a_trim_that_forgets_the_sums_is_found(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def forgetful(self: LedgerTrimmed) -> tuple[ChangeSide | None, ChangeSide]:
        return None, ChangeSide(catalogue={"upto": self.upto})

    items(world, "give", "Bob", 5)
    items(world, "give", "Bob", 5)
    age(world)
    monkeypatch.setattr(LedgerTrimmed, "sides", forgetful)
    trim(world)
    assert any("the ledger accounts for" in each for each in errors(world))


def test_who_follows_from_before_the_trimmed_part_is_told_so(world: World) -> None:
    cursor = world.get(f"{CHANGES}?after=now", by="Server").json["Next"]
    items(world, "give", "Bob", 1)
    items(world, "give", "Bob", 1)
    upto = last(world)
    age(world)
    trim(world)
    refused(world.get(f"{CHANGES}?after={cursor}", by="Server"), 409, "changes_trimmed", str(upto))
    refused(world.get(f"{CHANGES}?after=0", by="Server"), 409, "changes_trimmed", str(upto))
    assert world.get(f"{CHANGES}?after={upto}", by="Server").json["Changes"] == []
    assert world.get(f"{CHANGES}?after=now", by="Server").json["Next"] == last(world)


def test_a_game_that_was_away_too_long_cannot_write_over_what_it_missed(world: World) -> None:
    put = f"{LINK}/players/{BOB.id}"
    applied = last(world)
    items(world, "give", "Bob", 1)
    items(world, "give", "Bob", 1)
    age(world)
    trim(world)
    missed = world.call("PUT", put, by="Server", body={"AppliedSeq": applied, "Exp": 5})
    refused(missed, 409, "changes_trimmed", "no longer kept")
    newest = max(row.seq for row in world.ledger() if row.player_id == BOB.id)
    assert world.call("PUT", put, by="Server", body={"AppliedSeq": newest, "Exp": 5}).status == 200


def test_a_quiet_character_stays_writable(world: World) -> None:
    """What its game applied last may be older than all that is kept, as long as nothing came after it."""
    items(world, "give", "Bob", 1)
    applied = last(world)
    items(world, "give", "Ann", 1)
    age(world)
    trim(world)
    put = f"{LINK}/players/{BOB.id}"
    assert world.call("PUT", put, by="Server", body={"AppliedSeq": applied, "Exp": 5}).status == 200
    ann = f"{LINK}/players/{ANN.id}"
    refused(world.call("PUT", ann, by="Server", body={"AppliedSeq": applied, "Exp": 5}), 409, "changes_trimmed", "kept")


def test_what_the_game_said_itself_hides_no_change_of_others(world: World) -> None:
    """The newest row of a character is the game's own; the one of the API before it is kept as well."""
    applied = last(world)
    items(world, "give", "Bob", 1)
    put = f"{LINK}/players/{BOB.id}"
    assert world.call("PUT", put, by="Server", body={"Exp": 5}).status == 200
    age(world)
    trim(world)
    answer = world.call("PUT", put, by="Server", body={"AppliedSeq": applied, "Exp": 6})
    assert (answer.status, answer.code) == (409, "changes_trimmed")


def test_several_instances_trim_at_once(make_world: Callable[..., World]) -> None:
    one, two = make_world(), make_world()
    for _ in range(20):
        items(one, "give", "Bob", 1)
    age(one)
    older = LONG_AGO - 2 * retention.DAY_MS

    async def together() -> None:
        await asyncio.gather(*(trim_older(each.keeper, older) for each in (one, two, one, two)))

    one.run(together())
    assert [row.player_id for row in one.ledger()].count(BOB.id) == 1
    assert sum(row.kind == "ledger_trimmed" for row in one.ledger()) == 1
    assert errors(one) == []


def test_a_token_is_listed_for_some_days_after_its_end(make_world: Callable[..., World]) -> None:
    world = make_world(token_days=5)
    [(before,)] = world.sql("SELECT COUNT(*) FROM tokens")
    day = retention.DAY_MS
    for age_days, left in ((4, before), (6, 0)):
        ended = "SET refresh_expires = {now} - $1, access_expires = {now} - $1"
        world.sql(f"UPDATE tokens {ended}", age_days * day)
        tidy(world)
        [(found,)] = world.sql("SELECT COUNT(*) FROM tokens")
        assert found == left


def test_a_trim_is_not_trimmed_at_once(make_world: Callable[..., World]) -> None:
    """An idle game is not kept busy by its own broom: a few old changes wait for a day, or for more of them."""
    world = make_world(ledger_days=10)
    items(world, "give", "Bob", 1)
    age(world)
    before = world.ledger()
    tidy(world)
    assert world.ledger() == before
    world.sql("UPDATE ledger SET at = at - $1", retention.DAY_MS)
    tidy(world)
    assert world.ledger()[-1].kind == "ledger_trimmed"


def test_one_that_looks_old_makes_nothing_old(world: World) -> None:
    """A clock that was wrong for a moment."""
    age(world)
    for _ in range(3):
        items(world, "give", "Bob", 5)
    young = [each.seq for each in world.ledger()[-3:]]
    world.sql("UPDATE ledger SET at = at - $1 WHERE seq = $2", LONG_AGO, young[1])
    trim(world, 2)
    assert {*young} < {each.seq for each in world.ledger()}


def test_what_was_made_just_now_is_not_old_because_it_seems_to_be_of_tomorrow(world: World) -> None:
    age(world)
    for _ in range(3):
        items(world, "give", "Bob", 5)
    young = [each.seq for each in world.ledger()[-3:]]
    world.sql("UPDATE ledger SET at = at + $1 WHERE seq >= $2", retention.DAY_MS, young[0])
    trim(world, 2)
    assert {*young} < {each.seq for each in world.ledger()}
    assert world.ledger()[-1].kind == "ledger_trimmed"


def test_that_somebody_was_erased_is_not_forgotten(world: World) -> None:
    """Else an import would bring them back."""
    assert world.call("DELETE", "/api/v1/users/Clerk").status == 200
    age(world)
    items(world, "give", "Bob", 5)
    trim(world, 2)
    assert world.run(ledger.find_deleted_users(world.keeper.store, [people.USER_IDS["Clerk"]])) == {
        people.USER_IDS["Clerk"]
    }


def test_one_of_the_future_keeps_nothing(world: World) -> None:
    for _ in range(3):
        items(world, "give", "Bob", 5)
    age(world)
    old = [each.seq for each in world.ledger()[-3:]]
    world.sql("UPDATE ledger SET at = at + $1 WHERE seq = $2", 3 * LONG_AGO, old[0])
    items(world, "give", "Bob", 5)
    trim(world, 2)
    assert not {*old[:2]} & {each.seq for each in world.ledger()}
    assert errors(world) == []


def test_an_undo_beside_a_trim(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """What it is about goes away between two looks at it."""
    items(world, "give", "Bob", 5)
    world.post(f"/api/keeper/v1/changes/{last(world)}/undo")
    undo = last(world)
    items(world, "give", "Bob", 5)
    age(world)
    items(world, "give", "Ann", 5)
    origins = history.find_origins

    async def late(tx: Reading, numbers: Iterable[int]) -> dict[int, history.UndoOrigin]:
        monkeypatch.setattr(history, "find_origins", origins)
        await trim_older(world.keeper, LONG_AGO - 2 * retention.DAY_MS)
        return await origins(tx, numbers)

    monkeypatch.setattr(history, "find_origins", late)
    refused(world.post(f"/api/keeper/v1/changes/{undo}/undo"), 404, "no_such_change")


def test_a_trim_while_somebody_reads_is_told(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    cursor = last(world)
    for _ in range(4):
        items(world, "give", "Bob", 1)
    upto = last(world)
    age(world)
    between = feed.read_between

    async def and_trim(*given: Any, **more: Any) -> Any:
        monkeypatch.setattr(feed, "read_between", between)
        await trim_older(world.keeper, LONG_AGO - 2 * retention.DAY_MS)
        return await between(*given, **more)

    monkeypatch.setattr(feed, "read_between", and_trim)
    answer = world.get(f"{CHANGES}?after={cursor}", by="Server")
    refused(answer, 409, "changes_trimmed", f"Changes up to {upto} are no longer kept.")


def test_many_old_keys_go_in_one_round(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retention, "BATCH_ROWS", 2)
    for number in range(7):
        body = {"itemid": COIN.id, "quantity": 1}
        world.post("/api/v1/players/Bob/items/give", body, by="Shop", headers={"Idempotency-Key": f"k{number}"})
    world.sql("UPDATE idempotency_keys SET at = at - $1", 31 * retention.DAY_MS)
    tidy(world)
    assert world.sql("SELECT key FROM idempotency_keys") == []
