"""Read the few facts about a created or deleted player that a list of changes shows, in one pass over its long JSON."""

from collections.abc import Mapping
from operator import attrgetter
from typing import cast

import msgspec
from msgspec import Struct

from gamekeeper.http import wire
from gamekeeper.http.side_decoder import SIDE_FIELDS, decode_side

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
_get_record = attrgetter(*wire.players.PlayerDocument.__struct_fields__)


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
