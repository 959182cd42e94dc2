"""Examples of shapes for the API's documents, made from the types of their fields and two tables of values.

They are made when a document or a test asks for them, not when the modules are imported.
"""

import types
from collections.abc import Mapping
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import msgspec
from msgspec import Meta, Struct, UnsetType

from gamekeeper.ground import wire
from gamekeeper.http.contract import shapes

# values of the demo data, which the demo server accepts unchanged
PLAYER, PLAYER_ID = "Aldwyn", "a5194e91-0fb9-563c-8b8b-e2c9ab08d4c1"
OTHER_PLAYER, OTHER_PLAYER_ID = "Brisela", "752ec047-bcc4-5455-ad1e-569110db42c7"
KEEPER = "keeper"
USER, USER_ID = "Marlow", "ed453451-0f89-5616-be25-f06138b5e2bb"
NAMED_USER, NAMED_PLAYER = (USER_ID, USER), (PLAYER_ID, PLAYER)  # id and name
DRAUGHT, COIN = "96d6cdc3-877e-5dc4-9024-eac3881a6adb", "9e2b8323-5231-5487-a8b0-017c3b453c23"
EMBER_LANCE, STONE_SKIN = "f4a3717c-c074-5bbd-b643-ed8518dcc252", "c0fb0f7e-e07e-57ed-8717-9d0e814ffb49"
DRAGONS = "a094eca8-22fa-5da3-a446-b4965bbaf7c6"
DOUBLE_XP, GUILD_FAME = "3e848b2c-f7d9-56eb-b091-afae504caeab", "32d5dc00-571d-595c-b123-1e47531f2a76"
WARDEN, DOCKS = "e3951592-df08-5201-820b-25c1ea7ab849", "bc65429d-79f8-5621-a552-e02cad7c80f3"
PACK_ID = "dfa11497-c558-5c95-926d-77ec093d1ffa"
LOG_ID = "3f1c2f0e-8a53-4a0e-9d0b-5a7f6c1d2e3f"
GUILD_ID = "ce3a6bfe-36ef-5067-acc4-c215eb1fe3ab"
REALM = "realm-1"
# SHA-256 hash of the example password "correct horse battery staple"
HASH = "c4bbcb1fbec99d65bf59d85c8cb62ee2db963f0fe106f483d9afa73bd4e39a8a"
# a picture of 8 x 8 pixels, and the hash of what is stored
PICTURE = "iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAYAAADED76LAAAAFElEQVR4nGNgoC/YImfzn85WEgUANTwCDjUfbFsAAAAASUVORK5CYII="
PICTURE_HASH = "7f24200f4002c7e2db6783b1f2aeea43647a8be601f746d927177eca2eda5aba"
CODE = "the-code-out-of-the-mail"
ACCESS = "gka_the-access-token"
REQUEST_ID = "5f2c9a0e7d31b846"
TOKEN_ID, EPOCH = "7c9e6679-7425-40de-944b-e07fc1f90ae7", "6fa459ea-ee8a-4ca4-894e-db77e160355e"
MAIL_ID, MAIL_CURSOR = "1b9d6bcd-bbfd-4b2d-9b5d-ab8dfbbd4bed", "1769860800000-1b9d6bcd-bbfd-4b2d-9b5d-ab8dfbbd4bed"
TIME, LATER_TIME = "2026-01-31T12:00:00.000Z", "2026-01-31T12:00:30.000Z"
END_OF_DAY = "2026-02-01T00:00:00.000Z"
ROLE = "night watch"
BOARD = "most-silver"
KEY_ID, KEY_TEXT = "2c1d3f80-5a0b-4c1c-9a63-0a1f6c3b7e55", "gkk_the-text-of-the-key"
BULK_JOB_ID = "5b1f6c64-5c0e-4c5b-9d0f-6f3c8f3f0a11"
DATES = {"issued": "Sat, 31 Jan 2026 12:00:00 GMT", "expires": "Sat, 31 Jan 2026 13:00:00 GMT"}
_SLOT = {"Slot": 17, "BagId": None, "ItemId": shapes.ZERO, "Quantity": 0, "StatBuffs": [0, 0, 0, 0, 0]}
EMPTIED = msgspec.Raw(msgspec.json.encode({"Items": [_SLOT]}))
GIVEN = msgspec.Raw(msgspec.json.encode({"Items": [_SLOT | {"ItemId": DRAUGHT, "Quantity": 2}]}))
# value → the fields with these names that have it, in all shapes where their type allows it
_VALUES: list[tuple[object, str]] = [
    (USER, "Name Username username User Owner Requester Creator By"),
    (USER_ID, "Id UserId OwnerId RequesterId CreatorId ActorId CreatedBy"),
    ("marlow@example.test", "Email"),
    (KEEPER, "Author InvitedBy"),
    (PLAYER, "Player PlayerName First lookupKey"),
    (PLAYER_ID, "PlayerId"),
    (OTHER_PLAYER, "TargetName"),
    (OTHER_PLAYER_ID, "TargetId"),
    (COIN, "ItemId itemid"),
    ("Silver Mark", "ItemName"),
    ("Events", "Folder"),
    ("ald", "Query"),
    (STONE_SKIN, "SpellId spellid"),
    (DRAUGHT, "id"),
    (DRAGONS, "VariableId"),
    (DOCKS, "MapId mapId mapid"),
    (WARDEN, "ClassId classid"),
    (REALM, "Server"),
    ("shop order 4711", "Reason"),
    ("items_given", "Kind"),
    (EMPTIED, "Before"),
    (GIVEN, "After"),
    (REQUEST_ID, "RequestId"),
    (MAIL_ID, "ApprovalId"),
    (TOKEN_ID, "AuthorId CredentialId"),
    (KEY_ID, "KeyId"),
    ("web shop", "Key"),
    (EPOCH, "Epoch"),
    (LATER_TIME, "ExpiresAt LastUsedAt datetime"),
    (TIME, "SentAt StartedAt LastSignIn LastUsed"),
    (MAIL_CURSOR, "Next"),
    (4711, "Seq Undoes Next"),
    (48, "Total total Of Searched Tried"),
    (31, "Level level"),
    (12, "onlineCount Online SlotCount"),
    (6, "Value value"),
    (5, "Slot PageSize"),
    (2, "Quantity quantity inventory connectedClients Tries Refused"),
    (0, "Page bank Erased Known Held NeedApproval Waiting Direction TimeCreated"),
    (255, "A R G B"),
    (86_400_000, "uptime"),
    (5400, "port ServerPort"),
    (100, "MaxBank MaxLevel InitialBankslots MaxSlots"),
    (35, "MaxInventory MaxSpells"),
    (True, "Active TextActive Online Stackable success authorized Retriable Undoable Complete SmtpValid SecondFactor"),
    ([ROLE], "Roles"),
    (["users.query"], "Granted"),
    (["items.give", "players.read"], "Permissions Effective"),
    (["refunds", "streamer"], "Tags"),
    (["v1"], "versions"),
    ("192.0.2.7", "Ip Address LastUsedFrom"),
    ("Mozilla/5.0", "Browser"),
    ("Harrowmere", "name GameName"),
    (CODE, "code"),
    ("inventory", "Container"),
    ("Ascending", "SortDirection"),
    ("applied", "State"),
    ("POST", "Method"),
    ("items.give>10000", "Rule"),
    ("give_item", "Act"),
]
# name of a shape → values of its own fields, also of those that may be left out; for shapes based on it too
_OWN_VALUES: Mapping[str, Mapping[str, object]] = {
    "Activity": {"Id": LOG_ID, "Action": "SelectPlayer", "Peer": "Client"},
    "ActivityPoint": {"Online": 11.25, "OnlineMax": 19, "Active": 31, "PlaySeconds": 486_000},
    "ActivitySeries": {"Step": "day"},
    "Approval": {"Id": MAIL_ID, "State": "waiting", "Path": "/api/v1/players/Aldwyn/items/give", "Email": None},
    "Approved": {"Id": MAIL_ID, "State": "done", "Answer": "{}"},
    "BoardRecord": {
        "Name": BOARD,
        "Title": "Most silver",
        "Ranks": "item",
        "ThingId": COIN,
        "Thing": "Silver Mark",
    },
    "BulkJob": {"Id": BULK_JOB_ID, "State": "running", "Players": 500, "Done": 120, "Remaining": 378},
    "BulkTarget": {"State": "done"},
    "DoneChange": {"Kind": "items_set", "UserId": None, "Before": GIVEN, "After": EMPTIED},
    "Chat": {"Message": "The market opens in five minutes."},
    "EchoedChat": {"Message": "The market opens in five minutes.", "Color": None},
    "EconomyItem": {"Name": "Silver Mark"},
    "EventDetails": {"Session": True, "ReadOnly": False, "SecondFactor": True},
    "ExpectedRefusal": {"Code": "inventory_full", "Message": "The inventory is full."},
    "FilteredPlayers": {"SortBy": "name", "Next": "WyJuYW1lIiwiYWxkd3luIl0"},
    "Found": {
        "Kind": "player",
        "Id": PLAYER_ID,
        "Name": PLAYER,
        "Detail": "level 48",
        "Match": "exact",
    },
    "Guild": {"Id": GUILD_ID, "Name": "Harbour Watch", "BankSlotsCount": 50},
    "GuildVariable": {"VariableId": GUILD_FAME, "VariableName": "Guild Fame"},
    "IssuedKey": {"Key": KEY_TEXT},
    "ItemEntry": {"Id": DRAUGHT, "Name": "Healing Draught", "MaxStack": 20, "Icon": "healing-draught.png"},
    "ItemObject": {"Id": DRAUGHT, "Name": "Healing Draught", "MaxInventoryStack": 20, "MaxBankStack": 20},
    "ItemEconomy": {"Name": "Silver Mark"},
    "ItemPicture": {"Hash": PICTURE_HASH},
    "KeyRecord": {
        "Id": KEY_ID,
        "Name": "web shop",
        "Role": "shop",
        "Permissions": [],
        "Addresses": ["192.0.2.0/24"],
    },
    "Keyed": {"Key": DRAUGHT},
    "Lease": {"Lease": 30},
    "LookUpKey": {"Key": KEY_TEXT},
    "Mail": {"Id": MAIL_ID, "Kind": "password_reset", "State": "failed", "LastError": "550 No such mailbox"},
    "NamedBag": {"Id": PACK_ID},
    "NoteRecord": {"Id": MAIL_ID, "Text": "Asked for the same refund twice.", "Warning": True},
    "OpenInvitation": {"Id": MAIL_ID, "Email": "torhild@example.org", "Roles": ["moderator"]},
    "PlayerDocument": {
        "Name": PLAYER,
        "Id": PLAYER_ID,
        "CreationDate": "2025-01-01T09:00:00.000Z",
        "Level": 48,
        "ExperienceToNextLevel": 115_200,
        "MaxVitals": [792, 116],
        "Vitals": [707, 103],
        "BaseStats": [14, 4, 16, 8, 8],
        "Exp": 73_582,
        "Equipment": [0, 1, 2, 3, 4],
        "Sprite": "broadsword-1.png",
        "Face": "face-5.png",
        "X": 35,
        "Y": 37,
    },
    "PlayerRecord": {"ClassName": "Warden", "MapName": "Gullhaven Docks", "LastOnline": "2025-12-31T19:00:00.000Z"},
    "Players": {"Players": [PLAYER_ID]},
    "PreviewedChange": {"UserId": None},
    "PutGuild": {"Name": "Harbour Watch"},
    "PutPicture": {"Picture": PICTURE},
    "Register": {"username": "Newcomer"},
    "Registered": {"Username": "Newcomer", "Email": "newcomer@example.org"},
    "Rename": {"name": "Aldwynne"},
    "QuotaError": {"EndsAt": END_OF_DAY},
    "RoleRecord": {"Name": ROLE, "About": "Keeps the chat quiet at night."},
    "SecondFactor": {"Kind": "totp", "Name": "Phone"},
    "SecurityEvent": {"Id": MAIL_ID, "Kind": "sign_in"},
    "ServerVariable": {"Id": DOUBLE_XP, "Name": "Double Experience", "TextId": "dxp", "Type": 2},
    "SortKey": {"By": "TimeStamp"},
    "TimeSettings": {"RangeInterval": 720, "Rate": 1.0, "SyncTime": True},
    "SeasonRecord": {"Title": "Spring", "State": "final", "Complete": True},
    "Signal": {"Rule": "gain", "State": "open"},
    "Token": {"access_token": ACCESS, "token_type": "bearer", "expires_in": 3600, **DATES},
    "ToldChange": {"UserId": None, "User": None},
    "UsedAddress": {"LastUsed": "2026-01-31T12:00:00"},
}
_BY_FIELD: Mapping[str, list[object]] = {
    name: [value for value, fields in _VALUES if name in fields.split()]
    for name in {each for _, fields in _VALUES for each in fields.split()}
}
# annotation of a type → value of the fields without one of their own
_BY_TYPE = [
    (get_args(kind)[1], value)
    for kind, value in (
        (shapes.Guid, MAIL_ID),
        (shapes.Instant, TIME),
        (shapes.EngineTime, "2026-01-31T12:00:00"),
        (wire.Date, "2026-01-31"),
        (shapes.PasswordHash, HASH),
        (shapes.Email, "torhild@example.org"),
        (shapes.Name, "Newcomer"),
        (shapes.FiveNumbers, [0, 0, 0, 0, 0]),
    )
]
_BY_CLASS: Mapping[object, object] = {
    str: "text",
    int: 1,
    float: 1.0,
    bool: False,
    dict: {},
    Any: 6,
    msgspec.Raw: msgspec.Raw("{}"),
}


