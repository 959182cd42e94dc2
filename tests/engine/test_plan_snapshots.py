"""The query plan of every statement on each engine is the one in tests/engine/plans/sqlite.txt or postgres.txt.

After a wanted change: UPDATE_PLANS=1 .venv/bin/pytest tests/engine/test_plan_snapshots.py, then read the difference.
The database has the schema and no statistics, so that a plan depends on the statement, the schema and the engine only.
Statements that are put together while the server runs, such as filters, are not in the files.
"""

import asyncio
import json
import os
import re
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import apsw
import pytest

import world as worlds
from gamekeeper.store.engine import postgres_connection, sqlite
from gamekeeper.store.engine.migrate import migrate
from gamekeeper.store.engine.schema import assemble
from gamekeeper.store.engine.statements import Statements, count_parameters, list_files
from postgres_sessions import connected

Plans = dict[str, list[str]]  # the lines of the plan of each statement
PLANNED = re.compile(r"(--[^\n]*\n|\s)*(SELECT|INSERT|UPDATE|DELETE|WITH)\b")  # not PRAGMA, CREATE and the like
HEADING = "## "
FILES = Path(__file__).parent / "plans"
UPDATE = "UPDATE_PLANS"  # environment variable that has the files written
# what a line shows of a node of PostgreSQL's plans
SHOWN = ("Node Type", "Join Type", "Operation", "Index Name", "Relation Name", "Function Name", "CTE Name")


def list_statements() -> Iterator[tuple[str, Callable[[str], str]]]:
    words = {"sqlite": sqlite.PLACEHOLDERS, "postgres": postgres_connection.PLACEHOLDERS}
    for file in list_files():
        for name, statement in Statements(file).named.items():
            yield f"{file.stem}.{name}", lambda engine, each=statement: each.render(engine, words[engine])


def explain_on_sqlite(url: str) -> Plans:
    with closing(vars(sqlite)["_connect"](Path(url.removeprefix("sqlite:///")))) as db:
        return {
            name: _explain_on_sqlite(db, text.replace("$", "?"))
            for name, render in list_statements()
            if PLANNED.match(text := render("sqlite"))
        }


def _explain_on_sqlite(db: apsw.Connection, text: str) -> list[str]:
    depths = {0: 0}
    lines: list[str] = []
    count = max((int(number) for number in re.findall(r"\?(\d+)", text)), default=0)
    for own, parent, _, what in db.execute(f"EXPLAIN QUERY PLAN {text}", [None] * count):
        depths[own] = depths[parent] + 1
        lines.append("  " * (depths[own] - 1) + what)
    return lines


async def explain_on_postgres(url: str) -> Plans:
    async with connected(url) as db:
        # Tables without rows are small for the planner: without this it would read them whole.
        await db.execute("SET plan_cache_mode = force_generic_plan; SET enable_seqscan = off; SET jit = off")
        return {
            name: await _explain_on_postgres(db, text)
            for name, render in list_statements()
            if PLANNED.match(text := render("postgres"))
        }


async def _explain_on_postgres(db: Any, text: str) -> list[str]:
    values = ", ".join(["NULL"] * count_parameters(text))
    await db.execute(f"PREPARE asked AS {text}")
    (row,) = await db.fetch(f"EXPLAIN (FORMAT JSON, COSTS OFF) EXECUTE asked {f'({values})' if values else ''}")
    await db.execute("DEALLOCATE asked")
    return list(_list_nodes(json.loads(row[0])[0]["Plan"], 0))


def _list_nodes(node: dict[str, Any], depth: int) -> Iterator[str]:
    yield "  " * depth + " ".join(str(node[each]) for each in SHOWN if each in node)
    for each in node.get("Plans", ()):
        yield from _list_nodes(each, depth + 1)


def read(file: Path) -> Plans:
    if not file.exists():
        return {}
    parts = file.read_text(encoding="utf-8").split(HEADING)[1:]
    return {lines[0]: lines[1:] for lines in (part.rstrip("\n").split("\n") for part in parts)}


def describe(name: str, before: Plans, now: Plans) -> str:
    """Say which plan a statement had, and which one it has."""
    sides = ("\n".join(f"    {line}" for line in plans.get(name, ["(no plan)"])) for plans in (before, now))
    return "{name}\n  had:\n{0}\n  has:\n{1}".format(*sides, name=name)


@pytest.fixture
def planned(empty_database: str) -> str:
    asyncio.run(worlds.at_work(empty_database, lambda keeper: migrate(keeper.store)))
    return empty_database


