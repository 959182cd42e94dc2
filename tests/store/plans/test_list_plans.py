"""Query plans of lists and searches: none of their statements reads more rows when the list is longer."""

from functools import partial
from typing import Any

import pytest

from gamekeeper.demo.names import make_numbered_id, make_numbered_name
from gamekeeper.game import account_filters, finder, search
from gamekeeper.game.account_filters import AccountFilter
from gamekeeper.game.bucket_index import SPLIT_ROWS
from gamekeeper.game.list_definitions import LISTS, ListDefinition
from gamekeeper.game.lists import Lists
from gamekeeper.store import (
    catalogue,
    presence,
    tokens,
)
from gamekeeper.store import items as item_rows
from gamekeeper.store import search as search_rows
from gamekeeper.store.engine import Reading
from gamekeeper.store.history import NEVER
from gamekeeper.store.table import as_table
from plans import ONLINE, PLAYERS, WORDS, Asked, Look, Watched, fill_lists, find_growing, require_none_grows
from world import World

pytestmark = pytest.mark.both_engines

NEEDED = (
    *("news", "records_from_rank", "records_from_name", "from_name"),
    *("keys_by_rank", "keys_by_name", "rank_key_by_fold", "records_around_rank"),
)
# SQLite plan that is allowed: it scans the game servers, which are few, not the players
SERVERS = ["SCAN s USING INDEX sqlite_autoindex_servers_1"]


def test_no_statement_of_a_list_grows_with_it(world: World) -> None:
    fill_lists(world)
    asked = _list_asked(world)
    assert not [name for name in NEEDED if not any(each.name.endswith(name) for each in asked)]
    texts = {each: each.render(world.keeper.store.engine, WORDS[world.keeper.store.engine]) for each in asked}
    faults = {each.name: found for each, values in asked.items() if (found := find_growing(world, texts[each], values))}
    assert not faults


