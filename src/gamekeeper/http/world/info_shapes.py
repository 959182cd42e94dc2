"""JSON shapes of answers about the server: health, versions, the game's limits, and metrics.

Limits and metrics have the engine's shape and defaults. What Gamekeeper does not know is zero in the metrics.
"""

from typing import Annotated

from msgspec import Meta, Struct, field

from gamekeeper.http.contract.shapes import PRINTABLE, Instant, PlainDouble, PlainInt32, PlainInt64, describe

Tolerant = Annotated[bool, describe("Get the tolerant document, which describes all that the server accepts.")]

FileVersion = Annotated[
    str,
    Meta(
        description="Version of the file. A browser keeps the present version for a year.", extra_json_schema=PRINTABLE
    ),
]


class DocumentQuery(Struct, frozen=True):
    tolerant: Tolerant = False


class DocsFileQuery(Struct, frozen=True):
    v: FileVersion = ""


class Health(Struct):
    Status: str


class Versions(Struct):
    versions: list[str]


class Info(Struct):
    name: str
    port: PlainInt32


class ServerStats(Struct):
    """Uptime in milliseconds, requests per second, connected game servers and players online."""

    uptime: PlainInt64
    cps: PlainInt32
    connectedClients: PlainInt32  # noqa: N815 - the wire's spelling
    onlineCount: PlainInt32  # noqa: N815 - as above


VERSIONS = ["v1"]


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
    """Limits and settings of the game."""

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


class Measure(Struct, frozen=True):
    """Measured values of the last seconds: smallest, largest, how many, sum and mean."""

    Min: PlainInt64 = 0
    Max: PlainInt64 = 0
    Count: PlainInt32 = 0
    Sum: PlainInt64 = 0
    Mean: PlainDouble = 0.0


NONE = Measure()


class ApplicationMetrics(Struct, frozen=True):
    Cpu: Measure = NONE
    Memory: Measure = NONE  # bytes


class GameMetrics(Struct, frozen=True):
    Cps: Measure = NONE  # requests per second
    Players: Measure = NONE
    ActiveMaps: Measure = NONE
    ActiveEntities: Measure = NONE
    ActiveEvents: Measure = NONE
    AutorunEvents: Measure = NONE
    ProcessingEvents: Measure = NONE
    MapQueueUpdateOffset: Measure = NONE
    MapUpdateQueuedTime: Measure = NONE
    MapUpdateProcessingTime: Measure = NONE
    MapTotalUpdateTime: Measure = NONE


class NetworkMetrics(Struct, frozen=True):
    Clients: Measure = NONE  # game servers with a lease
    TotalBandwidth: Measure = NONE
    SentBytes: Measure = NONE
    SentPackets: Measure = NONE
    ReceivedBytes: Measure = NONE
    ReceivedPackets: Measure = NONE
    AcceptedBytes: Measure = NONE
    AcceptedPackets: Measure = NONE
    DroppedBytes: Measure = NONE
    DroppedPackets: Measure = NONE
    TotalReceivedPacketHandlingTime: Measure = NONE
    TotalSentPacketProcessingTime: Measure = NONE
    # always empty: network packets of the game do not pass through Gamekeeper
    MostSentPackets: list[str] = []
    MostReceivedPackets: list[str] = []


class ThreadingMetrics(Struct, frozen=True):
    LogicPoolActiveThreads: Measure = NONE
    LogicPoolInUseThreads: Measure = NONE
    LogicPoolWorkItemsCount: Measure = NONE
    NetworkPoolActiveThreads: Measure = NONE
    NetworkPoolInUseThreads: Measure = NONE
    NetworkPoolWorkItemsCount: Measure = NONE
    DatabasePoolActiveThreads: Measure = NONE
    DatabasePoolInUseThreads: Measure = NONE
    DatabasePoolWorkItemsCount: Measure = NONE
    SystemPoolInUseWorkerThreads: Measure = NONE
    SystemPoolInUseIOThreads: Measure = NONE


class Sections(Struct, frozen=True):
    Application: ApplicationMetrics
    Game: GameMetrics
    Network: NetworkMetrics
    Threading: ThreadingMetrics


class ServerMetrics(Struct, frozen=True):
    uptime: PlainInt64  # milliseconds
    datetime: Instant
    metrics: Sections


def measure(*values: int) -> Measure:
    total = sum(values)
    return Measure(min(values), max(values), len(values), total, total / len(values))
