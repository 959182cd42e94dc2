"""Fingerprints of a database by table, to check that nothing changed."""

import hashlib
import re
from collections.abc import Collection, Mapping
from functools import cache

from expectations import FOLLOWING
from gamekeeper.store.engine.schema import assemble
from world import World

# Tables that a refused request may change: guesses, known callers and addresses, and the log of failed guesses; tokens
# are compared separately. A server that runs also counts requests and play sessions in the background, and stores bags
# of refused reports, which are examined later.
COUNTED = (
    *("play_sessions", "player_activity", "activity_minutes", "activity_periods", "activity_cohorts", "rollups"),
    "signal_checks",
)
UNWATCHED = frozenset(
    {"guesses", "known_callers", "known_addresses", "security_events", "tokens", *COUNTED, *FOLLOWING}
)
TOTALS = """
SELECT (SELECT COALESCE(MAX(seq), 0) FROM ledger), (SELECT COUNT(*) FROM presence),
       (SELECT COALESCE(SUM(expires_at), 0) FROM servers), (SELECT COUNT(*) FROM idempotency_keys),
       (SELECT COUNT(*) FROM mails), (SELECT COUNT(*) FROM token_records WHERE revoked_at IS NULL),
       (SELECT COUNT(*) FROM players), (SELECT COUNT(*) FROM users), (SELECT COALESCE(SUM(tries_left), 0) FROM resets)
"""


@cache
def tables() -> tuple[str, ...]:
    return tuple(each.name for each in assemble("sqlite") if each.kind == "TABLE")


def fingerprint(world: World, but: Collection[str] = UNWATCHED) -> Mapping[str, str]:
    rows = world.read_tables(table for table in tables() if table not in but)
    return {table: hashlib.sha256("\n".join(rows[table]).encode()).hexdigest() for table in rows}


def list_changed(before: Mapping[str, str], after: Mapping[str, str]) -> list[str]:
    """Return the names of the tables whose fingerprints differ."""
    return [table for table in after if before[table] != after[table]]


def totals(world: World) -> tuple[int, ...]:
    """Return table totals that every kind of write changes, read in one statement; faster than a fingerprint."""
    return tuple(int(number) for number in world.sql(TOTALS)[0])


@cache
def columns() -> Mapping[str, tuple[str, ...]]:
    column = re.compile(r"^    ([a-z_0-9]+) +\S", re.MULTILINE)
    return {each.name: tuple(column.findall(each.text)) for each in assemble("sqlite") if each.kind == "TABLE"}
