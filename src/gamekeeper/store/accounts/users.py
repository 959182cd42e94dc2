from collections.abc import Iterable
from typing import NamedTuple

from gamekeeper.store.access.roles import NO_GRANTS, Grants, Powers, parse_grants
from gamekeeper.store.core.ordered_lists import ListDelta, read_delta
from gamekeeper.store.engine.interface import Reading, Row, Writing
from gamekeeper.store.engine.statements import Statements, as_column, as_table, build_name_parameters

SQL = Statements(__file__)
# largest play time of an account: its players' seconds are summed as floats, and can exceed a 64-bit integer
MAX_SECONDS = 2**63 - 1


class User(NamedTuple):
    id: str
    name: str
    email: str
    password: str
    powers: Powers  # stored flags: directly granted permissions, and the role `api`
    created_at: int
    mute_reason: str | None
    reset_code: str | None
    ban_reason: str | None = None
    play_time_seconds: int = 0  # play time of all the account's players; only the find_record_… functions fill it in
    grants: Grants = NO_GRANTS
    suspended: bool = False  # a suspended account cannot log in


class UserColumns(NamedTuple):
    """Database columns of a new account."""

    id: str
    name: str
    fold: str
    email: str
    email_fold: str
    password: str
    editor: bool
    ban: bool
    kick: bool
    mute: bool
    api: bool
    users_query: bool
    users_manage: bool
    game_link: bool


class UserCheckRow(NamedTuple):
    """Database columns of an account that `doctor` checks."""

    id: str
    name: str
    fold: str
    email: str
    email_fold: str | None
    powers: Powers
    grants: Grants


async def read_check_rows_after(tx: Reading, user_id: str, limit: int) -> list[UserCheckRow]:
    """Read the next accounts after an id, in order of id."""
    found = await tx.all(SQL.checked_after, user_id, limit)
    return [
        UserCheckRow(each, name, fold, email, email_fold, Powers(*map(bool, powers)), parse_grants(grants))
        for each, name, fold, email, email_fold, grants, *powers in found
    ]


async def find_by_fold(tx: Reading, fold: str, name: str = "") -> User | None:
    row = await tx.one(SQL.by_fold, *build_name_parameters(fold, name))
    return _to_user(row) if row else None


async def find_by_id(tx: Reading, user_id: str) -> User | None:
    row = await tx.one(SQL.by_id, user_id)
    return _to_user(row) if row else None


async def find_record_by_fold(tx: Reading, fold: str, name: str = "") -> User | None:
    row = await tx.one(SQL.record_by_fold, *build_name_parameters(fold, name))
    return _to_record(row) if row else None


async def find_record_by_id(tx: Reading, user_id: str) -> User | None:
    row = await tx.one(SQL.record_by_id, user_id)
    return _to_record(row) if row else None


async def read_from_name(tx: Reading, mark: str, fold: str, limit: int, offset: int) -> tuple[ListDelta, list[User]]:
    new, rows = await read_delta(tx, mark, SQL.from_name, fold, limit, offset)
    return new, [_to_record(row) for row in rows]


async def read_keys_by_name(tx: Reading, fold: str, limit: int) -> list[str]:
    return [row[0] for row in await tx.all(SQL.keys_by_name, fold, limit)]


async def read_lows_by_name(tx: Reading, every: int) -> list[str]:
    return [row[0] for row in await tx.all(SQL.lows_by_name, every)]


async def read_from_email(tx: Reading, mark: str, fold: str, limit: int, offset: int) -> tuple[ListDelta, list[User]]:
    new, rows = await read_delta(tx, mark, SQL.from_email, fold, limit, offset)
    return new, [_to_record(row) for row in rows]


async def read_keys_by_email(tx: Reading, fold: str, limit: int) -> list[str]:
    return [row[0] for row in await tx.all(SQL.keys_by_email, fold, limit)]


async def read_lows_by_email(tx: Reading, every: int) -> list[str]:
    return [row[0] for row in await tx.all(SQL.lows_by_email, every)]


