"""Query plans: no statement of a list reads more rows when the list is longer."""

import asyncio
import json
import re
from collections.abc import Callable, Coroutine, Generator, Iterator, Sequence
from functools import partial
from typing import Any, TypeVar

import pytest

import world as worlds
from gamekeeper.demo import loader
from gamekeeper.demo.names import numbered_id, numbered_name
from gamekeeper.game import finder, history, lookup, search, undo
from gamekeeper.game.bucket_index import SPLIT_ROWS
from gamekeeper.game.imported_hashes import format_imported
from gamekeeper.game.keeper import Keeper
from gamekeeper.game.list_definitions import LISTS, ListDefinition
from gamekeeper.game.lists import Lists
from gamekeeper.game.lookup import ZERO_GUID
from gamekeeper.store import (
    api_keys,
    erasures,
    keys,
    ledger,
    legacy,
    mails,
    moderation,
    players,
    postgres_connection,
    presence,
    security,
    tokens,
    users,
)
from gamekeeper.store import finder as finder_rows
from gamekeeper.store import history as ledger_rows
from gamekeeper.store import items as item_rows
from gamekeeper.store import search as search_rows
from gamekeeper.store import sqlite as sqlite_engine
from gamekeeper.store.engine import Reading, Row, Value, Writing
from gamekeeper.store.history import ALL, BY_ACTOR, NEVER, OF_PLAYER, OF_USER, HistoryFilter
from gamekeeper.store.names import build_parameters
from gamekeeper.store.statements import Statement, insert_values
from gamekeeper.store.table import as_table
from people import USER_IDS
from world import World

T = TypeVar("T")
Asked = dict[Statement, Sequence[Value]]
Look = Callable[[Reading], Coroutine[Any, Any, Any]]
PLAYERS, ONLINE = 4000, 2000  # numbers of players and online players, enough for the planners to prefer an index
SKEWED = 20_000  # number of changes that all belong to one account and one player
MOST_ROWS = SPLIT_ROWS + 128  # rows that one statement may read: a full bucket (part of an ordered list) and a page
WORDS = {"sqlite": sqlite_engine.PLACEHOLDERS, "postgres": postgres_connection.PLACEHOLDERS}
NEEDED = (
    *("news", "records_from_rank", "records_from_name", "from_name"),
    *("keys_by_rank", "keys_by_name", "rank_key_by_fold", "records_around_rank"),
)
# SQLite plan steps that are allowed, because the scans end at the LIMIT
POWERFUL = {"SCAN users USING INDEX users_with_powers", "SCAN user_roles", "SCAN user_permissions"}
# SQLite plan that is allowed: it scans the game servers, which are few, not the players
SERVERS = ["SCAN s USING INDEX sqlite_autoindex_servers_1"]
# Tables and subqueries that a query plan may scan completely, because they are short.
SHORT = {"lists", "CONSTANT", "json_each", "wanted", "begins", "given", "chain", "sqlite_master", "epoch", "erasures"}


class Watched:
    """A store or snapshot that records the statements it runs."""

    def __init__(self, tx: Any, asked: Asked) -> None:
        self._tx, self._asked = tx, asked

    async def all(self, statement: Statement, *values: Value) -> Sequence[Row]:
        self._asked[statement] = values
        return await self._tx.all(statement, *values)

    async def one(self, statement: Statement, *values: Value) -> Row | None:
        self._asked[statement] = values
        return await self._tx.one(statement, *values)

    async def fetch_both(
        self, first: Statement, value: Value, statement: Statement, *values: Value
    ) -> tuple[Row | None, list[Any]]:
        self._asked |= {first: (value,), statement: values}
        return await self._tx.fetch_both(first, value, statement, *values)

    async def read(self, work: Callable[[Reading], Coroutine[Any, Any, T]]) -> T:
        async def watched(tx: Reading) -> T:
            return await work(Watched(tx, self._asked))

        return await self._tx.read(watched)


