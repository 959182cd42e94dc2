"""JSON shapes of accounts: record, registration, email and password, penalties, mails, notes and tags.

`Person` is all data of a person, as `gamekeeper users export` writes it.
"""

from typing import Annotated, Any, Generic, Literal

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from gamekeeper.http.contract.records import to_pascal
from gamekeeper.http.contract.shapes import (
    NEVER_NULL,
    PRINTABLE,
    Email,
    Guid,
    Id,
    Instant,
    Limit,
    Name,
    PasswordHash,
    PlainInt32,
    PlainInt64,
    R,
    SearchQuery,
    Secret,
    Text,
    describe,
    describe_cursor,
)
from gamekeeper.http.server import query_values
from gamekeeper.store.accounts.notes import TaggedRecord


class Register(Struct):
    username: Annotated[Name, describe("Name of the new account.")]
    password: PasswordHash
    email: Annotated[Email, describe("Its email address.")]


class ValidatePassword(Struct):
    password: PasswordHash


class ChangeEmail(Struct):
    new: Annotated[Email, describe("The new email address.")]
    authorization: PasswordHash


class ChangePassword(Struct):
    new: PasswordHash
    authorization: PasswordHash


class ManageEmail(Struct):
    new: Annotated[Email, describe("The new email address.")]


class ManagePassword(Struct):
    new: PasswordHash


class RedeemCode(Struct):
    code: Annotated[Secret, describe("The code from the mail.")]
    new: PasswordHash


UserSort = Annotated[Literal["name", "email"], Meta(description="Sort by.", extra={"blank": True})]


class UsersQuery(SearchQuery, frozen=True):
    sortBy: UserSort = "name"  # noqa: N815 - the wire's spelling


class Power(Struct):
    Editor: bool
    Ban: bool
    Kick: bool
    Mute: bool
    Api: bool
    PersonalInformation: bool


class ChangedPower(Struct):
    Editor: bool
    Ban: bool
    Kick: bool
    Mute: bool
    Api: bool
    ApiPersonalInformation: bool
    ApiUserManagement: bool


class UserRecord(Struct, Generic[R]):
    """An account. Reads answer `Power`, changes answer `ChangedPower`."""

    Id: Guid
    Name: str
    Email: str
    Power: R  # permissions, as Power or ChangedPower: the API's specification says which, per operation
    PasswordResetCode: str | None
    IsMuted: bool
    MuteReason: str | None
    IsBanned: bool
    RegistrationDate: Instant
    PlayTimeSeconds: PlainInt64  # play time of all players of the account together


class Registered(Struct):
    Username: str
    Email: str


class Message(Struct, omit_defaults=True):
    Message: str
    Warning: str | None = None


class Authorized(Struct):
    authorized: bool


# attributes of sides of changes, which are of accounts and staff, and those with another name in the API
_ATTRIBUTES = (
    *("name", "email", "password", "reset_code", "mute_reason", "ban_reason", "reason", "moderator"),
    *("ends_at", "approval", "mail_id", "mail_state", "next_try_at", "editor", "ban", "kick", "mute", "api"),
    *("users_query", "users_manage", "game_link", "roles", "permissions", "role", "about", "read_only"),
    *("quotas", "suspended", "second_factors", "recovery_codes", "identities", "invitation_id"),
)
_RENAMED = {"reset_code": "PasswordResetCode", "approval": "ApprovalId"}
USER_FIELDS = {each: to_pascal(each) for each in _ATTRIBUTES} | _RENAMED


Rows = list[dict[str, Any]]


# all lists of a person's data, in the order of the export
_LISTS = (
    *("characters", "texts", "guilds", "penalties", "roles", "api_keys", "second_factors", "recovery_codes"),
    *("identities", "mails", "callers", "approvals", "bulk_jobs", "bulk_targets", "notes", "tags"),
    *("saved_views", "standings", "signals", "addresses", "log_addresses", "leftovers", "tokens", "security"),
    *("activity", "trades", "play_sessions", "play_time", "changes"),
)
Person = msgspec.defstruct(
    "Person", [("account", UserRecord[Power]), *((name, Rows, []) for name in _LISTS)], module=__name__
)


