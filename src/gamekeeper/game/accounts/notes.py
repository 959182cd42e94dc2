"""Notes, warnings and tags that staff keep about accounts and players."""

from collections.abc import Awaitable, Callable
from typing import NamedTuple

from gamekeeper.game.accounts.changes import NoteAdded, NoteDeleted, TagsSet
from gamekeeper.game.core import lookup
from gamekeeper.game.core.refusals import BadField, NotFound
from gamekeeper.game.core.writes import Decision
from gamekeeper.store.accounts import notes, users
from gamekeeper.store.accounts.notes import NewNote, Note, Subject, Tagged
from gamekeeper.store.engine import clock
from gamekeeper.store.engine.interface import Locking, Reading

MAX_TAGS = 20  # of one account or player
LONGEST_TAG = 30  # characters
FIRST = lookup.ZERO_GUID, lookup.ZERO_GUID  # position before the first tagged account
MAX_SEARCHED = 2_000  # notes that one search reads: the caller continues from the returned position
PIECE_ROWS = 100  # notes that one statement of a search or a long page reads: a few milliseconds


class NoSuchNote(NotFound):
    """There is no such note. GET /api/keeper/v1/notes lists them."""


class NotePage(NamedTuple):
    notes: list[Note]
    next: tuple[int, str] | None  # position of the next page; None: there are no more notes


async def find_subject(tx: Reading, player: str | None, user: str | None) -> Subject:
    """Find the player or the account that a request names by name or id: exactly one of them."""
    if (player is None) == (user is None):
        raise BadField(field="Player", problem="or User is needed: name one player or one account")
    if player is not None:
        owner = await lookup.find_owner(tx, player)
        return Subject(owner.user_id, owner.player_id)
    return Subject((await lookup.find_user(tx, user or "")).id)


async def _lock_subject(tx: Locking, player: str | None, user: str | None) -> Subject:
    """Lock the account that notes or tags belong to, so that two changes of them do not start from the same state."""
    locked = await find_subject(tx, player, user)
    while True:
        await users.lock(tx, locked.user_id)
        found = await find_subject(tx, player, user)
        if found.user_id == locked.user_id:
            return found
        locked = found  # the player got another owner meanwhile


async def add(
    tx: Locking, player: str | None, user: str | None, text: str, author_id: str, *, warning: bool
) -> Decision[Note]:
    subject = await _lock_subject(tx, player, user)
    if not text.strip():
        raise BadField(field="Text", problem="must not be empty")
    at = await clock.now(tx)
    note = NewNote(lookup.new_guid(), *subject, author_id, at, warning, text.strip())
    author = await lookup.find_user(tx, author_id)
    owner = await lookup.find_user(tx, subject.user_id)
    return Decision([NoteAdded(note)], Note(*note, author.name, owner.name, None), subject=(None, subject.user_id))


async def delete(tx: Locking, note_id: str) -> Decision[Note]:
    found = await notes.find(tx, note_id)
    if found is not None:
        await users.lock(tx, found.user_id)
        found = await notes.find(tx, note_id) if await notes.lock(tx, note_id) else None
    if found is None:
        raise NoSuchNote
    return Decision([NoteDeleted(NewNote(*found[:7]))], found, subject=(None, found.user_id))


async def set_tags(tx: Locking, player: str | None, user: str | None, tags: list[str]) -> Decision[list[str]]:
    """Replace the tags of an account or player."""
    subject = await _lock_subject(tx, player, user)
    wanted = sorted({normalize_tag(each) for each in tags})
    if len(wanted) > MAX_TAGS:
        raise BadField(field="Tags", problem=f"must have at most {MAX_TAGS} tags")
    before = await notes.read_tags(tx, subject.user_id, subject.player_id or lookup.ZERO_GUID)
    changes = [TagsSet(subject, before, wanted)] if wanted != before else []
    return Decision(changes, wanted, subject=(None, subject.user_id))


def normalize_tag(text: str) -> str:
    """Return a tag in the form in which it is stored and compared: in lower case, with single spaces."""
    tag = " ".join(text.lower().split())
    if not tag or len(tag) > LONGEST_TAG or "," in tag:
        raise BadField(field="Tags", problem=f"must be words of 1 to {LONGEST_TAG} characters without commas")
    return tag


async def do_not_pause() -> None:
    """Do nothing between the pieces of a short page."""


async def load_page(
    tx: Reading,
    before: tuple[int, str],
    limit: int,
    subject: Subject | None,
    text: str = "",
    rest: Callable[[], Awaitable[None]] = do_not_pause,
) -> NotePage:
    """Load the notes before a position that have a text, newest first. `rest` is called between the pieces."""
    wanted, found, cursor = text.lower(), list[Note](), before
    left = MAX_SEARCHED if wanted else limit + 1
    while left:
        size = min(left, PIECE_ROWS)
        read = await notes.read_page(tx, cursor, size, subject)
        found += [each for each in read if wanted in each.text.lower()]
        if len(found) > limit:
            last = found[limit - 1]
            return NotePage(found[:limit], (last.at, last.id))
        if len(read) < size:
            return NotePage(found, None)
        cursor, left = (read[-1].at, read[-1].id), left - size
        await rest()
    return NotePage(found, cursor)


async def load_tagged(tx: Reading, tag: str, after: tuple[str, str], limit: int) -> list[Tagged]:
    return await notes.read_tagged(tx, normalize_tag(tag), after, limit)
