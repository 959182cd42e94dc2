"""Convert changes between values of the game's rules and JSON. Implements `Codec` of game/core/change.py.

A list of changes needs only a few facts about created and deleted players; those are read in one pass over the long
JSON.
"""

from collections.abc import Mapping, Sequence
from operator import attrgetter
from typing import Any, cast

import msgspec
from msgspec import Struct

from gamekeeper.game.core.change import Attachments, ChangeSide
from gamekeeper.game.core.lookup import ZERO_GUID
from gamekeeper.game.core.player import BANK, INVENTORY
from gamekeeper.ground.instants import format_instant, parse_instant
from gamekeeper.http.access import role_shapes
from gamekeeper.http.accounts import account_shapes
from gamekeeper.http.audit import history_shapes
from gamekeeper.http.contract.shapes import encode
from gamekeeper.http.players import documents, player_shapes, variable_shapes
from gamekeeper.http.players.documents import TIMES, find_unknown, make_item_slot, read_slots, read_value
from gamekeeper.http.players.player_shapes import PLAYER_ATTRIBUTES
from gamekeeper.http.world import catalogue_shapes
from gamekeeper.http.world import documents as world_documents
from gamekeeper.store.players.variables import TextRow
from gamekeeper.store.world.guilds import GuildMember
from gamekeeper.store.world.imports import Leftover

_ItemSlots = list[player_shapes.ItemSlot]
PLACES_WITHOUT_BAGS = 2  # number of places of a player without bags: inventory and bank
ITEM, QUANTITY = player_shapes.Sum.__struct_fields__  # field names of an item's id and quantity in all shapes
# length of the beginning by which a change's side is recognised as a list of slots: that of the shorter name
_BEGINNING = 7
_BEGINNINGS = frozenset(f'{{"{name}"'[:_BEGINNING] for name in history_shapes.OnlyItems.__struct_fields__)
_SLOTS_BEGIN = _BEGINNINGS | {each.encode() for each in _BEGINNINGS}
_decode_only_items = msgspec.json.Decoder(history_shapes.OnlyItems).decode
_side_decoder = msgspec.json.Decoder(history_shapes.LedgerSide)
_lists_decoder = msgspec.json.Decoder(history_shapes.OnlyLists)
_fields_decoder = msgspec.json.Decoder(dict[str, object])
_ENTRY_FIELDS = set(catalogue_shapes.NamedEntry.__struct_fields__)
_USER_ATTRIBUTES = {name: attribute for attribute, name in account_shapes.USER_FIELDS.items()}
SIDE_FIELDS = frozenset({*PLAYER_ATTRIBUTES, *_USER_ATTRIBUTES, *history_shapes.LedgerSide.__struct_fields__})
# parts of the interface that are of players
encode_player, decode_player = documents.encode_player, documents.decode_player


def encode_side(side: ChangeSide) -> str:
    """Encode `Before` or `After` of a change for the audit log, with the field names of the API."""
    if side.command or side.server_variables or side.guild or side.guild_variables:
        return encode(_make_world_side(side)).decode()
    carried, banked, bags = _list_places(side) if side.slots or side.bags else ([], [], [])
    if not (side.spells or side.variables or side.sums or side.player or side.user or side.catalogue or side.unknown):
        return encode(history_shapes.LedgerSide(carried, banked, bags)).decode()
    rest = history_shapes.LedgerSide(
        carried,
        banked,
        bags,
        [player_shapes.KnownSpell(slot, spell or ZERO_GUID) for slot, spell in side.spells.items()],
        [variable_shapes.ChangedVariable(each, value) for each, value in side.variables.items()],
        [player_shapes.Sum(item, quantity) for item, quantity in side.sums.items()],
        Attached=_make_attached(side.attached) if any(side.attached) else None,
    )
    if not (side.player or side.user or side.catalogue or side.unknown):
        return encode(rest).decode()
    named = {player_shapes.PLAYER_FIELDS[name]: value for name, value in side.player.items()}
    named |= {account_shapes.USER_FIELDS[name]: value for name, value in side.user.items()}
    fields = {name: _write_value(name, value) for name, value in named.items()}
    fields |= {name.title(): _make_entries(value) for name, value in side.catalogue.items()}
    held = cast("Mapping[str, object]", msgspec.to_builtins(rest))
    return encode({**fields, **side.unknown, **held}).decode()


