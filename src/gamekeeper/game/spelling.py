"""What is spelt by the wire but stored by the rules: a player's document and the two sides of a ledger row."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from gamekeeper.game.inventory import Spot, Stack
from gamekeeper.game.players import Player

Whose = tuple[str | None, str | None]  # the player's id, the user's id


def _nothing() -> dict[str, object]:
    return {}


@dataclass(frozen=True, slots=True)
class Trace:
    """One side of a change, before or after: only what differs."""

    player: Mapping[str, object] = field(default_factory=_nothing)  # attributes of Player
    slots: Mapping[Spot, Stack | None] = field(default_factory=dict[Spot, Stack | None])
    bags: Mapping[str, int] = field(default_factory=dict[str, int])  # id → slot count
    spells: Mapping[int, str | None] = field(default_factory=dict[int, str | None])
    variables: Mapping[str, int | bool | None] = field(default_factory=dict[str, int | bool | None])
    user: Mapping[str, object] = field(default_factory=_nothing)  # what the account's record says of it
    catalogue: Mapping[str, object] = field(default_factory=_nothing)
    sums: Mapping[str, int] = field(default_factory=dict[str, int])  # item id → how many: a bulk load's
    unknown: Mapping[str, object] = field(default_factory=_nothing)  # fields of a newer version, as JSON


class Spelling(Protocol):
    """http/codec.py has the one spelling there is; app.py hands it in."""

    def player_document(self, player: Player, /) -> bytes: ...

    def read_player(self, document: bytes, last_online: int | None, /) -> Player:
        """Read what any version wrote: missing fields have their defaults, unknown ones are kept for writing."""
        ...

    def trace(self, trace: Trace, /) -> str: ...

    def read_trace(self, side: bytes | str, /) -> Trace:
        """What `trace` wrote; a field that players and accounts both have is in both parts."""
        ...

    def personal(self) -> Sequence[str]:
        """What a side of a ledger row calls that which says who somebody is, or what others think of them."""
        ...

    def sums(self, side: bytes | str | None, /) -> Mapping[str, int]:
        """How many of each item one side of a ledger row has."""
        ...
