"""The shapes of `Before` and `After` of a change, by its kind. The OpenAPI document shows them.

A field is optional here if it is left out when empty, if an earlier version did not write it, or if it is personal:
erasing an account removes personal fields.
"""

from collections.abc import Mapping, Sequence
from typing import Literal

import msgspec
from msgspec import UNSET, Struct, UnsetType

from gamekeeper.game.audit.approvals import PreviewedChange
from gamekeeper.game.audit.history import KINDS
from gamekeeper.http.access.role_shapes import RoleQuota
from gamekeeper.http.audit.history_shapes import AttachedRows, DoneChange, ToldChange
from gamekeeper.http.contract.shapes import SIDES, Guid, Instant, PlainInt32, PlainInt64, Sides
from gamekeeper.http.players.player_shapes import ChangedBag, ItemSlot, KnownSpell, PlayerDocument, PlayerRecord, Sum
from gamekeeper.http.players.variable_shapes import AnyVariable, ChangedVariable, GuildValue
from gamekeeper.http.world.catalogue_shapes import (
    GuildSide,
    GuildVariableEntry,
    ItemEntry,
    NamedEntry,
    ServerVariableEntry,
    VariableEntry,
)
from gamekeeper.http.world.link_shapes import ChatColor, FeedChange, ItemPicture

Text = str | UnsetType


class ItemsSide(Struct):
    """The slots that the change modified, and the bags that it added, removed or resized."""

    Items: list[ItemSlot] | UnsetType = UNSET
    Bank: list[ItemSlot] | UnsetType = UNSET
    Bags: list[ChangedBag] | UnsetType = UNSET


class SpellsSide(Struct):
    Spells: list[KnownSpell] | UnsetType = UNSET


class VariablesSide(Struct):
    Variables: list[ChangedVariable] | UnsetType = UNSET


class AttachedSide(Struct):
    Attached: AttachedRows | UnsetType = UNSET


class ServerVariablesSide(Struct):
    """Values of the server's variables; null: never set."""

    ServerVariables: list[AnyVariable]


class GuildVariablesSide(Struct):
    """Values of guilds' variables; null: never set."""

    GuildVariables: list[GuildValue]


_RECORD = {each.name: each.type for each in msgspec.structs.fields(PlayerRecord)}
_FIELDS = [*PlayerDocument.__struct_fields__, "LastOnline"]
# For a change: the fields of the player record that differ. For a creation or deletion: all fields.
RecordSide = msgspec.defstruct(
    "RecordSide", [(name, _RECORD[name] | UnsetType, UNSET) for name in _FIELDS], module=__name__
)
PlayerSide = msgspec.defstruct(
    "PlayerSide",
    [
        (each.name, each.type, UNSET)
        for shape in (RecordSide, ItemsSide, SpellsSide, VariablesSide, AttachedSide)
        for each in msgspec.structs.fields(shape)
    ],
    module=__name__,
)


class NameSide(Struct):
    Name: Text = UNSET


class EmailSide(Struct):
    Email: Text = UNSET


class PasswordSide(Struct):
    """A password change in the audit log: it says "changed", and never has the password."""

    Password: Literal["changed"]


class ResetSide(Struct):
    """A password reset request in the audit log: it says "changed", and never has the reset code."""

    PasswordResetCode: Literal["changed"]


class MailSide(Struct):
    MailId: Guid
    MailState: str
    NextTryAt: Instant | None


class PowersSide(Struct):
    Editor: bool
    Ban: bool
    Kick: bool
    Mute: bool
    Api: bool
    UsersQuery: bool
    UsersManage: bool
    GameLink: bool


class RolesSide(Struct):
    """Roles of an account, and its directly granted permissions that `PowersSide` does not have."""

    Roles: list[str]
    Permissions: list[str]


class SecondFactorsSide(Struct):
    """Kinds of the account's second factors: totp or passkey."""

    SecondFactors: list[str]
    RecoveryCodes: Literal["changed"] | UnsetType = UNSET


class IdentitiesSide(Struct):
    """Issuers of the account's sign-ins with OpenID Connect."""

    Identities: list[str]


class RoleSide(Struct):
    Role: str
    About: str
    ReadOnly: bool
    Permissions: list[str]
    Quotas: list[RoleQuota] | UnsetType = UNSET


class AccountSide(PowersSide, kw_only=True):
    Name: Text = UNSET
    Email: Text = UNSET
    Password: Literal["changed"]
    Roles: list[str] | UnsetType = UNSET


class BanSide(Struct):
    """A ban, or null for none. Moderator and EndsAt are present when a moderator imposed or lifted it."""

    BanReason: str | UnsetType | None = UNSET
    Reason: Text = UNSET
    Moderator: Text = UNSET
    EndsAt: Instant | UnsetType | None = UNSET