def _make_world_side(side: ChangeSide) -> object:
    """Make a side of a command, or of a change of no player."""
    if side.command:
        return side.command
    if side.guild:
        return world_documents.make_side(side.guild)
    values = [variable_shapes.AnyVariable(each, value) for each, value in side.server_variables.items()]
    owned = [variable_shapes.GuildValue(*key, value) for key, value in side.guild_variables.items()]
    return history_shapes.LedgerSide(ServerVariables=values, GuildVariables=owned)


def _make_attached(attached: Attachments) -> history_shapes.AttachedRows:
    joined = attached.membership
    at = None if joined is None or joined.joined_at is None else format_instant(joined.joined_at)
    return history_shapes.AttachedRows(
        [history_shapes.AttachedText(each.variable_id, each.type, each.value) for each in attached.texts],
        joined and history_shapes.AttachedGuild(joined.guild_id, joined.rank, at),
        [history_shapes.AttachedLeftover(each.kind, each.data) for each in attached.leftovers],
    )


def _write_value(name: str, value: object) -> object:
    if name == account_shapes.USER_FIELDS["quotas"]:
        return [role_shapes.RoleQuota(*each) for each in cast("Sequence[tuple[str, int]]", value)]
    return format_instant(value) if name in TIMES and isinstance(value, int) else value


def _list_places(side: ChangeSide) -> tuple[_ItemSlots, _ItemSlots, list[player_shapes.ChangedBag]]:
    """List the slots of the inventory and of the bank, and the bags with theirs, all in order."""
    carried: _ItemSlots = []
    banked: _ItemSlots = []
    places: dict[str, _ItemSlots] = {INVENTORY: carried, BANK: banked}
    for each in side.bags:
        places[each] = []
    for (place, slot), stack in sorted(side.slots.items()) if len(side.slots) > 1 else side.slots.items():
        places.setdefault(place, []).append(make_item_slot(slot, stack))
    if len(places) == PLACES_WITHOUT_BAGS:
        return carried, banked, []
    del places[INVENTORY], places[BANK]
    bags = sorted(places.items())
    return carried, banked, [player_shapes.ChangedBag(each, side.bags.get(each), slots) for each, slots in bags]


def _make_entries(value: object) -> object:
    if isinstance(value, list):
        return [msgspec.Raw(world_documents.encode_entry(each)) for each in cast("list[Any]", value)]
    return value


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


def list_personal_fields() -> Sequence[str]:
    return history_shapes.PERSONAL


def count_items(side: bytes | str | None) -> dict[str, int]:
    """Sum up the quantities per item in `Before` or `After` of a change, also in nested lists such as bags."""
    if not side:
        return {}
    if side[:_BEGINNING] in _SLOTS_BEGIN:
        try:
            only = _decode_only_items(side)
        except msgspec.ValidationError:  # there is more than slots
            return _count_nested_items(side)
        return _count_slots([*only.Items, *only.Bank])
    return _count_nested_items(side)


def _count_slots(stacks: Sequence[history_shapes.CountedStack]) -> dict[str, int]:
    found: dict[str, int] = {}
    for each in stacks:
        if each.ItemId != ZERO_GUID:
            found[each.ItemId] = found.get(each.ItemId, 0) + each.Quantity
    return found


def _count_nested_items(side: bytes | str) -> dict[str, int]:
    found: dict[str, int] = {}
    waiting: list[Any] = [msgspec.json.decode(side)]
    value: Any
    for value in waiting:  # the list grows in the loop
        if isinstance(value, list):
            waiting += value
        elif isinstance(value, dict):
            record = cast("dict[str, Any]", value)
            if ITEM in record and QUANTITY in record:
                item_id: str = record[ITEM]
                if item_id != ZERO_GUID:
                    found[item_id] = found.get(item_id, 0) + record[QUANTITY]
            else:
                waiting += record.values()
    return found


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
