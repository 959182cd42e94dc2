"""Filtered lists of players: what each filter finds, in which order, and how pages go on."""

from collections.abc import Callable, Generator, Mapping
from itertools import product
from typing import Any

import pytest

import game_server
from expectations import refused
from gamekeeper.game.lists import player_filters
from gamekeeper.game.lists.player_filters import Cursor, Order
from gamekeeper.http.lists import search_shapes
from gamekeeper.store.engine import database_checks
from loops import over
from people import COIN, MEADOW, NOBODY_ID, USER_IDS, WARRIOR, guid
from sharing import open_fresh
from world import World

PATH = "/api/keeper/v1/players"
COUNT = 36
OTHER_CLASS, OTHER_MAP = guid(32), guid(42)
OWNERS = ("Bob", "Ann", "Mona")
HOUR = 3_600_000
# conditions of the query, and what they mean for the records and facts of a player
CONDITIONS: Mapping[str, Callable[[dict[str, Any]], bool]] = {
    f"classId={WARRIOR.id}": lambda each: each["ClassId"] == WARRIOR.id,
    f"mapId={OTHER_MAP}": lambda each: each["MapId"] == OTHER_MAP,
    "levelFrom=3&levelTo=5": lambda each: 3 <= each["Level"] <= 5,
    "seenFrom=1970-01-01T10:00:00Z": lambda each: each["Online"] or (each["seen"] or 0) >= 10 * HOUR,
    "seenTo=1970-01-01T19:00:00Z": lambda each: (
        not each["Online"] and each["seen"] is not None and each["seen"] <= 19 * HOUR
    ),
    "banned=true": lambda each: each["owner"] == "Ann",
    "banned=false": lambda each: each["owner"] != "Ann",
    "online=true": lambda each: each["Online"],
    "online=false": lambda each: not each["Online"],
    f"itemId={COIN.id}": lambda each: each["coins"] > 0,
    "search=ew1": lambda each: "ew1" in each["Name"].lower(),
}
SORTS: Mapping[str, Callable[[dict[str, Any]], Any]] = {
    "name": lambda each: each["Name"].lower(),
    "level": lambda each: (each["Level"], each["Exp"], each["Id"]),
    "seen": lambda each: (2 if each["Online"] else int(each["seen"] is not None), each["rank"], each["Id"]),
    "quantity": lambda each: (each["coins"], each["Id"]),
}


@pytest.fixture(scope="module")
def crowded(engine: str, request: pytest.FixtureRequest) -> Generator[tuple[World, list[dict[str, Any]]]]:
    """Open a world with players of all kinds for the tests that only read; return what is known of each player."""
    with open_fresh(engine, request) as world:
        yield world, fill(world)


@pytest.fixture
def shared(crowded: tuple[World, list[dict[str, Any]]]) -> World:
    return crowded[0]


@pytest.fixture
def crowd(crowded: tuple[World, list[dict[str, Any]]]) -> list[dict[str, Any]]:
    return crowded[1]


