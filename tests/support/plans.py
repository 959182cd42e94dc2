"""Query plans: a crowded database, and the steps of a plan that take longer with more rows."""

import json
import re
from collections.abc import Callable, Coroutine, Iterator, Sequence
from typing import Any, TypeVar

from gamekeeper.demo import loader
from gamekeeper.demo.world import make_numbered_id
from gamekeeper.game.keeper import Keeper
from gamekeeper.game.lists.list_index import SPLIT_ROWS
from gamekeeper.store.engine import postgres_connection
from gamekeeper.store.engine import sqlite as sqlite_engine
from gamekeeper.store.engine.interface import Reading, Row, Value, Writing
from gamekeeper.store.engine.statements import Statement
from gamekeeper.store.lists import search as finder_rows
from gamekeeper.store.players import presence
from world import World

T = TypeVar("T")
Asked = dict[Statement, Sequence[Value]]
Look = Callable[[Reading], Coroutine[Any, Any, Any]]
PLAYERS, ONLINE = 4000, 2000  # numbers of players and online players, enough for the planners to prefer an index
MOST_ROWS = SPLIT_ROWS + 128  # rows that one statement may read: a full bucket (part of an ordered list) and a page
WORDS = {"sqlite": sqlite_engine.PLACEHOLDERS, "postgres": postgres_connection.PLACEHOLDERS}
# SQLite plan steps that are allowed, because the scans end at the LIMIT
POWERFUL = {"SCAN users USING INDEX users_with_powers", "SCAN user_roles", "SCAN user_permissions"}
# Tables and subqueries that a query plan may scan completely, because they are short.
SHORT = {
    *("lists", "CONSTANT", "json_each", "wanted", "begins", "given", "chain", "sqlite_master", "epoch", "erasures"),
    *("economy", "inner_level"),  # the latter: of nested objects in a parameter
}


class Watched(Reading):
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


async def load_players(keeper: Keeper) -> None:
    await loader.load_players(keeper, PLAYERS, lambda _: None)


def fill_lists(world: World) -> None:
    """Fill every table that the ordered lists read; half of the players are online."""
    ids = [make_numbered_id("player", number) for number in range(ONLINE)]
    world.call("PUT", "/api/link/v1/servers/s1", body={"Lease": 600})
    world.run(world.keeper.store.write(lambda tx: presence.join(tx, "s1", ids)))
    if world.keeper.store.engine == "postgres":
        # update the planner's statistics: PostgreSQL's autovacuum would do it later, SQLite never does
        world.sql("ANALYZE")


def require_none_grows(world: World, looks: Sequence[Look]) -> None:
    """Require that no statement reads more rows in a larger game, except of the catalogue and the list of prefixes."""
    engine, faults = world.keeper.store.engine, list[object]()
    for number, look in enumerate(looks):
        asked: Asked = {}
        tx: Any = Watched(world.keeper.store, asked)
        world.run(look(tx))
        for each, values in asked.items():
            text = each.render(engine, WORDS[engine])
            found = [] if each is finder_rows.SQL.catalogue else find_growing(world, text, values)
            faults += [(number, each.name, what) for what in found if " begins" not in what and what not in POWERFUL]
    assert not faults


def find_growing(world: World, text: str, values: Sequence[Value]) -> list[str]:
    """Return the steps of the statement's query plan that take longer with more rows."""
    if world.keeper.store.engine == "sqlite":
        return _find_growing_in_sqlite(world.sql(f"EXPLAIN QUERY PLAN {text}", *values))
    return _find_growing_in_postgres(world.run(world.keeper.store.write(_make_generic_plan(text, values))))


def _find_growing_in_sqlite(plan: Sequence[tuple[int, int, int, str]]) -> list[str]:
    """Return the full scans in SQLite's plan, and sorts of more rows than a page or an equal key gives."""
    named = {what.split()[1] for *_, what in plan if what.startswith(("CO-ROUTINE ", "MATERIALIZE "))}
    short = SHORT | named  # allowed scans include named subqueries, which have plan lines of their own
    scans = [what for *_, what in plan if what.startswith("SCAN ") and what.split()[1] not in short]
    # full-text searches are allowed, because they stop at their LIMIT
    scans = [what for what in scans if not re.search(r" VIRTUAL TABLE INDEX 0:M\d$", what)]
    ranges = {parent for _, parent, _, what in plan if what in scans or re.search(r"[<>]\(?\?", what)}
    sorts = [what for _, parent, _, what in plan if what.startswith("USE TEMP B-TREE") and parent in ranges]
    return scans + sorts


def _make_generic_plan(text: str, values: Sequence[Value]) -> Callable[[Writing], Coroutine[Any, Any, dict[str, Any]]]:
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


def _find_growing_in_postgres(plan: dict[str, Any]) -> list[str]:
    return [
        f"{node['Node Type']} {node.get('Relation Name', '')} {node.get('Alias', '')}: {rows} rows"
        for node in _list_nodes(plan)
        if (rows := _count_rows(node)) > MOST_ROWS
    ]


def _list_nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for each in plan.get("Plans", ()):
        yield from _list_nodes(each)


def _count_rows(node: dict[str, Any]) -> int:
    passed_over = sum(value for name, value in node.items() if name.startswith("Rows Removed"))
    return round((node["Actual Rows"] + passed_over) * node["Actual Loops"])
