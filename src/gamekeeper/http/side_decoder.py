"""Decode the stored JSON of `Before` and `After` of a change to values of the game's rules."""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import cast

import msgspec

from gamekeeper.game.codec import Attachments, ChangeSide
from gamekeeper.game.inventory import BANK, INVENTORY, SlotAddress, Stack
from gamekeeper.game.lookup import ZERO_GUID
from gamekeeper.http import wire
from gamekeeper.http.instants import parse_instant
from gamekeeper.http.wire.players import PLAYER_ATTRIBUTES
from gamekeeper.store.guilds import GuildMember
from gamekeeper.store.leftovers import Leftover
from gamekeeper.store.player_texts import TextRow

_raw_decoder = msgspec.json.Decoder(dict[str, msgspec.Raw])
_side_decoder = msgspec.json.Decoder(wire.history.LedgerSide)
_lists_decoder = msgspec.json.Decoder(wire.history.OnlyLists)
_fields_decoder = msgspec.json.Decoder(dict[str, object])
_ENTRY_FIELDS = set(wire.catalogue.NamedEntry.__struct_fields__)
_USER_ATTRIBUTES = {name: attribute for attribute, name in wire.users.USER_FIELDS.items()}
SIDE_FIELDS = frozenset({*PLAYER_ATTRIBUTES, *_USER_ATTRIBUTES, *wire.history.LedgerSide.__struct_fields__})


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
    if len(fields) != 1 or name.lower() not in wire.catalogue.ENTRIES:
        return False
    first = next(iter(cast("list[object]", value)), None) if isinstance(value, list) else None
    return isinstance(first, dict) and cast("dict[str, object]", first).keys() >= _ENTRY_FIELDS


def _to_attributes(fields: Mapping[str, object], names: Mapping[str, str]) -> dict[str, object]:
    return {names[name]: read_value(name, value) for name, value in fields.items() if name in names}


def _read_lists(side: wire.history.LedgerSide) -> ChangeSide:
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


def _read_attached(stored: wire.history.AttachedRows) -> Attachments:
    guild = stored.Guild
    at = parse_instant(guild.JoinedAt) if guild and guild.JoinedAt else None
    return Attachments(
        [TextRow(each.VariableId, each.Type, each.Value) for each in stored.Texts],
        guild and GuildMember("", guild.GuildId, guild.Rank, at),
        [Leftover("", each.Kind, each.Data) for each in stored.Leftovers],
    )


def read_slots(place: str, slots: Sequence[wire.items.ItemSlot]) -> dict[SlotAddress, Stack | None]:
    return {(place, each.Slot): _read_stack(each) for each in slots}


def _read_stack(record: wire.items.ItemSlot) -> Stack | None:
    if record.ItemId == ZERO_GUID or not record.Quantity:
        return None
    return Stack(record.ItemId, record.Quantity, record.BagId, tuple(record.StatBuffs))


def read_value(name: str, value: object) -> object:
    if name in wire.history.TIMES and isinstance(value, str):
        return parse_instant(value)
    return tuple(cast("list[int]", value)) if isinstance(value, list) else value