@pytest.fixture(scope="module")
def crowds(request: pytest.FixtureRequest) -> Generator[Callable[[str], str]]:
    """Return the URL of a template database with many players, one per engine, because loading them takes long."""
    made: dict[str, str] = {}

    def load(engine: str) -> str:
        if engine not in made:
            databases: Any = request.getfixturevalue(f"{engine}_databases")
            made[engine] = databases.fresh()
            asyncio.run(worlds.at_work(made[engine], _load))
        return made[engine]

    yield load
    for engine, url in made.items():
        request.getfixturevalue(f"{engine}_databases").drop(url)


@pytest.fixture
def database(engine: str, databases: Any, crowds: Callable[[str], str]) -> Generator[str]:
    url = databases.copy(crowds(engine))
    yield url
    databases.drop(url)


def test_no_statement_of_a_list_grows_with_it(world: World) -> None:
    _crowd(world)
    asked = _asked(world)
    assert not [name for name in NEEDED if not any(each.name.endswith(name) for each in asked)]
    texts = {each: each.render(world.keeper.store.engine, WORDS[world.keeper.store.engine]) for each in asked}
    faults = {each.name: found for each, values in asked.items() if (found := _growing(world, texts[each], values))}
    assert not faults


@pytest.mark.parametrize(
    ("statement", "values", "step"),
    [
        (players.SQL.records_from_name, ("", 5, 7), "SEARCH p USING INDEX sqlite_autoindex_players_2 (fold>?)"),
        (
            players.SQL.records_from_rank,
            (0, 0, "", 5, 7),
            "SEARCH p USING INDEX players_by_rank ((level,exp,id)>(?,?,?))",
        ),
        (users.SQL.from_name, ("", 5, 7), "SEARCH u USING INDEX sqlite_autoindex_users_2 (fold>?)"),
    ],
)
def test_page_on_sqlite_starts_at_its_first_key_and_is_not_sorted(
    world: World, engine: str, statement: Statement, values: Sequence[Value], step: str
) -> None:
    if engine != "sqlite":
        pytest.skip("PostgreSQL has its own form of these statements")
    plan = [row[3] for row in world.sql(f"EXPLAIN QUERY PLAN {statement.render(engine, WORDS[engine])}", *values)]
    assert plan[0] == step
    assert not [each for each in plan if "TEMP B-TREE" in each]