async def read_by_ids(tx: Reading, ids: Iterable[str]) -> list[User]:
    """Read these accounts, in no particular order."""
    return [_to_record(row) for row in await tx.all(SQL.of_ids, as_column("id", ids))]


async def read_after(tx: Reading, fold: str, limit: int) -> list[tuple[User, str]]:
    """Read the next accounts in order of folded name. Each comes with the folded name, the cursor for the next call."""
    return [(_to_user(row), row[-1]) for row in await tx.all(SQL.after, fold, limit)]


async def count(tx: Reading) -> int:
    return await tx.value(SQL.count) or 0


async def lock(tx: Reading, user_id: str) -> bool:
    return await tx.one(SQL.lock, user_id) is not None


async def find_id_by_email_fold(tx: Reading, fold: str) -> str | None:
    return await tx.value(SQL.id_by_email_fold, fold)


async def find_known_ids(tx: Reading, ids: Iterable[str]) -> set[str]:
    return {row[0] for row in await tx.all(SQL.known_ids, as_column("id", ids))}


async def find_known_folds(tx: Reading, folds: Iterable[str]) -> set[str]:
    return {row[0] for row in await tx.all(SQL.known_folds, as_column("fold", folds))}


async def find_known_emails(tx: Reading, folds: Iterable[str]) -> set[str]:
    return {row[0] for row in await tx.all(SQL.known_emails, as_column("fold", folds))}


async def has_api_account(tx: Reading) -> bool:
    return await tx.one(SQL.any_api) is not None


def insert(tx: Writing, users: Iterable[UserColumns]) -> None:
    tx.defer(SQL.insert, as_table(each._asdict() for each in users))


def backdate(tx: Writing, user_id: str, created_at: int) -> None:
    """Set the creation time of an account that is loaded as an earlier one."""
    tx.defer(SQL.backdate, user_id, created_at)


def load(tx: Writing, users: Iterable[tuple[UserColumns, int]]) -> None:
    """Insert many accounts, each with its creation time."""
    tx.load(SQL.load, [(*columns, created_at) for columns, created_at in users])


def set_name(tx: Writing, user_id: str, name: str, fold: str) -> None:
    tx.defer(SQL.set_name, user_id, name, fold)


def delete(tx: Writing, user_id: str) -> None:
    """Delete an account with its tokens, mails, reset codes, bans and mutes. Delete its players first."""
    tx.defer(SQL.delete, user_id)


def set_email(tx: Writing, user_id: str, email: str, fold: str) -> None:
    tx.defer(SQL.set_email, user_id, email, fold)


def set_password(tx: Writing, user_id: str, password: str) -> None:
    tx.defer(SQL.set_password, user_id, password)


def set_powers(tx: Writing, user_id: str, powers: Powers) -> None:
    tx.defer(SQL.set_powers, user_id, *powers)


def suspend(tx: Writing, user_id: str) -> None:
    tx.defer(SQL.suspend, user_id)


def resume(tx: Writing, user_id: str) -> None:
    tx.defer(SQL.resume, user_id)


def _to_user(row: Row) -> User:
    return _make_user(row, 0)


def _to_record(row: Row) -> User:
    return _make_user(row, int(min(row[18], MAX_SECONDS)))


def _make_user(row: Row, play_time: int) -> User:
    powers = Powers._make(map(bool, row[4:12]))
    facts = (row[12], row[13], row[14], row[15], play_time, parse_grants(row[16]), bool(row[17]))
    return User(row[0], row[1], row[2], row[3], powers, *facts)


async def read_registration_wait(tx: Reading, caller_id: str, most: int, window_ms: int) -> int:
    """Return ms until the caller may register another account; 0 if it registered fewer than `most` in the window."""
    return await tx.value(SQL.wait, caller_id, most, window_ms) or 0


def insert_registration(tx: Writing, caller_id: str, user_id: str) -> None:
    tx.defer(SQL.insert_registration, caller_id, user_id)


def delete_old_registrations(tx: Writing, caller_id: str, older_than_ms: int) -> None:
    tx.defer(SQL.delete_old, caller_id, older_than_ms)
