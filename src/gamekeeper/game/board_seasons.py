"""Seasons of boards in time: when they start, up to which change they count, and when they become final."""

from collections.abc import Sequence
from typing import NamedTuple

from gamekeeper.game.activity import SETTLE_MS
from gamekeeper.game.board_values import EXISTENCE_KINDS
from gamekeeper.game.lookup import ZERO_GUID
from gamekeeper.store import boards, clock
from gamekeeper.store import standings as rows
from gamekeeper.store.boards import NOT_STARTED, PLAY_TIME, BoardChange, OpenSeason, Season
from gamekeeper.store.engine import Reading, Writing

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
        if season.seq < upto or (each.ranks == PLAY_TIME and await rows.has_uncounted_sessions(tx, season.ends_at)):
            continue
        following = await boards.find_change_from(tx, season.seq + 1)
        if following is None or following[1] >= season.ends_at:
            return each
    return None


async def finish(tx: Writing, upto: int, read_at: int) -> bool:
    each = await find_finished(tx, upto, read_at)
    if each is not None:
        await boards.move_season(tx, each.season._replace(final=True))
    return each is not None
