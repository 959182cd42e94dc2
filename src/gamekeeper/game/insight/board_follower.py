"""The job that counts boards: it follows the audit log, season by season, in steps that can be repeated.

    audit log ── final changes, in order ──► standings        values or gains of levels, items and variables
    records   ── sweep over all players ──► standings        what each player has, as of the same change
    sessions  ── rollup of activity ──► standings            play time

Each step is one transaction under the lock of the rollup `boards`. It also moves the cursor of its seasons, so a step
that is killed has counted nothing, and a repeated one counts nothing twice. A season that was created with a start in
the past follows from there, and joins the others when it has caught up. No request waits for any of this.
"""

from collections.abc import Awaitable, Callable, Coroutine, Sequence
from functools import partial
from itertools import product
from typing import Any, TypeVar

from gamekeeper.game.core.background_jobs import Step, repeat
from gamekeeper.game.core.change import Codec
from gamekeeper.game.core.lookup import ZERO_GUID
from gamekeeper.game.insight import board_seasons, standings
from gamekeeper.game.insight.board_seasons import (
    FOREVER,
    ReadChange,
    advance,
    is_before_end,
    is_counted_in,
    is_listed_anew,
    is_swept_kind,
)
from gamekeeper.game.insight.standings import BOARDS
from gamekeeper.game.world.feed import BATCH_CHANGES, BATCH_PLAYERS, MAX_AHEAD, READ_STEPS, REST_FACTOR, Feed
from gamekeeper.ground import crash, log
from gamekeeper.store.core import ledger
from gamekeeper.store.engine import clock
from gamekeeper.store.engine.interface import DatabaseUnavailable, Reading, Store, Writing
from gamekeeper.store.insight import activity, boards, holdings
from gamekeeper.store.insight import standings as rows
from gamekeeper.store.insight.activity import SESSIONS, Checkpoint
from gamekeeper.store.insight.boards import ITEM, NOT_STARTED, PLAY_TIME, BoardChange, EndedBan, OpenSeason, Season
from gamekeeper.store.insight.standings import KIND, StandingKey
from gamekeeper.store.lists import ranked_buckets
from gamekeeper.store.lists.ranked_buckets import HIGHEST

BATCH_ROWS = 500  # rows of standings that changes touch, or of slots or sessions that a sweep reads, per transaction
BATCH_ACCOUNTS = 20  # accounts reviewed per transaction
LAST_GUID = HIGHEST[1]
T = TypeVar("T")
# kinds of changes of accounts after which other players may be listed
ACCOUNT_KINDS = frozenset({"user_banned", "user_unbanned", "powers_changed", "roles_changed"})


