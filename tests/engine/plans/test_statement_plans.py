"""Plans of single statements: none reads more rows when its tables have more, whatever the planner knows of them.

PostgreSQL only: it plans by the statistics of tables. SQLite has none, so its plans are those of the snapshots.
"""

import functools
from collections.abc import Iterable, Sequence
from typing import Any

import pytest

from gamekeeper.demo.world import make_numbered_id, make_numbered_name
from gamekeeper.game.core.lookup import ZERO_GUID, fold
from gamekeeper.game.world import logs as log_rules
from gamekeeper.game.world.logs import LogFilter
from gamekeeper.ground.wire import PageRange
from gamekeeper.store.access import api_keys, security_log
from gamekeeper.store.audit.history import NEVER
from gamekeeper.store.engine.interface import Reading, Row, Value
from gamekeeper.store.engine.statements import (
    AFTER_CLASHES,
    Statement,
    Statements,
    as_table,
    as_tree,
    build_name_parameters,
    insert_values,
    list_files,
)
from gamekeeper.store.insight import economy
from gamekeeper.store.lists.ranked_buckets import HIGHEST, LOWEST
from gamekeeper.store.world import logs
from people import COIN, KILLS, USER_IDS
from plans import PLAYERS, WORDS, fill_lists, find_growing
from world import World

pytestmark = pytest.mark.parametrize("engine", ["postgres"], indirect=True)

SHOP, CLERK, ROOT = USER_IDS["Shop"], USER_IDS["Clerk"], USER_IDS["Root"]
PLAYER, OTHER, USER = make_numbered_id("player", 7), make_numbered_id("player", 8), make_numbered_id("user", 7)
NAME = make_numbered_name(7)
PLAYER_IDS = as_table({"id": each} for each in (PLAYER, OTHER))
NUMBERED = "(SELECT id, user_id, fold, row_number() OVER (ORDER BY id) AS number FROM players) AS made"
FILES = {path.stem: path for path in list_files()}
get_statements = functools.cache(Statements)


def render(name: str) -> str:
    """Return the text of a statement by its heading in postgres.txt."""
    noun, _, rest = name.partition(".")
    return get_statements(FILES[noun]).named[rest].render("postgres", WORDS["postgres"])


def require_none_grows(world: World, noun: str, asked: Iterable[tuple[str, Sequence[Any]]]) -> None:
    """Update the statistics, and require short plans. Each entry: the names of statements, and what they are given."""
    world.sql("ANALYZE")
    faults = [
        (name, values, step)
        for names, values in asked
        for name in names.split()
        for step in find_growing(world, render(f"{noun}.{name}"), values)
    ]
    assert not faults, "\n".join(map(str, faults))


def test_plans_of_play_sessions_and_rollups(world: World) -> None:
    """One player has thousands of sessions, all others a counted one, and half of them an open one."""
    first = make_numbered_id("player", 1)
    into = "INSERT INTO play_sessions (player_id, started_at, server, ended_at, counted_to, counted) SELECT"
    world.sql(f"{into} $1, number * 10, 's1', number * 10 + 5, number * 10 + 5, true FROM {NUMBERED}", first)
    world.sql(f"{into} id, 1, 's1', number, number, true FROM {NUMBERED} WHERE id <> $1", first)
    world.sql("INSERT INTO player_activity SELECT id, 1, 1, true, 1 FROM players")
    fill_lists(world)
    world.sql("UPDATE play_sessions SET counted_to = started_at WHERE ended_at IS NULL AND player_id <> $1", PLAYER)
    require_none_grows(world, "presence", [
        ("sessions_of_player", (first, NEVER, 50)),
        ("sessions_of_player", (PLAYER, NEVER, 50)),
        ("of_person sessions_after", (first, 100, 50)),
        ("forget_activity", (PLAYER, first.replace("0", "9"))),
        ("old_sessions", (100, 50)),
    ])  # fmt: skip
    require_none_grows(world, "activity", [
        ("has_waiting", ()),
        ("waiting", (50,)),
        ("has_continuing", (NEVER,)),
        ("continuing", (NEVER, 50)),
        ("players", (as_table({"id": each} for each in (first, PLAYER)),)),
        ("last_counted", (first,)),
        ("count_sign_ins", (5, 50)),
    ])  # fmt: skip


