"""The doctor's check of single values: JSON that cannot be read, and times and change numbers that nothing can show.

The columns are those of schema.sql: JSON by its placeholder, times by placeholder and name.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import msgspec

from gamekeeper.doctor.findings import ERROR, REPAIR_ADVICE, Findings, Progress
from gamekeeper.store.engine import clock, copies
from gamekeeper.store.engine.interface import Snapshot, Store

MAX_CHANGE = 1 << 53  # highest change number: JSON numbers of JavaScript are exact up to it
YEAR_MS = 366 * 24 * 60 * 60 * 1000
FIRST_TIME, LAST_TIME = -62_135_596_800_000, 253_402_300_799_999  # ms since 1970: the years 1 to 9999
# Columns that the clock of SQLite continues from, and those that `seq` continues from.
CLOCKS = {("ledger", "at"), ("tokens", "issued_at"), ("tokens", "last_used")}
NUMBERS = {("ledger", "seq")}
GAME_TIMES = {("server_variables", "created_at"), ("guild_variables", "created_at")}  # numbers of the game's own
_json = msgspec.json.Decoder(msgspec.Raw)


class Rule(NamedTuple):
    problem: str
    is_good: Callable[[Any], bool]


async def check(tx: Snapshot, found: Findings, store: Store, progress: Progress) -> None:
    """Check the JSON, times and change numbers of all tables."""
    now = await clock.now(tx) - store.collect_stats().clock_lead_ms  # of the system: SQLite's may follow a wrong row
    # PostgreSQL checks its JSON columns itself
    json_types = {"json_text"} if store.engine == "postgres" else {"json_text", "json", "document"}
    tables = await copies.list_tables(tx)
    for done, table in enumerate(tables, 1):
        rules = _find_rules(table, now, json_types)
        if rules:
            await _check_table(tx, found, table, rules)
        progress("values", done, len(tables))


def _find_rules(table: str, now: int, json_types: set[str]) -> dict[str, Rule]:
    rules: dict[str, Rule] = {}
    for column, word in copies.read_column_types(table).items():
        if word in json_types:
            rules[column] = Rule("not JSON", _is_json)
        elif (table, column) in NUMBERS:
            rules[column] = _limit(f"not from 1 to {MAX_CHANGE}", 1, MAX_CHANGE)
        elif (table, column) in CLOCKS:
            rules[column] = _limit("before 1970 or more than a year ahead", 0, now + YEAR_MS)
        elif copies.is_time(column, word) and (table, column) not in GAME_TIMES:
            rules[column] = _limit("not a time from the year 1 to 9999", FIRST_TIME, LAST_TIME)
    return rules


def _limit(problem: str, least: int, most: int) -> Rule:
    def is_between(value: object) -> bool:
        return isinstance(value, int) and least <= value <= most

    return Rule(problem, is_between)


def _is_json(value: str | bytes) -> bool:
    try:
        _json.decode(value)
    except (ValueError, RecursionError):
        return False
    return True


async def _check_table(tx: Snapshot, found: Findings, table: str, rules: Mapping[str, Rule]) -> None:
    bad: Counter[str] = Counter()
    checks = [(number, column, rule.is_good) for number, (column, rule) in enumerate(rules.items())]
    async for rows in tx.read_table(table, list(rules)):
        for number, column, is_good in checks:
            bad[column] += sum(1 for row in rows if row[number] is not None and not is_good(row[number]))
    for column, count in bad.items():
        if count:
            what = f"{count} rows of the table {table} have a value in {column} that is {rules[column].problem}."
            found.add(ERROR, "values", f"{what} {REPAIR_ADVICE}")
