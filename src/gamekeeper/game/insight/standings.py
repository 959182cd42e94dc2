"""Standings of seasons: store values, decide who is listed, and find pages and places.

Only one transaction at a time changes them, under the lock of the rollup `boards`.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from gamekeeper.game.core import lookup
from gamekeeper.game.core.background_jobs import Erasure
from gamekeeper.game.lists import ranked_lists
from gamekeeper.store.engine.interface import Reading, Writing
from gamekeeper.store.insight import activity, boards, economy, standings
from gamekeeper.store.insight.boards import PLAY_TIME, OpenSeason
from gamekeeper.store.insight.standings import BUCKETS, KIND, Standing, StandingKey, Visibility
from gamekeeper.store.lists import ranked_buckets as bucket_rows

BOARDS = "boards"  # checkpoint whose row is the lock of all standings; bans that ended before its time are applied


HIDDEN, SHOWN = Visibility(hidden=True), Visibility(hidden=False)
BATCH_STAFF = 100  # accounts of staff that are reviewed per transaction when a board hides staff or shows them


class PlayedTime(NamedTuple):
    """The part of a play session that counts for a season: who played, and from when to when."""

    player_id: str
    start: int
    end: int


async def apply(
    tx: Writing,
    values: Mapping[StandingKey, int | None],
    held: Mapping[StandingKey, Standing],
    seasons: Iterable[OpenSeason],
    *,
    unreviewed: Collection[str] = (),
) -> None:
    """Store new values of players in open seasons, decide who is listed, and update the buckets.

    Players in `unreviewed` are looked up only where they are neither listed nor withheld. It was decided before that
    the others can be, and every change of an account that may end this leads to a review.
    """
    if not values:
        return
    rules = {each.season.id: each for each in seasons}
    sought = {key.player_id for key in values if key.player_id not in unreviewed or not _is_decided(held.get(key))}
    visible = await standings.read_visibility(tx, sought) if sought else {}
    changed: dict[StandingKey, Standing | None] = {}
    for key, value in values.items():
        before, after = held.get(key), None
        if value is not None:
            if before is None or key.player_id in sought:
                seen = visible.get(key.player_id)
            else:
                seen = HIDDEN if before.withheld else SHOWN
            after = make_standing(rules[key.season_id], seen, value)
        if after != before:
            changed[key] = after
    await save(tx, changed, held)


async def save(
    tx: Writing, changed: Mapping[StandingKey, Standing | None], held: Mapping[StandingKey, Standing]
) -> None:
    """Store standings, and count them in the buckets."""
    kept = {key: after for key, after in changed.items() if after is not None}
    await standings.save(tx, kept, [key for key in changed if key not in kept])
    steps: bucket_rows.BucketSteps = {(KIND, season_id): ([], []) for season_id in {key.season_id for key in changed}}
    for key, after in changed.items():
        deleted, inserted = steps[KIND, key.season_id]
        if (before := held.get(key)) and before.listed:
            deleted.append((before.value, key.player_id))
        if after and after.listed:
            inserted.append((after.value, key.player_id))
    await ranked_lists.count_steps(tx, BUCKETS, steps)


def _is_decided(held: Standing | None) -> bool:
    """Tell whether a standing says how visible its player is. One that is not listed can have several reasons."""
    return held is not None and (held.listed or held.withheld)


def make_standing(season: OpenSeason, visible: Visibility | None, value: int) -> Standing:
    """Decide whether a player is listed in an open season. `visible` is None if it does not exist."""
    if visible is None or visible.banned or (visible.staff and season.hide_staff):
        return Standing(value, listed=False)
    has_enough = value > 0 or not (season.gain or season.ranks == PLAY_TIME)
    return Standing(value, listed=has_enough and not visible.hidden, withheld=has_enough and visible.hidden)


async def review_staff(tx: Writing) -> bool:
    """Decide again which staff is listed in the open seasons of a board that has begun to hide staff, or to show them.

    Each call reviews a batch of accounts and stores how far it got. False: there is no such board.
    """
    board_id = min(await boards.read_reviewing(tx), default=None)
    if board_id is None:
        return False
    await boards.lock(tx, board_id)
    # read once more: the board may have been edited until now, and cannot be before the end of this transaction
    after = (await boards.read_reviewing(tx)).get(board_id)
    if after is None:
        return True
    seasons = [each for each in await boards.read_open(tx) if each.season.board_id == board_id]
    accounts = await standings.find_staff(tx, after, BATCH_STAFF) if seasons else []
    players = await standings.find_players_of(tx, accounts)
    held = await standings.read_held(tx, [StandingKey(each, one.season.id) for each in players for one in seasons])
    await apply(tx, {key: each.value for key, each in held.items()}, held, seasons)
    await tx.returning(boards.SQL.move_review, board_id, accounts[-1] if len(accounts) == BATCH_STAFF else None)
    return True


async def review(tx: Writing, user_ids: Iterable[str], *, with_final: bool = False) -> None:
    """Decide again which players of some accounts are listed.

    In final seasons only if `with_final`: those of hidden accounts are withheld, and those of others are back as they
    were at the end.
    """
    seasons = {each.season.id: each for each in await boards.read_open(tx)}
    players = await standings.find_players_of(tx, user_ids)
    held = await standings.read_of_players(tx, players)
    visible = await standings.read_visibility(tx, players)
    changed: dict[StandingKey, Standing | None] = {}
    for key, each in held.items():
        after, seen = each, visible.get(key.player_id)
        if season := seasons.get(key.season_id):
            after = make_standing(season, seen, each.value)
        elif with_final and seen and (each.listed or each.withheld):
            after = each._replace(listed=not seen.hidden, withheld=seen.hidden)
        if after != each:
            changed[key] = after
    await save(tx, changed, held)


async def add_play_time(tx: Writing, played: Iterable[PlayedTime], seasons: Sequence[OpenSeason]) -> None:
    """Add parts of sessions to the seasons that count play time."""
    gains: dict[StandingKey, int] = {}
    for part in played:
        for each in seasons:
            season = each.season
            end = part.end if season.ends_at is None else min(part.end, season.ends_at)
            length = end - max(part.start, season.starts_at)
            if length > 0 and (season.swept is None or part.player_id <= season.swept):
                key = StandingKey(part.player_id, season.id)
                gains[key] = gains.get(key, 0) + length
    held = await standings.read_held(tx, gains) if gains else {}
    values = {key: (held[key].value if key in held else 0) + gain for key, gain in gains.items()}
    await apply(tx, values, held, seasons)


async def forget(tx: Writing, player_id: str, _: int) -> int:
    """Remove an erased player from open seasons, and give its places in final ones to a random id."""
    await activity.wait_for_checkpoint(tx, BOARDS)
    held = await standings.read_of_players(tx, [player_id])
    if not held:
        return 0
    final = {
        each
        for each, season in (await boards.read_rules(tx, {key.season_id for key in held})).items()
        if season.season.final
    }
    random_id = lookup.new_guid()
    changed: dict[StandingKey, Standing | None] = dict.fromkeys(held)
    for key, each in held.items():
        if key.season_id in final:
            changed[StandingKey(random_id, key.season_id)] = each
    await save(tx, changed, held)
    return len(held)


async def fix_blocks(tx: Writing) -> bool:
    """Add up the blocks of all ranked lists and seasons again, if any is wrong. Return whether one was.

    The locks come first: a server may count meanwhile.
    """
    await economy.wait_for_lock(tx)
    await activity.wait_for_checkpoint(tx, BOARDS)
    if not await bucket_rows.count_wrong_blocks(tx):
        return False
    await bucket_rows.rebuild_blocks(tx)
    return True


async def find_place(tx: Reading, season_id: str, player_id: str) -> int | None:
    """Return a player's place in a season, from 1. None: the player is not listed."""
    key = StandingKey(player_id, season_id)
    found = (await standings.read_held(tx, [key])).get(key)
    if found is None or not found.listed:
        return None
    return 1 + await standings.count_above(tx, season_id, (found.value, player_id))


ERASURES = (Erasure(30, forget),)