def test_plans_of_bulk_jobs(world: World) -> None:
    """One job has most of the players; all others have one."""
    big, small = make_numbered_id("user", 1), PLAYER
    names = "id, state, act, details, creator_id, approved, players, done, refused, held, not_found, repeated"
    world.sql(
        f"INSERT INTO bulk_jobs ({names}, created_at) SELECT id, 'finished', 'give_item', '{{}}', user_id, false, "  # noqa: S608 - ours
        f"1, 0, 0, 0, 0, 0, number FROM {NUMBERED}"
    )
    add = "INSERT INTO bulk_targets (job_id, number, state, player_id, seq) SELECT"
    world.sql(f"{add} id, 0, 'done', id, number FROM {NUMBERED}")
    world.sql(f"{add} $1, number, 'waiting', id, NULL FROM {NUMBERED}", big)
    name = fold(NAME)
    require_none_grows(world, "bulk_jobs", [
        ("find lock claim changes count_undone is_undone delete_targets delete", (small,)),
        ("page", (NEVER, ZERO_GUID, 20)),
        ("running", (20,)),
        ("waiting", (big, 20)),
        ("target_state", (big, 7)),
        ("targets", (big, 50, 20)),
        ("targets_in_state", (big, 50, 20, "refused")),
        ("set_target", (big, 7, "done", 1, None, None, None)),
        ("add_counts", (small, 1, 0, 0)),
        ("start", (small, 1, False)),
        ("pause", (small, None)),
        ("stop", (small, "finished", 1)),
        ("mark_undone", (1, None, 1)),
        ("backdate_undos undone_by", (small, 1)),
        ("players_by_name", (as_table([{"at": 0, "name": name, "fold": name, "end": name + AFTER_CLASHES}]),)),
        ("players_by_id erase_targets held", (PLAYER_IDS,)),
        ("online oldest oldest_preview", (100,)),
        ("count_previewed", (ROOT, 10)),
        ("of_person erase_jobs", (ROOT,)),
        ("targets_of_person", (USER,)),
        ("add_settled", (small, 1, 0)),
    ])  # fmt: skip


ECONOMY_ROWS = (
    "INSERT INTO holdings SELECT id, 'item', $1, exp FROM players",
    "INSERT INTO ranked_buckets SELECT 'item', $1, exp, id, 1 FROM players",
    "INSERT INTO bucket_blocks SELECT 'item', $1, exp, id, 1, 1 FROM players",
    "INSERT INTO item_flows SELECT DISTINCT CAST($1 AS uuid), exp + 7 * level, 'game', 1, 1 FROM players",
    "INSERT INTO item_days SELECT DISTINCT CAST($1 AS uuid), exp + 7 * level, 1, 1 FROM players",
    "INSERT INTO item_gifts SELECT exp, id, $1, 'staff', 1, 0 FROM players",
)


