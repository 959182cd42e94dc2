"""JSON shapes of notes and tags."""

from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from gamekeeper.http import mail_cursor
from gamekeeper.http.query_values import read_mail_cursor
from gamekeeper.http.wire.lists import Limit
from gamekeeper.http.wire.mails import CURSOR_SCHEMA
from gamekeeper.http.wire.scalars import PRINTABLE, Guid, Instant, Text

NameOrId = Text  # the field `Text` of a note hides this type within its class
NoteText = Annotated[str, Meta(max_length=1000, extra_json_schema=PRINTABLE)]
NotesBefore = Annotated[
    mail_cursor.MailCursor,
    Meta(
        description="Older notes than this position: `Next` of the previous page.",
        extra={"read": read_mail_cursor, "schema": CURSOR_SCHEMA},
    ),
]
ShortLimit = Annotated[Limit, Meta(extra={"cut": 1000})]


class NotesQuery(Struct, frozen=True):
    player: Annotated[Text, Meta(description="Only notes about this player.")] | UnsetType = UNSET
    user: Annotated[Text, Meta(description="Only notes about this account and its players.")] | UnsetType = UNSET
    text: Annotated[Text, Meta(description="Only notes that contain this text.")] | UnsetType = UNSET
    before: NotesBefore = mail_cursor.START
    limit: ShortLimit = 50


class TaggedQuery(Struct, frozen=True):
    limit: ShortLimit = 50


class AddNote(Struct):
    Text: NoteText
    Player: NameOrId | UnsetType = UNSET
    User: NameOrId | UnsetType = UNSET
    Warning: bool = False


class SetTags(Struct):
    Tags: list[Text]
    Player: Text | UnsetType = UNSET
    User: Text | UnsetType = UNSET


class NoteRecord(Struct):
    Id: Guid
    UserId: Guid
    User: str
    PlayerId: Guid | None
    Player: str | None  # null: about the account, or the player is deleted
    AuthorId: Guid | None
    Author: str | None  # null: the account of the author is deleted
    At: Instant
    Warning: bool
    Text: str


class NoteList(Struct):
    Notes: list[NoteRecord]
    Tags: list[str] | None  # of the player or account that was asked for; null: none was
    Next: str | None


class TagsOf(Struct):
    Tags: list[str]


class TaggedRecord(Struct):
    UserId: Guid
    User: str
    PlayerId: Guid | None
    Player: str | None


class TaggedList(Struct):
    Tagged: list[TaggedRecord]


class ShownNoteSide(Struct, frozen=True):
    """`Before` or `After` of a change of a note in the audit log. An erasure removes the text."""

    Warning: bool = False
    Text: str = ""


class ShownTagsSide(Struct, frozen=True):
    Tags: list[str] = []
