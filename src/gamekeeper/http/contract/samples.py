"""Values of the demo data for the examples in the OpenAPI document. The demo server accepts them unchanged."""

import msgspec

from gamekeeper.http.access import credential_shapes, role_shapes
from gamekeeper.http.accounts import account_shapes
from gamekeeper.http.audit import bulk_shapes, history_shapes
from gamekeeper.http.contract import shapes
from gamekeeper.http.insight import board_shapes, economy_shapes
from gamekeeper.http.lists import search_shapes
from gamekeeper.http.players import player_shapes, variable_shapes
from gamekeeper.http.world import catalogue_shapes, link_shapes

PLAYER, PLAYER_ID = "Aldwyn", "a5194e91-0fb9-563c-8b8b-e2c9ab08d4c1"
KEEPER = "keeper"
USER, USER_ID = "Marlow", "ed453451-0f89-5616-be25-f06138b5e2bb"
DRAUGHT, COIN = "96d6cdc3-877e-5dc4-9024-eac3881a6adb", "9e2b8323-5231-5487-a8b0-017c3b453c23"
PACK, PACK_ID = "47f8c822-de73-5c7c-bb07-39461c35721a", "dfa11497-c558-5c95-926d-77ec093d1ffa"
EMBER_LANCE, STONE_SKIN = "f4a3717c-c074-5bbd-b643-ed8518dcc252", "c0fb0f7e-e07e-57ed-8717-9d0e814ffb49"
DRAGONS = "a094eca8-22fa-5da3-a446-b4965bbaf7c6"
DOUBLE_XP, GUILD_FAME = "3e848b2c-f7d9-56eb-b091-afae504caeab", "32d5dc00-571d-595c-b123-1e47531f2a76"
WARDEN, DOCKS = "e3951592-df08-5201-820b-25c1ea7ab849", "bc65429d-79f8-5621-a552-e02cad7c80f3"
GUILD_ID = "ce3a6bfe-36ef-5067-acc4-c215eb1fe3ab"
REALM = "realm-1"
PLAYER_CURSOR = "WyJuYW1lIiwiYWxkd3luIl0"
# SHA-256 hash of the example password "correct horse battery staple"
HASH = "c4bbcb1fbec99d65bf59d85c8cb62ee2db963f0fe106f483d9afa73bd4e39a8a"
# a picture of 8 x 8 pixels, and the hash of what is stored
PICTURE = "iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAYAAADED76LAAAAFElEQVR4nGNgoC/YImfzn85WEgUANTwCDjUfbFsAAAAASUVORK5CYII="
PICTURE_HASH = "7f24200f4002c7e2db6783b1f2aeea43647a8be601f746d927177eca2eda5aba"
CODE = "the-code-out-of-the-mail"
ACCESS, REFRESH = "gka_the-access-token", "0f8fad5b-d9cb-469f-a165-70867728950e"
REQUEST_ID = "5f2c9a0e7d31b846"
TOKEN_ID, EPOCH = "7c9e6679-7425-40de-944b-e07fc1f90ae7", "6fa459ea-ee8a-4ca4-894e-db77e160355e"
MAIL_ID, MAIL_CURSOR = "1b9d6bcd-bbfd-4b2d-9b5d-ab8dfbbd4bed", "1769860800000-1b9d6bcd-bbfd-4b2d-9b5d-ab8dfbbd4bed"
TIME, LATER_TIME, MAIL_EXPIRY = "2026-01-31T12:00:00.000Z", "2026-01-31T12:00:30.000Z", "2026-01-31T12:30:00.000Z"

END_OF_DAY = "2026-02-01T00:00:00.000Z"

