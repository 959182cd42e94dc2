"""Query plans of API keys and of the security log: no statement reads more rows when there are more of them."""

import json
import re
from collections.abc import Callable, Coroutine, Iterator, Sequence
from typing import Any

import pytest

from gamekeeper.store import api_keys, postgres_connection, security
from gamekeeper.store import sqlite as sqlite_engine
from gamekeeper.store.engine import Value, Writing
from gamekeeper.store.statements import Statement
from gamekeeper.store.table import as_table
from people import USER_IDS, guid
from world import World

KEYS = 3000  # enough for the planners to prefer an index
FIRST = 0x100000  # number of the first key's id
PAGE = 50
MOST_ROWS = 200  # rows that a step of a plan may read: a page, or all that belongs to one account
PLACEHOLDERS = {"sqlite": sqlite_engine.PLACEHOLDERS, "postgres": postgres_connection.PLACEHOLDERS}
SHOP, CLERK = USER_IDS["Shop"], USER_IDS["Clerk"]


@pytest.fixture
def crowded(world: World) -> World:
    """Return a world in which Shop has nearly all keys, known addresses and sign-ins, and Clerk a few."""
    numbers = range(FIRST, FIRST + KEYS)
    owned = [(guid(each), CLERK if each % 500 == 0 else SHOP, each) for each in numbers]
    _insert(world, "api_keys (id, user_id, scope_id, name, permissions, created_at)", [
        f"'{key}', '{owner}', '{key}', 'bot', '[]', {at}" for key, owner, at in owned
    ])  # fmt: skip
    _insert(world, "known_addresses (holder_id, address, user_id, first_at)", [
        f"'{key}', '192.0.2.7', '{owner}', {at}" for key, owner, at in owned
    ])  # fmt: skip
    _insert(world, "security_events (id, at, kind, user_id, credential_id)", [
        f"'{key}', {at * 1000}, 'sign_in', '{SHOP}', '{key}'" for key, _, at in owned
    ])  # fmt: skip
    if world.keeper.store.engine == "postgres":
        world.sql("ANALYZE")
    return world


def _insert(world: World, table: str, rows: Sequence[str]) -> None:
    world.sql(f"INSERT INTO {table} VALUES {', '.join(f'({each})' for each in rows)}")  # noqa: S608 - ours


def test_keys_and_sign_ins_are_found_without_scan(crowded: World) -> None:
    held = as_table({"holder_id": guid(FIRST + each)} for each in range(3))
    signed_in = as_table({"id": guid(FIRST + each), "issued_at": str((FIRST + each) * 1000)} for each in range(3))
    asked: Sequence[tuple[Statement, Sequence[Value]]] = (
        (api_keys.SQL.newest, (PAGE,)),
        (api_keys.SQL.newest_of_user, (CLERK, PAGE)),
        (api_keys.SQL.live_of_user, (CLERK,)),
        (api_keys.SQL.has_role, ("shop",)),
        (security.SQL.known_addresses, (held,)),
        (security.SQL.sign_ins, (signed_in, SHOP, security.NEAR_MS)),
    )
    faults = {
        statement.name: found for statement, values in asked if (found := _find_growing(crowded, statement, values))
    }
    assert not faults


def test_statements_find_the_rows(crowded: World) -> None:
    """The plans above would be as short for statements that find nothing."""
    tx = crowded.keeper.store
    newest = crowded.run(api_keys.read_list(tx))
    assert [each.created_at for each in newest[:3]] == [FIRST + KEYS - each for each in (1, 2, 3)]
    assert len(crowded.run(api_keys.read_live_of_user(tx, CLERK))) == KEYS // 500
    assert len(crowded.run(api_keys.read_live_of_user(tx, SHOP))) == KEYS - KEYS // 500 > api_keys.LIST_LIMIT
    wanted = {guid(FIRST + each): (FIRST + each) * 1000 for each in range(3)}
    assert crowded.run(security.find_sign_ins(tx, SHOP, wanted)).keys() == wanted.keys()
    assert crowded.run(security.find_sign_ins(tx, CLERK, wanted)) == {}
    assert len(crowded.run(security.read_known_addresses(tx, list(wanted)))) == len(wanted)


def _find_growing(world: World, statement: Statement, values: Sequence[Value]) -> list[str]:
    """Return the steps of the statement's plan that take longer with more keys or events."""
    engine = world.keeper.store.engine
    text = statement.render(engine, PLACEHOLDERS[engine])
    if engine == "sqlite":
        steps = [row[3] for row in world.sql(f"EXPLAIN QUERY PLAN {text}", *values)]
        scans = [each for each in steps if each.startswith("SCAN ") and not re.match(r"SCAN (given|k USING)", each)]
        sorts = [each for each in steps if each.startswith("USE TEMP B-TREE")]
        return scans + (sorts if statement is api_keys.SQL.newest else [])
    nodes = _list_nodes(world.run(world.keeper.store.write(_explain(text, values))))
    return [f"{each['Node Type']}: {rows} rows" for each in nodes if (rows := _count_read(each)) > MOST_ROWS]


def _explain(text: str, values: Sequence[Value]) -> Callable[[Writing], Coroutine[Any, Any, dict[str, Any]]]:
    """Return PostgreSQL's generic plan, which prepared statements use, with actual row counts."""
    given = ", ".join(str(each) if isinstance(each, int) else f"'{each}'" for each in values)

    async def plan(tx: Writing) -> dict[str, Any]:
        await tx.returning(Statement("force", {"": "SET LOCAL plan_cache_mode = force_generic_plan"}))
        await tx.returning(Statement("prepare", {"": f"PREPARE asked AS {text}"}))
        row = await tx.one(Statement("explain", {"": f"EXPLAIN (ANALYZE, FORMAT JSON) EXECUTE asked ({given})"}))
        await tx.returning(Statement("forget", {"": "DEALLOCATE asked"}))
        assert row
        return json.loads(row[0])[0]["Plan"]

    return plan


def _list_nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for each in plan.get("Plans", ()):
        yield from _list_nodes(each)


def _count_read(node: dict[str, Any]) -> int:
    skipped = sum(value for name, value in node.items() if name.startswith("Rows Removed"))
    return round((node["Actual Rows"] + skipped) * node["Actual Loops"])
