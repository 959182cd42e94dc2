"""Decode the stored JSON of `Before` and `After` of a change to values of the game's rules.

A list of changes needs only a few facts about created and deleted players; those are read in one pass over the long
JSON.
"""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from operator import attrgetter
from typing import cast

import msgspec
from msgspec import Struct

from gamekeeper.game.core.change import Attachments, ChangeSide
from gamekeeper.game.core.lookup import ZERO_GUID
from gamekeeper.game.players.inventory import BANK, INVENTORY, SlotAddress, Stack
from gamekeeper.http.accounts import account_shapes
from gamekeeper.http.audit import history_shapes
from gamekeeper.http.players import player_shapes
from gamekeeper.http.players.player_shapes import PLAYER_ATTRIBUTES
from gamekeeper.http.server.instants import parse_instant
from gamekeeper.http.world import catalogue_shapes
from gamekeeper.store.players.player_texts import TextRow
from gamekeeper.store.world.guilds import GuildMember
from gamekeeper.store.world.imports import Leftover

_raw_decoder = msgspec.json.Decoder(dict[str, msgspec.Raw])
_side_decoder = msgspec.json.Decoder(history_shapes.LedgerSide)
_lists_decoder = msgspec.json.Decoder(history_shapes.OnlyLists)
_fields_decoder = msgspec.json.Decoder(dict[str, object])
_ENTRY_FIELDS = set(catalogue_shapes.NamedEntry.__struct_fields__)
_USER_ATTRIBUTES = {name: attribute for attribute, name in account_shapes.USER_FIELDS.items()}
SIDE_FIELDS = frozenset({*PLAYER_ATTRIBUTES, *_USER_ATTRIBUTES, *history_shapes.LedgerSide.__struct_fields__})


def decode_side(side: bytes | str) -> ChangeSide:
    try:
        return _read_lists(_lists_decoder.decode(side))
    except msgspec.ValidationError:  # it has a field of a record, or it is a catalogue
        return _decode_record_side(side)


def _decode_record_side(side: bytes | str) -> ChangeSide:
    fields = _fields_decoder.decode(side)
    if _is_catalogue(fields):
        return ChangeSide(catalogue={name.lower(): value for name, value in fields.items()})
    return msgspec.structs.replace(
        _read_lists(_side_decoder.decode(side)),
        player=_to_attributes(fields, PLAYER_ATTRIBUTES),
        user=_to_attributes(fields, _USER_ATTRIBUTES),
        catalogue={name.lower(): value for name, value in fields.items() if name not in SIDE_FIELDS},
        unknown=find_unknown(side, SIDE_FIELDS) if fields.keys() - SIDE_FIELDS else {},
    )


def find_unknown(stored: bytes | str, known: AbstractSet[str]) -> dict[str, object]:
    """Find the fields of a stored document that this version does not know, as raw JSON."""
    fields = _raw_decoder.decode(stored)
    return {name: value for name, value in fields.items() if name not in known} if fields.keys() - known else {}


def _is_catalogue(fields: Mapping[str, object]) -> bool:
    """Check whether `Before` or `After` is of a catalogue change: `Items` can also be a list of a player's slots."""
    name, value = next(iter(fields.items()), ("", None))
    if len(fields) != 1 or name.lower() not in catalogue_shapes.ENTRIES:
        return False
    first = next(iter(cast("list[object]", value)), None) if isinstance(value, list) else None
    return isinstance(first, dict) and cast("dict[str, object]", first).keys() >= _ENTRY_FIELDS


def _to_attributes(fields: Mapping[str, object], names: Mapping[str, str]) -> dict[str, object]:
    return {names[name]: read_value(name, value) for name, value in fields.items() if name in names}


