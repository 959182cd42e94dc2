"""Notes and tags of staff about accounts and players."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from gamekeeper.store.core.person import PersonRows
from gamekeeper.store.engine.interface import Reading, Row, Writing
from gamekeeper.store.engine.statements import Statements, as_column

SQL = Statements(__file__)


class Subject(NamedTuple):
    """What a note or a tag is about: an account, or one of its players."""

    user_id: str
    player_id: str | None = None


class NewNote(NamedTuple):
    id: str
    user_id: str
    player_id: str | None
    author_id: str | None
    at: int
    warning: bool
    text: str


class Note(NamedTuple):
    id: str
    user_id: str
    player_id: str | None
    author_id: str | None
    at: int
    warning: bool
    text: str
    author: str | None
    user: str
    player: str | None  # None: about the account, or the player is deleted


class Tagged(NamedTuple):
    user_id: str
    user: str
    player_id: str  # the zero guid: the account itself
    player: str | None


def insert(tx: Writing, note: NewNote) -> None:
    tx.defer(SQL.insert, *note)


def delete(tx: Writing, note_id: str) -> None:
    tx.defer(SQL.delete, note_id)


async def lock(tx: Reading, note_id: str) -> bool:
    """Lock a note until the transaction ends. False: it was deleted."""
    return await tx.one(SQL.lock, note_id) is not None


async def find(tx: Reading, note_id: str) -> Note | None:
    return await tx.row(Note, SQL.find, note_id)


async def read_page(tx: Reading, before: tuple[int, str], limit: int, subject: Subject | None) -> list[Note]:
    """Read notes before a position, newest first: all, or those of an account or player."""
    if subject is None:
        return await tx.rows(Note, SQL.newest, *before, limit)
    if subject.player_id is not None:
        return await tx.rows(Note, SQL.of_player, *before, limit, subject.player_id)
    return await tx.rows(Note, SQL.of_user, *before, limit, subject.user_id)


async def read_tags(tx: Reading, user_id: str, player_id: str) -> list[str]:
    return [row[0] for row in await tx.all(SQL.tags, user_id, player_id)]


def save_tags(tx: Writing, user_id: str, player_id: str, tags: Iterable[str]) -> None:
    tx.defer(SQL.clear_tags, user_id, player_id)
    tx.defer(SQL.insert_tags, user_id, player_id, as_column("tag", tags))


async def read_all_tags_after(tx: Reading, after: tuple[str, str, str], limit: int) -> list[tuple[str, str, str]]:
    """Read account, player and tag after a position, for the doctor."""
    return [(row[0], row[1], row[2]) for row in await tx.all(SQL.all_tags_after, *after, limit)]


async def read_tag_changes_after(tx: Reading, seq: int, limit: int) -> Sequence[Row]:
    """Read number, account and after of the changes of tags of accounts that exist, for the doctor."""
    return await tx.all(SQL.tag_changes_after, seq, limit)


async def read_tagged(tx: Reading, tag: str, after: tuple[str, str], limit: int) -> list[Tagged]:
    return await tx.rows(Tagged, SQL.tagged, tag, *after, limit)


def erase(tx: Writing, player_ids: Iterable[str]) -> None:
    """Remove notes and tags of erased players that belong to another account, since they had another owner."""
    ids = as_column("id", player_ids)
    tx.defer(SQL.erase_notes, ids)
    tx.defer(SQL.erase_tags, ids)


PERSON = (
    PersonRows(140, "notes", SQL.of_person, booleans=("warning",)),
    PersonRows(150, "tags", SQL.tags_of_person),
)
