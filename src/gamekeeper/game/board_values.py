"""What a change of the audit log means for a season of a board. Without I/O.

A season counts what players have at its end, or what they gain in it: the sum of the differences of its changes. So a
gain needs no value from before the season.
"""

from gamekeeper.game.codec import ChangeSide, Codec
from gamekeeper.game.flows import count_gains
from gamekeeper.game.item_undo import ITEM_KINDS
from gamekeeper.store.boards import ITEM, LEVEL, PLAY_TIME, BoardChange, OpenSeason

EXP_BITS = 40  # of the value of a level: players of the same level are ranked by their experience in it
MAX_EXP = 2**EXP_BITS - 1
MAX_LEVEL = 2 ** (63 - EXP_BITS) - 1
EXISTENCE_KINDS = frozenset({"player_created", "player_deleted"})
FIRST_LEVEL = 1  # of a player that does not exist yet
# values that both databases can store; a variable can change by more than that
MIN_VALUE, MAX_VALUE = -(2**63), 2**63 - 1


class ReadChange:
    """A change whose sides are decoded when they are needed: most changes concern few seasons."""

    __slots__ = ("_codec", "_decoded", "_gains", "_sides", "change")

    def __init__(self, change: BoardChange, codec: Codec, *, backwards: bool = False) -> None:
        self.change = change
        self._codec = codec
        self._sides = (change.after, change.before) if backwards else (change.before, change.after)
        self._decoded: tuple[ChangeSide, ChangeSide] | None = None
        self._gains: dict[str, int] | None = None  # quantity of each item that is gained or, if negative, lost

    @property
    def sides(self) -> tuple[ChangeSide, ChangeSide]:
        """Return both sides, decoded. A missing side is empty."""
        if self._decoded is None:
            before, after = (self._codec.decode_side(each) if each else ChangeSide() for each in self._sides)
            self._decoded = before, after
        return self._decoded

    @property
    def ends_player(self) -> bool:
        """Tell whether the player does not exist after the change."""
        return self._sides[1] is None and self.change.kind in EXISTENCE_KINDS

    @property
    def may_change_owner(self) -> bool:
        """Tell whether the change creates or deletes the player, or gives it to another account."""
        if self.change.kind in ITEM_KINDS:  # their sides have nothing but items, so they are not decoded
            return False
        return self.change.kind in EXISTENCE_KINDS or "user_id" in self.sides[1].player

    def count_gain(self, item_id: str) -> int:
        if self._gains is None:
            before, after = self._sides
            self._gains = count_gains(before, after, self._codec)
        return self._gains.get(item_id, 0)

    def touches(self, season: OpenSeason) -> bool:
        """Tell whether the change can affect the player's value in a season, or its place in the list."""
        if self.change.kind in ITEM_KINDS:  # their sides have nothing but items, so they are not decoded
            return season.ranks == ITEM and self.count_gain(season.thing_id or "") != 0
        before, after = self.sides
        if self.may_change_owner:
            return True
        if season.ranks == PLAY_TIME:
            return False
        if season.ranks == ITEM:
            return self.count_gain(season.thing_id or "") != 0
        if season.ranks == LEVEL:
            return any("level" in side.player or "exp" in side.player for side in (before, after))
        return season.thing_id in before.variables or season.thing_id in after.variables


def make_level(level: int, exp: int) -> int:
    """Return the value of a level, which orders players by level and then by experience."""
    return min(level, MAX_LEVEL) << EXP_BITS | min(max(exp, 0), MAX_EXP)


def show_value(ranks: str, *, gain: bool, value: int) -> int:
    """Return the value of a standing as people read it."""
    return value >> EXP_BITS if ranks == LEVEL and not gain else value


def describe_value(ranks: str, *, gain: bool, value: int) -> dict[str, int | str]:
    """Return the value of a standing with what people need to read it: experience within a level, unit of a time."""
    if ranks == PLAY_TIME:
        return {"value": value // 1000, "unit": "seconds"}
    more = {"experience": value & MAX_EXP} if ranks == LEVEL and not gain else {}
    return {"value": show_value(ranks, gain=gain, value=value), **more}


def advance(season: OpenSeason, value: int | None, read: ReadChange) -> int | None:
    """Return a player's value in a season after a change. None: the player is not in the standings."""
    if season.ranks == PLAY_TIME:
        return value
    if season.gain:
        gain = _measure_gain(season, read)
        return value if gain is None else _clamp((value or 0) + gain)
    return None if read.ends_player else _advance_value(season, value, read)


def _clamp(value: int) -> int:
    return min(max(value, MIN_VALUE), MAX_VALUE)


def _advance_value(season: OpenSeason, value: int | None, read: ReadChange) -> int | None:
    if season.ranks == ITEM:
        return _clamp((value or 0) + read.count_gain(season.thing_id or "")) or None
    before, after = read.sides
    if season.ranks == LEVEL:
        return _advance_level(value, after)
    thing = season.thing_id or ""
    if thing not in before.variables and thing not in after.variables:
        return value
    became = after.variables.get(thing)
    return None if became is None else int(became)


def _advance_level(value: int | None, after: ChangeSide) -> int | None:
    level, exp = after.player.get("level"), after.player.get("exp")
    if level is None and exp is None:
        return value
    known = value or 0
    return make_level(
        level if isinstance(level, int) else known >> EXP_BITS, exp if isinstance(exp, int) else known & MAX_EXP
    )


def _measure_gain(season: OpenSeason, read: ReadChange) -> int | None:
    """Return what a change adds to a player's gain. None: it does not concern the season."""
    if season.ranks == ITEM:
        return read.count_gain(season.thing_id or "") or None
    before, after = read.sides
    if season.ranks == LEVEL:
        found = [side.player.get("level") for side in (before, after)]
        if all(each is None for each in found):
            return None
        was, became = (each if isinstance(each, int) else FIRST_LEVEL for each in found)
        return became - was
    found_values = [side.variables.get(season.thing_id or "") for side in (before, after)]
    if all(each is None for each in found_values):
        return None
    return int(found_values[1] or 0) - int(found_values[0] or 0)