def test_plans_of_the_economy(world: World) -> None:
    item = COIN.id
    for text in ECONOMY_ROWS:
        world.sql(text, item)
    world.run(world.keeper.store.write(lambda tx: tx.returning(economy.SQL.begin, ZERO_GUID)))
    key = {"player_id": PLAYER, "kind": "item", "thing_id": item, "quantity": 1, "place": 0}
    keys = as_table([key | {"buckets": 1, "entries": 1, "step": 1}])
    ids, tree = as_table([{"id": item}]), as_tree([("item", item, PLAYER)], [1])
    right = {"item_id": item, "day": 8, "quantity": 2, "holders": 2}
    require_none_grows(world, "economy", [
        ("state", ()),
        ("changes", (NEVER - 1, NEVER, 500)),
        ("flows_of_item", (item, 8, 14)),
        ("flows_of_items", (ids, 8, 14)),
        ("days_of_item", (item, 8, 14, 414)),
        ("gifts givers", (8, 9, 5, 0)),
        ("gifts_of_item gifts_of_giver", (8, 9, 5, 0, item)),
        ("count_givers", (8, 9)),
        ("count_gifts_of_giver", (8, 9, item)),
        ("sum_of_giver", (item, 8, 9)),
        ("gifts_of_item_and_giver", (8, 9, 5, 0, item, PLAYER)),
        ("count_gifts_of_item_and_giver", (8, 9, item, PLAYER)),
        ("giver_names item_names", (ids,)),
        ("item", (item,)),
        ("save_days", (8, ids)),
        ("add_to_day", (8, as_table([{"item_id": item, "quantity": 1, "holders": 1}]))),
        ("correct_days", (as_table([right | {"read_quantity": 1, "read_holders": 1}]),)),
        ("delete_days", (ids, 8, 10)),
        ("changes_of", (as_table([{"id": PLAYER}]), 1, NEVER, 500)),
    ])  # fmt: skip
    require_none_grows(world, "holdings", [
        ("held save", (tree,)),
        ("held_between", (ZERO_GUID, make_numbered_id("player", 3))),
        ("items_between", (ZERO_GUID, ZERO_GUID)),
        ("variables_between", (ZERO_GUID, ZERO_GUID, as_table([{"id": KILLS.id}]))),
        ("players_after", (PLAYER, 5)),
        ("slot_at holding_at", (ZERO_GUID, 20)),
        ("delete", (keys,)),
    ])  # fmt: skip
    require_none_grows(world, "ranked_buckets", [
        ("find_buckets save_buckets", (keys,)),
        ("key_at buckets_from", (*LOWEST, 20, item, "item")),
        ("page", (*HIGHEST, 5, 20, item, "item")),
        ("page_up", (*LOWEST, 5, 20, item, "item")),
        ("bucket_below", (*HIGHEST, 20, item, "item")),
        ("entries_between", (3, PLAYER, 3, OTHER, item, "item")),
        ("delete_bucket", (*LOWEST, item, "item")),
        ("block_starts", ("item", item, 2, 20)),
        ("block_above delete_block", ("item", item, *LOWEST)),
        ("save_blocks", (keys,)),
    ])  # fmt: skip


def test_holdings_are_found_by_player_without_statistics(world: World) -> None:
    world.sql("ANALYZE holdings")  # while it is empty
    for text in ECONOMY_ROWS:
        world.sql(text, COIN.id)
    row = as_table([{"player_id": PLAYER, "kind": "item", "thing_id": COIN.id}])
    for name, key in (("held", as_tree([("item", COIN.id, PLAYER)], [0])), ("delete", row)):
        plan = str(world.sql("EXPLAIN " + render(f"holdings.{name}").replace("$1", f"'{key}'")))
        assert "holdings_pkey" in plan, plan
        assert "holdings_by_quantity" not in plan, plan


def fill_logs(world: World) -> None:
    """Fill the logs: nearly all entries belong to one account and one player."""
    low, high = sorted((make_numbered_id("player", 1), make_numbered_id("player", 2)))
    at = 24 * 60 * 60 * 1000 // 1000
    world.sql(
        "INSERT INTO activity_log (id, at, user_id, player_id, action, peer, address) "  # noqa: S608 - ours
        f"SELECT id, number * {at}, $1, $2, 'Login', 'Client', '192.0.2.1' FROM {NUMBERED}",
        SHOP,
        low,
    )
    world.sql(
        "INSERT INTO trade_log (id, trade_id, at, user_id, player_id, target_id, items, target_items) "  # noqa: S608 - ours
        f"SELECT id, id, number * {at}, $1, $2, $3, '[]', '[]' FROM {NUMBERED}",
        SHOP,
        low,
        high,
    )
    world.sql("INSERT INTO log_addresses (user_id, address, last_used) SELECT id, '192.0.2.1', 5 FROM users")


def test_plans_of_the_logs(world: World) -> None:
    fill_logs(world)
    world.run(world.keeper.store.write(logs.recount))
    ids = as_table({"id": each} for each in (USER, SHOP))
    whose = ((SHOP, None), (USER, None), (None, PLAYER))
    require_none_grows(world, "logs", [
        *(("activity activity_backwards", (*who, 7, 5, 20)) for who in whose),
        *(("trades trades_backwards", (*who, 7, 5, 20)) for who in (*whose, (None, None), (SHOP, PLAYER))),
        *(("counts", ("activity", *who, 0, NEVER)) for who in whose[1:]),
        ("addresses", (USER, 5, 0)),
        ("count_addresses", (USER,)),
        ("other_users", (as_table([{"address": "192.0.2.1"}]), USER, 100)),
        ("delete_activity_of_user delete_activity_naming delete_trades_of_user", (USER, 100)),
        ("delete_addresses_of_user", (USER, 100)),
        ("delete_old_activity delete_old_trades delete_old_addresses", (7, 100)),
        ("activity_of_person trades_of_person", (USER, 0, ZERO_GUID, 50)),
        ("activity_naming_person", (USER, ZERO_GUID, 50)),
        ("lock_users item_names", (ids,)),
        ("named_users", (as_table([{"fold": "ann"}]),)),
    ])  # fmt: skip


