from collections.abc import Iterable, Mapping
from typing import Annotated, NamedTuple

from gamekeeper.store.access.roles import NO_GRANTS, Powers, StoredGrants
from gamekeeper.store.core.ordered_lists import ListDelta, read_delta
from gamekeeper.store.engine.interface import ReadAs, Reading, Writing, find_maker
from gamekeeper.store.engine.statements import Statements, as_column, as_table, build_name_parameters

SQL = Statements(__file__)
# largest play time of an account: its players' seconds are summed as floats, and can exceed a 64-bit integer
MAX_SECONDS = 2**63 - 1
PlayTime = Annotated[int, ReadAs(lambda seconds: int(min(seconds, MAX_SECONDS)))]


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
    grants: StoredGrants = NO_GRANTS
    suspended: bool = False  # a suspended account cannot log in
    play_time_seconds: PlayTime = 0  # play time of all the account's players; only the find_record_… functions read it


_make_user = find_maker(User)


class UserCheckRow(NamedTuple):
    """Database columns of an account that `doctor` checks."""

    id: str
    name: str
    fold: str
    email: str
    email_fold: str | None
    powers: Powers
    grants: StoredGrants


async def find_by_fold(tx: Reading, fold: str, name: str = "") -> User | None:
    return await tx.row(User, SQL.by_fold, *build_name_parameters(fold, name))


async def find_by_id(tx: Reading, user_id: str) -> User | None:
    return await tx.row(User, SQL.by_id, user_id)


async def find_record_by_fold(tx: Reading, fold: str, name: str = "") -> User | None:
    return await tx.row(User, SQL.record_by_fold, *build_name_parameters(fold, name))


async def find_record_by_id(tx: Reading, user_id: str) -> User | None:
    return await tx.row(User, SQL.record_by_id, user_id)


async def read_from_name(tx: Reading, mark: str, fold: str, limit: int, offset: int) -> tuple[ListDelta, list[User]]:
    new, rows = await read_delta(tx, mark, SQL.from_name, fold, limit, offset)
    return new, [_make_user(*row) for row in rows]


async def read_from_email(tx: Reading, mark: str, fold: str, limit: int, offset: int) -> tuple[ListDelta, list[User]]:
    new, rows = await read_delta(tx, mark, SQL.from_email, fold, limit, offset)
    return new, [_make_user(*row) for row in rows]


async def read_by_ids(tx: Reading, ids: Iterable[str]) -> list[User]:
    """Read these accounts, in no particular order."""
    return await tx.rows(User, SQL.of_ids, as_column("id", ids))


async def read_after(tx: Reading, fold: str, limit: int) -> list[tuple[User, str]]:
    """Read the next accounts in order of folded name. Each comes with the folded name, the cursor for the next call."""
    return [(_make_user(*columns), cursor) for *columns, cursor in await tx.all(SQL.after, fold, limit)]


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


def insert(tx: Writing, users: Iterable[Mapping[str, str | bool]]) -> None:
    """Insert accounts, given by their columns."""
    tx.defer(SQL.insert, as_table(users))