def _read_lists(side: history_shapes.LedgerSide) -> ChangeSide:
    """Read slots, bags, spells, variables and sums. Most changes have one of these lists: empty ones are skipped."""
    slots = read_slots(INVENTORY, side.Items) if side.Items else {}
    if side.Bank:
        slots |= read_slots(BANK, side.Bank)
    for bag in side.Bags:
        slots |= read_slots(bag.Id, bag.Slots)
    bags = {bag.Id: bag.SlotCount for bag in side.Bags if bag.SlotCount is not None} if side.Bags else {}
    if not (side.Spells or side.Variables or side.Sums or side.ServerVariables or side.GuildVariables or side.Attached):
        return ChangeSide(slots=slots, bags=bags)
    return ChangeSide(
        slots=slots,
        bags=bags,
        spells={each.Slot: None if each.SpellId == ZERO_GUID else each.SpellId for each in side.Spells},
        variables={each.VariableId: each.Value for each in side.Variables},
        server_variables={each.VariableId: each.Value for each in side.ServerVariables},
        guild_variables={(each.GuildId, each.VariableId): each.Value for each in side.GuildVariables},
        attached=_read_attached(side.Attached) if side.Attached else Attachments(),
        sums={each.ItemId: each.Quantity for each in side.Sums},
    )


def _read_attached(stored: history_shapes.AttachedRows) -> Attachments:
    guild = stored.Guild
    at = parse_instant(guild.JoinedAt) if guild and guild.JoinedAt else None
    return Attachments(
        [TextRow(each.VariableId, each.Type, each.Value) for each in stored.Texts],
        guild and GuildMember("", guild.GuildId, guild.Rank, at),
        [Leftover("", each.Kind, each.Data) for each in stored.Leftovers],
    )


def read_slots(place: str, slots: Sequence[player_shapes.ItemSlot]) -> dict[SlotAddress, Stack | None]:
    return {(place, each.Slot): _read_stack(each) for each in slots}


def _read_stack(record: player_shapes.ItemSlot) -> Stack | None:
    if record.ItemId == ZERO_GUID or not record.Quantity:
        return None
    return Stack(record.ItemId, record.Quantity, record.BagId, tuple(record.StatBuffs))


def read_value(name: str, value: object) -> object:
    if name in history_shapes.TIMES and isinstance(value, str):
        return parse_instant(value)
    return tuple(cast("list[int]", value)) if isinstance(value, list) else value


NOTHING = msgspec.Raw(b"")


class _BagOutline(Struct):
    Slots: list[msgspec.Raw] = []


class _Outline(Struct):
    """A created or deleted player, with lists whose entries are only counted."""

    Name: str
    Level: int
    ClassId: str
    Items: list[msgspec.Raw] = []
    Bank: list[msgspec.Raw] = []
    Bags: list[_BagOutline] = []
    Spells: list[msgspec.Raw] = []
    Variables: list[msgspec.Raw] = []


class PlayerOutline(Struct, frozen=True):
    name: str
    level: int
    class_id: str
    stacks: int
    spells: int
    variables: int
    record: tuple[object, ...] = ()  # values of the player's fields as JSON; empty if they were not compared
    unknown: Mapping[str, object] = {}  # fields that a newer version wrote, as JSON


_decoder = cast(
    "msgspec.json.Decoder[_Outline]",
    msgspec.json.Decoder(
        msgspec.defstruct(
            "_WholeOutline",
            [(name, msgspec.Raw, NOTHING) for name in SIDE_FIELDS.difference(_Outline.__struct_fields__)],
            bases=(_Outline,),
            forbid_unknown_fields=True,
        )
    ),
)
_get_record = attrgetter(*player_shapes.PlayerDocument.__struct_fields__)


def outline_player(side: bytes | str) -> PlayerOutline:
    """Outline the stored side of a change that created or deleted a player."""
    try:
        player = _decoder.decode(side)
    except msgspec.ValidationError:  # a newer version wrote it, or its name was erased
        return _outline_unusual_player(side)
    return PlayerOutline(
        player.Name,
        player.Level,
        player.ClassId,
        len(player.Items) + len(player.Bank) + sum([len(bag.Slots) for bag in player.Bags]),
        len(player.Spells),
        len(player.Variables),
        _get_record(player),
    )


def has_same_record(outline: PlayerOutline, document: bytes) -> bool:
    """Tell whether a stored player document has the fields of an outline. False: perhaps not."""
    try:
        return _get_record(_decoder.decode(document)) == outline.record
    except msgspec.ValidationError:  # a newer version wrote the document
        return False


def _outline_unusual_player(stored: bytes | str) -> PlayerOutline:
    side = decode_side(stored)
    return PlayerOutline(
        cast("str", side.player.get("name", "")),
        cast("int", side.player.get("level", 1)),
        cast("str", side.player.get("class_id", "")),
        len(side.slots),
        len(side.spells),
        len(side.variables),
        unknown=side.unknown,
    )
