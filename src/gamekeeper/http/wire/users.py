"""Accounts: their record, registration, email and password."""

from typing import Annotated, Generic, Literal

from msgspec import Meta, Struct

from gamekeeper.http.wire.lists import Direction, PageQuery, R, Search
from gamekeeper.http.wire.scalars import Email, Guid, Instant, Name, PasswordHash, PlainInt64, Secret


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