class BoardFollower:
    def __init__(self, store: Store, codec: Codec, changes: Feed) -> None:
        self._store = store
        self._codec = codec
        self._feed = changes
        self._last_ban = boards.NO_BAN  # the last ended ban that was reviewed
        self._newest = False  # whether the last turn was of the seasons that have counted most

    async def follow(self, rest_factor: float = REST_FACTOR) -> None:
        """Count all final changes and sweep players, as the background job of a serving process, with pauses."""
        if await self._has_boards():
            await self.catch_up(rest_factor)

    async def refresh(self) -> None:
        """Count the newest changes before a read, up to a limit. If that fails, the read shows an earlier state."""
        try:
            if await self._has_boards():
                upto = await self._feed.find_final()
                step = partial(self._take, lambda tx: self._find_counting(tx, upto, newest=True))
                await repeat(step, 0, READ_STEPS)
        except DatabaseUnavailable:
            pass
        except Exception:  # noqa: BLE001 - one change that cannot be counted must not stop the reads of all boards
            log.failure("boards")

    async def read(self, work: Callable[[Reading], Coroutine[Any, Any, T]]) -> T:
        await self.refresh()
        return await self._store.read(work)

    async def catch_up(self, rest_factor: float = 0) -> None:
        """Count and sweep until nothing is left."""

        async def step() -> bool:
            read_at = await clock.now(self._store)
            # read each time: a run can last long, and a season must not become final without its last changes
            return await self.step(await self._feed.find_final(), read_at)

        await repeat(step, rest_factor)

    async def step(self, upto: int, read_at: int = 0) -> bool:
        """Take one step in one transaction. False: nothing is left up to this change, or another instance does it.

        A season becomes final only if `upto` was read, at `read_at`, long enough after its end.
        """
        return await self._take(lambda tx: self._find_steps(tx, upto, read_at))

    async def _take(self, find: Callable[[Reading], Coroutine[Any, Any, list[Step]]]) -> bool:
        """Look what is due, without a transaction that writes, and take the first of these steps that can be taken."""
        for each in await self._store.read(find):
            if await each():
                return True
        return False

    async def _find_counting(self, tx: Reading, upto: int, *, newest: bool) -> list[Step]:
        """Return the steps that follow the audit log and are due."""
        checkpoint = await activity.find_checkpoint(tx, BOARDS)
        if not checkpoint.position:
            return [self._begin]
        ended = boards.NO_BAN._replace(ends_at=checkpoint.position + 1)
        every = (
            (await board_seasons.find_starting(tx), partial(board_seasons.start, upto=upto)),
            (await boards.find_hidden_waiting(tx, 1), _apply_hidden),
            (await boards.read_reviewing(tx), standings.review_staff),
            (await tx.one(boards.SQL.bans_ended, *ended, await clock.now(tx), 1), self._apply_ended_bans),
            (await board_seasons.find_due(tx, upto, newest=newest), partial(self._count, upto=upto, newest=newest)),
        )
        return [partial(self._write, work) for is_due, work in every if is_due]

    async def _find_steps(self, tx: Reading, upto: int, read_at: int) -> list[Step]:
        """Return all steps that are due."""
        # the seasons take turns, so that one that starts in the past does not hold up the others
        self._newest = not self._newest
        found = await self._find_counting(tx, upto, newest=self._newest)
        if await board_seasons.find_finished(tx, upto, read_at):
            found.append(lambda: self._write(lambda tx: board_seasons.finish(tx, upto, read_at)))
        waiting = [each for each in await boards.read_open(tx) if each.season.swept is not None]
        if any(is_swept_kind(each) for each in waiting):
            found.append(self._sweep)
        if any(each.ranks == PLAY_TIME and each.season.seq != NOT_STARTED for each in waiting):
            found.append(self._sweep_play_time)
        if await boards.has_deleted(tx):
            found.append(lambda: self._write(_delete_rows))
        return found

    async def _begin(self) -> bool:
        await self._store.write(lambda tx: tx.returning(activity.SQL.begin, BOARDS))
        return True

    async def _has_boards(self) -> bool:
        """Tell whether there is something to follow; without boards that is a cheap read."""
        if await self._store.one(boards.SQL.has_open) is not None or await boards.has_deleted(self._store):
            return True
        return bool(await boards.find_hidden_waiting(self._store, 1))

    async def _write(self, work: Callable[[Writing], Awaitable[bool]]) -> bool:
        async def work_under_lock(tx: Writing) -> bool:
            return await activity.lock_checkpoint(tx, BOARDS) is not None and await work(tx)

        return await self._store.write(work_under_lock)

    async def _apply_ended_bans(self, tx: Writing) -> bool:
        """List players again whose ban has ended. The audit log has no entry for the end of a ban.

        The checkpoint is a time, and more bans than a batch may end at the same one. So the place within that time is
        only in memory: after a restart some accounts are reviewed again, which changes nothing.
        """
        checkpoint, now = await activity.find_checkpoint(tx, BOARDS), await clock.now(tx)
        first = boards.NO_BAN._replace(ends_at=checkpoint.position + 1)
        after = max(first, self._last_ban)
        ended = await tx.rows(EndedBan, boards.SQL.bans_ended, *after, now, BATCH_ACCOUNTS)
        await standings.review(tx, [each.user_id for each in ended])
        is_last = len(ended) < BATCH_ACCOUNTS
        reached = now if is_last else ended[-1].ends_at - 1
        self._last_ban = boards.NO_BAN if is_last else ended[-1]
        activity.move_checkpoint(tx, BOARDS, Checkpoint(max(reached, checkpoint.position), 0))
        return True

    async def _count(self, tx: Writing, upto: int, *, newest: bool) -> bool:
        """Count the next changes for some seasons."""
        due = await board_seasons.find_due(tx, upto, newest=newest)
        if due is None:
            return False
        read = await boards.read_changes(tx, due.first, due.end, BATCH_CHANGES)
        changes, contradicted = await self._apply_changes(tx, due.seasons, read)
        crash.crash_at("boards_standings")
        is_whole = len(changes) == len(read) < BATCH_CHANGES
        last = due.end if is_whole else changes[-1].seq
        for each in due.seasons:
            season = each.season._replace(seq=last)
            if season.id in contradicted or (is_swept_kind(each) and _has_load(season, changes)):
                # the sweep takes off the changes after the end, so they must not be counted as passed
                over = next((change.seq for change in changes if not is_before_end(season, change)), last + 1)
                season = season._replace(swept=ZERO_GUID, seq=min(last, over - 1))
            await boards.move_season(tx, season)
        crash.crash_at("boards_state")
        return True

    async def _apply_changes(
        self, tx: Writing, group: Sequence[OpenSeason], changes: Sequence[BoardChange]
    ) -> tuple[Sequence[BoardChange], set[str]]:
        """Apply changes to seasons. Return those applied, and the seasons that contradict them: sweep these again."""
        # changes, each with the seasons whose values it may change, and with the keys of those
        touched: list[tuple[ReadChange, list[tuple[OpenSeason, StandingKey]]]] = []
        keys: dict[StandingKey, None] = {}
        reviewed: set[str] = set()  # players who may be listed now, or no longer
        for change, players in zip(changes, await _find_reached(tx, changes), strict=True):
            read = ReadChange(change, self._codec)
            is_of_account = change.kind in ACCOUNT_KINDS
            seasons = [each for each in group if is_of_account or read.touches(each)] if players else []
            counted: list[tuple[OpenSeason, StandingKey]] = []
            touched.append((read, counted))
            if is_of_account or (seasons and read.may_change_owner):
                reviewed.update(players)
            for each, player_id in product(seasons, players):
                key = StandingKey(player_id, each.season.id)
                if is_counted_in(each, change, player_id):
                    keys[key] = None
                    if change.player_id:
                        counted.append((each, key))
                elif is_listed_anew(each, change, player_id):
                    keys[key] = None
            if len(keys) >= BATCH_ROWS:
                break
        changes = changes[: len(touched)]
        gone = [StandingKey(each, one.season.id) for each in await _find_erased(tx, changes) for one in group]
        keys |= dict.fromkeys(gone)
        ordered = sorted(keys)  # rows of the same player lie on the same pages of the SQLite file
        held = await rows.read_held(tx, ordered) if keys else {}
        values: dict[StandingKey, int | None] = {key: held[key].value if key in held else None for key in ordered}
        wrong: set[str] = set()
        for read, counted in touched:
            for each, key in counted:
                values[key] = _keep_possible(each, advance(each, values[key], read), wrong)
        unreviewed = {key.player_id for key in keys} - reviewed
        await standings.apply(tx, values | dict.fromkeys(gone), held, group, unreviewed=unreviewed)
        return changes, wrong

    async def _sweep(self) -> bool:
        """Compare the standings of the next players with what they have. False: all are swept, or changes wait."""
        seen = await self._store.read(self._read_next_players)
        if seen is None:
            return False
        season, last, actual = seen

        async def save(tx: Writing) -> bool:
            present = await boards.read_open(tx)
            if season not in present:
                return True  # another instance has moved it
            after = season.season.swept or ZERO_GUID
            held = await rows.read_held_between(tx, after, last, season.season.id)
            values: dict[StandingKey, int | None] = dict.fromkeys(held)
            values |= {StandingKey(player_id, season.season.id): value for player_id, value in actual.items()}
            await standings.apply(tx, values, held, [season])
            crash.crash_at("boards_swept")
            await boards.move_season(tx, season.season._replace(swept=None if last == LAST_GUID else last))
            return True

        return await self._write(save)

    async def _read_next_players(self, tx: Reading) -> tuple[OpenSeason, str, dict[str, int]] | None:
        """Read what the next players of a season had as of its last change: what they have, without later changes."""
        now = await clock.now(tx)
        waiting = [each for each in await boards.read_open(tx) if each.season.swept is not None and is_swept_kind(each)]
        for season in waiting:
            after = season.season.swept or ZERO_GUID
            last = await _find_last_player(tx, season, after)
            later = await _read_later(tx, season.season, (after, last), now)
            if later is None:
                continue
            return season, last, await read_actual(tx, self._codec, season, (after, last), later)
        return None

    async def _sweep_play_time(self) -> bool:
        """Add the sessions that were counted before a season was created. Both locks prevent counting meanwhile."""

        async def sweep(tx: Writing) -> bool:
            counted = await activity.wait_for_checkpoint(tx, SESSIONS)
            if counted is None or await activity.lock_checkpoint(tx, BOARDS) is None:
                return False
            waiting = [
                each
                for each in await boards.read_open(tx)
                if each.ranks == PLAY_TIME and each.season.swept is not None and each.season.seq != NOT_STARTED
            ]
            if not waiting:
                return False
            await _sweep_sessions(tx, waiting[0], counted.position)
            return True

        return await self._store.write(sweep)


