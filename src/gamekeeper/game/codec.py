"""What is spelt by the wire but stored by the rules: a player's document and the two sides of a ledger row."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from gamekeeper.game.inventory import SlotAddress, Stack
from gamekeeper.game.players import Player

SubjectIds = tuple[str | None, str | None]  # the player's id, the user's id


def _empty_dict() -> dict[str, object]:
    return {}


@dataclass(frozen=True, slots=True)
class ChangeSide:
    """One side of a change, before or after: only what differs."""

    player: Mapping[str, object] = field(default_factory=_empty_dict)  # attributes of Player
    slots: Mapping[SlotAddress, Stack | None] = field(default_factory=dict[SlotAddress, Stack | None])
    bags: Mapping[str, int] = field(default_factory=dict[str, int])  # id → slot count
    spells: Mapping[int, str | None] = field(default_factory=dict[int, str | None])
    variables: Mapping[str, int | bool | None] = field(default_factory=dict[str, int | bool | None])
    user: Mapping[str, object] = field(default_factory=_empty_dict)  # what the account's record says of it
    catalogue: Mapping[str, object] = field(default_factory=_empty_dict)
    sums: Mapping[str, int] = field(default_factory=dict[str, int])  # item id → how many: a bulk load's
    unknown: Mapping[str, object] = field(default_factory=_empty_dict)  # fields of a newer version, as JSON


class Codec(Protocol):
    """http/codec.py has the one codec there is; app.py hands it in."""

    def encode_player(self, player: Player, /) -> bytes: ...

    def decode_player(self, document: bytes, last_online: int | None, /) -> Player:
        """Read what any version wrote: missing fields have their defaults, unknown ones are kept for writing."""
        ...

    def encode_side(self, trace: ChangeSide, /) -> str: ...

    def decode_side(self, side: bytes | str, /) -> ChangeSide:
        """What `trace` wrote; a field that players and accounts both have is in both parts."""
        ...

    def list_personal_fields(self) -> Sequence[str]:
        """What a side of a ledger row calls that which says who somebody is, or what others think of them."""
        ...

    def count_items(self, side: bytes | str | None, /) -> Mapping[str, int]:
        """How many of each item one side of a ledger row has."""
        ...
