"""Background jobs that blank the old changes and stored answers of erased accounts and players."""

import re
from collections.abc import Iterable
from typing import NamedTuple

import msgspec

from gamekeeper.store.engine.interface import Reading, Row, Writing
from gamekeeper.store.engine.statements import Statements, as_column

SQL = Statements(__file__)
_CURSOR = re.compile(r"([0-9a-f-]{36}) (.*)", re.DOTALL)
_FIRST = "00000000-0000-0000-0000-000000000000"


class ErasureJob(NamedTuple):
    id: str  # id of the erased account or player
    upto: int
    seq: int
    key: str
    user_id: str  # the erased account


def insert(tx: Writing, ids: Iterable[str], user_id: str, upto: int, fields: Iterable[str]) -> None:
    """Create one erasure job per id, for all changes up to number `upto`. From now on the views mask these changes."""
    blank = msgspec.json.encode(dict.fromkeys(fields)).decode()
    tx.defer(SQL.insert, as_column("id", ids), user_id, upto, blank)


async def read_account_names(tx: Reading, user_id: str) -> set[str]:
    """Return the names that an account had, by the audit log."""
    return _collect(await tx.all(SQL.account_names, user_id))


async def read_next_names(tx: Reading, job: ErasureJob, limit: int) -> set[str]:
    """Return the names in the changes of a player that `blank_changes` blanks next."""
    return _collect(await tx.all(SQL.next_names, job.id, job.seq, job.upto, limit))


def blank_names(tx: Writing, names: Iterable[str], user_id: str) -> None:
    """Remove the names of an erased person, in lower case, from changes and bulk jobs of others."""
    table = as_column("name", names)
    tx.defer(SQL.blank_named, table, user_id)
    tx.defer(SQL.blank_given, table)


async def has_jobs(tx: Reading) -> bool:
    return await tx.one(SQL.waiting) is not None


async def claim(tx: Reading) -> ErasureJob | None:
    """Lock one erasure job that no other transaction has locked, until this transaction ends; None if there is none."""
    return await tx.row(ErasureJob, SQL.claim)


async def blank_changes(tx: Writing, job: ErasureJob, limit: int) -> list[int]:
    """Blank the next audit log entries of an erasure job; return their numbers in order."""
    return sorted(row[0] for row in await tx.returning(SQL.blank_changes, job.id, job.seq, job.upto, limit))


async def blank_keys_of_player(tx: Writing, job: ErasureJob, limit: int) -> int:
    """Blank stored answers about an erased player; return how many."""
    return len(await tx.returning(SQL.blank_keys_of_player, job.id, limit))


async def blank_keys_of_user(tx: Writing, job: ErasureJob, limit: int) -> int:
    """Blank stored answers about an erased account; return how many."""
    return len(await tx.returning(SQL.blank_keys_of_user, job.id, limit))


async def blank_own_keys(tx: Writing, job: ErasureJob, limit: int) -> tuple[int, str]:
    """Blank the next answers to an erased account or API key; return how many, and the cursor after them."""
    keys = [row[0] for row in await tx.all(SQL.own_keys, job.id, job.key, limit)]
    if keys:
        tx.defer(SQL.blank_own_keys, job.id, job.key, keys[-1])
    return len(keys), keys[-1] if keys else job.key


async def blank_keys(tx: Writing, job: ErasureJob, limit: int) -> tuple[int, str]:
    """Blank the next stored answers to an erased account, and those with its id or one of its players or API keys.

    Returns how many answers were looked at, and the cursor after them.
    """
    account_id, key = _read_cursor(job.key)
    rows = await tx.all(SQL.all_keys, account_id, key, limit)
    if not rows:
        return 0, job.key
    last_id, last_key = str(rows[-1][0]), rows[-1][1]
    tx.defer(SQL.blank_keys, account_id, key, last_id, last_key, job.user_id, job.upto)
    return len(rows), f"{last_id} {last_key}"


def _read_cursor(cursor: str) -> tuple[str, str]:
    """Read a position in all stored answers. The cursor of an older version has no account: begin at the first one."""
    found = _CURSOR.fullmatch(cursor)
    return (found[1], found[2]) if found else (_FIRST, "")


async def read_reasons(tx: Reading, job: ErasureJob) -> list[tuple[int, str]]:
    """Read number and reason of the changes of the erasure itself."""
    return [(row[0], row[1]) for row in await tx.all(SQL.reasons, job.user_id, job.upto)]


def set_reason(tx: Writing, seq: int, reason: str | None) -> None:
    tx.defer(SQL.set_reason, seq, reason)


async def read_decision_reasons(tx: Reading, user_id: str) -> list[tuple[str, str]]:
    """Read id and approver's reason of the approvals of changes of an erased account."""
    return [(row[0], row[1]) for row in await tx.all(SQL.decision_reasons, user_id)]


def set_decision_reason(tx: Writing, approval_id: str, reason: str | None) -> None:
    tx.defer(SQL.set_decision_reason, approval_id, reason)


def set_seq(tx: Writing, job: ErasureJob, seq: int) -> None:
    tx.defer(SQL.set_seq, job.id, seq)


def set_key(tx: Writing, job: ErasureJob, key: str) -> None:
    tx.defer(SQL.set_key, job.id, key)


def delete(tx: Writing, job: ErasureJob) -> None:
    tx.defer(SQL.delete, job.id)


async def count_accounts(tx: Reading) -> int:
    return await tx.value(SQL.count_accounts) or 0


def _collect(rows: Iterable[Row]) -> set[str]:
    return {name for row in rows for name in row if name}


async def count_left(tx: Reading, most: int) -> int:
    """Count the audit log entries that the erasure jobs still have to blank, up to `most`."""
    return await tx.value(SQL.count_left, most) or 0
