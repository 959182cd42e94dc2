"""The answer of `info/config`: the game's limits, in the engine's shape and with the engine's defaults.

The fields up to `Player.InitialBankslots` came first, and new ones follow: some clients read the answer by position.
"""

from msgspec import Struct, field

from gamekeeper.http.wire.scalars import PlainInt32

SLOTS = ["Helmet", "Armor", "Weapon", "Shield", "Boots"]
TOOLS = ["Axe", "Pickaxe", "Shovel", "Fishing Rod"]
RARITIES = ["None", "Common", "Uncommon", "Rare", "Epic", "Legendary"]


class PlayerConfig(Struct, frozen=True):
    MaxCharacters: PlainInt32
    MaxInventory: PlainInt32
    MaxBank: PlainInt32
    MaxSpells: PlainInt32
    MaxLevel: PlainInt32
    MaxStat: PlainInt32
    InitialBankslots: PlainInt32
    ItemDropChance: PlainInt32 = 0
    RequestTimeout: PlainInt32 = 300_000
    TradeRange: PlainInt32 = 6
    AllowCombatMovement: bool = True
    ExpLossOnDeathPercent: PlainInt32 = 0
    ExpLossFromCurrentExp: bool = True
    HotbarSlotCount: PlainInt32 = 10


class ChatConfig(Struct, frozen=True):
    MaxChatLength: PlainInt32 = 120
    MinIntervalBetweenChats: PlainInt32 = 400
    ShowAnnouncementBanners: bool = True
    AnnouncementDisplayDuration: PlainInt32 = 5000


class CombatConfig(Struct, frozen=True):
    BlockingSlow: PlainInt32 = 30
    CombatTime: PlainInt32 = 10_000
    MaxAttackRate: PlainInt32 = 200
    MaxDashSpeed: PlainInt32 = 200
    MinAttackRate: PlainInt32 = 500
    RegenTime: PlainInt32 = 3000


class MapConfig(Struct, frozen=True):
    GameBorderStyle: PlainInt32 = 0
    Height: PlainInt32 = 26
    Width: PlainInt32 = 32
    MapHeight: PlainInt32 = 26
    MapWidth: PlainInt32 = 32
    ItemAttributeRespawnTime: PlainInt32 = 15_000
    TileHeight: PlainInt32 = 32
    TileWidth: PlainInt32 = 32
    ZDimensionVisible: bool = False


class PartyConfig(Struct, frozen=True):
    MaximumMembers: PlainInt32 = 4
    InviteRange: PlainInt32 = 40
    SharedXpRange: PlainInt32 = 40
    NpcDeathCommonEventStartRange: PlainInt32 = 0
    BonusExperiencePercentPerMember: PlainInt32 = 0


class LootConfig(Struct, frozen=True):
    ItemDespawnTime: PlainInt32 = 15_000
    ItemOwnershipTime: PlainInt32 = 5000
    ShowUnownedItems: bool = False
    ConsolidateMapDrops: bool = True


class PassabilityConfig(Struct, frozen=True):
    Arena: bool = False
    Normal: bool = False
    Safe: bool = True


class EquipmentConfig(Struct, frozen=True):
    Slots: list[str] = field(default_factory=lambda: SLOTS)
    WeaponSlot: PlainInt32 = 2
    ShieldSlot: PlainInt32 = 3
    ToolTypes: list[str] = field(default_factory=lambda: TOOLS)


class RankPermissions(Struct, frozen=True):
    Invite: bool
    Kick: bool
    Promote: bool
    Demote: bool
    BankDeposit: bool
    BankRetrieve: bool
    BankMove: bool


class GuildRank(Struct, frozen=True):
    """A rank of guilds. A member's `GuildRank` is its position in the list; a limit of -1 means any number."""

    Title: str
    Limit: PlainInt32
    Permissions: RankPermissions


_ALL, _NONE = RankPermissions(*[True] * 7), RankPermissions(*[False] * 7)
_DEPOSIT = RankPermissions(*[False] * 4, BankDeposit=True, BankRetrieve=False, BankMove=False)
RANKS = [
    GuildRank("Master", 1, _ALL),
    GuildRank("Officer", 10, _ALL),
    GuildRank("Member", -1, _DEPOSIT),
    GuildRank("Newbie", -1, _NONE),
]


class GuildConfig(Struct, frozen=True):
    Ranks: list[GuildRank] = field(default_factory=lambda: RANKS)
    InitialBankSlots: PlainInt32 = 50
    DeleteStaleGuildsAfterDays: PlainInt32 = -1


class BankConfig(Struct, frozen=True):
    MaxSlots: PlainInt32


class ItemsConfig(Struct, frozen=True):
    RarityTiers: list[str] = field(default_factory=lambda: RARITIES)


class Config(Struct, frozen=True):
    GameName: str
    ServerPort: PlainInt32
    Player: PlayerConfig
    SmtpValid: bool  # whether the server sends mails
    ValidPasswordResetTimeMinutes: PlainInt32
    Bank: BankConfig
    AdminOnly: bool = False
    BlockClientRegistrations: bool = False
    UPnP: bool = True
    OpenPortChecker: bool = True
    AnimatedSprites: list[str] = []
    EventWatchdogKillThreshold: PlainInt32 = 5000
    MaxClientConnections: PlainInt32 = 100
    MaximumLoggedinUsers: PlainInt32 = 50
    Chat: ChatConfig = ChatConfig()
    Combat: CombatConfig = CombatConfig()
    Map: MapConfig = MapConfig()
    Party: PartyConfig = PartyConfig()
    Loot: LootConfig = LootConfig()
    Passability: PassabilityConfig = PassabilityConfig()
    Equipment: EquipmentConfig = EquipmentConfig()
    Guild: GuildConfig = GuildConfig()
    Items: ItemsConfig = ItemsConfig()