RECORD = player_shapes.PlayerRecord(
    Name=PLAYER,
    InBank=False,
    UserId=USER_ID,
    MaxVitals=[792, 116],
    Id=PLAYER_ID,
    Level=48,
    Exp=73582,
    ExperienceToNextLevel=115200,
    ClassId=WARDEN,
    Gender=1,
    Vitals=[707, 103],
    BaseStats=[14, 4, 16, 8, 8],
    StatPointAllocations=[18, 33, 13, 20, 8],
    StatPoints=5,
    Equipment=[0, 1, 2, 3, 4],
    MapId=DOCKS,
    X=35,
    Y=37,
    Z=0,
    Dir=0,
    Sprite="broadsword-1.png",
    Face="face-5.png",
    Dead=False,
    CreationDate="2025-01-01T09:00:00.000Z",
    PlayTimeSeconds=922123,
    ClassName="Warden",
    MapName="Gullhaven Docks",
    Online=True,
    LastOnline="2025-12-31T19:00:00.000Z",
)
NEXT_RECORD = msgspec.structs.replace(
    RECORD,
    Name="Brisela",
    InBank=True,
    Id="752ec047-bcc4-5455-ad1e-569110db42c7",
    Level=47,
    Exp=84535,
    ExperienceToNextLevel=110450,
)
RANK = player_shapes.encode_rank(
    11, 48, shapes.encode(RECORD), [player_shapes.encode_ranked_player(12, shapes.encode(NEXT_RECORD))]
)
COINS, IN_PACK = player_shapes.ItemSlot(5, None, COIN, 1185), player_shapes.ItemSlot(34, PACK_ID, PACK, 1)
BUFFS = [0, 0, 0, 0, 0]
NAMED_COINS = player_shapes.NamedSlot(5, None, COIN, 1185, BUFFS, "Silver Mark")
NAMED_PACK = player_shapes.NamedSlot(34, PACK_ID, PACK, 1, BUFFS, "Traveller's Pack")
FLAGS = (False, False, False, False, False)
ROLE = "night watch"
ROLE_RECORD = role_shapes.RoleRecord(
    ROLE, "Keeps the chat quiet at night.", ["moderation.mute", "players.read"], ReadOnly=False, BuiltIn=False
)
HELD_ROLES = role_shapes.HeldRoles(
    USER_ID, USER, [ROLE], ["users.query"], ["moderation.mute", "players.read", "users.query"]
)
BOARD = "most-silver"
SEASON_RECORD = board_shapes.SeasonRecord(1, "Spring", TIME, END_OF_DAY, "final", Complete=True)
BOARD_RECORD = board_shapes.BoardRecord(
    Name=BOARD,
    Title="Most silver",
    Ranks="item",
    ThingId=COIN,
    Thing="Silver Mark",
    Gain=False,
    HideStaff=True,
    Public=False,
    Seasons=[SEASON_RECORD],
)
KEY_ID, KEY_TEXT = "2c1d3f80-5a0b-4c1c-9a63-0a1f6c3b7e55", "gkk_the-text-of-the-key"
KEY_RECORD = credential_shapes.KeyRecord(
    Id=KEY_ID,
    Name="web shop",
    OwnerId=USER_ID,
    Owner=USER,
    Role="shop",
    Permissions=[],
    Effective=["items.give", "players.read"],
    ExpiresAt=None,
    Addresses=["192.0.2.0/24"],
    PerMinute=None,
    Items=[COIN],
    MostPerRequest=500,
    MostPerDay=10_000,
    Servers=None,
    CreatedAt=TIME,
    CreatedBy=USER_ID,
    RotatedBy=None,
    LastUsedAt=LATER_TIME,
    LastUsedFrom="192.0.2.7",
    OldTextEndsAt=None,
    SuspendedAt=None,
    RevokedAt=None,
    Active=True,
)
ISSUED_KEY = credential_shapes.IssuedKey(**msgspec.structs.asdict(KEY_RECORD), Key=KEY_TEXT, Note=None)
FOUND_KEY = credential_shapes.FoundKey(**msgspec.structs.asdict(KEY_RECORD), TextActive=True)
STAFF_MEMBER = role_shapes.StaffMember(
    USER_ID,
    USER,
    "marlow@example.test",
    [ROLE],
    ["users.query"],
    Suspended=False,
    LastSignIn=TIME,
    Sessions=1,
    SecondFactor=True,
)
FILTERED_ACCOUNT = search_shapes.FilteredUser(
    USER_ID,
    USER,
    "marlow@example.test",
    [ROLE],
    ["users.query"],
    Suspended=False,
    IsBanned=False,
    IsMuted=False,
    RegistrationDate=TIME,
    LastSignIn=TIME,
)
SECOND_FACTORS = credential_shapes.SecondFactorList(
    USER_ID, USER, [credential_shapes.SecondFactor("totp", "Phone", TIME, TIME)], 9
)
INVITATION = role_shapes.OpenInvitation(
    MAIL_ID, "torhild@example.org", ["moderator"], KEEPER, TIME, LATER_TIME, TIME, None
)
PERMISSIONS = (False, False, False, True, False, False, False, False)
ACCOUNT_STATE = (None, False, None, False, TIME, 2_057_761)
USER_RECORD = account_shapes.UserRecord(
    USER_ID, USER, "marlow@example.test", account_shapes.Power(*FLAGS, False), *ACCOUNT_STATE
)
CHANGED_USER_RECORD = account_shapes.UserRecord(
    USER_ID, USER, "marlow@example.org", account_shapes.ChangedPower(*FLAGS, False, False), *ACCOUNT_STATE
)
CHANGE = link_shapes.FeedChange(
    4711,
    TIME,
    "items_given",
    PLAYER_ID,
    msgspec.Raw(shapes.encode(history_shapes.LedgerSide(Items=[player_shapes.ItemSlot(17)]))),
    msgspec.Raw(shapes.encode(history_shapes.LedgerSide(Items=[player_shapes.ItemSlot(17, None, DRAUGHT, 2)]))),
    KEEPER,
    REQUEST_ID,
)
HISTORY_CHANGE = history_shapes.ToldChange(
    CHANGE.Seq,
    CHANGE.At,
    CHANGE.Kind,
    PLAYER_ID,
    PLAYER,
    None,
    None,
    USER_ID,
    KEEPER,
    False,
    CHANGE.Before,
    CHANGE.After,
    REQUEST_ID,
    "shop order 4711",
    None,
    None,
    True,
    KEY_ID,
    "web shop",
    [history_shapes.ChangeDelivery("realm-2", "applied", None, None)],
)
UNDO_CHANGE = history_shapes.DoneChange("items_set", PLAYER_ID, None, CHANGE.After, CHANGE.Before)
FAILED_DELIVERY = (2, None, None, "550 5.1.1 No such mailbox")
MAIL = account_shapes.Mail(
    MAIL_ID, USER_ID, USER, "password_reset", USER_RECORD.Email, "failed", TIME, MAIL_EXPIRY, *FAILED_DELIVERY, True
)
SIGNAL = board_shapes.Signal(
    Id=MAIL_ID,
    Rule="gain",
    State="open",
    FirstAt=TIME,
    LastAt=LATER_TIME,
    Times=3,
    ItemId=COIN,
    Item="Silver Mark",
    PlayerId=PLAYER_ID,
    Player=PLAYER,
    GiverId=None,
    Giver=None,
    Server=None,
    BagId=None,
    Evidence=board_shapes.SignalEvidence(10_000, 48_000, None, 131_072, None, None, None),
    AcknowledgedAt=None,
    AcknowledgedById=None,
    AcknowledgedBy=None,
    Note=None,
)
SIGNAL_DETAILS = board_shapes.SignalDetails(
    *msgspec.structs.astuple(SIGNAL),
    Changes=[board_shapes.EvidenceChange(4711, 48_000, TIME, PLAYER_ID, PLAYER)],
    MoreChanges=0,
)
APPROVAL = history_shapes.Approval(
    MAIL_ID,
    "waiting",
    "items.give>10000",
    TIME,
    LATER_TIME,
    USER_ID,
    USER,
    "POST",
    f"/api/v1/players/{PLAYER}/items/give",
    "shop order 4711",
    *(None, None, None, None),
    KEY_ID,
    "web shop",
    [history_shapes.KeyMaker(USER_ID, USER)],
    None,
)
APPROVAL_DETAILS = history_shapes.ApprovalDetails(
    *msgspec.structs.astuple(APPROVAL),
    Preview=[history_shapes.PreviewedChange(CHANGE.Kind, PLAYER_ID, None, CHANGE.Before, CHANGE.After)],
)
BULK_JOB_ID = "5b1f6c64-5c0e-4c5b-9d0f-6f3c8f3f0a11"
NEW_BULK_JOB = bulk_shapes.NewBulkJob("give_item", [PLAYER, PLAYER_ID], ItemId=DRAUGHT, Quantity=2)
_BULK_ORIGIN = ("event prize", USER_ID, USER)
BULK_JOB = bulk_shapes.BulkJob(
    *(BULK_JOB_ID, "running", "give_item", DRAUGHT, 2, False, None, None, None, *_BULK_ORIGIN, None),
    *(f"bulk-{BULK_JOB_ID}", None, 500, 120, 2, 0, 378, 1, 3, TIME, TIME, None, None, None),
)
BULK_UNDO = bulk_shapes.BulkJob(
    *(MAIL_ID, "previewed", "undo_change", None, None, False, None, None, None, *_BULK_ORIGIN, BULK_JOB_ID),
    *(f"bulk-{MAIL_ID}", None, 498, 0, 0, 0, 498, 0, 0, TIME, None, None, None, None),
)
BULK_TARGET = bulk_shapes.BulkTarget(1, "done", PLAYER_ID, PLAYER, None, 4711, None, None, None, None, None)
BULK_CHECK = bulk_shapes.BulkCheck(
    48, 48, 0, [bulk_shapes.ExpectedRefusal("inventory_full", "The inventory is full.", 3, PLAYER)]
)
PREVIEWED_TARGET = bulk_shapes.PreviewedTarget(
    1,
    PLAYER_ID,
    PLAYER,
    None,
    None,
    NeedsApproval=False,
    Changes=[history_shapes.PreviewedChange(CHANGE.Kind, PLAYER_ID, None, CHANGE.Before, CHANGE.After)],
)
SECURITY_EVENT = credential_shapes.SecurityEvent(
    MAIL_ID,
    TIME,
    "sign_in",
    USER_ID,
    USER,
    USER_ID,
    USER,
    "192.0.2.7",
    "Mozilla/5.0",
    TOKEN_ID,
    credential_shapes.EventDetails(Session=True, ReadOnly=False, SecondFactor=True),
)
RFC_1123 = ("Sat, 31 Jan 2026 12:00:00 GMT", "Sat, 31 Jan 2026 13:00:00 GMT")
DRAUGHT_ENTRY = catalogue_shapes.ItemEntry(
    DRAUGHT, "Healing Draught", Stackable=True, MaxStack=20, Icon="healing-draught.png"
)
SERVER_VARIABLE = variable_shapes.ServerVariable("Double Experience", "dxp", 2, 10, "Events", DOUBLE_XP, 0)
DRAUGHT_OBJECT = catalogue_shapes.ItemObject(DRAUGHT, "Healing Draught", "healing-draught.png", True, 20, 20, 0)
LOG_ID, TRADE_ID = "3f1c2f0e-8a53-4a0e-9d0b-5a7f6c1d2e3f", "8d2f7c1a-4b5e-4f6a-8c9d-0e1f2a3b4c5d"
LOG_TIME, ADDRESS = "2026-01-31T12:00:00", "192.0.2.7"
REPORTED_ACTIVITY = link_shapes.ReportedActivity(
    LOG_ID, TIME, "SelectPlayer", USER_ID, PLAYER_ID, "Client", ADDRESS, f"{USER},{PLAYER}"
)
REPORTED_TRADE = link_shapes.ReportedTrade(
    LOG_ID,
    TRADE_ID,
    TIME,
    USER_ID,
    PLAYER_ID,
    NEXT_RECORD.Id,
    [link_shapes.TradeItem(DRAUGHT, 2)],
    [link_shapes.TradeItem(COIN, 40)],
    ADDRESS,
)
ACTIVITY = link_shapes.Activity(
    LOG_ID, LOG_TIME, USER_ID, PLAYER_ID, "SelectPlayer", "Client", ADDRESS, f"{USER},{PLAYER}"
)
USED_ADDRESS = link_shapes.UsedAddress(ADDRESS, LOG_TIME, {TOKEN_ID: "Brisela"})
TRADE = link_shapes.Trade(
    LOG_ID,
    TRADE_ID,
    USER_ID,
    PLAYER_ID,
    ADDRESS,
    LOG_TIME,
    NEXT_RECORD.Id,
    [link_shapes.NamedTradeItem(None, DRAUGHT, 2, BUFFS, "Healing Draught")],
    [link_shapes.NamedTradeItem(None, COIN, 40, BUFFS, "Silver Mark")],
    USER,
    PLAYER,
    "Brisela",
)
GUILD = catalogue_shapes.Guild(
    GUILD_ID, "Harbour Watch", "2025-01-01T09:00:00", 50, "ea128ff9-858b-511f-af6b-a5fc7ac7224a"
)
COUNTED_GUILD = catalogue_shapes.CountedGuild(GUILD, 7)
PUT_GUILD = catalogue_shapes.PutGuild("Harbour Watch", TIME, [catalogue_shapes.ReportedMember(PLAYER_ID, 0, TIME)], 50)