Days = Annotated[int, Meta(ge=0, le=999_999, description="Days; 0: permanently."), NEVER_NULL]
Minutes = Annotated[int, Meta(ge=0, le=999_999 * 24 * 60, description="Minutes, instead of days; 0: permanently.")]


class Pardon(Struct):
    reason: Annotated[Text, describe("Reason to record.")] | None = None
    moderator: Annotated[Text, describe("Name to record; default: the name of the caller's account.")] | None = None


class Penalty(Struct):
    duration: Days = 0
    reason: Annotated[Text, describe("Reason to record; the player sees it.")] | None = None
    moderator: Annotated[Text, describe("Name to record; default: the name of the caller's account.")] | None = None
    # left out of the fingerprint if they are not sent: stored Idempotency-Keys are older than these fields
    minutes: Annotated[Minutes | UnsetType, NEVER_NULL] = UNSET
    until: Annotated[
        Annotated[Instant, describe("Time at which it ends, instead of a duration.")] | UnsetType, NEVER_NULL
    ] = UNSET


MailsBefore = Annotated[query_values.MailCursor, describe_cursor("mails")]
MailsToUser = Annotated[Id, describe("Mails to this account, by id.")]


class MailsQuery(Struct, frozen=True):
    user: MailsToUser | UnsetType = UNSET
    before: MailsBefore = query_values.START
    limit: Annotated[Limit, Meta(extra={"cut": 1000})] = 50


class Mail(Struct):
    """A mail of the outbox; `Retriable` says whether it can be retried."""

    Id: Guid
    UserId: Guid
    User: str
    Kind: str
    Email: str
    State: str  # state of the mail: queued, sending, sent, failed or expired
    QueuedAt: Instant
    ExpiresAt: Instant
    Tries: PlainInt32
    NextTryAt: Instant | None
    SentAt: Instant | None
    LastError: str | None
    Retriable: bool


class Mails(Struct):
    Mails: list[Mail]
    Next: str | None


NameOrId = Text  # the field `Text` of a note hides this type within its class
NoteText = Annotated[str, Meta(max_length=1000, extra_json_schema=PRINTABLE)]
NotesBefore = Annotated[query_values.MailCursor, describe_cursor("notes")]
ShortLimit = Annotated[Limit, Meta(extra={"cut": 1000})]


class NotesQuery(Struct, frozen=True):
    player: Annotated[Text, describe("Only notes about this player.")] | UnsetType = UNSET
    user: Annotated[Text, describe("Only notes about this account and its players.")] | UnsetType = UNSET
    text: Annotated[Text, describe("Only notes that contain this text.")] | UnsetType = UNSET
    before: NotesBefore = query_values.START
    limit: ShortLimit = 50


class TaggedQuery(Struct, frozen=True):
    limit: ShortLimit = 50


class AddNote(Struct):
    Text: Annotated[NoteText, describe("The note, at most 1000 characters.")]
    Player: Annotated[NameOrId, describe("Name or id of the player that it is about.")] | UnsetType = UNSET
    User: Annotated[NameOrId, describe("Name or id of the account, if it is about no player.")] | UnsetType = UNSET
    Warning: Annotated[bool, describe("Show it in the header of the page.")] = False


class SetTags(Struct):
    Tags: Annotated[list[Text], describe("All tags; each has at most 30 characters, and no comma.")]
    Player: Annotated[Text, describe("Name or id of the player.")] | UnsetType = UNSET
    User: Annotated[Text, describe("Name or id of the account, if the tags are of no player.")] | UnsetType = UNSET


class NoteRecord(Struct):
    """A note or a warning about an account, or about one of its players."""

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


class TaggedList(Struct):
    Tagged: list[TaggedRecord]


class ShownNoteSide(Struct, frozen=True):
    """`Before` or `After` of a change of a note in the audit log. An erasure removes the text."""

    Warning: bool = False
    Text: str = ""


class ShownTagsSide(Struct, frozen=True):
    Tags: list[str] = []