def test_no_search_grows_with_the_list(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """No search reads more in a longer list: for frequent texts, for missing ones, and for frequent trigrams."""
    # lower the search limits, because the test has fewer players and shorter texts than a real game
    monkeypatch.setattr(search, "MAX_MATCHES", 50)
    monkeypatch.setattr(search, "MAX_CANDIDATES", 100)
    monkeypatch.setattr(search, "MAX_PARTS", 2)
    fill_lists(world)
    asked: Asked = {}
    tx: Any = Watched(world.keeper.store, asked)
    engine = world.keeper.store.engine
    faults: list[object] = []
    for text in ("example", "test", "bab", make_numbered_name(7).lower(), "zzz", "example.tesx", "examqle.test"):
        for sort in (*search.PLAYERS.values(), *search.ONLINE_PLAYERS.values(), *search.ACCOUNTS.values()):
            asked.clear()
            world.run(sort.records(tx, [each.id for each in world.run(sort.find(tx, text)).found][:5]))
            for each, values in asked.items():
                found = find_growing(world, each.render(engine, WORDS[engine]), values)
                faults += [(text, each.name, found)] if found else []
    assert not faults


def test_listing_bans_mutes_or_permissions_does_not_grow_with_accounts(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """These lists read no more rows if nearly all accounts have a ban or mute, be it ended or in force."""
    monkeypatch.setattr(search, "MAX_MATCHES", 50)
    monkeypatch.setattr(search, "MAX_CANDIDATES", 100)
    finds = [account_filters.make_sorts(AccountFilter(each))["name"].find for each in account_filters.STATES]
    every: list[Look] = [lambda tx, find=find: find(tx, "") for find in finds]
    named: list[Look] = [lambda tx, find=find: find(tx, "example") for find in finds]
    among = partial(search_rows.filter_with_powers, ids=[make_numbered_id("user", number) for number in range(50)])
    for bans_end, mutes_end, in_force in ((1, 1, 2), (None, NEVER, search.MAX_MATCHES)):
        _punish_all(world, "bans", bans_end)
        _punish_all(world, "mutes", mutes_end)
        assert [len(world.run(find(world.keeper.store, "")).found) for find in finds] == [in_force, in_force, 4]
        require_none_grows(world, [*every, *named])
    world.sql("UPDATE users SET mute = {true}")
    require_none_grows(world, [*every, among])


def test_filtered_accounts_do_not_grow_with_accounts(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """A page reads no more rows if nearly all accounts have the role, and have signed in several times."""
    monkeypatch.setattr(search, "MAX_MATCHES", 50)
    monkeypatch.setattr(search, "MAX_CANDIDATES", 100)
    fill_lists(world)
    world.sql("INSERT INTO user_roles (user_id, role, given_at) SELECT id, 'moderator', 1 FROM users")
    event = "INSERT INTO security_events (id, at, kind, user_id)"
    for table, hour in (
        ("users", 1),
        ("players", 2),
    ):  # the events of players stand for those of deleted accounts
        world.sql(f"{event} SELECT id, {hour}000 + length(fold), 'sign_in', id FROM {table}")  # noqa: S608 - words of the test's own
    if world.keeper.store.engine == "postgres":
        world.sql("ANALYZE")
    filters = [
        AccountFilter(role="moderator"),
        AccountFilter(role="api"),
        AccountFilter(signed_in_from=1),
        AccountFilter(signed_in_to=1_500),
        AccountFilter("banned", "moderator", 1, 1_500),
    ]
    finds = [account_filters.make_sorts(each)["name"].find for each in filters]
    looks: list[Look] = [lambda tx, find=find, text=text: find(tx, text) for find in finds for text in ("", "example")]
    require_none_grows(world, looks)
    assert [len(world.run(find(world.keeper.store, "")).found) for find in finds] == [50, 4, 0, 50, 0]


def test_players_on_a_server_are_read_only_up_to_the_limit(world: World) -> None:
    """The list of online players reads up to its limit, on a game server with nearly all players or with few."""
    fill_lists(world)
    engine, ids = world.keeper.store.engine, as_table({"id": make_numbered_id("player", number)} for number in range(5))
    few = [make_numbered_id("player", number) for number in range(ONLINE, ONLINE + 5)]
    world.call("PUT", "/api/link/v1/servers/s2", body={"Lease": 600})
    world.run(world.keeper.store.write(lambda tx: presence.join(tx, "s2", few)))
    if engine == "postgres":
        world.sql("ANALYZE")
    by_name, folds = (
        (presence.SQL.after_name, presence.SQL.before_name),
        ("", make_numbered_name(9).lower(), "\U0010ffff"),
    )
    asked = (
        (presence.SQL.servers, (50, 5)),
        *((each, (server, fold, 50)) for each in by_name for server in ("s1", "s2") for fold in folds),
        (presence.SQL.servers_of, (ids,)),
    )
    faults = {
        statement.name: found
        for statement, values in asked
        if (found := find_growing(world, statement.render(engine, WORDS[engine]), values)) and found != SERVERS
    }
    assert not faults


def test_global_search_does_not_grow_with_the_game(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Search everything by id, prefix, substring and typing error, for texts in no name, one name and all names."""
    monkeypatch.setattr(finder, "MAX_CANDIDATES", 100)
    fill_lists(world)
    somebody = make_numbered_name(7)
    slipped = somebody[1] + somebody[0] + somebody[2:]
    texts = (somebody, slipped, "bab", "example", "zzzzzzz", "ba", "e", "17", make_numbered_id("player", 7))
    find = partial(
        finder.find, most=20, codec=world.keeper.changes.codec, sight=finder.Sight(accounts=True, changes=True)
    )
    require_none_grows(world, [partial(find, text=text) for text in texts])


def test_names_of_items_are_looked_up_one_by_one(world: World) -> None:
    """The time to look up item names does not depend on the size of the catalogue."""
    fill_lists(world)
    many = as_table({"id": make_numbered_id("item", number)} for number in range(PLAYERS))
    rows = "SELECT CAST(value->>'id' AS {guid}), 'x', 1 = 1, 0 FROM json_each($1)"
    world.sql(f"INSERT INTO items (id, name, stackable, bag_slots) {rows}", many)
    if world.keeper.store.engine == "postgres":
        world.sql("ANALYZE items")
    player = make_numbered_id("player", 7)
    whole, inventory = (
        item_rows.read_named_slots_of_player,
        partial(item_rows.read_named_slots_of_place, place="inventory"),
    )
    require_none_grows(world, [partial(whole, player_id=player), partial(inventory, player_id=player)])


def test_page_of_game_objects_and_owner_of_a_token_are_found_by_index(world: World) -> None:
    """The first page of one type, its details and one object take no longer if the game has more objects."""
    rows = "SELECT 'npc', CAST(value->>'id' AS {guid}), value->>'id' FROM json_each($1)"
    many = as_table({"id": make_numbered_id("npc", number)} for number in range(PLAYERS))
    world.sql(f"INSERT INTO game_objects (type, id, name) {rows}", many)
    if world.keeper.store.engine == "postgres":
        world.sql("ANALYZE game_objects")
    known = [catalogue.NamedEntry(make_numbered_id("npc", 7), "")]
    page = partial(catalogue.read_page, kind="npcs", limit=5, offset=0)
    one = partial(catalogue.find_by_ids, kind="npcs", ids=[known[0].id])
    owner = partial(tokens.find_owner, token_id=known[0].id, refresh_hash="x")
    details = partial(catalogue.add_details, kind="npcs", entries=known)
    require_none_grows(world, [page, one, details, owner])


def _punish_all(world: World, table: str, ends_at: int | None) -> None:
    """Give all accounts a ban or mute with this end, except one permanent and one very long one."""
    world.sql(f"DELETE FROM {table}")  # noqa: S608 - a name of the test's own
    end = f"CASE id WHEN $2 THEN NULL WHEN $3 THEN {NEVER} ELSE CAST($1 AS {{long}}) END"
    rows = f"SELECT id, '', '', 0, {end} FROM users"  # noqa: S608 - words of the test's own
    names, spared = (
        "user_id, reason, moderator, started_at, ends_at",
        (make_numbered_id("user", each) for each in (1, 2)),
    )
    world.sql(f"INSERT INTO {table} ({names}) {rows}", ends_at, *spared)
    if world.keeper.store.engine == "postgres":
        world.sql(f"ANALYZE {table}")


def _list_asked(world: World) -> Asked:
    """Return the statements that the ordered lists run once loaded: for pages, for a rank, and to split buckets."""
    asked: Asked = {}
    store: Any = Watched(world.keeper.store, asked)
    ours = Lists(store)
    world.run(ours.prepare())
    world.run(ours.maintain())
    # forget the statements so far: the index of the lists is loaded once per process, and its buckets are split rarely
    asked.clear()
    for listing in LISTS:
        for offset in (0, ONLINE // 2, ONLINE - 5):
            world.run(ours.load_page(listing, offset, 5))
        world.run(_read_keys(listing, store))
    world.run(ours.find_rank(make_numbered_name(7), 5))
    return asked


async def _read_keys(listing: ListDefinition[Any], tx: Reading) -> None:
    """Read list keys as the maintenance of the lists does to split a full bucket."""
    await listing.load_keys(tx, listing.lowest_key, SPLIT_ROWS)
