"""An example of every shape and parameter, out of the demo world: there they can be sent as they stand."""

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from gamekeeper.http import credentials, files, gameobjects, info, link, mails, moderation, pages, tokens, wire

PLAYER, PLAYER_ID = "Aldwyn", "a5194e91-0fb9-563c-8b8b-e2c9ab08d4c1"
KEEPER = "keeper"
OTHERS = {  # whom else an address is about: one is banned, one is muted, one is online
    "unban": ("Leopold", "Ondine"),
    "unmute": ("Grizelda", "Fenwick"),
    "kick": ("Ottoline", "Halvard"),
}
USER, USER_ID = "Marlow", "ed453451-0f89-5616-be25-f06138b5e2bb"
DRAUGHT, COIN = "96d6cdc3-877e-5dc4-9024-eac3881a6adb", "9e2b8323-5231-5487-a8b0-017c3b453c23"
PACK, PACK_ID = "47f8c822-de73-5c7c-bb07-39461c35721a", "dfa11497-c558-5c95-926d-77ec093d1ffa"
EMBER_LANCE, STONE_SKIN = "f4a3717c-c074-5bbd-b643-ed8518dcc252", "c0fb0f7e-e07e-57ed-8717-9d0e814ffb49"
DRAGONS = "a094eca8-22fa-5da3-a446-b4965bbaf7c6"
WARDEN, DOCKS = "e3951592-df08-5201-820b-25c1ea7ab849", "bc65429d-79f8-5621-a552-e02cad7c80f3"
REALM = "realm-1"
HASH = "c4bbcb1fbec99d65bf59d85c8cb62ee2db963f0fe106f483d9afa73bd4e39a8a"  # of "correct horse battery staple"
CODE = "the-code-out-of-the-mail"
ACCESS, REFRESH = "gka_the-access-token", "0f8fad5b-d9cb-469f-a165-70867728950e"
REQUEST_ID = "5f2c9a0e7d31b846"
TOKEN_ID, EPOCH = "7c9e6679-7425-40de-944b-e07fc1f90ae7", "6fa459ea-ee8a-4ca4-894e-db77e160355e"
MAIL_ID, MAIL_MARK = "1b9d6bcd-bbfd-4b2d-9b5d-ab8dfbbd4bed", "1769860800000-1b9d6bcd-bbfd-4b2d-9b5d-ab8dfbbd4bed"
THEN, LATER, MAIL_ENDS = "2026-01-31T12:00:00.000Z", "2026-01-31T12:00:30.000Z", "2026-01-31T12:30:00.000Z"