def make_example(kind: Any) -> Any:  # noqa: ANN401 - a type annotation of any form, and its value
    """Make an example of a type: of a shape with its required fields, and others that have a value in the tables."""
    origin, parts = get_origin(kind), get_args(kind)
    if origin is Annotated:
        metas = [each for each in parts[1:] if isinstance(each, Meta)]
        if found := [value for known, value in _BY_TYPE if known in metas]:
            return found[0]
        made: Any = make_example(parts[0])
        return made * max(each.min_length or 1 for each in metas) if get_origin(parts[0]) is list else made
    if origin in (Union, types.UnionType):
        return None if types.NoneType in parts and not _is_shape(parts[0]) else make_example(parts[0])
    if origin is Literal:
        return parts[0]
    if origin is list:
        return [make_example(parts[0])]
    return _make_shape(kind) if _is_shape(kind) else _BY_CLASS.get(origin or kind)


def _is_shape(kind: Any) -> bool:  # noqa: ANN401 - as above
    shape = get_origin(kind) or kind
    return isinstance(shape, type) and issubclass(shape, Struct)


def _make_shape(kind: Any) -> Struct:  # noqa: ANN401 - as above
    shape: type[Struct] = get_origin(kind) or kind
    own = {
        name: value for each in reversed(shape.__mro__) for name, value in _OWN_VALUES.get(each.__name__, {}).items()
    }
    is_renamed = issubclass(shape, wire.Shape)  # the tables have the names that are sent
    fields = {each.encode_name if is_renamed else each.name: each for each in msgspec.structs.fields(kind)}
    for name, field in fields.items():
        if name not in own and UnsetType not in get_args(field.type):
            named = [value for value in _BY_FIELD.get(name, ()) if _fits(value, field.type)]
            if named or field.required:
                own[name] = named[0] if named else make_example(field.type)
    return shape(**{fields[name].name: value for name, value in own.items()})


def _fits(value: object, kind: Any) -> bool:  # noqa: ANN401 - as above
    try:
        msgspec.convert(value, kind)
    except msgspec.ValidationError:
        return False
    return True
