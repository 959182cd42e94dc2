"""Query plans of filtered lists of players: a page reads no more rows in a larger game."""

from functools import partial
from itertools import product
from typing import Any

import pytest

from gamekeeper.demo.names import make_numbered_id
from gamekeeper.game import player_filters
from gamekeeper.game.player_filters import ORDERS, Cursor, PageWanted
from gamekeeper.game.player_walks import HIGHEST_ID, NEVER_SEEN, QUANTITY, SEEN, Order, PlayerFilter
from gamekeeper.store import player_filters as rows
from gamekeeper.store import saved_views
from people import COIN, WARRIOR
from plans import WORDS, Asked, Watched, fill_lists, find_growing
from world import World

pytestmark = pytest.mark.both_engines

SMALL = 50  # limit of what a page reads and sorts; the crowd has 4000 players
CROWDED, RARE = WARRIOR.id, make_numbered_id("player", 3)


@pytest.fixture
def crowded(world: World, monkeypatch: pytest.MonkeyPatch) -> World:
    """Return a world where all players but one have the same class, map and item, and all accounts are banned."""
    for name in ("MAX_SORTED", "MAX_SEARCHED", "BATCH_ROWS"):
        monkeypatch.setattr(player_filters, name, SMALL)
    fill_lists(world)
    world.sql("UPDATE players SET class_id = $1, map_id = $1", CROWDED)
    world.sql("UPDATE players SET class_id = $1, map_id = $1, last_online = NULL WHERE id = $1", RARE)
    world.sql("INSERT INTO holdings SELECT id, 'item', CAST($1 AS {guid}), exp FROM players", COIN.id)
    columns = "user_id, reason, moderator, started_at, ends_at"
    ended = "CASE WHEN fold < 'm' THEN 2 END"
    world.sql(f"INSERT INTO bans ({columns}) SELECT id, '', '', 1, {ended} FROM users")  # noqa: S608 - ours
    if world.keeper.store.engine == "postgres":
        world.sql("ANALYZE")
    return world


FILTERS = (
    PlayerFilter(),
    PlayerFilter(class_id=CROWDED),
    PlayerFilter(class_id=RARE),
    PlayerFilter(map_id=CROWDED),
    PlayerFilter(map_id=RARE),
    PlayerFilter(map_id=CROWDED, class_id=RARE),
    PlayerFilter(level_from=2, level_to=100),
    PlayerFilter(seen_from=1),
    PlayerFilter(seen_to=10**15),
    PlayerFilter(banned=True),
    PlayerFilter(banned=False),
    PlayerFilter(online=True),
    PlayerFilter(online=False),
    PlayerFilter(item_id=COIN.id),
    PlayerFilter(item_id=RARE),
    PlayerFilter(item_id=COIN.id, banned=False, level_from=3, online=True),
)


def test_saved_views_are_found_without_scan(world: World) -> None:
    """Thousands of other views are shared."""
    engine, sql, me = world.keeper.store.engine, saved_views.SQL, make_numbered_id("player", 3)
    world.sql("INSERT INTO saved_views SELECT id, user_id, 'players', fold, '', 1 = 1, 1 FROM players")
    if engine == "postgres":
        world.sql("ANALYZE")
    owner = str(world.sql("SELECT user_id FROM players WHERE id = $1", me)[0][0])
    asked = (
        (sql.of_viewer, (owner, "players", 30)),
        (sql.count_others, (owner, "players", "x")),
        (sql.same_name, (me, owner, "x")),
        (sql.rename, (me, owner, "x")),
        (sql.delete, (me, owner, True)),
        (sql.of_person, (owner,)),
    )
    faults = {
        each.name: found
        for each, values in asked
        if (found := find_growing(world, each.render(engine, WORDS[engine]), values))
    }
    assert faults == {}


def test_no_filter_reads_more_rows_in_a_larger_game(crowded: World) -> None:
    engine, faults, known = crowded.keeper.store.engine, list[object](), set[object]()
    never_seen = Cursor(Order(SEEN, descending=True), (NEVER_SEEN, 0, HIGHEST_ID))
    for wanted, order, descending in product(FILTERS, (None, *ORDERS), (False, True)):
        if order == QUANTITY and not wanted.item_id:
            continue
        asked: Asked = {}
        tx: Any = Watched(crowded.keeper.store, asked)
        page = PageWanted(SMALL, order, descending)
        first = crowded.run(partial(player_filters.find, wanted=wanted, page=page)(tx))
        if first.next:
            crowded.run(player_filters.find(tx, wanted, page._replace(cursor=first.next)))
        crowded.run(player_filters.find(tx, PlayerFilter(), PageWanted(SMALL, cursor=never_seen)))
        known |= asked.keys()
        faults += [
            (wanted, order, each.name, found)
            for each, values in asked.items()
            if each is not rows.SQL.indexed  # reads the list of indexes
            and (found := find_growing(crowded, each.render(engine, WORDS[engine]), values))
        ]
    assert not faults, "\n".join(map(str, faults))
    assert {name for name, each in rows.SQL.named.items() if each not in known} == set()