@pytest.mark.parametrize("left", [0, PLAYERS // 2])
def test_imported_passwords_are_found_without_scan(world: World, left: int) -> None:
    world.sql(
        "UPDATE users SET password = $1 WHERE id < $2", format_imported("SALT", "HASH"), numbered_id("user", left)
    )
    engine = world.keeper.store.engine
    if engine == "postgres":
        world.sql("ANALYZE")
    text = legacy.SQL.imported.render(engine, WORDS[engine])
    for start in (ZERO_GUID, numbered_id("user", 7)):
        assert _growing(world, text, (start, 16)) == []
        # SQLite's plan does not show how many rows it skips, so the name of the index is checked
        if engine == "sqlite":
            assert "users_to_wrap" in str(world.sql(f"EXPLAIN QUERY PLAN {text}", start, 16))


def test_person_is_erased_without_scan(world: World) -> None:
    engine, somebody = world.keeper.store.engine, numbered_id("user", 7)
    kept = "INSERT INTO idempotency_keys (account_id, key, fingerprint, answer, at, player_id, user_id)"
    for about, table in (("id, NULL", "players"), ("NULL, id", "users")):
        world.sql(f"{kept} SELECT $1, id, '', CAST('{{}}' AS {{document}}), 0, {about} FROM {table}", ZERO_GUID)  # noqa: S608 - words of the test's own
    for table in ("bans", "mutes"):
        world.sql(f"DELETE FROM {table}")  # noqa: S608 - a name of the test's own
        world.sql(f"INSERT INTO {table} (user_id, reason, moderator, started_at) SELECT id, '', name, 0 FROM users")  # noqa: S608 - a name of the test's own
    if engine == "postgres":
        world.sql("ANALYZE")
    ids = as_table({"id": numbered_id("player", number)} for number in range(3))
    player = numbered_id("player", 7)
    faults = {
        statement.name: found
        for statement, values in (
            *((erasures.SQL.blank_changes, (each, 0, NEVER, 100)) for each in (somebody, player)),
            (erasures.SQL.blank_keys_of_player, (player, 100)),
            (erasures.SQL.blank_keys_of_user, (somebody, 100)),
            (erasures.SQL.own_keys, (somebody, "", 100)),
            (erasures.SQL.blank_own_keys, (somebody, "", "z")),
            (erasures.SQL.count_left, (100,)),
            (keys.SQL.find, (somebody, "k")),
            (ledger.SQL.count_about, (somebody, ids, 100)),
            (moderation.SQL.blank_bans_by, (numbered_name(7),)),
            (moderation.SQL.blank_mutes_by, (numbered_name(7),)),
            (ledger.SQL.deleted_of_user, (somebody,)),
            (players.SQL.lock_of_user, (somebody,)),
        )
        if (found := _growing(world, statement.render(engine, WORDS[engine]), values))
    }
    assert not faults


def test_newest_tokens_and_mails_are_found_without_scan(world: World) -> None:
    """Newest tokens need no scan even if one account owns all tokens, like a website that logs in before every call."""
    engine, shop = world.keeper.store.engine, USER_IDS["Shop"]
    made = f"SELECT id, '{shop}' AS user_id, row_number() OVER (ORDER BY id) AS number FROM players"  # noqa: S608 - words of the test's own
    for table, columns, values in (
        (
            "tokens",
            "issued_at, family_id, access_hash, read_only, access_expires, refresh_expires",
            "id, id, 1 = 1, 0, 0",
        ),
        ("mails", "queued_at, kind, address, expires_at, tries", "'password_reset', '', 0, 0"),
    ):
        chosen = f"SELECT id, CAST(user_id AS {{guid}}), number, {values} FROM ({made}) AS made"  # noqa: S608 - as above
        world.sql(f"INSERT INTO {table} (id, user_id, {columns}) {chosen}")
    if engine == "postgres":
        world.sql("ANALYZE")
    for statement, values in (
        (tokens.SQL.newest, (PLAYERS, ZERO_GUID, 50, None)),
        (tokens.SQL.newest, (PLAYERS, ZERO_GUID, 50, shop)),
        (tokens.SQL.revoke_sessions, (USER_IDS["Clerk"], None)),
        (mails.SQL.newest, (PLAYERS, ZERO_GUID, 50)),
        (mails.SQL.newest_of_user, (PLAYERS, ZERO_GUID, 50, shop)),
        (mails.SQL.outgoing, (numbered_id("player", 7),)),
    ):
        found = _growing(world, statement.render(engine, WORDS[engine]), values)
        assert [
            each for each in found if not re.search("LAST TERM|RIGHT PART", each)
        ] == []  # SQLite sorts only the LAST TERM, the id, among tokens or mails with the same time


def test_security_log_is_read_and_erased_without_scan(world: World) -> None:
    """Nearly all events may be sign-ins of one account: others are still found by an index."""
    engine, shop = world.keeper.store.engine, USER_IDS["Shop"]
    made = "SELECT id, row_number() OVER (ORDER BY id) AS number FROM players"
    world.sql(
        "INSERT INTO security_events (id, at, kind, user_id, actor_id) "  # noqa: S608 - words of the test's own
        f"SELECT id, number, 'sign_in', CAST($1 AS {{guid}}), CAST($1 AS {{guid}}) FROM ({made}) AS made",
        shop,
    )
    if engine == "postgres":
        world.sql("ANALYZE")
    whole, other = (0, NEVER), numbered_id("user", 7)
    faults = {
        (statement.name, values): found
        for statement, values in (
            *(
                (security.SQL.page, (NEVER, ZERO_GUID, *whole, 50, who, kind))
                for who in (None, shop, other)
                for kind in (None, "sign_in", "role_edited")
            ),
            (security.SQL.page, (NEVER, ZERO_GUID, 5, 500, 50, None, None)),
            (security.SQL.of_person, (other, 0, ZERO_GUID, 50)),
            (security.SQL.delete_of_user, (other, 100)),
            (security.SQL.blank_by_actor, (shop, 100)),
        )
        if (found := _growing(world, statement.render(engine, WORDS[engine]), values))
    }
    assert not faults


def test_api_keys_are_found_without_scan(world: World) -> None:
    engine, other, shop = world.keeper.store.engine, numbered_id("user", 7), USER_IDS["Shop"]
    names = "id, user_id, scope_id, name, permissions, created_at"
    world.sql(f"INSERT INTO api_keys ({names}) SELECT id, user_id, id, '', '[]', 0 FROM players")  # noqa: S608 - words of the test's own
    world.sql("INSERT INTO api_key_texts (hash, key_id) SELECT CAST(id AS TEXT), id FROM api_keys")
    if engine == "postgres":
        world.sql("ANALYZE")
    key = numbered_id("player", 7)
    faults = {
        statement.name: found
        for statement, values in (
            (api_keys.SQL.find, (key,)),
            (api_keys.SQL.find_by_hash, (key,)),
            (api_keys.SQL.newest_of_user, (other, 50)),
            (api_keys.SQL.ids_of_user, (other,)),
        )
        if (found := _growing(world, statement.render(engine, WORDS[engine]), values))
    }
    assert not faults
    world.sql("UPDATE api_keys SET user_id = $1", shop)
    # an erasure blanks the answers of all keys, also of more than a list shows
    found = world.run(api_keys.read_ids_of_user(world.keeper.store, shop))
    assert len(found) >= PLAYERS > api_keys.LIST_LIMIT


def test_log_in_reads_account_without_its_players(world: World) -> None:
    """An account may have many players, and their index is missing during a bulk load."""
    asked: Asked = {}
    tx: Any = Watched(world.keeper.store, asked)
    engine = world.keeper.store.engine
    for read in (lookup.find_user, lookup.lock_user):
        for key in ("Ann", USER_IDS["Ann"]):
            world.run(read(tx, key))
    assert [each.name for each in asked if "players" in each.render(engine, WORDS[engine])] == []
    assert len(asked) == 3


def test_no_search_grows_with_the_list(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """No search reads more in a longer list: for frequent texts, for missing ones, and for frequent trigrams."""
    # lower the search limits, because the test has fewer players and shorter texts than a real game
    monkeypatch.setattr(search, "MOST_MATCHES", 50)
    monkeypatch.setattr(search, "MOST_CANDIDATES", 100)
    monkeypatch.setattr(search, "MOST_PARTS", 2)
    _crowd(world)
    asked: Asked = {}
    tx: Any = Watched(world.keeper.store, asked)
    engine = world.keeper.store.engine
    faults: list[object] = []
    for text in ("example", "test", "bab", numbered_name(7).lower(), "zzz", "example.tesx", "examqle.test"):
        for sort in (*search.PLAYERS.values(), *search.ONLINE_PLAYERS.values(), *search.ACCOUNTS.values()):
            asked.clear()
            world.run(sort.records(tx, [each.id for each in world.run(sort.find(tx, text)).found][:5]))
            for each, values in asked.items():
                found = _growing(world, each.render(engine, WORDS[engine]), values)
                faults += [(text, each.name, found)] if found else []
    assert not faults


def test_listing_bans_mutes_or_permissions_does_not_grow_with_accounts(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """These lists read no more rows if nearly all accounts have a ban or mute, be it ended or in force."""
    monkeypatch.setattr(search, "MOST_MATCHES", 50)
    monkeypatch.setattr(search, "MOST_CANDIDATES", 100)
    finds = [sorts["name"].find for sorts in search.STATES.values()]
    every: list[Look] = [lambda tx, find=find: find(tx, "") for find in finds]
    named: list[Look] = [lambda tx, find=find: find(tx, "example") for find in finds]
    among = partial(search_rows.filter_with_powers, ids=[numbered_id("user", number) for number in range(50)])
    for bans_end, mutes_end, in_force in ((1, 1, 2), (None, NEVER, search.MOST_MATCHES)):
        _punish_all(world, "bans", bans_end)
        _punish_all(world, "mutes", mutes_end)
        assert [len(world.run(find(world.keeper.store, "")).found) for find in finds] == [in_force, in_force, 4]
        _none_grows(world, [*every, *named])
    world.sql("UPDATE users SET mute = {true}")
    _none_grows(world, [*every, among])
    engine = world.keeper.store.engine
    penalties = {"bans": search_rows.SQL.banned, "mutes": search_rows.SQL.muted}
    # SQLite's plan does not show how many rows are read and skipped, so the name of the index is checked
    for table, each in penalties.items() if engine == "sqlite" else ():
        plan = str(world.sql(f"EXPLAIN QUERY PLAN {each.render(engine, WORDS[engine])}", 100, 50))
        assert all(f"COVERING INDEX {table}_by_end (ends_at{which}?)" in plan for which in "=>")


def test_players_on_a_server_are_read_only_up_to_the_limit(world: World) -> None:
    """The list of online players reads up to its limit, on a game server with nearly all players or with few."""
    _crowd(world)
    engine, ids = world.keeper.store.engine, as_table({"id": numbered_id("player", number)} for number in range(5))
    few = [numbered_id("player", number) for number in range(ONLINE, ONLINE + 5)]
    world.call("PUT", "/api/link/v1/servers/s2", body={"Lease": 600})
    world.run(world.keeper.store.write(lambda tx: presence.join(tx, "s2", few)))
    if engine == "postgres":
        world.sql("ANALYZE")
    by_name, folds = (presence.SQL.after_name, presence.SQL.before_name), ("", numbered_name(9).lower(), "\U0010ffff")
    asked = (
        (presence.SQL.servers, (50, 5)),
        *((each, (server, fold, 50)) for each in by_name for server in ("s1", "s2") for fold in folds),
        (presence.SQL.servers_of, (ids,)),
    )
    faults = {
        statement.name: found
        for statement, values in asked
        if (found := _growing(world, statement.render(engine, WORDS[engine]), values)) and found != SERVERS
    }
    assert not faults
    # SQLite's plan does not show how many rows are read and skipped, so the name of the index is checked
    for each in by_name if engine == "sqlite" else ():
        plan = str(world.sql(f"EXPLAIN QUERY PLAN {each.render(engine, WORDS[engine])}", "s1", "", 50))
        assert "COVERING INDEX presence_by_server (server=? AND fold" in plan
        assert "TEMP B-TREE" not in plan


def test_global_search_does_not_grow_with_the_game(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Search everything by id, prefix, substring and typing error, for texts in no name, one name and all names."""
    monkeypatch.setattr(finder, "MOST_CANDIDATES", 100)
    _crowd(world)
    somebody = numbered_name(7)
    slipped = somebody[1] + somebody[0] + somebody[2:]
    texts = (somebody, slipped, "bab", "example", "zzzzzzz", "ba", "e", "17", numbered_id("player", 7))
    find = partial(
        finder.find, most=20, codec=world.keeper.changes.codec, sight=finder.Sight(accounts=True, changes=True)
    )
    _none_grows(world, [partial(find, text=text) for text in texts])


def test_names_of_items_are_looked_up_one_by_one(world: World) -> None:
    """The time to look up item names does not depend on the size of the catalogue."""
    _crowd(world)
    many = as_table({"id": numbered_id("item", number)} for number in range(PLAYERS))
    rows = "SELECT CAST(value->>'id' AS {guid}), 'x', 1 = 1, 0 FROM json_each($1)"
    world.sql(f"INSERT INTO items (id, name, stackable, bag_slots) {rows}", many)
    if world.keeper.store.engine == "postgres":
        world.sql("ANALYZE items")
    player = numbered_id("player", 7)
    whole, inventory = (
        item_rows.read_named_slots_of_player,
        partial(item_rows.read_named_slots_of_place, place="inventory"),
    )
    _none_grows(world, [partial(whole, player_id=player), partial(inventory, player_id=player)])


def test_no_read_of_the_ledger_grows_with_it(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """No read grows with the ledger: a page with its undos, a single undo, and the state at an earlier time."""
    monkeypatch.setattr(history, "WINDOW_ROWS", 40)
    monkeypatch.setattr(history, "REWIND_BATCH_ROWS", 40)
    monkeypatch.setattr(history, "MOST_REWOUND", 80)
    _crowd(world)
    player, user = numbered_id("player", 7), numbered_id("user", 7)
    _many_changes(world, player, user)
    filters = [
        HistoryFilter(),
        HistoryFilter(accounts=False),
        HistoryFilter(kind="nothing"),
        HistoryFilter(within=OF_PLAYER, whose=player),
        HistoryFilter(within=OF_USER, whose=user, reason="x"),
        HistoryFilter(within=BY_ACTOR, whose=user, item_id=player),
        HistoryFilter(within=ALL, since=1, until=2000, request_id="x"),
    ]
    recent = world.run(ledger.read_last(world.keeper.store)) - 40
    moments = [history.PointInTime(seq=recent), history.PointInTime(at=1000 * recent)]
    then = partial(history.load_state_at, key=player, codec=world.keeper.changes.codec)
    looks: list[Look] = [
        *(
            partial(history.load_page, wanted=each, before=before, limit=20)
            for each in filters
            for before in (None, 1500)
        ),
        *(partial(then, moment=at) for at in moments),
        partial(undo.require_change, seq=17),
        *(
            partial(
                ledger_rows.find_reported_of_others,
                player_id=player,
                numbers=range(start, start + 40),
                times=(0, NEVER),
                item_ids=[user],
            )
            for start in (1, recent)
        ),
    ]
    _none_grows(world, looks)


def test_few_changes_are_found_among_many_of_another_player(world: World) -> None:
    """Without our n_distinct settings PostgreSQL would assume that all changes are of one player."""
    one, few = f"CAST('{USER_IDS['Shop']}' AS {{guid}})", USER_IDS["Root"]
    names = "at, kind, over_link, request_id, actor_id, player_id, user_id"
    rows = f"SELECT 0, 'items_given', 1 = 0, '', {one}, {one}, {one} FROM json_each($1)"  # noqa: S608 - words of the test's own
    world.sql("DELETE FROM ledger")
    world.sql(f"INSERT INTO ledger ({names}) {rows}", as_table({"": ""} for _ in range(SKEWED)))
    if world.keeper.store.engine == "postgres":
        world.sql("ANALYZE ledger")
    filters = [HistoryFilter(within=within, whose=few) for within in (OF_PLAYER, OF_USER, BY_ACTOR)]
    looks: list[Look] = [
        *(partial(history.load_page, wanted=each, before=NEVER, limit=20) for each in filters),
        partial(ledger_rows.count_since, player_id=few, seq=0, most=40),
        partial(ledger_rows.read_right_before, player_id=few, before=NEVER, window=40),
        partial(ledger_rows.find_following, player_id=few, after=0, but=()),
        partial(ledger_rows.read_back, player_id=few, before=NEVER, since=0, limit=40),
        *(partial(ledger_rows.find_erased_players, player_ids=[each]) for each in (few, USER_IDS["Shop"])),
        *(partial(finder_rows.find_deleted, wanted=each) for each in (few, USER_IDS["Shop"])),
    ]
    _none_grows(world, looks)


@pytest.mark.parametrize("engine", ["postgres"])
def test_postgres_plans_a_prepared_statement_once(world: World) -> None:
    for _ in range(7):  # PostgreSQL decides on a generic plan after five executions
        assert world.get("/api/v1/players/Ann").status == 200
    kept = world.sql("SELECT statement FROM pg_prepared_statements WHERE generic_plans > 0")
    assert any("FROM player_records\nWHERE fold = COALESCE(" in text for (text,) in kept)


@pytest.mark.parametrize("engine", ["postgres"])
def test_first_message_of_a_change_does_not_grow_with_players_or_stored_answers(world: World) -> None:
    """BEGIN takes no parameters, so the Idempotency-Key and the player's name are literals in its message."""
    kept = "INSERT INTO idempotency_keys SELECT $1, id, '', '{}', 0, NULL, NULL FROM players"
    world.sql(kept, USER_IDS["Root"])
    world.sql("ANALYZE")
    key, name = numbered_id("player", 7), numbered_name(7)
    for statement, values in (
        (keys.SQL.exists, (USER_IDS["Root"], key)),
        (players.SQL.hold_by_id, (key,)),
        (players.SQL.hold_by_fold, build_parameters(name.lower(), name)),
    ):
        text = insert_values(statement.render("postgres", WORDS["postgres"]), values)
        assert len(world.sql(text)) == 1
        assert (statement.name, _growing(world, text, ())) == (statement.name, [])


async def _load(keeper: Keeper) -> None:
    await loader.load_players(keeper, PLAYERS, lambda _: None)


def _crowd(world: World) -> None:
    """Fill every table that the ordered lists read; half of the players are online."""
    ids = [numbered_id("player", number) for number in range(ONLINE)]
    world.call("PUT", "/api/link/v1/servers/s1", body={"Lease": 600})
    world.run(world.keeper.store.write(lambda tx: presence.join(tx, "s1", ids)))
    if world.keeper.store.engine == "postgres":
        # update the planner's statistics: PostgreSQL's autovacuum would do it later, SQLite never does
        world.sql("ANALYZE")


def _punish_all(world: World, table: str, ends_at: int | None) -> None:
    """Give all accounts a ban or mute with this end, except one permanent and one very long one."""
    world.sql(f"DELETE FROM {table}")  # noqa: S608 - a name of the test's own
    end = f"CASE id WHEN $2 THEN NULL WHEN $3 THEN {NEVER} ELSE CAST($1 AS {{long}}) END"
    rows = f"SELECT id, '', '', 0, {end} FROM users"  # noqa: S608 - words of the test's own
    names, spared = "user_id, reason, moderator, started_at, ends_at", (numbered_id("user", each) for each in (1, 2))
    world.sql(f"INSERT INTO {table} ({names}) {rows}", ends_at, *spared)
    if world.keeper.store.engine == "postgres":
        world.sql(f"ANALYZE {table}")


def _asked(world: World) -> Asked:
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
        world.run(_keys(listing, store))
    world.run(ours.find_rank(numbered_name(7), 5))
    return asked


def _many_changes(world: World, player: str, user: str) -> None:
    """Insert one change per player, as many again for one player and its account, and some undos."""
    row = f"CAST('{player}' AS {{guid}}), CAST('{user}' AS {{guid}})"
    names = "at, kind, actor_id, over_link, player_id, user_id, before, after, request_id, undoes"
    link = "SELECT api FROM users WHERE fold = 'ann'"
    for whose in ("p.id, p.user_id", row):
        rows = f"SELECT 0, 'player_changed', p.user_id, ({link}), {whose}, '{{}}', '{{}}', '', 0 FROM players p"  # noqa: S608 - words of the test's own
        world.sql(f"INSERT INTO ledger ({names}) {rows}")
    world.sql("UPDATE ledger SET at = 1000 * seq, undoes = CASE WHEN seq > 4500 THEN seq - 4000 END")
    world.sql("UPDATE ledger SET actor_id = $1 WHERE seq > 20", user)
    if world.keeper.store.engine == "postgres":
        world.sql("ANALYZE")


def _none_grows(world: World, looks: Sequence[Look]) -> None:
    """Require that no statement reads more rows in a larger game, except of the catalogue and the list of prefixes."""
    engine, faults = world.keeper.store.engine, list[object]()
    for number, look in enumerate(looks):
        asked: Asked = {}
        tx: Any = Watched(world.keeper.store, asked)
        world.run(look(tx))
        for each, values in asked.items():
            text = each.render(engine, WORDS[engine])
            found = [] if each is finder_rows.SQL.catalogue else _growing(world, text, values)
            faults += [(number, each.name, what) for what in found if " begins" not in what and what not in POWERFUL]
    assert not faults


async def _keys(listing: ListDefinition[Any], tx: Reading) -> None:
    """Read list keys as the maintenance of the lists does to split a full bucket."""
    await listing.load_keys(tx, listing.lowest_key, SPLIT_ROWS)


def _growing(world: World, text: str, values: Sequence[Value]) -> list[str]:
    """Return the steps of the statement's query plan that take longer with more rows."""
    if world.keeper.store.engine == "sqlite":
        return _growing_in_sqlite(world.sql(f"EXPLAIN QUERY PLAN {text}", *values))
    return _growing_in_postgres(world.run(world.keeper.store.write(_generic_plan(text, values))))


def _growing_in_sqlite(plan: Sequence[tuple[int, int, int, str]]) -> list[str]:
    """Return the full scans in SQLite's plan, and sorts of more rows than a page or an equal key gives."""
    named = {what.split()[1] for *_, what in plan if what.startswith(("CO-ROUTINE ", "MATERIALIZE "))}
    short = SHORT | named  # allowed scans include named subqueries, which have plan lines of their own
    scans = [what for *_, what in plan if what.startswith("SCAN ") and what.split()[1] not in short]
    # full-text searches are allowed, because they stop at their LIMIT
    scans = [what for what in scans if not re.search(r" VIRTUAL TABLE INDEX 0:M\d$", what)]
    ranges = {parent for _, parent, _, what in plan if what in scans or re.search(r"[<>]\(?\?", what)}
    sorts = [what for _, parent, _, what in plan if what.startswith("USE TEMP B-TREE") and parent in ranges]
    return scans + sorts


def _generic_plan(text: str, values: Sequence[Value]) -> Callable[[Writing], Coroutine[Any, Any, dict[str, Any]]]:
    """Return PostgreSQL's generic plan of a statement, which prepared statements use, with actual row counts."""
    given = ", ".join(
        "NULL" if each is None else str(each) if isinstance(each, int) else f"'{each}'" for each in values
    )
    explain = f"EXPLAIN (ANALYZE, FORMAT JSON) EXECUTE asked {f'({given})' if values else ''}"

    async def plan(tx: Writing) -> dict[str, Any]:
        await tx.returning(Statement("force", {"": "SET LOCAL plan_cache_mode = force_generic_plan"}))
        await tx.returning(Statement("prepare", {"": f"PREPARE asked AS {text}"}))
        row = await tx.one(Statement("explain", {"": explain}))
        await tx.returning(Statement("forget", {"": "DEALLOCATE asked"}))
        assert row
        return json.loads(row[0])[0]["Plan"]

    return plan


def _growing_in_postgres(plan: dict[str, Any]) -> list[str]:
    return [
        f"{node['Node Type']} {node.get('Relation Name', '')} {node.get('Alias', '')}: {rows} rows"
        for node in _nodes(plan)
        if (rows := _read(node)) > MOST_ROWS
    ]


def _nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for each in plan.get("Plans", ()):
        yield from _nodes(each)


def _read(node: dict[str, Any]) -> int:
    passed_over = sum(value for name, value in node.items() if name.startswith("Rows Removed"))
    return round((node["Actual Rows"] + passed_over) * node["Actual Loops"])