RECORD = wire.PlayerRecord(
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
BELOW = msgspec.structs.replace(
    RECORD,
    Name="Brisela",
    InBank=True,
    Id="752ec047-bcc4-5455-ad1e-569110db42c7",
    Level=47,
    Exp=84535,
    ExperienceToNextLevel=110450,
)
RANK = wire.rank(11, 48, wire.encode(RECORD), [wire.ranked_player(12, wire.encode(BELOW))])
COINS, IN_PACK = wire.ItemSlot(5, None, COIN, 1185), wire.ItemSlot(34, PACK_ID, PACK, 1)
BUFFS = [0, 0, 0, 0, 0]
NAMED_COINS = wire.NamedSlot(5, None, COIN, 1185, BUFFS, "Silver Mark")
NAMED_PACK = wire.NamedSlot(34, PACK_ID, PACK, 1, BUFFS, "Traveller's Pack")
FLAGS = (False, False, False, False, False)
HELD = (False, False, False, True, False, False, False, False)
UNHARMED = (None, False, None, False, THEN, 2_057_761)
LISTED = wire.UserRecord(USER_ID, USER, "marlow@example.test", wire.Power(*FLAGS, False), *UNHARMED)
CHANGED = wire.UserRecord(USER_ID, USER, "marlow@example.org", wire.ChangedPower(*FLAGS, False, False), *UNHARMED)
CHANGE = wire.FeedChange(
    4711,
    THEN,
    "items_given",
    PLAYER_ID,
    msgspec.Raw(wire.encode(wire.LedgerSide(Items=[wire.ItemSlot(17)]))),
    msgspec.Raw(wire.encode(wire.LedgerSide(Items=[wire.ItemSlot(17, None, DRAUGHT, 2)]))),
    KEEPER,
    REQUEST_ID,
)
TOLD = wire.ToldChange(
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
)
UNDONE = wire.DoneChange("items_set", PLAYER_ID, None, CHANGE.After, CHANGE.Before)
REFUSED = (2, None, None, "550 5.1.1 No such mailbox")
MAIL = wire.Mail(MAIL_ID, USER_ID, USER, "password_reset", LISTED.Email, "failed", THEN, MAIL_ENDS, *REFUSED, True)
RFC_1123 = ("Sat, 31 Jan 2026 12:00:00 GMT", "Sat, 31 Jan 2026 13:00:00 GMT")
DRAUGHT_ENTRY = wire.ItemEntry(DRAUGHT, "Healing Draught", Stackable=True, MaxStack=20, Icon="healing-draught.png")
DRAUGHT_OBJECT = wire.ItemObject(DRAUGHT, "Healing Draught", "healing-draught.png", True, 20, 20, 0)

SENT: Mapping[type[Any], object] = {
    wire.LegacyPage: wire.LegacyPage(),
    wire.SetVariable: wire.SetVariable(7),
    wire.GiveItem: wire.GiveItem(DRAUGHT, 2, bankoverflow=True),
    wire.TakeItem: wire.TakeItem(COIN, 100),
    wire.Spell: wire.Spell(EMBER_LANCE),
    wire.Register: wire.Register("Newcomer", HASH, "newcomer@example.org"),
    wire.ValidatePassword: wire.ValidatePassword(HASH),
    wire.ChangeEmail: wire.ChangeEmail("marlow@example.org", HASH),
    wire.ChangePassword: wire.ChangePassword(HASH, HASH),
    wire.ManageEmail: wire.ManageEmail("marlow@example.org"),
    wire.ManagePassword: wire.ManagePassword(HASH),
    wire.RedeemCode: wire.RedeemCode(CODE, HASH),
    wire.Penalty: wire.Penalty(7, "Sold what was not his.", KEEPER),
    wire.Pardon: wire.Pardon("Said sorry.", KEEPER),
    wire.Rename: wire.Rename("Aldwynne"),
    wire.ChangePowers: wire.ChangePowers(mute=True, editor=False),
    wire.SetLevel: wire.SetLevel(49),
    wire.SetClass: wire.SetClass(WARDEN),
    wire.LogIn: {"grant_type": "password", "username": KEEPER, "password": HASH},
    wire.PutPlayer: wire.PutPlayer(Level=49, Items=[wire.ItemSlot(17, None, DRAUGHT, 2)]),
    wire.Lease: wire.Lease(30),
    wire.Players: wire.Players([PLAYER_ID]),
    bytes: [DRAUGHT_ENTRY],
}
GIVEN: Mapping[object, object] = {
    wire.PlayerRecord: RECORD,
    list[wire.PlayerRecord]: [RECORD],
    wire.Paged[wire.PlayerRecord]: wire.Paged(48, 0, 5, 1, [RECORD]),
    wire.Legacy[wire.PlayerRecord]: wire.Legacy(48, 0, 1, [RECORD]),
    wire.Rank: msgspec.Raw(RANK),
    wire.OnlineCount: wire.OnlineCount(12),
    list[wire.Variable]: [wire.Variable(DRAGONS, 6)],
    wire.Variable: wire.Variable(DRAGONS, 7),
    wire.Value: wire.Value(6),
    wire.Items: wire.Items([NAMED_COINS, NAMED_PACK], [wire.NamedSlot(0)]),
    list[wire.NamedSlot]: [wire.NamedSlot(4), NAMED_COINS, NAMED_PACK],
    wire.NamedBag: wire.NamedBag(
        PACK_ID, 12, [wire.NamedSlot(0, None, COIN, 2288, BUFFS, "Silver Mark"), wire.NamedSlot(1)]
    ),
    wire.Given: wire.Given(DRAUGHT, wire.Quantity(total=2, bank=0, inventory=2)),
    wire.Taken: wire.Taken(COIN, 100),
    list[wire.KnownSpell]: [wire.KnownSpell(1, STONE_SKIN)],
    wire.SpellId: wire.SpellId(EMBER_LANCE),
    wire.UserRecord[wire.Power]: LISTED,
    wire.UserRecord[wire.ChangedPower]: CHANGED,
    wire.Paged[wire.UserRecord[wire.Power]]: wire.Paged(25, 0, 5, 1, [LISTED]),
    wire.Legacy[wire.UserRecord[wire.Power]]: wire.Legacy(25, 0, 1, [LISTED]),
    wire.HeldPowers: wire.HeldPowers(USER_ID, USER, *HELD),
    wire.Registered: wire.Registered("Newcomer", "newcomer@example.org"),
    wire.Message: wire.Message(credentials.CORRECT),
    wire.Token: wire.Token(ACCESS, "bearer", 3600, REFRESH, *RFC_1123),
    wire.Revoked: wire.Revoked(USER),
    wire.Count: wire.Count(1),
    wire.ServerState: wire.ServerState(REALM, LATER, 7),
    wire.Online: wire.Online(7),
    wire.Changes: wire.Changes([CHANGE], 4711, EPOCH),
    wire.History: wire.History([TOLD], 4711),
    wire.Undone: wire.Undone(4711, CHANGE.Kind, [UNDONE]),
    wire.ItemsThen: wire.ItemsThen([COINS, IN_PACK], [wire.ItemSlot(0)], [wire.Bag(PACK_ID, 12, [wire.ItemSlot(0)])]),
    wire.Mails: wire.Mails([MAIL], MAIL_MARK),
    wire.Finds: wire.Finds("aldw", [wire.Found("player", PLAYER_ID, PLAYER, "level 48", "prefix")]),
    wire.Health: wire.Health("live"),
    wire.Versions: wire.Versions(wire.VERSIONS),
    wire.Info: wire.Info("Harrowmere", 5400),
    wire.Authorized: wire.Authorized(authorized=True),
    wire.ServerStats: wire.ServerStats(uptime=86_400_000, cps=37, connectedClients=2, onlineCount=12),
    wire.Config: wire.Config("Harrowmere", 5400, wire.PlayerConfig(1, 35, 100, 35, 100, 255, 100)),
    list[str]: wire.STATS,
    wire.Paged[str]: wire.Paged(31, 0, 5, 1, [DRAUGHT_OBJECT.Name]),
    dict[str, str]: {DRAUGHT: DRAUGHT_OBJECT.Name},
}
ANSWERS: Mapping[Callable[..., Any], object] = {  # where the shape alone does not tell
    credentials.change_password: wire.Message(credentials.UPDATED),
    credentials.redeem_code: wire.Message(credentials.UPDATED),
    credentials.request_reset: wire.Message(credentials.SENT),
    mails.retry: wire.Message(mails.DUE),
    info.version_list: wire.VERSIONS,
    moderation.ban: wire.Message(moderation.BANNED.format(USER)),
    moderation.unban: wire.Message(moderation.UNBANNED.format(OTHERS["unban"][0])),
    moderation.mute: wire.Message(moderation.MUTED.format(USER)),
    moderation.unmute: wire.Message(moderation.UNMUTED.format(OTHERS["unmute"][0])),
    moderation.kick: wire.Message(moderation.KICKED.format(OTHERS["kick"][0])),
    tokens.revoke_one: wire.Revoked(USER, TOKEN_ID),
    link.catalogue_page: wire.Paged(31, 0, 5, 1, [DRAUGHT_ENTRY]),
    gameobjects.objects: wire.Paged(31, 0, 5, 1, [DRAUGHT_OBJECT]),
    gameobjects.legacy_objects: wire.Legacy(31, 0, 1, [wire.Keyed(DRAUGHT, DRAUGHT_OBJECT)]),
    gameobjects.game_object: DRAUGHT_OBJECT,
    pages.openapi: {"openapi": "3.1.0"},
}
PARAMETERS: Mapping[str, tuple[str, str]] = {  # what it is, and one
    "lookupKey": ("Name, in any case, or id.", ""),
    "lookupKey1": ("The account's name, in any case, or id.", USER),
    "lookupKey2": ("The character's name, id, or place in the account's list, from 0.", PLAYER),
    "variableId": ("Id of a variable of the catalogue.", DRAGONS),
    "bagId": ("The `BagId` of the slot that holds the bag.", PACK_ID),
    "username": ("The account's name, in any case, or id.", USER),
    "tokenId": ("The token's public id, or its refresh token.", TOKEN_ID),
    "kind": ("Which of the catalogue's lists.", "items"),
    "id": ("The character's id, which the game chooses.", PLAYER_ID),
    "type": ("One of the engine's types, in any case.", "item"),
    "objectId": ("The object's id.", DRAUGHT),
    "seq": ("The change's number.", "4711"),
    "mailId": ("The mail's id.", MAIL_ID),
    "server": ("The game server's own name for itself.", REALM),
    "file": ("One of the page's files.", next(iter(files.KINDS))),
}


def parameter(name: str, path: str) -> str:
    user, player = OTHERS.get(path.rpartition("/")[2], (USER, PLAYER))
    return PARAMETERS[name][1] or (user if "/users/" in path else player)


def sent(shape: type[Any], handler: Callable[..., Any]) -> object:
    """What a body may be: only what is worth saying."""
    chosen = wire.Spell(STONE_SKIN) if handler.__name__ == "forget" else SENT[shape]
    return msgspec.to_builtins(chosen)


def given(shape: object, handler: Callable[..., Any]) -> object:
    return msgspec.json.decode(wire.encode(ANSWERS[handler] if handler in ANSWERS else GIVEN[shape]))