@pytest.mark.both_engines
def test_each_statement_has_the_plan_of_the_snapshot(engine: str, planned: str) -> None:
    plans = explain_on_sqlite(planned) if engine == "sqlite" else asyncio.run(explain_on_postgres(planned))
    file = FILES / f"{engine}.txt"
    if os.environ.get(UPDATE):
        parts = ("\n".join([f"{HEADING}{name}", *lines]) for name, lines in plans.items())
        file.write_text("\n".join(parts) + "\n", encoding="utf-8")
    before = read(file)
    changed = [describe(each, before, plans) for each in (before | plans) if before.get(each) != plans.get(each)]
    assert not changed, f"{len(changed)} plans changed; see this file's docstring\n" + "\n".join(changed)


# statements that read a table outside of the JSON, but search it by the values of the JSON, too; or that read a range
# of the audit log and look into the JSON for each change
SEARCHED_BY_VALUE = {"feed.acknowledge", "history.reported_of_others"}


def test_sqlite_looks_up_each_given_row_instead_of_reading_a_table_around_it() -> None:
    """Rows are given as JSON. SQLite could read a table, and look into the JSON for each of its rows."""
    given = {name for name, render in list_statements() if "json_each" in render("sqlite")} - SEARCHED_BY_VALUE
    plans = {name: plan for name, plan in read(FILES / "sqlite.txt").items() if name in given}
    faults = [
        (name, step)
        for name, plan in plans.items()
        for number, line in enumerate(plan)
        if "VIRTUAL TABLE" in line
        for step in _list_around(plan[:number], _count_indent(line))
        if step.startswith(("SEARCH", "SCAN")) and "VIRTUAL TABLE" not in step
    ]
    assert faults == []
    assert len(plans) > 150


# a table that grows with the game or with its use, and the alias that a statement gives it
LARGE = re.compile(
    r"\b(users|players|bags|slots|known_spells|player_variables|player_texts|guilds|guild_members|holdings|standings|"
    r"presence|play_sessions|player_activity|player_gains|ledger|item_days|item_flows|item_gifts|gift_totals|tokens|"
    r"idempotency_keys|bans|mutes|resets|mails|notes|tags|deliveries|approvals|bulk_targets|security_events|"
    r"activity_log|trade_log|log_addresses|identities|second_factors|recovery_codes|known_callers|known_addresses|"
    r"player_leftovers|user_leftovers)\b(?:\s+(?:AS\s+)?([a-z]\w*))?"
)
# the statements that may scan a large table, by the reason
SCANNING = {
    "the doctor reads everything": {
        *("economy.flow_items", "economy.key_givers", "guilds.miscounted", "holdings.list_sums"),
        *("items.count_slots_beyond", "items.orphan_slots", "items.stray_bags", "items.sum_quantities"),
        *("ledger.backward_steps", "mails.count_failed", "players.count_spells_beyond", "standings.sums"),
        "presence.disagreeing_sessions",
    },
    "the start of a server counts each list and divides it into blocks": {
        *("players.count", "players.lows_by_name", "players.lows_by_rank", "presence.count", "presence.lows_by_name"),
        *("presence.lows_by_rank", "users.count", "users.lows_by_email", "users.lows_by_name"),
    },
    "a restored copy of a database is prepared": {"copies.revoke_tokens", "logs.count_all", "presence.drop_everybody"},
    "the scan ends at its LIMIT": {
        *("activity.oldest_event", "guilds.by_founding", "guilds.by_founding_desc", "guilds.by_members"),
        *("guilds.by_members_desc", "guilds.by_name", "guilds.by_name_desc", "guilds.called", "guilds.count"),
    },
}
ON_THE_FLY = {"copies.tables"}  # may build an index while it runs: of the names of the tables
SCAN = re.compile(r"SCAN (\w+)(?: EXISTS)?(?: USING (?:COVERING )?INDEX (\w+))?")


def test_sqlite_scans_no_large_table_and_builds_no_index_while_a_statement_runs() -> None:
    """A partial index, such as that of the accounts with powers, may be scanned: it has few of the table's rows."""
    partial = {each.name for each in assemble("sqlite") if each.kind == "INDEX" and "WHERE" in each.text}
    texts = {name: render("sqlite") for name, render in list_statements()}
    scanning, on_the_fly = set[str](), set[str]()
    for name, plan in read(FILES / "sqlite.txt").items():
        large = {each for names in LARGE.findall(texts[name]) for each in names}
        scans = [found for line in plan if (found := SCAN.fullmatch(line.strip()))]
        if any(table in large and index not in partial for table, index in (scan.groups() for scan in scans)):
            scanning.add(name)
        if any("AUTOMATIC" in line for line in plan):
            on_the_fly.add(name)
    assert scanning == set().union(*SCANNING.values())
    assert on_the_fly == ON_THE_FLY


def _list_around(before: list[str], indent: int) -> Iterator[str]:
    """Yield the earlier steps of a plan's level: the loops around a step."""
    for line in reversed(before):
        if _count_indent(line) < indent:
            return
        if _count_indent(line) == indent:
            yield line.strip()


def _count_indent(line: str) -> int:
    return len(line) - len(line.lstrip())
