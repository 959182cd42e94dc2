"""Parameters of the audit log: times as they are displayed, kinds of changes, and CSV limits."""

import csv
import io
from urllib.parse import quote

import pytest

from expectations import refused
from gamekeeper.game import history
from gamekeeper.http.wire.history import LIMITS
from people import BOB, COIN
from undos import CHANGES, items, last
from world import World

SECOND = 1_000_000_000_000  # milliseconds: 2001-09-09 01:46:40 UTC
BEGUN = "2001-09-09T01:46:40"
THEN = f"/api/keeper/v1/players/{BOB.id}/items"
# By time in the query: how many of four changes, made 0, 73, 20,999 and 21,000 ms after BEGUN, it includes
NAMED = {
    f"{BEGUN}Z": 2,
    "2001-09-09 01:46:40 UTC": 2,
    "2001-09-09T03:46:40+02:00": 2,
    f"{BEGUN}.000Z": 1,
    f"{BEGUN},072": 1,
    f"{BEGUN}.073 UTC": 2,
    "2001-09-09T01:47": 3,
    "2001-09-08T21:17-04:30": 3,
    "2001-09-09T01:46": 0,
    "2001-09-09": 0,
}
MEANT = {
    "item_given": "did you mean items_given",
    "zzz": "the kinds are items_given, items_taken, ",
}


def give_coins(world: World, *after_ms: int) -> list[int]:
    """Give Bob a coin at each of these offsets from SECOND, and date all earlier changes a day before SECOND."""
    world.sql("UPDATE ledger SET at = $1", SECOND - 86_400_000)
    made: list[int] = []
    for each in after_ms:
        assert items(world, "give", COIN.id, 1, "Bob").status == 200
        made.append(last(world))
        world.sql("UPDATE ledger SET at = $1 WHERE seq = $2", SECOND + each, made[-1])
    return made


def numbers(world: World, query: str) -> list[int]:
    answer = world.get(f"{CHANGES}?kind=items_given&{query}")
    assert answer.status == 200, answer.raw
    return [each["Seq"] for each in answer.json["Changes"]][::-1]


def test_from_and_to_include_the_whole_named_unit_of_time(world: World) -> None:
    made = give_coins(world, 0, 73, 20_999, 21_000)
    for to, found in NAMED.items():
        assert numbers(world, f"from=2001-09-09&to={quote(to)}") == made[:found], to
        coins = {each["ItemId"]: each["Quantity"] for each in world.get(f"{THEN}?at={quote(to)}").json["inventory"]}
        assert coins.get(COIN.id, 0) == found, to
    made = give_coins(world, -1, 0, 73, 1_000)
    for begin in (f"{BEGUN}Z", "2001-09-09 01:46:40 UTC"):
        assert numbers(world, f"from={quote(begin)}") == made[1:]
        assert numbers(world, f"from={quote(begin)}&to={quote(begin)}") == made[1:3]


def test_malformed_times_and_unknown_kinds_are_refused(shared_world: World) -> None:
    refused(shared_world.get(f"{THEN}?at={quote('1 UTC')}"), 400, "bad_field", "at")
    assert {shared_world.get(f"{CHANGES}?kind={kind}&limit=1").status for kind in history.KINDS} == {200}
    assert shared_world.get(f"{CHANGES}?kind=").json == shared_world.get(CHANGES).json
    for kind, named in MEANT.items():
        refused(shared_world.get(f"{CHANGES}?kind={kind}"), 400, "bad_field", named)


def test_csv_is_longer_than_a_page_and_has_no_byte_order_mark(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(LIMITS, "json", (3, 5))
    monkeypatch.setitem(LIMITS, "csv", (5, 12))

    def rows(query: str) -> int:
        answer = world.get(f"{CHANGES}?{query}")
        return (
            len(answer.json["Changes"])
            if "csv" not in query
            else len(list(csv.DictReader(io.StringIO(answer.raw.decode()))))
        )

    assert (rows(""), rows("format=json"), rows("format=csv"), rows("format=csv&limit=2")) == (3, 3, 5, 2)
    assert rows("format=csv&limit=500") == 12
    assert world.get(f"{CHANGES}?format=csv").raw.startswith(b"Seq,")