async def read_actual(
    tx: Reading, codec: Codec, season: OpenSeason, players: tuple[str, str], later: Sequence[BoardChange]
) -> dict[str, int]:
    """Read what the players after the first of these, to the last, had before the later changes."""
    after, last = players
    found: dict[str, int | None] = dict(await board_seasons.read_values(tx, season, after, last))
    for change in reversed(later):
        if change.player_id and after < change.player_id <= last:
            read = ReadChange(change, codec, backwards=True)
            found[change.player_id] = advance(season, found.get(change.player_id), read)
    return {player_id: value for player_id, value in found.items() if value is not None}


async def _apply_hidden(tx: Writing) -> bool:
    """Apply that an account was hidden or is shown again, in final standings too."""
    waiting = await boards.find_hidden_waiting(tx, 1)
    if waiting:
        # until the end of this transaction nobody can decide anew, which would be noted as applied
        await tx.one(boards.SQL.lock_hidden, waiting[0])
        await standings.review(tx, waiting, with_final=True)
        await tx.returning(boards.SQL.set_applied, waiting[0])
        await tx.returning(boards.SQL.delete_shown, waiting[0])
    return bool(waiting)


async def _delete_rows(tx: Writing) -> bool:
    """Delete some rows of deleted boards."""
    season_id = await tx.value(boards.SQL.deleted_season)
    if season_id is None:
        if not await boards.has_deleted(tx):
            return False
        await tx.returning(boards.SQL.delete_empty)
    elif not await rows.delete_some(tx, season_id, BATCH_ROWS):
        await tx.returning(rows.SQL.clear_buckets, season_id)
        await ranked_buckets.delete_blocks(tx, KIND, season_id)
        await tx.returning(boards.SQL.delete_season, season_id)
    return True