PLAY_SESSION = economy_shapes.PlaySession(REALM, "2026-01-31T10:30:00.000Z", TIME, 5400)
ACTIVITY_SERIES = economy_shapes.ActivitySeries(
    "2026-01-31T00:00:00.000Z",
    TIME,
    "day",
    [
        economy_shapes.ActivityPoint(
            "2026-01-31T00:00:00.000Z",
            Online=11.25,
            OnlineMax=19,
            Active=31,
            New=2,
            Returning=3,
            PlaySeconds=486000,
            SignIns=12,
            Requests=51840,
            Errors=0,
        )
    ],
)
RETENTION = economy_shapes.Retention(
    "2025-12-03", "2026-01-31", [economy_shapes.RetentionCohort("2026-01-20", Players=4, Day1=3, Day7=2, Day30=None)]
)
UP_TO = economy_shapes.UpTo(4711, TIME, "2025-01-01T09:00:00.000Z", Complete=True)
_COIN_FLOWS = (economy_shapes.Sources(Game=1200, Staff=40), economy_shapes.Sources(Game=300))
ECONOMY_PAGE = economy_shapes.EconomyPage(
    1,
    0,
    5,
    1,
    "2026-01-25",
    "2026-01-31",
    UP_TO,
    [economy_shapes.EconomyItem(COIN, "Silver Mark", 93120, 61, *_COIN_FLOWS)],
)
ITEM_ECONOMY = economy_shapes.ItemEconomy(
    COIN, "Silver Mark", 93120, 61, UP_TO, [economy_shapes.ItemDay("2026-01-31", 93120, 61, *_COIN_FLOWS)]
)
HOLDERS_PAGE = economy_shapes.HoldersPage(
    61, 0, 5, 1, Ranked=True, Holders=61, UpTo=UP_TO, Values=[economy_shapes.Holder(1, PLAYER_ID, PLAYER, 4200)]
)
GIFTS_PAGE = economy_shapes.GiftsPage(
    1,
    0,
    5,
    1,
    "2026-01-25",
    "2026-01-31",
    UP_TO,
    [economy_shapes.GiftSum("staff", USER_ID, USER, None, COIN, "Silver Mark", 40, 0)],
)
