"""Notes and tags of staff about accounts and players."""

from typing import NamedTuple

from gamekeeper.ground.wire import Guid, Shape
from gamekeeper.store.core.person import PersonRows
from gamekeeper.store.engine.interface import Reading
from gamekeeper.store.engine.statements import Statements

SQL = Statements(__file__)
ACCOUNT = "00000000-0000-0000-0000-000000000000"  # in place of the player: a tag of the account itself


class Subject(NamedTuple):
    """What a note or a tag is about: an account, or one of its players."""

    user_id: str
    player_id: str | None = None


class Note(NamedTuple):
    id: str
    user_id: str
    player_id: str | None
    author_id: str | None
    at: int
    warning: bool
    text: str  # the columns after it are of other tables
    author: str | None = None
    user: str = ""
    player: str | None = None  # None: about the account, or the player is deleted


class TaggedRecord(Shape):
    user_id: Guid
    user: str
    player_id: Guid | None
    player: str | None


async def find(tx: Reading, note_id: str) -> Note | None:
    return await tx.row(Note, SQL.find, note_id)


async def read_page(tx: Reading, before: tuple[int, str], limit: int, subject: Subject | None) -> list[Note]:
    """Read notes before a position, newest first: all, or those of an account or player."""
    if subject is None:
        return await tx.rows(Note, SQL.newest, *before, limit)
    if subject.player_id is not None:
        return await tx.rows(Note, SQL.of_player, *before, limit, subject.player_id)
    return await tx.rows(Note, SQL.of_user, *before, limit, subject.user_id)


async def read_tags(tx: Reading, user_id: str, player_id: str | None) -> list[str]:
    """Read the tags of a player, or of the account itself."""
    return [row[0] for row in await tx.all(SQL.tags, user_id, player_id or ACCOUNT)]


PERSON = (
    PersonRows(140, "notes", SQL.of_person, booleans=("warning",)),
    PersonRows(150, "tags", SQL.tags_of_person),
)
