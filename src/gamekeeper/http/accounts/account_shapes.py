"""JSON shapes of accounts: record, registration, email and password, penalties, mails, notes and tags.

`Person` is all data of a person, as `gamekeeper users export` writes it.
"""

from typing import Annotated, Any, Generic, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from gamekeeper.http.contract.shapes import (
    NEVER_NULL,
    PRINTABLE,
    Direction,
    Email,
    Guid,
    Id,
    Instant,
    Limit,
    Name,
    PageQuery,
    PasswordHash,
    PlainInt32,
    PlainInt64,
    R,
    Search,
    Secret,
    Text,
)
from gamekeeper.http.server import query_values
from gamekeeper.http.server.query_values import CHANGE_NUMBER, read_mail_cursor


class Register(Struct):
    username: Name
    password: PasswordHash
    email: Email


class ValidatePassword(Struct):
    password: PasswordHash


class ChangeEmail(Struct):
    new: Email
    authorization: PasswordHash


class ChangePassword(Struct):
    new: PasswordHash
    authorization: PasswordHash


class ManageEmail(Struct):
    new: Email


class ManagePassword(Struct):
    new: PasswordHash


class RedeemCode(Struct):
    code: Secret
    new: PasswordHash


UserSort = Annotated[Literal["name", "email"], Meta(description="Sort by.", extra={"blank": True})]


class UsersQuery(PageQuery, frozen=True):
    search: Search = ""
    sortBy: UserSort = "name"  # noqa: N815 - the wire's spelling
    sortDirection: Direction = "Ascending"  # noqa: N815 - as above


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


USER_FIELDS = {
    "name": "Name",
    "email": "Email",
    "password": "Password",
    "reset_code": "PasswordResetCode",
    "mute_reason": "MuteReason",
    "ban_reason": "BanReason",
    "reason": "Reason",
    "moderator": "Moderator",
    "ends_at": "EndsAt",
    "approval": "ApprovalId",
    "mail_id": "MailId",
    "mail_state": "MailState",
    "next_try_at": "NextTryAt",
    "editor": "Editor",
    "ban": "Ban",
    "kick": "Kick",
    "mute": "Mute",
    "api": "Api",
    "users_query": "UsersQuery",
    "users_manage": "UsersManage",
    "game_link": "GameLink",
    "roles": "Roles",
    "permissions": "Permissions",
    "role": "Role",
    "about": "About",
    "read_only": "ReadOnly",
    "quotas": "Quotas",
    "suspended": "Suspended",
    "second_factors": "SecondFactors",
    "recovery_codes": "RecoveryCodes",
    "identities": "Identities",
    "invitation_id": "InvitationId",
}


Rows = list[dict[str, Any]]


class Person(Struct):
    account: UserRecord[Power]
    characters: Rows = []
    texts: Rows = []
    guilds: Rows = []
    penalties: Rows = []
    roles: Rows = []
    api_keys: Rows = []
    second_factors: Rows = []
    recovery_codes: Rows = []
    identities: Rows = []
    mails: Rows = []
    callers: Rows = []
    approvals: Rows = []
    bulk_jobs: Rows = []
    bulk_targets: Rows = []
    notes: Rows = []
    tags: Rows = []
    saved_views: Rows = []
    standings: Rows = []
    signals: Rows = []
    addresses: Rows = []
    log_addresses: Rows = []
    leftovers: Rows = []
    tokens: Rows = []
    security: Rows = []
    activity: Rows = []
    trades: Rows = []
    play_sessions: Rows = []
    play_time: Rows = []
    changes: Rows = []


Days = Annotated[int, Meta(ge=0, le=999_999, description="Days; 0: permanently."), NEVER_NULL]
Minutes = Annotated[int, Meta(ge=0, le=999_999 * 24 * 60, description="Minutes, instead of days; 0: permanently.")]


class Pardon(Struct):
    reason: Text | None = None
    moderator: Text | None = None  # name of the moderator to record; default: the caller's


class Penalty(Struct):
    duration: Days = 0
    reason: Text | None = None
    moderator: Text | None = None
    # left out of the fingerprint if they are not sent: stored Idempotency-Keys are older than these fields
    minutes: Annotated[Minutes | UnsetType, NEVER_NULL] = UNSET
    until: Annotated[Instant | UnsetType, NEVER_NULL] = UNSET  # time at which it ends, instead of a duration


CURSOR_SCHEMA = {"pattern": f"^{CHANGE_NUMBER}-[0-9a-f]{{8}}(-[0-9a-f]{{4}}){{3}}-[0-9a-f]{{12}}$", "type": "string"}
MailsBefore = Annotated[
    query_values.MailCursor,
    Meta(
        description="Older mails than this position: `Next` of the previous page.",
        extra={"read": read_mail_cursor, "schema": CURSOR_SCHEMA},
    ),
]
MailsToUser = Annotated[Id, Meta(description="Mails to this account, by id.")]


class MailsQuery(Struct, frozen=True):
    user: MailsToUser | UnsetType = UNSET
    before: MailsBefore = query_values.START
    limit: Annotated[Limit, Meta(extra={"cut": 1000})] = 50


class Mail(Struct):
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
NotesBefore = Annotated[
    query_values.MailCursor,
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
    before: NotesBefore = query_values.START
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
