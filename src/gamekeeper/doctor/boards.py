"""The doctor's check of boards: compares standings with what players have, and with the audit log."""

from collections.abc import Mapping

import msgspec

from gamekeeper.doctor.findings import PAGE_ROWS, Check, Examination, Findings, compare, list_ranges, read_later
from gamekeeper.game.core.change import Codec
from gamekeeper.game.insight.board_follower import read_actual
from gamekeeper.game.insight.board_seasons import ReadChange, advance, is_counted_in, is_swept_kind
from gamekeeper.game.insight.standings import make_standing
from gamekeeper.store.core import ledger
from gamekeeper.store.engine import clock
from gamekeeper.store.engine.interface import Reading
from gamekeeper.store.insight import boards, standings
from gamekeeper.store.insight.boards import NOT_STARTED, OpenSeason
from gamekeeper.store.insight.standings import Standing, StandingKey

BOARDS = "boards"
ADVICE = "Delete the board and create it again, or restore a backup."


async def check(it: Examination) -> None:
    await _check_buckets(it.tx, it.found)
    now, is_trimmed = await clock.now(it.tx), await ledger.read_trimmed_number(it.tx)
    found = await boards.read_open(it.tx)
    try:
        for each in [each for each in found if each.season.seq != NOT_STARTED and each.season.swept is None]:
            if is_swept_kind(each) and (each.season.ends_at is None or each.season.ends_at > now):
                await _check_values(it.tx, it.found, it.codec, each)
            if each.gain and not is_trimmed:
                await _check_gains(it, each)
    except (msgspec.DecodeError, ValueError):
        return  # a change that cannot be read: the check of item totals reports it


async def _check_buckets(tx: Reading, found: Findings) -> None:
    """Compare the numbers of listed players with those of the buckets, in final seasons too."""
    listed, counted = await tx.pairs(standings.SQL.sums), await tx.pairs(standings.SQL.bucket_sums)
    for season_id, there, said in compare(listed, counted, 0):
        found.error(BOARDS, f"Season {season_id} lists {there} players; its buckets count {said}.", ADVICE)


async def _check_values(tx: Reading, found: Findings, codec: Codec, each: OpenSeason) -> None:
    """Compare the standings of a season with what players have, without the changes that are not counted yet."""
    later = await read_later(boards.read_changes, tx, each.season.seq)
    if any(change.kind == "players_loaded" for change in later):
        return
    async for players in list_ranges(tx):
        actual = await read_actual(tx, codec, each, players, later)
        held = await standings.read_held_between(tx, *players, each.season.id)
        _compare(found, each, actual, held)
        await _check_listed(tx, found, each, held, is_current=not later)


async def _check_gains(it: Examination, each: OpenSeason) -> None:
    """Count the gains of a season again from the audit log, and compare them."""
    tx, gains = it.tx, dict[str, int | None]()
    seq, end = 0, each.season.seq
    while page := await boards.read_changes(tx, seq, end, PAGE_ROWS):
        for change in page:
            if change.player_id and is_counted_in(each, change, change.player_id):
                gains[change.player_id] = advance(each, gains.get(change.player_id), ReadChange(change, it.codec))
        seq = page[-1].seq
        it.progress(BOARDS, seq, end)
    held = await standings.read_held(tx, [StandingKey(player_id, each.season.id) for player_id in gains])
    # erased players have left the standings
    there = {*await standings.read_visibility(tx, gains), *(key.player_id for key in held)}
    _compare(it.found, each, {player_id: gain for player_id, gain in gains.items() if player_id in there}, held)


async def _check_listed(
    tx: Reading, found: Findings, each: OpenSeason, held: Mapping[StandingKey, Standing], *, is_current: bool
) -> None:
    """Check who is listed, unless changes wait. A ban may have ended since: that is no change."""
    if not is_current or await boards.find_hidden_waiting(tx, 1) or await boards.read_reviewing(tx):
        return
    visible = await standings.read_visibility(tx, {key.player_id for key in held})
    for key, standing in held.items():
        seen = visible.get(key.player_id)
        bans = [seen] if seen is None else [seen._replace(banned=False), seen]
        right = {make_standing(each, shown, standing.value).listed for shown in bans}
        if standing.listed not in right:
            state = "is listed" if standing.listed else "is not listed"
            found.error(BOARDS, f"Player {key.player_id} {state} in season {key.season_id}, wrongly.", ADVICE)


def _compare(
    found: Findings, each: OpenSeason, actual: Mapping[str, int | None], held: Mapping[StandingKey, Standing]
) -> None:
    stored = {key.player_id: standing.value for key, standing in held.items()}
    for player_id, there, said in compare(actual, stored, None):
        where = f"the standings of season {each.season.id} say {said}"
        found.error(BOARDS, f"Player {player_id} has {there} by the game's data; {where}.", ADVICE)


CHECKS = (Check(50, (BOARDS,), check),)
