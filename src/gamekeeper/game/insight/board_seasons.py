"""Seasons of boards in time: when they start, up to which change they count, and when they become final.

A season counts what players have at its end, or what they gain in it: the sum of the differences of its changes. So a
gain needs no value from before the season. What one change means for a season is computed without I/O.
"""

from collections.abc import Sequence
from typing import NamedTuple

from gamekeeper.game.core.change import ChangeSide, Codec
from gamekeeper.game.core.lookup import ZERO_GUID
from gamekeeper.game.insight.activity import SETTLE_MS
from gamekeeper.game.insight.flows import count_gains
from gamekeeper.game.players.changes import ITEM_KINDS
from gamekeeper.store.core.person import PersonRows
from gamekeeper.store.engine import clock
from gamekeeper.store.engine.interface import Reading, Writing
from gamekeeper.store.insight import boards
from gamekeeper.store.insight import standings as rows
from gamekeeper.store.insight.boards import ITEM, LEVEL, NOT_STARTED, PLAY_TIME, BoardChange, OpenSeason, Season

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


FOREVER = 2**62


class DueSeasons(NamedTuple):
    """Seasons that have counted the same changes, and the number up to which they count now."""

    seasons: Sequence[OpenSeason]
    first: int
    end: int


def is_swept_kind(each: OpenSeason) -> bool:
    """Tell whether a season starts with what players have. Seasons of gains and of play time do not."""
    return not each.gain and each.ranks != PLAY_TIME


def is_before_end(season: Season, change: BoardChange) -> bool:
    return season.ends_at is None or change.at < season.ends_at


def is_counted_in(each: OpenSeason, change: BoardChange, player_id: str) -> bool:
    """Tell whether a change counts in a season: by its time, and if the player is swept already."""
    season = each.season
    if not is_before_end(season, change) or (each.gain and change.at < season.starts_at):
        return False
    return season.swept is None or player_id <= season.swept or each.ranks == PLAY_TIME


def is_listed_anew(each: OpenSeason, change: BoardChange, player_id: str) -> bool:
    """Tell whether a change after the end of a season deletes or restores a player who may be in its standings.

    Until the season is final, a deleted player leaves its standings, and a restored one comes back.
    """
    swept = each.season.swept
    return (
        not is_before_end(each.season, change)
        and change.kind in EXISTENCE_KINDS
        and (swept is None or player_id <= swept)
    )


async def find_counted(tx: Reading) -> int:
    """Return the number up to which all open seasons have counted the changes: older changes can be deleted."""
    found, now = await boards.read_open(tx), await clock.now(tx)
    if any(each.season.seq == NOT_STARTED and each.gain and each.season.starts_at <= now for each in found):
        return 0  # the first change of this season is not found yet
    return min((each.season.seq for each in found if each.season.seq != NOT_STARTED), default=FOREVER)


async def find_starting(tx: Reading) -> OpenSeason | None:
    """Return a season that should have started but has not."""
    now = await clock.now(tx)
    waiting = [each for each in await boards.read_open(tx) if each.season.seq == NOT_STARTED]
    return next((each for each in waiting if each.season.starts_at <= now), None)


async def start(tx: Writing, upto: int) -> bool:
    """Start a season that is due: find the first change that it counts."""
    each = await find_starting(tx)
    if each is None:
        return False
    season = each.season
    seq = await find_number_before(tx, season.starts_at - SETTLE_MS, upto) if each.gain else upto
    swept = ZERO_GUID if is_swept_kind(each) else season.swept
    await boards.move_season(tx, season._replace(seq=seq, swept=swept))
    return True


async def find_number_before(tx: Reading, at: int, upto: int) -> int:
    """Return a number before the first change from a time on, by bisection: times grow with the numbers."""
    low, high = await boards.read_trimmed(tx), upto
    while low < high:
        middle = (low + high) // 2
        found = await boards.find_change_from(tx, middle + 1)
        if found is None or found[0] > high or found[1] >= at:
            high = middle
        else:
            low = found[0]
    return min(low, upto)


async def find_due(tx: Reading, upto: int, *, newest: bool) -> DueSeasons | None:
    """Return the seasons that count next: those that have counted most changes, or those furthest behind."""
    now = await clock.now(tx)
    started = [each for each in await boards.read_open(tx) if each.season.seq != NOT_STARTED]
    ends = {each.season.id: await _find_end(tx, each, upto, now) for each in started}
    due = [each for each in started if each.season.seq < ends[each.season.id]]
    numbers = {each.season.seq for each in due}
    if not numbers:
        return None
    first = max(numbers) if newest else min(numbers)
    group = [each for each in due if each.season.seq == first]
    later = [each for each in numbers if each > first]
    return DueSeasons(group, first, min([*(ends[each.season.id] for each in group), *later]))


async def _find_end(tx: Reading, each: OpenSeason, upto: int, now: int) -> int:
    """Return the number up to which a season counts for now.

    What players had at an earlier time is not stored. So an ended season that is not swept stays at its end, and the
    sweep takes off all later changes.
    """
    ends_at = each.season.ends_at
    if ends_at is None or ends_at > now or each.season.swept is None or not is_swept_kind(each):
        return upto
    return await find_number_before(tx, ends_at, upto)


async def find_finished(tx: Reading, upto: int, read_at: int) -> OpenSeason | None:
    """Return an ended season of which no change or session can be missing.

    Changes up to `upto` were final at the time `read_at`.
    """
    reviewing = await boards.read_reviewing(tx)
    for each in await boards.read_open(tx):
        season = each.season
        if season.board_id in reviewing:
            continue  # its change of `hide_staff` is not applied to all staff yet
        if season.ends_at is None or season.ends_at + SETTLE_MS > read_at or season.swept is not None:
            continue
        if season.seq < upto:
            continue
        if each.ranks == PLAY_TIME and await tx.one(rows.SQL.has_uncounted, season.ends_at) is not None:
            continue  # a session from before the end is not counted up to it
        following = await boards.find_change_from(tx, season.seq + 1)
        if following is None or following[1] >= season.ends_at:
            return each
    return None


async def finish(tx: Writing, upto: int, read_at: int) -> bool:
    each = await find_finished(tx, upto, read_at)
    if each is not None:
        await boards.move_season(tx, each.season._replace(final=True))
    return each is not None


async def read_values(tx: Reading, season: OpenSeason, after: str, last: str) -> dict[str, int]:
    """Read what the players after one id, up to another, have now."""
    if season.ranks == LEVEL:
        levels = await tx.all(rows.SQL.levels_between, after, last)
        return {player_id: make_level(level, exp) for player_id, level, exp in levels}
    statement = rows.SQL.items_between if season.ranks == ITEM else rows.SQL.variables_between
    found = await tx.all(statement, after, last, season.thing_id or "")
    return {player_id: int(value) for player_id, value in found}


PERSON = (
    PersonRows(
        *(200, "standings", rows.SQL.of_person),
        booleans=("gain", "listed"),
        amend=lambda row: describe_value(row["ranks"], gain=row["gain"], value=row["value"]),
    ),
)
