"""Notes, warnings and tags of staff about accounts and players."""

from functools import partial

from msgspec import UNSET

from gamekeeper.game import lookup, notes
from gamekeeper.game import refusals as no
from gamekeeper.game.note_refusals import NoSuchNote
from gamekeeper.http import samples, wire
from gamekeeper.http.answered_rows import MOST_AT_ONCE
from gamekeeper.http.instants import format_instant
from gamekeeper.http.mail_cursor import MailCursor
from gamekeeper.http.operation import NO_STORE, READ, WRITE, Group, needs
from gamekeeper.http.request import Request
from gamekeeper.http.response import Response
from gamekeeper.store import notes as rows
from gamekeeper.store.engine import Reading
from gamekeeper.store.notes import Note, Subject

WRITE_NOTES = needs("notes.write")
GROUP = Group("Notes", "Notes, warnings and tags of staff about accounts and players.")
_SAMPLE = wire.notes.NoteRecord(
    Id=samples.MAIL_ID,
    UserId=samples.USER_ID,
    User=samples.USER,
    PlayerId=samples.PLAYER_ID,
    Player=samples.PLAYER,
    AuthorId=samples.TOKEN_ID,
    Author=samples.KEEPER,
    At=samples.TIME,
    Warning=True,
    Text="Asked for the same refund twice.",
)


@GROUP.operation(
    "GET /api/keeper/v1/notes",
    name="list_notes",
    permissions=WRITE_NOTES,
    access=READ,
    cache=NO_STORE,
    query=wire.notes.NotesQuery,
    answer=wire.notes.NoteList,
    rows=MOST_AT_ONCE,
    refusals=(no.NoSuchPlayer, no.NoSuchUser),
    example_answer=wire.notes.NoteList([_SAMPLE], ["refunds"], None),
)
async def list_notes(request: Request, query: wire.notes.NotesQuery) -> bytes:
    """List notes, newest first: all, or those of a player or account, with their tags."""
    player, user = query.player or None, query.user or None

    async def read(tx: Reading) -> tuple[notes.NotePage, list[str] | None]:
        subject = await notes.find_subject(tx, player, user) if player or user else None
        page = await notes.load_page(tx, query.before, query.limit, subject, query.text or "")
        return page, await _read_tags(tx, subject) if subject else None

    page, tags = await request.services.keeper.store.read(read)
    following = str(MailCursor(*page.next)) if page.next else None
    return wire.encode(wire.notes.NoteList([make_record(each) for each in page.notes], tags, following))


@GROUP.operation(
    "POST /api/keeper/v1/notes",
    name="add_note",
    permissions=WRITE_NOTES,
    access=WRITE,
    body=wire.notes.AddNote,
    answer=wire.notes.NoteRecord,
    refusals=(no.NoSuchPlayer, no.NoSuchUser),
    example_body=wire.notes.AddNote("Asked for the same refund twice.", samples.PLAYER, Warning=True),
    example_answer=_SAMPLE,
)
async def add_note(request: Request, body: wire.notes.AddNote) -> Response:
    """Write a note about a player or an account; a warning is shown in the header of its page."""
    decide = partial(
        notes.add,
        player=None if body.Player is UNSET else body.Player,
        user=None if body.User is UNSET else body.User,
        text=body.Text,
        author_id=request.caller.account_id,
        warning=body.Warning,
    )
    return await request.change(decide, lambda note: wire.encode(make_record(note)))


@GROUP.operation(
    "DELETE /api/keeper/v1/notes/[noteId]",
    name="delete_note",
    permissions=WRITE_NOTES,
    access=WRITE,
    answer=wire.notes.NoteRecord,
    refusals=(NoSuchNote,),
    example_answer=_SAMPLE,
)
async def delete_note(request: Request, note_id: str) -> Response:
    """Delete a note. The audit log keeps it."""
    return await request.change(partial(notes.delete, note_id=note_id), lambda note: wire.encode(make_record(note)))


@GROUP.operation(
    "POST /api/keeper/v1/tags",
    name="set_tags",
    permissions=WRITE_NOTES,
    access=WRITE,
    body=wire.notes.SetTags,
    answer=wire.notes.TagsOf,
    refusals=(no.NoSuchPlayer, no.NoSuchUser),
    example_body=wire.notes.SetTags(["refunds", "streamer"], samples.PLAYER),
    example_answer=wire.notes.TagsOf(["refunds", "streamer"]),
)
async def set_tags(request: Request, body: wire.notes.SetTags) -> Response:
    """Replace the tags of a player or an account."""
    decide = partial(
        notes.set_tags,
        player=None if body.Player is UNSET else body.Player,
        user=None if body.User is UNSET else body.User,
        tags=body.Tags,
    )
    return await request.change(decide, lambda tags: wire.encode(wire.notes.TagsOf(tags)))


@GROUP.operation(
    "GET /api/keeper/v1/tags/[tag]",
    name="list_tagged",
    permissions=WRITE_NOTES,
    access=READ,
    cache=NO_STORE,
    query=wire.notes.TaggedQuery,
    answer=wire.notes.TaggedList,
    rows=MOST_AT_ONCE,
    refusals=(),
    example_answer=wire.notes.TaggedList(
        [wire.notes.TaggedRecord(samples.USER_ID, samples.USER, samples.PLAYER_ID, samples.PLAYER)]
    ),
)
async def list_tagged(request: Request, query: wire.notes.TaggedQuery) -> bytes:
    """List the accounts and players that have a tag."""
    found = await notes.load_tagged(request.services.keeper.store, request.params[0], notes.FIRST, query.limit)
    return wire.encode(
        wire.notes.TaggedList(
            [
                wire.notes.TaggedRecord(
                    each.user_id, each.user, None if each.player_id == lookup.ZERO_GUID else each.player_id, each.player
                )
                for each in found
            ]
        )
    )


def make_record(note: Note) -> wire.notes.NoteRecord:
    return wire.notes.NoteRecord(
        Id=note.id,
        UserId=note.user_id,
        User=note.user,
        PlayerId=note.player_id,
        Player=note.player,
        AuthorId=note.author_id,
        Author=note.author,
        At=format_instant(note.at),
        Warning=note.warning,
        Text=note.text,
    )


async def _read_tags(tx: Reading, subject: Subject) -> list[str]:
    return await rows.read_tags(tx, subject.user_id, subject.player_id or lookup.ZERO_GUID)