async def _find_reached(tx: Reading, changes: Sequence[BoardChange]) -> list[list[str]]:
    """Return the players that each change concerns: its own, or those of an account that is banned or staff now."""
    accounts = {each.user_id for each in changes if each.kind in ACCOUNT_KINDS and each.user_id}
    owned = {each: await rows.find_players_of(tx, [each]) for each in accounts}
    return [
        [each.player_id] if each.player_id else owned.get(each.user_id or "", []) if each.kind in ACCOUNT_KINDS else []
        for each in changes
    ]


async def _find_erased(tx: Reading, changes: Sequence[BoardChange]) -> list[str]:
    """Return the former players of accounts that these changes erase."""
    erased = [each.user_id for each in changes if each.kind == "user_deleted" and each.user_id]
    return [player_id for user_id in erased for player_id in await ledger.find_deleted_of_user(tx, user_id)]


def _keep_possible(each: OpenSeason, value: int | None, wrong: set[str]) -> int | None:
    """Return the value of a player. If it is a negative quantity of an item, return None and add the season to `wrong`.

    A negative quantity means that the stored standings of this season contradict the audit log.
    """
    if each.ranks == ITEM and not each.gain and value is not None and value < 0:
        wrong.add(each.season.id)
        return None
    return value


def _has_load(season: Season, changes: Sequence[BoardChange]) -> bool:
    """Tell whether players were imported, before the season's end."""
    return any(each.kind == "players_loaded" and is_before_end(season, each) for each in changes)


async def _read_later(tx: Reading, season: Season, players: tuple[str, str], now: int) -> list[BoardChange] | None:
    """Read the changes of some players that a season has not counted. None: they are many, and it counts them soon."""
    found: list[BoardChange] = []
    seq, (after, last) = season.seq, players
    has_ended = season.ends_at is not None and season.ends_at <= now  # it stays at its end until it is swept
    while page := await boards.read_changes(tx, seq, FOREVER, MAX_AHEAD):
        if len(page) == MAX_AHEAD and not has_ended:
            return None
        found += [each for each in page if each.player_id and after < each.player_id <= last]
        seq = page[-1].seq
    return found


async def _find_last_player(tx: Reading, season: OpenSeason, after: str) -> str:
    """Return the last player of a sweep's next batch."""
    players = await holdings.read_players_after(tx, after, BATCH_PLAYERS)
    last = players[-1] if len(players) == BATCH_PLAYERS else LAST_GUID
    return min([last, *await holdings.find_players_of_row(tx, after, BATCH_ROWS)]) if season.ranks == ITEM else last


async def _sweep_sessions(tx: Writing, each: OpenSeason, since: int) -> None:
    """Set the play time of the next players to the sum of their counted sessions.

    A season that starts before the first recorded session counts all of them, with those that were deleted since.
    """
    season = each.season
    is_open = season.ends_at is None or season.ends_at > await clock.now(tx)
    after, from_start = season.swept or ZERO_GUID, season.starts_at <= since and is_open
    statement = rows.SQL.activity_at if from_start else rows.SQL.session_at
    last: str = await tx.value(statement, after, BATCH_ROWS - 1) or LAST_GUID
    if from_start:
        played = await tx.all(rows.SQL.all_play_between, after, last)
    else:
        played = await tx.all(rows.SQL.play_between, after, last, season.starts_at, season.ends_at or FOREVER)
    held = await rows.read_held_between(tx, after, last, season.id)
    values: dict[StandingKey, int | None] = dict.fromkeys(held)
    values |= {StandingKey(player_id, season.id): value for player_id, value in played if value > 0}
    await standings.apply(tx, values, held, [each])
    crash.crash_at("boards_swept")
    await boards.move_season(tx, season._replace(swept=None if last == LAST_GUID else last))
