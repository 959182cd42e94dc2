"""Player documents and item slots: convert between values of the game's rules and JSON.

A stored document is a player's record. Documents of older versions lack fields, those of newer versions have more.
"""

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from operator import attrgetter
from typing import Any, cast

import msgspec
from msgspec import UNSET, UnsetType

from gamekeeper.game.core.lookup import ZERO_GUID
from gamekeeper.game.core.player import REQUIRED, Player, SlotAddress, Stack
from gamekeeper.game.players.inventory import Slots
from gamekeeper.ground.instants import format_instant, parse_instant
from gamekeeper.http.contract.shapes import encode
from gamekeeper.http.players import player_shapes
from gamekeeper.http.players.player_shapes import PLAYER_ATTRIBUTES

TIMES = frozenset({"CreationDate", "LastOnline", "EndsAt", "NextTryAt"})  # fields of records that have a time
_FIELDS = player_shapes.PlayerDocument.__struct_fields__
_KNOWN_FIELDS = frozenset(_FIELDS)
_TIME_POSITIONS = [place for place, name in enumerate(_FIELDS) if name in TIMES]
_get_attributes = attrgetter(*(PLAYER_ATTRIBUTES[name] for name in _FIELDS))
_STORED_FIELDS = [  # fields of a stored player document; those added in a later version may be missing
    (each.name, each.type) if PLAYER_ATTRIBUTES[each.name] in REQUIRED else (each.name, each.type | UnsetType, UNSET)
    for each in msgspec.structs.fields(player_shapes.PlayerDocument)
]
# text of the newest field of a player document: new fields are appended, so a document with it has all fields
_NEWEST_FIELD = b'"%b":' % _FIELDS[-1].encode()
_END_BYTES = 64  # bytes at the end of a player document that are searched for the newest field
_player_decoder = msgspec.json.Decoder(msgspec.defstruct("StoredPlayer", _STORED_FIELDS, kw_only=True))
_raw_decoder = msgspec.json.Decoder(dict[str, msgspec.Raw])


def encode_player(player: Player) -> bytes:
    values = list(_get_attributes(player))
    for place in _TIME_POSITIONS:
        values[place] = format_instant(values[place])
    document = encode(player_shapes.PlayerDocument(*values))
    return document[:-1] + b"," + encode(player.unknown)[1:] if player.unknown else document


def decode_player(document: bytes, last_online: int | None) -> Player:
    record = _player_decoder.decode(document)
    values = zip(_FIELDS, msgspec.structs.astuple(record), strict=True)
    given = {PLAYER_ATTRIBUTES[name]: read_value(name, value) for name, value in values if value is not UNSET}
    unknown = {} if _ends_with_newest_field(document) else find_unknown(document, _KNOWN_FIELDS)
    return Player(**cast("dict[str, Any]", given), last_online=last_online, unknown=unknown)


def _ends_with_newest_field(document: bytes) -> bool:
    """Check cheaply that a player document ends with our newest field: newer versions append theirs after it."""
    newest = document.rfind(_NEWEST_FIELD, -_END_BYTES)
    return newest >= 0 and b"," not in document[newest:]


def fill_in_defaults(document: bytes) -> bytes:
    """Add defaults for the fields that a stored player document lacks."""
    # the first check is cheap, and runs for each player that is read
    if document.rfind(_NEWEST_FIELD, -_END_BYTES) >= 0 or _NEWEST_FIELD in document:
        return document
    return encode_player(decode_player(document, None))


def find_unknown(stored: bytes | str, known: AbstractSet[str]) -> dict[str, object]:
    """Find the fields of a stored document that this version does not know, as raw JSON."""
    fields = _raw_decoder.decode(stored)
    return {name: value for name, value in fields.items() if name not in known} if fields.keys() - known else {}


def read_value(name: str, value: object) -> object:
    if name in TIMES and isinstance(value, str):
        return parse_instant(value)
    return tuple(cast("list[int]", value)) if isinstance(value, list) else value


def read_slots(place: str, slots: Sequence[player_shapes.ItemSlot]) -> dict[SlotAddress, Stack | None]:
    return {(place, each.Slot): _read_stack(each) for each in slots}


def _read_stack(record: player_shapes.ItemSlot) -> Stack | None:
    if record.ItemId == ZERO_GUID or not record.Quantity:
        return None
    return Stack(record.ItemId, record.Quantity, record.BagId, tuple(record.StatBuffs))


def make_item_slot(slot: int, stack: Stack | None) -> player_shapes.ItemSlot:
    if stack is None:
        return player_shapes.ItemSlot(slot)
    return player_shapes.ItemSlot(slot, stack.bag_id, stack.item_id, stack.quantity, list(stack.buffs))


def number_slots(slots: Iterable[SlotAddress], place: str, size: int) -> range:
    """Return the numbers of the slots that an answer lists for an inventory, bank or bag.

    These are all slots, also empty ones; beyond the size up to the last one with an item.
    """
    last = max((slot for where, slot in slots if where == place), default=-1)
    return range(max(size, last + 1))


def list_named_slots(slots: Slots, names: Mapping[str, str], place: str, size: int) -> list[player_shapes.NamedSlot]:
    """List all slots of an inventory, bank or bag with the names of their items; see `number_slots`."""
    return [make_named_slot(slot, slots.get((place, slot)), names) for slot in number_slots(slots, place, size)]


def make_named_slot(slot: int, stack: Stack | None, names: Mapping[str, str]) -> player_shapes.NamedSlot:
    each = make_item_slot(slot, stack)
    name = names.get(each.ItemId, player_shapes.DELETED)
    return player_shapes.NamedSlot(each.Slot, each.BagId, each.ItemId, each.Quantity, each.StatBuffs, name)
