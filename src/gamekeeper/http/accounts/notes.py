"""Notes, warnings and tags of staff about accounts and players."""

from collections.abc import Sequence
from functools import partial

from msgspec import UNSET

from gamekeeper.game.accounts import notes
from gamekeeper.game.audit.history import Pause
from gamekeeper.game.core import refusals as no
from gamekeeper.http.accounts import account_shapes
from gamekeeper.http.contract import examples, shapes
from gamekeeper.http.contract.operation import MOST_AT_ONCE, Group, needs
from gamekeeper.http.contract.path_parameters import PathParameter, declare_id
from gamekeeper.http.contract.records import make_record
from gamekeeper.http.server.paging import fill_list
from gamekeeper.http.server.query_values import MailCursor
from gamekeeper.http.server.request import Request
from gamekeeper.http.server.response import Response
from gamekeeper.store.accounts import notes as rows
from gamekeeper.store.accounts.notes import Note
from gamekeeper.store.engine.interface import Reading

GROUP = Group(
    "Notes",
    "Notes, warnings and tags of staff about accounts and players.",
    place=120,
    permissions=needs("notes.write"),
)
GROUPS = (GROUP,)


declare_id("noteId", "The note's id.", examples.MAIL_ID, "note_id")


PathParameter("tag", "The tag, in any letter case.", "refunds", no.BadField)


@GROUP.operation(
    "GET /api/keeper/v1/notes",
    answer=account_shapes.NoteList,
    rows=MOST_AT_ONCE,
    gated=True,
    refusals=(no.NoSuchPlayer, no.NoSuchUser),
)
async def list_notes(request: Request, query: account_shapes.NotesQuery) -> bytes:
    """List notes, newest first: all, or those of a player or account, with their tags."""
    player, user, text = query.player or None, query.user or None, query.text or ""

    async def read(tx: Reading, rest: Pause) -> bytes:
        subject = await notes.find_subject(tx, player, user) if player or user else None
        page = await notes.load_page(tx, query.before, query.limit, subject, text, rest)
        tags = await rows.read_tags(tx, subject.user_id, subject.player_id) if subject else None
        following = str(MailCursor(*page.next)) if page.next else None
        empty = shapes.encode(account_shapes.NoteList([], tags, following))
        return await fill_list(empty, page.notes, _encode_records, rest)

    is_long = bool(text) or query.limit > notes.PIECE_ROWS
    found = await request.run_until_disconnect(request.read_in_pieces(read, long=is_long))
    return b"" if found is None else found  # nobody reads an empty answer: the client has disconnected


def _encode_records(some: Sequence[Note]) -> bytes:
    return shapes.encode([make_record(account_shapes.NoteRecord, each) for each in some])


@GROUP.operation(
    "POST /api/keeper/v1/notes",
    answer=account_shapes.NoteRecord,
    refusals=(no.NoSuchPlayer, no.NoSuchUser),
    example_body=account_shapes.AddNote("Asked for the same refund twice.", examples.PLAYER, Warning=True),
)
async def add_note(request: Request, body: account_shapes.AddNote) -> Response:
    """Write a note about a player or an account; a warning is shown in the header of its page."""
    decide = partial(
        notes.add,
        player=None if body.Player is UNSET else body.Player,
        user=None if body.User is UNSET else body.User,
        text=body.Text,
        author_id=request.caller.account_id,
        warning=body.Warning,
    )
    return await request.change(decide, partial(make_record, account_shapes.NoteRecord))


@GROUP.operation("DELETE /api/keeper/v1/notes/[noteId]", answer=account_shapes.NoteRecord, refusals=(notes.NoSuchNote,))
async def delete_note(request: Request, note_id: str) -> Response:
    """Delete a note. The audit log keeps it."""
    decide = partial(notes.delete, note_id=note_id)
    return await request.change(decide, partial(make_record, account_shapes.NoteRecord))


@GROUP.operation(
    "POST /api/keeper/v1/tags",
    answer=account_shapes.TagsOf,
    refusals=(no.NoSuchPlayer, no.NoSuchUser),
    example_body=account_shapes.SetTags(["refunds", "streamer"], examples.PLAYER),
)
async def set_tags(request: Request, body: account_shapes.SetTags) -> Response:
    """Replace the tags of a player or an account."""
    decide = partial(
        notes.set_tags,
        player=None if body.Player is UNSET else body.Player,
        user=None if body.User is UNSET else body.User,
        tags=body.Tags,
    )
    return await request.change(decide, account_shapes.TagsOf)


@GROUP.operation("GET /api/keeper/v1/tags/[tag]", rows=MOST_AT_ONCE)
async def list_tagged(request: Request, query: account_shapes.TaggedQuery) -> account_shapes.TaggedList:
    """List the accounts and players that have a tag."""
    found = await notes.load_tagged(request.services.keeper.store, request.params[0], notes.FIRST, query.limit)
    return account_shapes.TaggedList(found)