class MuteSide(Struct):
    """A mute, or null for none. The other fields are as in `BanSide`."""

    MuteReason: str | UnsetType | None = UNSET
    Reason: Text = UNSET
    Moderator: Text = UNSET
    EndsAt: Instant | UnsetType | None = UNSET


class KickSide(Struct):
    Reason: Text = UNSET
    Moderator: Text = UNSET


class WarpSide(Struct):
    """Where the game warps the player. Without X and Y the player keeps its own."""

    MapId: Guid
    X: PlainInt32 | UnsetType = UNSET
    Y: PlainInt32 | UnsetType = UNSET


class ChatSide(Struct):
    """A chat message. `direct` is for the player of the change, `proximity` for the map and its neighbours."""

    Channel: Literal["global", "direct", "proximity"]
    MapId: Guid | UnsetType = UNSET
    Message: Text = UNSET
    Color: ChatColor | UnsetType = UNSET
    Target: Text = UNSET


class InvitationSide(Struct):
    InvitationId: Guid
    Roles: list[str]


class SuspensionSide(Struct):
    Suspended: bool


class ApprovalSide(Struct):
    ApprovalId: Guid


class BulkJobSide(Struct):
    """A bulk job; the fields after `State` depend on its act. `Each` is the quantity for one player."""

    JobId: Guid
    Act: str
    Players: PlainInt32
    State: str
    ItemId: Guid | UnsetType = UNSET
    Each: PlainInt32 | UnsetType = UNSET
    VariableId: Guid | UnsetType = UNSET
    Value: PlainInt64 | bool | UnsetType = UNSET
    Days: PlainInt32 | UnsetType = UNSET
    Minutes: PlainInt32 | UnsetType = UNSET
    Until: Instant | UnsetType = UNSET
    UndoOf: Guid | UnsetType = UNSET


class NoteSide(Struct):
    NoteId: Guid
    PlayerId: Guid | None
    Warning: bool
    Text: str | UnsetType = UNSET


class TagsSide(Struct):
    PlayerId: Guid | None
    Tags: list[str] | UnsetType = UNSET


class BoardSide(Struct):
    Board: str
    Title: str
    Ranks: str
    ThingId: Guid | None
    Gain: bool
    HideStaff: bool
    Public: bool


class SeasonSide(Struct):
    Board: str
    Season: PlainInt32
    Title: str
    StartsAt: Instant
    EndsAt: Instant | None


class HiddenSide(Struct):
    Hidden: bool


class SignalSide(Struct):
    """A signal: its rule, and what it is about. `GET /api/keeper/v1/signals` has its evidence."""

    SignalId: Guid
    Rule: str
    PlayerId: Guid | None
    ItemId: Guid | None
    Server: str | None
    Note: str | UnsetType | None = UNSET  # of an acknowledged signal


class CatalogueSide(Struct):
    """Catalogue entries of one kind, such as items. Before: the replaced ones; after: the new and changed ones."""

    Items: list[ItemEntry] | UnsetType = UNSET
    Spells: list[NamedEntry] | UnsetType = UNSET
    Variables: list[VariableEntry] | UnsetType = UNSET
    Classes: list[NamedEntry] | UnsetType = UNSET
    Maps: list[NamedEntry] | UnsetType = UNSET
    Animations: list[NamedEntry] | UnsetType = UNSET
    Npcs: list[NamedEntry] | UnsetType = UNSET
    Projectiles: list[NamedEntry] | UnsetType = UNSET
    Quests: list[NamedEntry] | UnsetType = UNSET
    Resources: list[NamedEntry] | UnsetType = UNSET
    Shops: list[NamedEntry] | UnsetType = UNSET
    Crafttables: list[NamedEntry] | UnsetType = UNSET
    Crafts: list[NamedEntry] | UnsetType = UNSET
    Events: list[NamedEntry] | UnsetType = UNSET
    Tilesets: list[NamedEntry] | UnsetType = UNSET
    Uservariables: list[NamedEntry] | UnsetType = UNSET
    Servervariables: list[ServerVariableEntry] | UnsetType = UNSET
    Guildvariables: list[GuildVariableEntry] | UnsetType = UNSET
    Time: list[NamedEntry] | UnsetType = UNSET


class PlayersLoadedSide(Struct):
    Players: PlainInt32
    Sums: list[Sum] | UnsetType = UNSET


class UsersLoadedSide(Struct):
    Users: PlainInt32 | UnsetType = UNSET
    Bans: PlainInt32 | UnsetType = UNSET
    Mutes: PlainInt32 | UnsetType = UNSET


class TrimmedSide(Struct):
    Upto: PlainInt64
    Rows: PlainInt32
    Sums: list[Sum] | UnsetType = UNSET


