"""Search for players, accounts and catalogue entries: by the start or a part of their name, or by id; saved views."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from gamekeeper.store.core.person import PersonRows
from gamekeeper.store.engine.interface import Reading, Writing
from gamekeeper.store.engine.statements import Statements, as_column, as_table

SQL = Statements(__file__)
PART_LETTERS = 3  # characters per part of a name in the search index: it is a trigram index


class PlayerMatch(NamedTuple):
    """Id and sort keys of a found player."""

    id: str
    fold: str
    level: int
    exp: int


class UserMatch(NamedTuple):
    id: str
    fold: str
    email_fold: str
    since: int = 0  # in a filtered list: start of the ban or mute, or the last sign-in


async def find_players(tx: Reading, parts: Sequence[str], text: str, candidates: int, limit: int) -> list[PlayerMatch]:
    """Find players whose name contains the text. `parts`: its trigrams; the index gives up to `candidates` rows."""
    return await tx.rows(PlayerMatch, SQL.players, as_column("part", parts), text, candidates, limit)


async def find_users(tx: Reading, parts: Sequence[str], text: str, candidates: int, limit: int) -> list[UserMatch]:
    """Find accounts whose name or email contains the text."""
    return await tx.rows(UserMatch, SQL.users, as_column("part", parts), text, candidates, limit)


async def find_banned(tx: Reading, candidates: int, limit: int) -> list[UserMatch]:
    """Find the newest bans, out of up to `candidates` permanent and `candidates` temporary ones."""
    return await tx.rows(UserMatch, SQL.banned, candidates, limit)


async def find_muted(tx: Reading, candidates: int, limit: int) -> list[UserMatch]:
    return await tx.rows(UserMatch, SQL.muted, candidates, limit)


async def find_with_powers(tx: Reading, limit: int) -> list[UserMatch]:
    """Find accounts that have any permission, in order of name."""
    return await tx.rows(UserMatch, SQL.powerful, limit)


async def has_index(tx: Reading) -> bool:
    return bool(await tx.value(SQL.indexed))


async def filter_online(tx: Reading, ids: Iterable[str]) -> set[str]:
    return {row[0] for row in await tx.all(SQL.online_among, as_column("id", ids))}


async def filter_with_powers(tx: Reading, ids: Iterable[str]) -> set[str]:
    return {row[0] for row in await tx.all(SQL.powerful_among, as_column("id", ids))}


async def find_with_role(tx: Reading, role: str, limit: int) -> list[UserMatch]:
    return await tx.rows(UserMatch, SQL.with_role, role, limit)


async def filter_with_role(tx: Reading, role: str, ids: Iterable[str]) -> set[str]:
    return {row[0] for row in await tx.all(SQL.with_role_among, as_column("id", ids), role)}


async def find_sign_ins(tx: Reading, since: int, until: int, limit: int) -> tuple[list[str], bool]:
    """Find the accounts of the newest sign-ins in a range of times, and whether there were more than `limit`."""
    found = await tx.all(SQL.sign_ins, since, until, limit)
    return [row[0] for row in found], sum(row[1] for row in found) >= limit


async def read_last_sign_ins(tx: Reading, ids: Iterable[str]) -> dict[str, int]:
    """Read the last sign-in of each of these accounts that the security log has one of."""
    found = await tx.all(SQL.last_sign_ins, as_column("id", ids))
    return {row[0]: row[1] for row in found if row[1] is not None}


async def read_users(tx: Reading, ids: Iterable[str]) -> list[UserMatch]:
    return await tx.rows(UserMatch, SQL.users_among, as_column("id", ids))


LAST_CHARACTER = "\U0010ffff"  # the highest code point, which ends the range of names with a prefix


class FoundPlayer(NamedTuple):
    id: str
    name: str
    fold: str
    level: int


class FoundUser(NamedTuple):
    id: str
    name: str
    fold: str  # folded name or email, whichever matched the search
    email: str


class FoundEntry(NamedTuple):
    kind: str
    id: str
    name: str


class DeletedOwner(NamedTuple):
    kind: str
    before: bytes | str | None


async def find_players_by_start(tx: Reading, beginnings: Iterable[str], each: int, most: int) -> list[FoundPlayer]:
    return await tx.rows(FoundPlayer, SQL.players_start, _to_ranges(beginnings), each, most)


async def find_users_by_start(tx: Reading, beginnings: Iterable[str], each: int, most: int) -> list[FoundUser]:
    return await tx.rows(FoundUser, SQL.users_start, _to_ranges(beginnings), each, most)


async def find_users_by_email(tx: Reading, beginnings: Iterable[str], each: int, most: int) -> list[FoundUser]:
    return await tx.rows(FoundUser, SQL.emails, _to_ranges(beginnings), each, most)


async def find_catalogue_entries(tx: Reading, pattern: str, most: int) -> list[FoundEntry]:
    return await tx.rows(FoundEntry, SQL.catalogue, pattern, most)


async def find_by_id_range(tx: Reading, first: str, last: str, most: int) -> list[FoundEntry]:
    """Find players and accounts whose ids lie in a range, at most `most` of each."""
    return await tx.rows(FoundEntry, SQL.by_id_range, first, last, most)


async def find_by_id(tx: Reading, wanted: str) -> list[FoundEntry]:
    """Find the player, account or catalogue entry with an id; for a bag's id, return the bag's owner."""
    return await tx.rows(FoundEntry, SQL.by_id, wanted)


async def find_deleted(tx: Reading, wanted: str) -> list[DeletedOwner]:
    """Find a deleted player or account that had the id; it may have been created again since."""
    return await tx.rows(DeletedOwner, SQL.deleted, wanted)


def _to_ranges(beginnings: Iterable[str]) -> str:
    return as_table({"from": each, "to": each + LAST_CHARACTER} for each in beginnings)


class NewView(NamedTuple):
    id: str
    user_id: str
    list: str
    name: str
    query: str
    shared: bool
    created_at: int


class SavedView(NamedTuple):
    id: str
    user_id: str
    name: str
    query: str
    shared: bool


def save_view(tx: Writing, new: NewView) -> None:
    """Save a view; one of the same account, list and name is replaced."""
    tx.defer(SQL.save, *new)


async def count_other_views(tx: Reading, user_id: str, listed: str, name: str) -> int:
    """Count the views of an account, without the one of this list and name."""
    return await tx.value(SQL.count_others, user_id, listed, name) or 0


async def read_views(tx: Reading, user_id: str, listed: str, most: int) -> list[SavedView]:
    """Read the views of an account, then those that others share; at most `most` of either."""
    return await tx.rows(SavedView, SQL.of_viewer, user_id, listed, most)


async def is_shared_view(tx: Reading, view_id: str, user_id: str) -> bool:
    """Tell whether a view of this account is shared."""
    return await tx.one(SQL.is_shared, view_id, user_id) is not None


async def has_view_name(tx: Reading, view_id: str, user_id: str, name: str) -> bool:
    """Tell whether another view of the same list has this name."""
    return await tx.one(SQL.same_name, view_id, user_id, name) is not None


def rename_view(tx: Writing, view_id: str, user_id: str, name: str) -> None:
    tx.defer(SQL.rename, view_id, user_id, name)


def delete_view(tx: Writing, view_id: str, user_id: str, *, of_others: bool) -> None:
    """Delete a view of an account. `of_others`: also one that another account shares."""
    tx.defer(SQL.delete, view_id, user_id, of_others)


PERSON = (PersonRows(160, "saved_views", SQL.of_person, booleans=("shared",)),)
