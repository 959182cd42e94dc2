"""Examples of shapes for the API's documents, made from the types of their fields and two tables of values.

They are made when a document or a test asks for them, not when the modules are imported.
"""

import types
from collections.abc import Mapping
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import msgspec
from msgspec import Meta, Struct, UnsetType

from gamekeeper.ground import wire
from gamekeeper.http.contract import samples, shapes

DATES = {"issued": "Sat, 31 Jan 2026 12:00:00 GMT", "expires": "Sat, 31 Jan 2026 13:00:00 GMT"}
_SLOT = {"Slot": 17, "BagId": None, "ItemId": shapes.ZERO, "Quantity": 0, "StatBuffs": [0, 0, 0, 0, 0]}
EMPTIED = msgspec.Raw(msgspec.json.encode({"Items": [_SLOT]}))
GIVEN = msgspec.Raw(msgspec.json.encode({"Items": [_SLOT | {"ItemId": samples.DRAUGHT, "Quantity": 2}]}))
# value → the fields with these names that have it, in all shapes where their type allows it
_VALUES: list[tuple[object, str]] = [
    (samples.USER, "Name Username username User Owner Requester Creator By"),
    (samples.USER_ID, "Id UserId OwnerId RequesterId CreatorId ActorId CreatedBy"),
    ("marlow@example.test", "Email"),
    (samples.KEEPER, "Author InvitedBy"),
    (samples.PLAYER, "Player PlayerName First lookupKey"),
    (samples.PLAYER_ID, "PlayerId"),
    (samples.OTHER_PLAYER, "TargetName"),
    (samples.OTHER_PLAYER_ID, "TargetId"),
    (samples.COIN, "ItemId itemid"),
    ("Silver Mark", "ItemName"),
    ("Events", "Folder"),
    ("ald", "Query"),
    (samples.STONE_SKIN, "SpellId spellid"),
    (samples.DRAUGHT, "id"),
    (samples.DRAGONS, "VariableId"),
    (samples.DOCKS, "MapId mapId mapid"),
    (samples.WARDEN, "ClassId classid"),
    (samples.REALM, "Server"),
    ("shop order 4711", "Reason"),
    ("items_given", "Kind"),
    (EMPTIED, "Before"),
    (GIVEN, "After"),
    (samples.REQUEST_ID, "RequestId"),
    (samples.MAIL_ID, "ApprovalId"),
    (samples.TOKEN_ID, "AuthorId CredentialId"),
    (samples.KEY_ID, "KeyId"),
    ("web shop", "Key"),
    (samples.EPOCH, "Epoch"),
    (samples.LATER_TIME, "ExpiresAt LastUsedAt datetime"),
    (samples.TIME, "SentAt StartedAt LastSignIn LastUsed"),
    (samples.MAIL_CURSOR, "Next"),
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
    ([samples.ROLE], "Roles"),
    (["users.query"], "Granted"),
    (["items.give", "players.read"], "Permissions Effective"),
    (["refunds", "streamer"], "Tags"),
    (["v1"], "versions"),
    ("192.0.2.7", "Ip Address LastUsedFrom"),
    ("Mozilla/5.0", "Browser"),
    ("Harrowmere", "name GameName"),
    (samples.CODE, "code"),
    ("inventory", "Container"),
    ("Ascending", "SortDirection"),
    ("applied", "State"),
    ("POST", "Method"),
    ("items.give>10000", "Rule"),
    ("give_item", "Act"),
]
# name of a shape → values of its own fields, also of those that may be left out; for shapes based on it too
_OWN_VALUES: Mapping[str, Mapping[str, object]] = {
    "Activity": {"Id": samples.LOG_ID, "Action": "SelectPlayer", "Peer": "Client"},
    "ActivityPoint": {"Online": 11.25, "OnlineMax": 19, "Active": 31, "PlaySeconds": 486_000},
    "ActivitySeries": {"Step": "day"},
    "Approval": {"Id": samples.MAIL_ID, "State": "waiting", "Path": "/api/v1/players/Aldwyn/items/give", "Email": None},
    "Approved": {"Id": samples.MAIL_ID, "State": "done", "Answer": "{}"},
    "BoardRecord": {
        "Name": samples.BOARD,
        "Title": "Most silver",
        "Ranks": "item",
        "ThingId": samples.COIN,
        "Thing": "Silver Mark",
    },
    "BulkJob": {"Id": samples.BULK_JOB_ID, "State": "running", "Players": 500, "Done": 120, "Remaining": 378},
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
        "Id": samples.PLAYER_ID,
        "Name": samples.PLAYER,
        "Detail": "level 48",
        "Match": "exact",
    },
    "Guild": {"Id": samples.GUILD_ID, "Name": "Harbour Watch", "BankSlotsCount": 50},
    "GuildVariable": {"VariableId": samples.GUILD_FAME, "VariableName": "Guild Fame"},
    "IssuedKey": {"Key": samples.KEY_TEXT},
    "ItemEntry": {"Id": samples.DRAUGHT, "Name": "Healing Draught", "MaxStack": 20, "Icon": "healing-draught.png"},
    "ItemObject": {"Id": samples.DRAUGHT, "Name": "Healing Draught", "MaxInventoryStack": 20, "MaxBankStack": 20},
    "ItemEconomy": {"Name": "Silver Mark"},
    "ItemPicture": {"Hash": samples.PICTURE_HASH},
    "KeyRecord": {
        "Id": samples.KEY_ID,
        "Name": "web shop",
        "Role": "shop",
        "Permissions": [],
        "Addresses": ["192.0.2.0/24"],
    },
    "Keyed": {"Key": samples.DRAUGHT},
    "Lease": {"Lease": 30},
    "LookUpKey": {"Key": samples.KEY_TEXT},
    "Mail": {"Id": samples.MAIL_ID, "Kind": "password_reset", "State": "failed", "LastError": "550 No such mailbox"},
    "NamedBag": {"Id": samples.PACK_ID},
    "NoteRecord": {"Id": samples.MAIL_ID, "Text": "Asked for the same refund twice.", "Warning": True},
    "OpenInvitation": {"Id": samples.MAIL_ID, "Email": "torhild@example.org", "Roles": ["moderator"]},
    "PlayerDocument": {
        "Name": samples.PLAYER,
        "Id": samples.PLAYER_ID,
        "CreationDate": "2025-01-01T09:00:00.000Z",
        "Level": 48,
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
    "Players": {"Players": [samples.PLAYER_ID]},
    "PreviewedChange": {"UserId": None},
    "PutGuild": {"Name": "Harbour Watch"},
    "PutPicture": {"Picture": samples.PICTURE},
    "Register": {"username": "Newcomer"},
    "Registered": {"Username": "Newcomer", "Email": "newcomer@example.org"},
    "Rename": {"name": "Aldwynne"},
    "QuotaError": {"EndsAt": samples.END_OF_DAY},
    "RoleRecord": {"Name": samples.ROLE, "About": "Keeps the chat quiet at night."},
    "SecondFactor": {"Kind": "totp", "Name": "Phone"},
    "SecurityEvent": {"Id": samples.MAIL_ID, "Kind": "sign_in"},
    "ServerVariable": {"Id": samples.DOUBLE_XP, "Name": "Double Experience", "TextId": "dxp", "Type": 2},
    "SortKey": {"By": "TimeStamp"},
    "TimeSettings": {"RangeInterval": 720, "Rate": 1.0, "SyncTime": True},
    "SeasonRecord": {"Title": "Spring", "State": "final", "Complete": True},
    "Signal": {"Rule": "gain", "State": "open"},
    "Token": {"access_token": samples.ACCESS, "token_type": "bearer", "expires_in": 3600, **DATES},
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
        (shapes.Guid, samples.MAIL_ID),
        (shapes.Instant, samples.TIME),
        (shapes.EngineTime, "2026-01-31T12:00:00"),
        (wire.Date, "2026-01-31"),
        (shapes.PasswordHash, samples.HASH),
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