def test_page_deep_inside_a_long_log_skips_only_a_day_or_minute(world: World) -> None:
    fill_logs(world)
    world.sql(
        "INSERT INTO activity_log (id, at, user_id, action, peer) "
        "SELECT id, row_number() OVER (ORDER BY id) * 86400, $1, 'FailedLogin', 'Client' FROM users",
        ZERO_GUID,
    )
    world.run(world.keeper.store.write(logs.recount))
    skipped: list[int] = []

    class Watch(Reading):
        def __init__(self, tx: Reading) -> None:
            self._tx = tx

        async def all(self, statement: Statement, *values: Value) -> Sequence[Row]:
            if statement in (logs.SQL.activity, logs.SQL.trades):
                skipped.append(int(str(values[4])))
            return await self._tx.all(statement, *values)

        async def one(self, statement: Statement, *values: Value) -> Row | None:
            return await self._tx.one(statement, *values)

    async def read(tx: Reading) -> list[int]:
        watched = Watch(tx)
        part = PageRange(1, PLAYERS - 3, 50)
        activity = await log_rules.load_activity(watched, LogFilter(user_id=SHOP), part)
        trades = await log_rules.load_trades(watched, LogFilter(), part)
        failed = await log_rules.load_activity(watched, LogFilter(user_id=ZERO_GUID), PageRange(10, 50, 50))
        assert len(failed[1]) == 50
        return [len(activity[1]), len(trades[1]), activity[0], trades[0]]

    found = world.run(world.keeper.store.read(read))
    assert found[:2] == [found[2] - PLAYERS + 3, found[3] - PLAYERS + 3]
    assert skipped[0] < 1500  # entries of one day
    assert max(skipped[1:]) < 10  # all trades and the entries without an account are counted by minute


def test_plans_of_tokens_and_mails(world: World) -> None:
    """One account may own all tokens, like a website that logs in before every call, and all mails."""
    for table, columns, values in (
        (
            "tokens",
            "issued_at, family_id, access_hash, read_only, access_expires, refresh_expires",
            "id, id, true, 0, 0",
        ),
        ("mails", "queued_at, kind, address, expires_at, tries", "'password_reset', '', 0, 0"),
    ):
        chosen = f"SELECT id, CAST($1 AS uuid), number, {values} FROM {NUMBERED}"  # noqa: S608 - words of the test's own
        world.sql(f"INSERT INTO {table} (id, user_id, {columns}) {chosen}", SHOP)
    require_none_grows(world, "tokens", [
        ("newest", (PLAYERS, ZERO_GUID, 50, None)),
        ("newest", (PLAYERS, ZERO_GUID, 50, SHOP)),
        ("revoke_sessions", (CLERK, None)),
        ("found", (None, PLAYER)),
        ("found", (PLAYER, None)),
    ])  # fmt: skip
    require_none_grows(world, "mails", [
        ("newest", (PLAYERS, ZERO_GUID, 50)),
        ("newest_of_user", (PLAYERS, ZERO_GUID, 50, SHOP)),
        ("outgoing", (PLAYER,)),
        ("count_recent_failures counts", (NEVER, 50)),
        ("any_due", ()),
        ("next_due", (1,)),
        ("wait_of_user wait_of_caller", (CLERK, 3, 3_600_000)),
    ])  # fmt: skip
    require_none_grows(world, "search", [("by_id_range", (PLAYER, OTHER, 3))])


