"""The doctor's checks of the audit log and of single values.

The audit log must have the item totals of the slots, and its time must not go back. Single values are JSON that cannot
be read, and times and change numbers that nothing can show; `schema` knows which columns have them.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

import msgspec

from gamekeeper.doctor import findings
from gamekeeper.doctor.findings import ERROR, MAX_SHOWN, Check, DoctorFinding, Examination, Findings
from gamekeeper.store.core import ledger
from gamekeeper.store.core.ledger import NoEpoch, read_state
from gamekeeper.store.engine import clock, copies, schema
from gamekeeper.store.engine.interface import Reading, Snapshot
from gamekeeper.store.players import items
from gamekeeper.store.world import catalogue

BACKWARD_STEP_MS = 60_000  # shorter steps of the audit log's time are not reported: clocks of processes differ a little
CLOCK_ADVICE = "A command ran with another clock beside a server: correct the clocks. The audit log stays as it is."


async def check_epoch(tx: Reading) -> list[DoctorFinding]:
    try:
        await read_state(tx)
    except NoEpoch as problem:
        return [DoctorFinding(ERROR, "ledger", str(problem))]
    return []


async def check(it: Examination) -> None:
    """Check that the audit log gives every item the total quantity of the slots, and that its time never goes back."""
    tx, found = it.tx, it.found
    brought = await _add_up(it)
    held = {row[0]: int(row[1]) for row in await tx.all(items.SQL.sum_quantities)}
    wrong = findings.compare(brought, held, 0)
    named = await catalogue.find_by_ids(tx, "items", [item for item, _, _ in wrong[:MAX_SHOWN]])
    for item, wanted, there in wrong:
        name = f"{named[item].name} ({item})" if item in named else item
        accounted = f"the audit log accounts for {wanted} ({there - wanted:+})."
        found.error("ledger", f"The slots hold {there} of item {name}; {accounted}")
    for seq, step in await tx.all(ledger.SQL.backward_steps, BACKWARD_STEP_MS):
        message = f"The time of change {seq} is {step // 1000} s before that of the change before it."
        found.note("clock", message, CLOCK_ADVICE)


async def _add_up(it: Examination) -> dict[str, int]:
    sums: Counter[str] = Counter()
    last, seq = await ledger.read_last(it.tx), 0
    while page := await it.tx.all(ledger.SQL.belongings_after, seq, findings.PAGE_ROWS):
        for seq, before, after in page:
            try:
                sums.subtract(it.codec.count_items(before))
                sums.update(it.codec.count_items(after))
            except msgspec.DecodeError as error:
                it.found.error("ledger", f"Change {seq} of the audit log cannot be read: {error}.")
        it.progress("ledger", seq, last)
    return sums


MAX_CHANGE = 1 << 53  # highest change number: JSON numbers of JavaScript are exact up to it
YEAR_MS = 366 * 24 * 60 * 60 * 1000
TIMES = range(-62_135_596_800_000, 253_402_300_800_000)  # ms since 1970: the years 1 to 9999
# Columns that the clock of SQLite continues from, and those that `seq` continues from.
CLOCKS = {("ledger", "at"), ("tokens", "issued_at"), ("tokens", "last_used")}
NUMBERS = {("ledger", "seq")}
GAME_TIMES = {("server_variables", "created_at"), ("guild_variables", "created_at")}  # numbers of the game's own
_json = msgspec.json.Decoder(msgspec.Raw)


class Rule(NamedTuple):
    problem: str
    is_good: Callable[[Any], bool]


async def check_values(it: Examination) -> None:
    """Check the JSON, times and change numbers of all tables."""
    tx, store = it.tx, it.keeper.store
    now = await clock.now(tx) - store.collect_stats().clock_lead_ms  # of the system: SQLite's may follow a wrong row
    # PostgreSQL checks its JSON columns itself
    json_types = {"json_text"} if store.engine == "postgres" else {"json_text", "json", "document"}
    tables = await copies.list_tables(tx)
    for done, table in enumerate(tables, 1):
        rules = _find_rules(table, now, json_types)
        if rules:
            await _check_table(tx, it.found, table, rules)
        it.progress("values", done, len(tables))


def _find_rules(table: str, now: int, json_types: set[str]) -> dict[str, Rule]:
    rules: dict[str, Rule] = {}
    for column, word in schema.read_column_types(table).items():
        if word in json_types:
            rules[column] = Rule("not JSON", _is_json)
        elif allowed := find_range(table, column, now):
            problem = "before 1970 or more than a year ahead" if allowed[0] == 0 else f"not from 1 to {MAX_CHANGE}"
            rules[column] = Rule(problem, partial(_is_in, allowed))
        elif schema.is_time(column, word) and (table, column) not in GAME_TIMES:
            rules[column] = Rule("not a time from the year 1 to 9999", partial(_is_in, TIMES))
    return rules


def find_range(table: str, column: str, now: int) -> range | None:
    """Return the allowed values of a column from which the clock of SQLite, or `seq`, continues."""
    if (table, column) in NUMBERS:
        return range(1, MAX_CHANGE + 1)
    return range(now + YEAR_MS + 1) if (table, column) in CLOCKS else None


def _is_in(allowed: range, value: object) -> bool:
    return isinstance(value, int) and value in allowed


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
            what = f"have a value in {column} that is {rules[column].problem}."
            found.error("values", f"{count} rows of the table {table} {what}")


CHECKS = (
    Check(10, ("ledger", "clock"), check),
    Check(130, ("values",), check_values),
)
