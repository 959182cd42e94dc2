"""What changes of the audit log mean for the economy: flows of items by source, gifts, and what each player has.

A flow is the difference of an item within one change. So a move between slots is none; a trade that a game reports is
two changes, and counts as destroyed with one player and created with the other.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from gamekeeper.game.codec import ChangeSide, Codec
from gamekeeper.game.lookup import ZERO_GUID
from gamekeeper.game.player_effects import PlayerDeleted, PlayersLoaded
from gamekeeper.game.steps import find_job_id
from gamekeeper.store.economy import CountedChange, Flow, GiftFlow
from gamekeeper.store.holdings import ITEM, VARIABLE, Holding

GAME, KEY, STAFF, UNDO, IMPORT = "game", "key", "staff", "undo", "import"
SOURCES = (GAME, KEY, STAFF, UNDO, IMPORT)
DAY_MS = 24 * 60 * 60 * 1000


class Move(NamedTuple):
    """What one change adds to or, if negative, takes from an item."""

    seq: int
    at: int
    kind: str
    source: str
    player_id: str | None
    giver_id: str | None  # account or API key; None: the command line, or the source is neither staff nor a key
    item_id: str
    gain: int
    job_id: str | None  # the bulk job that the change belongs to


@dataclass(slots=True)
class Tally:
    """The sums of a batch of changes."""

    created: Counter[tuple[str, int, str]] = field(default_factory=Counter[tuple[str, int, str]])  # item, day, source
    destroyed: Counter[tuple[str, int, str]] = field(default_factory=Counter[tuple[str, int, str]])
    # day, giver, item, source
    given: Counter[tuple[int, str, str, str]] = field(default_factory=Counter[tuple[int, str, str, str]])
    taken: Counter[tuple[int, str, str, str]] = field(default_factory=Counter[tuple[int, str, str, str]])
    gains: Counter[Holding] = field(default_factory=Counter[Holding])  # items that players got or, if negative, lost
    values: dict[Holding, int | None] = field(default_factory=dict[Holding, int | None])  # new values of variables
    moves: list[Move] = field(default_factory=list[Move])  # in the order of the changes
    has_loads: bool = False  # there is a bulk load: it does not say which player has what

    def list_flows(self) -> list[Flow]:
        keys = sorted(self.created.keys() | self.destroyed.keys())
        return [Flow(*key, self.created[key], self.destroyed[key]) for key in keys]

    def list_gifts(self) -> list[GiftFlow]:
        keys = sorted(self.given.keys() | self.taken.keys())
        return [GiftFlow(*key, self.given[key], self.taken[key]) for key in keys]

    def list_items(self) -> set[str]:
        return {key[0] for key in self.created.keys() | self.destroyed.keys()}


def find_source(change: CountedChange) -> str:
    """Return where a change comes from. An undo counts as such, by any caller."""
    if change.undoes is not None:
        return UNDO
    if change.over_link:
        return GAME
    if change.kind == PlayersLoaded.kind:
        return IMPORT
    return KEY if change.is_key else STAFF


def find_day(at: int) -> int:
    """Return the UTC day of a time in ms, as days since 1970."""
    return at // DAY_MS


def cut_at_midnight(changes: Sequence[CountedChange]) -> Sequence[CountedChange]:
    """Return the first changes that are of one UTC day: the totals at the end of each day are stored."""
    for place, change in enumerate(changes):
        if find_day(change.at) != find_day(changes[0].at):
            return changes[:place]
    return changes


def count(changes: Iterable[CountedChange], codec: Codec, variables: frozenset[str]) -> Tally:
    """Add up changes: the flows of their items, and the new values of these variables."""
    tally = Tally()
    for change in changes:
        if change.before is None and change.after is None:
            continue
        _count_items(tally, change, codec)
        if variables and change.player_id:
            tally.values.update(read_values(change, codec, variables))
    return tally


def read_values(change: CountedChange, codec: Codec, variables: frozenset[str]) -> dict[Holding, int | None]:
    """Return the values that a change gives to these variables of its player; None: the variable has no value."""
    if not change.player_id:
        return {}
    before, after = (codec.decode_side(side) if side else ChangeSide() for side in (change.before, change.after))
    found: dict[str, int | bool | None] = {**dict.fromkeys(before.variables), **after.variables}
    return {
        Holding(change.player_id, VARIABLE, each): None if value is None else int(value)
        for each, value in found.items()
        if each in variables
    }


def read_values_before(change: CountedChange, codec: Codec, variables: frozenset[str]) -> dict[Holding, int | None]:
    """Return the values of these variables before a change."""
    return read_values(change._replace(before=change.after, after=change.before), codec, variables)


def count_gains(before: bytes | str | None, after: bytes | str | None, codec: Codec) -> dict[str, int]:
    """Return how much of each item a change with these sides adds or, if negative, removes."""
    found = dict(codec.count_items(after))
    for item_id, quantity in codec.count_items(before).items():
        found[item_id] = found.get(item_id, 0) - quantity
    return found


def _count_items(tally: Tally, change: CountedChange, codec: Codec) -> None:
    seq, at, kind, actor_id, token_id, _, _, player_id, before, after, _, request_id = change
    day, source = at // DAY_MS, find_source(change)
    is_given = source in (KEY, STAFF)
    giver = (token_id if source == KEY else actor_id) if is_given else None
    if kind == PlayersLoaded.kind:
        tally.has_loads = True
    for item_id, gain in count_gains(before, after, codec).items():
        if gain == 0:
            continue
        (tally.created if gain > 0 else tally.destroyed)[item_id, day, source] += abs(gain)
        if is_given and kind != PlayerDeleted.kind:  # a deletion of a player is no gift, nor its opposite
            (tally.given if gain > 0 else tally.taken)[day, giver or ZERO_GUID, item_id, source] += abs(gain)
        if player_id:
            tally.gains[Holding(player_id, ITEM, item_id)] += gain
        job_id = find_job_id(request_id)
        tally.moves.append(Move(seq, at, kind, source, player_id, giver, item_id, gain, job_id))