def fill(world: World) -> list[dict[str, Any]]:
    for number in range(COUNT):
        player_id, body = game_server.newcomer(number, Level=1 + number % 7, Exp=number % 3)
        body |= {"UserId": USER_IDS[OWNERS[number % 3]], "ClassId": (WARRIOR.id, OTHER_CLASS)[number % 2]}
        body |= {"MapId": (MEADOW.id, OTHER_MAP)[number // 2 % 2]}
        assert game_server.put_player(world, player_id, body).status in {200, 201}
        if number % 4:
            world.sql("UPDATE players SET last_online = $2 WHERE id = $1", player_id, number * HOUR)
        if number % 5 == 0:
            world.sql("INSERT INTO holdings VALUES ($1, 'item', $2, $3)", player_id, COIN.id, number // 10 + 1)
    world.sql("INSERT INTO holdings VALUES ($1, 'item', $2, 5)", NOBODY_ID, COIN.id)  # deleted, not counted yet
    game_server.heartbeat(world)
    game_server.join(world, *[guid(0x1000 + number) for number in range(0, COUNT, 6)])
    assert world.post("/api/v1/users/Ann/admin/ban").status == 200
    world.insert("bans", user_id=USER_IDS["Mona"], reason="", moderator="", started_at=1, ends_at=2)
    names = {owner: name for name, owner in USER_IDS.items()}
    seen = {str(row[0]): row[1] for row in world.sql("SELECT id, last_online FROM players")}
    coins = {str(row[0]): row[1] for row in world.sql("SELECT player_id, quantity FROM holdings")}
    known = [*world.get("/api/v1/players?pageSize=100").json["Values"]]
    for each in known:
        at = seen[each["Id"]]
        each |= {"owner": names[each["UserId"]], "seen": at, "coins": coins.get(each["Id"], 0)}
        each["rank"] = 0 if each["Online"] else at or 0
    return known


def walk(world: World, query: str, size: int = 100) -> list[str]:
    """Return the names on all pages, which are found by their cursors."""
    names: list[str] = []
    page = world.get(f"{PATH}?{query}&pageSize={size}").json
    for _ in range(200):
        names += [each["Name"] for each in page["Values"]]
        if page["Next"] is None:
            return names
        page = world.get(f"{PATH}?{query}&pageSize={size}&cursor={page['Next']}").json
    raise AssertionError("the pages do not end")


def lower_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every list be walked in small steps, as in a large game."""
    monkeypatch.setattr(player_filters, "MAX_SORTED", -1)
    monkeypatch.setattr(player_filters, "MAX_SEARCHED", 7)
    monkeypatch.setattr(player_filters, "BATCH_ROWS", 3)


def expect(known: list[dict[str, Any]], conditions: tuple[str, ...], sort: str, *, descending: bool) -> list[str]:
    matching = [each for each in known if all(CONDITIONS[condition](each) for condition in conditions)]
    return [each["Name"] for each in sorted(matching, key=SORTS[sort], reverse=descending)]


@pytest.mark.both_engines
@pytest.mark.parametrize("large", [False, True])
def test_filters_find_the_same_as_a_comparison_of_all_players(
    shared: World, crowd: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch, *, large: bool
) -> None:
    if large:
        lower_limits(monkeypatch)
    pairs = [
        (first, other) for first, other in product(CONDITIONS, CONDITIONS) if first < other and first[:6] != other[:6]
    ]
    singles = [(each,) for each in CONDITIONS]
    asked = [*((each, sort) for each in [(), *singles] for sort in SORTS), *((each, "name") for each in pairs)]
    faults: list[object] = []
    for number, (conditions, sort) in enumerate(asked):
        if sort == "quantity" and f"itemId={COIN.id}" not in conditions:
            continue
        descending = number % 2 == 0
        direction = "Descending" if descending else "Ascending"
        names = walk(shared, "&".join((*conditions, f"sortBy={sort}&sortDirection={direction}")), 4)
        expected = expect(crowd, conditions, sort, descending=descending)
        if names != expected:
            faults.append((conditions, sort, direction, names, expected))
    assert not faults


def test_page_stops_at_the_limit_and_says_so(
    shared: World, crowd: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    lower_limits(monkeypatch)
    page = shared.get(f"{PATH}?levelFrom=7&classId={WARRIOR.id}&sortBy=name").json
    assert (page["Total"], page["Searched"]) == (None, 7)
    assert len(page["Values"]) < len(expect(crowd, (f"classId={WARRIOR.id}",), "name", descending=False))
    assert page["Next"] is not None
    numbered = shared.get(f"{PATH}?levelFrom=7&page=1")
    refused(numbered, 400, "bad_field")
    assert "use the cursor" in numbered.message


def test_bans_need_users_query(shared: World) -> None:
    assert shared.get(f"{PATH}?banned=true", by="Clerk").status == 200
    refused(shared.get(f"{PATH}?banned=false", by="Shop"), 403, "role_missing")
    assert shared.get(f"{PATH}?online=false", by="Shop").status == 200


@over(
    "query",
    *("classId=warrior", "levelFrom=0", "seenFrom=yesterday", "banned=maybe", "sortBy=quantity", "sortBy=colour"),
    *("cursor=nonsense", "cursor=WyJuYW1lIiwxXQ", "cursor=WyJuYW1lIiwiYVx1MDAwMCJd"),
    f"cursor={search_shapes.encode_cursor(Cursor(Order('account'), (guid(1), guid(2))))}",
    f"cursor={search_shapes.encode_cursor(Cursor(Order('level'), (1, 1, 'x')))}",
    f"sortBy=level&cursor={search_shapes.encode_cursor(Cursor(Order('name'), ('a',)))}",
)
def test_malformed_filter_is_rejected(shared: World, query: str) -> None:
    refused(shared.get(f"{PATH}?{query}"), 400, "bad_field")


def test_filter_waits_for_the_indexes(world: World) -> None:
    """During an import and right after an upgrade there is no index: a filter would read all players."""
    world.sql("DROP INDEX players_by_seen")
    refused(world.get(f"{PATH}?classId={WARRIOR.id}"), 503, "search_not_ready")
    assert world.get(PATH).status == 200
    assert world.run(database_checks.create_missing_indexes(world.keeper.store)) == ["players_by_seen"]
    assert world.get(f"{PATH}?classId={WARRIOR.id}").status == 200