def test_plans_of_the_security_log(world: World) -> None:
    """Nearly all events may be sign-ins of one account: others are still found by an index."""
    world.sql(
        "INSERT INTO security_events (id, at, kind, user_id, actor_id) "  # noqa: S608 - words of the test's own
        f"SELECT id, number, 'sign_in', CAST($1 AS uuid), $1 FROM {NUMBERED}",
        SHOP,
    )
    accounts, kinds = (None, SHOP, USER), (None, "sign_in", "role_edited")
    pages = [(NEVER, ZERO_GUID, 0, NEVER, 50, who, kind) for who in accounts for kind in kinds]
    require_none_grows(world, "security_log", [
        *(("page", each) for each in pages),
        ("page", (NEVER, ZERO_GUID, 5, 500, 50, None, None)),
        ("of_person", (USER, 0, ZERO_GUID, 50)),
        ("delete_of_user", (USER, 100)),
        ("blank_by_actor", (SHOP, 100)),
    ])  # fmt: skip


def test_plans_of_api_keys_with_their_sign_ins(world: World) -> None:
    """One account has nearly all keys, known addresses and sign-ins, and another a few."""
    owner = f"CAST(CASE WHEN number % 500 = 0 THEN '{CLERK}' ELSE '{SHOP}' END AS uuid)"
    for table, values in (
        ("api_keys (id, user_id, scope_id, name, permissions, created_at)", f"id, {owner}, id, '', '[]', number"),
        ("api_key_texts (hash, key_id)", "CAST(id AS TEXT), id"),
        ("known_addresses (holder_id, address, user_id, first_at)", f"id, '192.0.2.7', {owner}, number"),
        (
            "security_events (id, at, kind, user_id, credential_id)",
            f"id, number * 1000, 'sign_in', CAST('{SHOP}' AS uuid), id",
        ),
    ):
        world.sql(f"INSERT INTO {table} SELECT {values} FROM {NUMBERED}")  # noqa: S608 - ours
    newest = world.run(api_keys.read_list(world.keeper.store))
    held = as_table({"holder_id": each.id} for each in newest[:3])
    signed_in = as_table({"id": each.id, "issued_at": str(each.created_at * 1000)} for each in newest[:3])
    require_none_grows(world, "api_keys", [
        ("find find_by_hash", (PLAYER,)),
        ("newest", (50,)),
        ("newest_of_user", (CLERK, 50)),
        ("ids_of_user live_of_user", (CLERK,)),
        ("has_role", ("shop",)),
    ])  # fmt: skip
    require_none_grows(world, "security_log", [
        ("known_addresses", (held,)),
        ("sign_ins", (signed_in, SHOP, security_log.NEAR_MS)),
    ])  # fmt: skip
    tx = world.keeper.store
    assert newest[0].created_at > newest[1].created_at
    assert len(world.run(api_keys.read_live_of_user(tx, CLERK))) == PLAYERS // 500
    # an erasure blanks the answers of all keys, also of more than a list shows
    assert len(world.run(api_keys.read_ids_of_user(tx, SHOP))) > PLAYERS - PLAYERS // 500 > api_keys.LIST_LIMIT
    wanted = {each.id: each.created_at * 1000 for each in newest[:3]}
    assert world.run(security_log.find_sign_ins(tx, SHOP, wanted)).keys() == wanted.keys()
    assert world.run(security_log.find_sign_ins(tx, CLERK, wanted)) == {}
    assert len(world.run(security_log.read_known_addresses(tx, list(wanted)))) == len(wanted)


def test_prepared_statement_is_planned_once(world: World) -> None:
    for _ in range(7):  # PostgreSQL decides on a generic plan after five executions
        assert world.get("/api/v1/players/Ann").status == 200
    kept = world.sql("SELECT statement FROM pg_prepared_statements WHERE generic_plans > 0")
    assert any("FROM player_records\nWHERE fold = COALESCE(" in text for (text,) in kept)


def test_first_message_of_a_change_does_not_grow_with_players_or_stored_answers(world: World) -> None:
    """BEGIN takes no parameters, so the Idempotency-Key and the player's name are literals in its message."""
    world.sql("INSERT INTO idempotency_keys SELECT $1, id, '', '{}', 0, NULL, NULL FROM players", ROOT)
    world.sql("ANALYZE")
    for name, values in (
        ("idempotency_keys.exists", (ROOT, PLAYER)),
        ("players.hold_by_id", (PLAYER,)),
        ("players.hold_by_fold", build_name_parameters(NAME.lower(), NAME)),
    ):
        text = insert_values(render(name), values)
        assert len(world.sql(text)) == 1
        assert (name, find_growing(world, text, ())) == (name, [])
