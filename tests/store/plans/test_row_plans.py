"""Query plans of single rows: tokens, mails, keys, events, approvals and erasures are found without a scan."""

import re
from typing import Any

import pytest

import people
from gamekeeper.demo.names import make_numbered_id, make_numbered_name
from gamekeeper.game import lookup
from gamekeeper.game.imported_hashes import format_imported
from gamekeeper.game.lookup import ZERO_GUID
from gamekeeper.store import (
    api_keys,
    approvals,
    bulk_jobs,
    erasures,
    finder,
    hash_upgrades,
    idempotency_keys,
    ledger,
    mails,
    moderation,
    notes,
    players,
    security,
    tokens,
    variables,
)
from gamekeeper.store.history import NEVER
from gamekeeper.store.names import build_parameters
from gamekeeper.store.statements import insert_values
from gamekeeper.store.table import as_table
from people import USER_IDS
from plans import PLAYERS, WORDS, Asked, Watched, find_growing
from world import World

# PostgreSQL only: it plans by the statistics of tables. SQLite has none, so its plans are those of the snapshots.
pytestmark = pytest.mark.parametrize("engine", ["postgres"], indirect=True)


@pytest.mark.parametrize("left", [0, PLAYERS // 2])
def test_imported_passwords_are_found_without_scan(world: World, left: int) -> None:
    world.sql(
        "UPDATE users SET password = $1 WHERE id < $2", format_imported("SALT", "HASH"), make_numbered_id("user", left)
    )
    engine = world.keeper.store.engine
    world.sql("ANALYZE")
    text = hash_upgrades.SQL.imported.render(engine, WORDS[engine])
    for start in (ZERO_GUID, make_numbered_id("user", 7)):
        assert find_growing(world, text, (start, 16)) == []


def test_variables_of_a_player_are_found_without_scan(world: World) -> None:
    engine, somebody, variable = world.keeper.store.engine, make_numbered_id("player", 7), people.guid(0xD00)
    world.sql("INSERT INTO player_texts SELECT id, CAST($1 AS {guid}), 'Number', '2.5' FROM players", variable)
    world.sql("ANALYZE")
    for statement, given in (
        (variables.SQL.all_of_player, (somebody,)),
        (variables.SQL.any_of_player, (somebody, variable)),
    ):
        text = statement.render(engine, WORDS[engine])
        assert find_growing(world, text, given) == []
        assert [row[3] for row in world.sql(text, *given) if row[0] == variable] == ["2.5"]


def test_other_players_of_an_account_are_found_without_scan(world: World) -> None:
    engine, given = world.keeper.store.engine, (make_numbered_id("user", 7), make_numbered_id("player", 7), 5)
    world.sql("ANALYZE")
    text = players.SQL.other_names_of_user.render(engine, WORDS[engine])
    assert find_growing(world, text, given) == []


def test_person_is_erased_without_scan(world: World) -> None:
    engine, somebody = world.keeper.store.engine, make_numbered_id("user", 7)
    kept = "INSERT INTO idempotency_keys (account_id, key, fingerprint, answer, at, player_id, user_id)"
    for about, table in (("id, NULL", "players"), ("NULL, id", "users")):
        world.sql(f"{kept} SELECT $1, id, '', CAST('{{}}' AS {{document}}), 0, {about} FROM {table}", ZERO_GUID)  # noqa: S608 - words of the test's own
    for table in ("bans", "mutes"):
        world.sql(f"DELETE FROM {table}")  # noqa: S608 - a name of the test's own
        world.sql(f"INSERT INTO {table} (user_id, reason, moderator, started_at) SELECT id, '', name, 0 FROM users")  # noqa: S608 - a name of the test's own
    world.sql("ANALYZE")
    ids = as_table({"id": make_numbered_id("player", number)} for number in range(3))
    player, names = make_numbered_id("player", 7), as_table([{"name": make_numbered_name(7)}])
    faults = {
        statement.name: found
        for statement, values in (
            *((erasures.SQL.blank_changes, (each, 0, NEVER, 100)) for each in (somebody, player)),
            (erasures.SQL.blank_keys_of_player, (player, 100)),
            (erasures.SQL.blank_keys_of_user, (somebody, 100)),
            (erasures.SQL.own_keys, (somebody, "", 100)),
            (erasures.SQL.blank_own_keys, (somebody, "", "z")),
            (erasures.SQL.count_left, (100,)),
            (idempotency_keys.SQL.find, (somebody, "k")),
            (ledger.SQL.count_about, (somebody, ids, 100)),
            (moderation.SQL.blank_bans_by, (somebody, names)),
            (moderation.SQL.blank_mutes_by, (somebody, names)),
            (erasures.SQL.account_names, (somebody,)),
            (erasures.SQL.next_names, (player, 0, NEVER, 100)),
            (erasures.SQL.blank_named, (names, somebody)),
            (erasures.SQL.blank_given, (names,)),
            (ledger.SQL.deleted_of_user, (somebody,)),
            (players.SQL.lock_of_user, (somebody,)),
        )
        if (found := find_growing(world, statement.render(engine, WORDS[engine]), values))
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
    world.sql("ANALYZE")
    for statement, values in (
        (tokens.SQL.newest, (PLAYERS, ZERO_GUID, 50, None)),
        (tokens.SQL.newest, (PLAYERS, ZERO_GUID, 50, shop)),
        (tokens.SQL.revoke_sessions, (USER_IDS["Clerk"], None)),
        (mails.SQL.newest, (PLAYERS, ZERO_GUID, 50)),
        (mails.SQL.newest_of_user, (PLAYERS, ZERO_GUID, 50, shop)),
        (mails.SQL.outgoing, (make_numbered_id("player", 7),)),
        (mails.SQL.count_recent_failures, (NEVER, 50)),
        (mails.SQL.counts, (NEVER, 50)),
        (tokens.SQL.found, (None, make_numbered_id("player", 7))),
        (tokens.SQL.found, (make_numbered_id("player", 7), None)),
        (finder.SQL.by_id_range, (make_numbered_id("player", 7), make_numbered_id("player", 8), 3)),
    ):
        found = find_growing(world, statement.render(engine, WORDS[engine]), values)
        assert [each for each in found if not re.search("LAST TERM|RIGHT PART", each)] == []


def test_security_log_is_read_and_erased_without_scan(world: World) -> None:
    """Nearly all events may be sign-ins of one account: others are still found by an index."""
    engine, shop = world.keeper.store.engine, USER_IDS["Shop"]
    made = "SELECT id, row_number() OVER (ORDER BY id) AS number FROM players"
    world.sql(
        "INSERT INTO security_events (id, at, kind, user_id, actor_id) "  # noqa: S608 - words of the test's own
        f"SELECT id, number, 'sign_in', CAST($1 AS {{guid}}), CAST($1 AS {{guid}}) FROM ({made}) AS made",
        shop,
    )
    world.sql("ANALYZE")
    whole, other = (0, NEVER), make_numbered_id("user", 7)
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
        if (found := find_growing(world, statement.render(engine, WORDS[engine]), values))
    }
    assert not faults


def test_api_keys_are_found_without_scan(world: World) -> None:
    engine, other, shop = world.keeper.store.engine, make_numbered_id("user", 7), USER_IDS["Shop"]
    names = "id, user_id, scope_id, name, permissions, created_at"
    world.sql(f"INSERT INTO api_keys ({names}) SELECT id, user_id, id, '', '[]', 0 FROM players")  # noqa: S608 - words of the test's own
    world.sql("INSERT INTO api_key_texts (hash, key_id) SELECT CAST(id AS TEXT), id FROM api_keys")
    world.sql("ANALYZE")
    key = make_numbered_id("player", 7)
    faults = {
        statement.name: found
        for statement, values in (
            (api_keys.SQL.find, (key,)),
            (api_keys.SQL.find_by_hash, (key,)),
            (api_keys.SQL.newest_of_user, (other, 50)),
            (api_keys.SQL.ids_of_user, (other,)),
        )
        if (found := find_growing(world, statement.render(engine, WORDS[engine]), values))
    }
    assert not faults
    world.sql("UPDATE api_keys SET user_id = $1", shop)
    # an erasure blanks the answers of all keys, also of more than a list shows
    found = world.run(api_keys.read_ids_of_user(world.keeper.store, shop))
    assert len(found) >= PLAYERS > api_keys.LIST_LIMIT


@pytest.mark.parametrize("state", ["waiting", "done"])
def test_approvals_are_found_counted_and_erased_without_scan(world: World, state: str) -> None:
    """Nearly all requests may be those of one account, and in one state."""
    engine, shop, other, player = (
        world.keeper.store.engine,
        USER_IDS["Shop"],
        make_numbered_id("user", 7),
        make_numbered_id("player", 7),
    )
    names = "id, state, rule, requested_at, expires_at, actor_id, scope_id, method, path, query, content_type, body"
    made = "SELECT id, user_id, row_number() OVER (ORDER BY id) AS number FROM players"
    world.sql(
        f"INSERT INTO approvals ({names}, state_fingerprint, preview, player_id, user_id) "  # noqa: S608 - ours
        f"SELECT id, '{state}', '', number, {NEVER}, CAST($1 AS {{guid}}), id, '', '', '', '', '', '', "
        f"CAST('[]' AS {{json}}), id, user_id FROM ({made}) AS made",
        shop,
    )
    gave = "INSERT INTO approval_gifts (day, actor_id, item_id, quantity) SELECT 1, id, id, 1 FROM players"
    world.sql(gave)
    world.sql("ANALYZE")
    ids = as_table({"id": each} for each in (player, make_numbered_id("player", 8)))
    faults = {
        (statement.name, values): found
        for statement, values in (
            (approvals.SQL.find, (player,)),
            (approvals.SQL.lock, (player,)),
            *((approvals.SQL.page, (NEVER, ZERO_GUID, 20, each)) for each in (None, "waiting", "done")),
            (approvals.SQL.count_waiting, (100,)),
            (approvals.SQL.count_waiting_of, (shop, 100)),
            (approvals.SQL.decide, (player, "denied", other, None)),
            (approvals.SQL.renew_preview, (player, "", "[]")),
            (approvals.SQL.expired, (100,)),
            (approvals.SQL.expire, (ids,)),
            (bulk_jobs.SQL.held, (ids,)),
            (approvals.SQL.of_person, (other,)),
            (approvals.SQL.erase, (ids, other)),
            (approvals.SQL.delete_old, (100, 50)),
            (approvals.SQL.add_gifts, (other, player, 1)),
        )
        if (found := find_growing(world, statement.render(engine, WORDS[engine]), values))
    }
    assert not faults, "\n".join(map(str, faults.items()))


def test_notes_and_tags_are_found_without_scan(world: World) -> None:
    engine, user, player = world.keeper.store.engine, make_numbered_id("user", 7), make_numbered_id("player", 7)
    names = "id, user_id, player_id, author_id, at, warning, text"
    made = "SELECT id, user_id, row_number() OVER (ORDER BY id) AS number FROM players"
    world.sql(
        f"INSERT INTO notes ({names}) "  # noqa: S608 - ours
        f"SELECT id, user_id, id, CAST($1 AS {{guid}}), number, true, 'x' FROM ({made}) AS made",
        USER_IDS["Shop"],
    )
    world.sql("INSERT INTO tags (user_id, player_id, tag) SELECT user_id, id, 'common' FROM players")
    world.sql("ANALYZE")
    ids = as_table({"id": each} for each in (player, make_numbered_id("player", 8)))
    faults = {
        statement.name: found
        for statement, values in (
            (notes.SQL.find, (player,)),
            (notes.SQL.delete, (player,)),
            (notes.SQL.newest, (NEVER, ZERO_GUID, 20)),
            (notes.SQL.of_user, (NEVER, ZERO_GUID, 20, user)),
            (notes.SQL.of_player, (NEVER, ZERO_GUID, 20, player)),
            (notes.SQL.tags, (user, player)),
            (notes.SQL.clear_tags, (user, player)),
            (notes.SQL.tagged, ("common", ZERO_GUID, ZERO_GUID, 20)),
            (notes.SQL.erase_notes, (ids,)),
            (notes.SQL.erase_tags, (ids,)),
            (notes.SQL.of_person, (user,)),
            (notes.SQL.tags_of_person, (user,)),
        )
        if (found := find_growing(world, statement.render(engine, WORDS[engine]), values))
    }
    assert not faults, "\n".join(map(str, faults.items()))


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


def test_postgres_plans_a_prepared_statement_once(world: World) -> None:
    for _ in range(7):  # PostgreSQL decides on a generic plan after five executions
        assert world.get("/api/v1/players/Ann").status == 200
    kept = world.sql("SELECT statement FROM pg_prepared_statements WHERE generic_plans > 0")
    assert any("FROM player_records\nWHERE fold = COALESCE(" in text for (text,) in kept)


def test_first_message_of_a_change_does_not_grow_with_players_or_stored_answers(world: World) -> None:
    """BEGIN takes no parameters, so the Idempotency-Key and the player's name are literals in its message."""
    kept = "INSERT INTO idempotency_keys SELECT $1, id, '', '{}', 0, NULL, NULL FROM players"
    world.sql(kept, USER_IDS["Root"])
    world.sql("ANALYZE")
    key, name = make_numbered_id("player", 7), make_numbered_name(7)
    for statement, values in (
        (idempotency_keys.SQL.exists, (USER_IDS["Root"], key)),
        (players.SQL.hold_by_id, (key,)),
        (players.SQL.hold_by_fold, build_parameters(name.lower(), name)),
    ):
        text = insert_values(statement.render("postgres", WORDS["postgres"]), values)
        assert len(world.sql(text)) == 1
        assert (statement.name, find_growing(world, text, ())) == (statement.name, [])