SIDES.update(
    {
        "items_given": Sides(ItemsSide, ItemsSide),
        "items_taken": Sides(ItemsSide, ItemsSide),
        "items_set": Sides(ItemsSide, ItemsSide),
        "spell_taught": Sides(SpellsSide, SpellsSide),
        "spell_forgotten": Sides(SpellsSide, SpellsSide),
        "spells_set": Sides(SpellsSide, SpellsSide),
        "variables_set": Sides(VariablesSide, VariablesSide),
        "player_created": Sides(PlayerSide | None, PlayerSide),
        "player_changed": Sides(RecordSide, RecordSide),
        "player_deleted": Sides(PlayerSide, PlayerSide | None),
        "user_registered": Sides(AccountSide | None, AccountSide),
        "user_renamed": Sides(NameSide, NameSide),
        "user_deleted": Sides(AccountSide | None, AccountSide | None),
        "email_changed": Sides(EmailSide, EmailSide),
        "password_changed": Sides(PasswordSide | None, PasswordSide),
        "reset_requested": Sides(ResetSide | None, ResetSide),
        "mail_retried": Sides(MailSide, MailSide),
        "powers_changed": Sides(PowersSide, PowersSide),
        "roles_changed": Sides(RolesSide, RolesSide),
        "second_factors_changed": Sides(SecondFactorsSide, SecondFactorsSide),
        "second_factors_reset": Sides(SecondFactorsSide, SecondFactorsSide),
        "identities_changed": Sides(IdentitiesSide, IdentitiesSide),
        "user_banned": Sides(BanSide | None, BanSide),
        "user_unbanned": Sides(BanSide, BanSide),
        "user_muted": Sides(MuteSide | None, MuteSide),
        "user_unmuted": Sides(MuteSide | None, MuteSide),
        "user_kicked": Sides(KickSide | None, KickSide),
        "player_killed": Sides(KickSide | None, KickSide),
        "player_warped": Sides(WarpSide | None, WarpSide),
        "chat_sent": Sides(ChatSide | None, ChatSide),
        "server_variables_set": Sides(ServerVariablesSide, ServerVariablesSide),
        "guild_variables_set": Sides(GuildVariablesSide, GuildVariablesSide),
        "user_suspended": Sides(SuspensionSide, SuspensionSide),
        "user_resumed": Sides(SuspensionSide, SuspensionSide),
        "bulk_job_changed": Sides(BulkJobSide, BulkJobSide),
        "change_approved": Sides(ApprovalSide | None, ApprovalSide),
        "note_added": Sides(NoteSide | None, NoteSide),
        "note_deleted": Sides(NoteSide, NoteSide | None),
        "tags_set": Sides(TagsSide, TagsSide),
        "board_saved": Sides(BoardSide | None, BoardSide),
        "board_deleted": Sides(BoardSide, BoardSide | None),
        "season_saved": Sides(SeasonSide | None, SeasonSide),
        "account_hidden": Sides(HiddenSide, HiddenSide),
        "signal_raised": Sides(SignalSide | None, SignalSide),
        "signal_acknowledged": Sides(SignalSide | None, SignalSide),
        "catalogue_put": Sides(CatalogueSide, CatalogueSide),
        "item_picture_put": Sides(ItemPicture, ItemPicture),
        "guild_saved": Sides(GuildSide | None, GuildSide),
        "guild_deleted": Sides(GuildSide, GuildSide | None),
        "role_saved": Sides(RoleSide | None, RoleSide),
        "role_deleted": Sides(RoleSide, RoleSide | None),
        "invitation_sent": Sides(InvitationSide | None, InvitationSide),
        "invitation_withdrawn": Sides(InvitationSide, InvitationSide | None),
        "players_loaded": Sides(PlayersLoadedSide | None, PlayersLoadedSide),
        "users_loaded": Sides(UsersLoadedSide | None, UsersLoadedSide),
        "ledger_trimmed": Sides(TrimmedSide | None, TrimmedSide),
    }
)
IN_FEED = [each.name for each in KINDS.values() if each.reaction]
BY_UNDO = [each.name for each in sorted(KINDS.values(), key=lambda kind: kind.is_sanction) if each.by_undo]
KINDS_OF: Mapping[str, Sequence[str]] = {  # name of a change's shape → the kinds of changes that it can have
    FeedChange.__name__: IN_FEED,
    ToldChange.__name__: [*KINDS],
    DoneChange.__name__: BY_UNDO,
    PreviewedChange.__name__: [*KINDS],
}


def list_sides() -> dict[str, dict[str, Sides]]:
    """Return the name of each change's shape, with the sides of each kind that it can have."""
    return {name: {kind: SIDES[kind] for kind in kinds} for name, kinds in KINDS_OF.items()}
