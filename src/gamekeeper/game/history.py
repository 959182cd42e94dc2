"""What happened, the newest first; and what a character had at an earlier moment."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, TypeVar

from gamekeeper.game import lookup, player_edits
from gamekeeper.game.codec import ChangeSide, Codec
from gamekeeper.game.effects import PlayerCreated, PlayerDeleted, PlayerState
from gamekeeper.game.inventory import SlotAddress, Stack
from gamekeeper.game.refusals import BadField, HistoryTooLong, HistoryTrimmed, NoSuchPlayer, NotThereThen
from gamekeeper.store import clock, feed, history, imports, ledger, players
from gamekeeper.store.engine import Reading
from gamekeeper.store.history import NEVER, PAGE_LETTERS, HistoryChange, HistoryFilter, HistoryStep

K = TypeVar("K")
V = TypeVar("V")
Pause = Callable[[], Awaitable[None]]  # between the pieces of long work, so that others have their turn
WINDOW_ROWS = 625  # rows looked at by one statement: few milliseconds
MOST_WINDOWS = 32  # such statements in one request: who wants to look further back asks again from there
MOST_ITEM_WINDOWS = 8  # an item is looked for in all that the rows say
PIECE_ROWS = 250  # rows read by one statement when all of them are wanted
CLOCK_SLACK_MS = 60_000  # transactions that were begun in one order may be numbered in another; clocks differ too
REWIND_BATCH_ROWS = 100  # rows of a character read in one go
MOST_REWOUND = 5_000  # of them that are taken back to see an earlier moment
HIDDEN_NAME = ""  # in place of an account's name
SKIP_FACTOR = 10  # times as many changes of it are passed over: most say nothing of what it holds
PLAYER_KINDS = (
    "items_given",
    "items_taken",
    "items_set",
    "spell_taught",
    "spell_forgotten",
    "spells_set",
    "variables_set",
    "player_created",
    "player_changed",
    "player_deleted",
)
ACCOUNT_KINDS = (
    "user_registered",
    "user_renamed",
    "user_deleted",
    "email_changed",
    "password_changed",
    "reset_requested",
    "mail_retried",
    "powers_changed",
    "user_banned",
    "user_unbanned",
    "user_muted",
    "user_unmuted",
    "user_kicked",
)
GLOBAL_KINDS = ("catalogue_put", "players_loaded", "users_loaded", "ledger_trimmed")
KINDS = (*PLAYER_KINDS, *ACCOUNT_KINDS, *GLOBAL_KINDS)  # that there ever were: old rows keep theirs


class HistoryPage(NamedTuple):
    changes: list[HistoryChange]
    undone: Mapping[int, int]  # those that were taken back, and by which change
    next: int | None  # where to go on: changes before this one; None: there are none


class PointInTime(NamedTuple):
    """A number in the ledger or a time: everything up to it has happened. Nothing: now."""

    seq: int | None = None
    at: int | None = None


async def do_not_pause() -> None:
    """For work that is done in one go."""


@dataclass(slots=True)
class _PastState:
    """What a character holds, while its changes are taken back one by one."""

    slots: dict[SlotAddress, Stack]
    bags: dict[str, int]
    spells: dict[int, str]
    variables: dict[str, int | bool]
    there: bool = field(default=True)

    def rewind(self, step: HistoryStep, codec: Codec) -> None:
        before = codec.decode_side(step.before) if step.before else ChangeSide()
        after = codec.decode_side(step.after) if step.after else ChangeSide()
        if step.kind == PlayerCreated.kind:
            self.there = False
        elif step.kind == PlayerDeleted.kind:
            self.there = True
        for bag_id in after.bags.keys() - before.bags.keys():
            self.bags.pop(bag_id, None)
        self.bags.update(before.bags)
        _restore(self.slots, before.slots, after.slots)
        _restore(self.spells, before.spells, after.spells)
        _restore(self.variables, before.variables, after.variables)


async def load_page(
    tx: Reading, wanted: HistoryFilter, before: int | None, limit: int, rest: Pause = do_not_pause
) -> HistoryPage:
    """At most so many changes before a number, and fewer where few of many are wanted or they are very long."""
    changes, undone, following = list[HistoryChange](), dict[int, int](), None
    async for piece in load_pages(tx, wanted, before, limit):
        changes += piece.changes
        undone |= piece.undone
        following = piece.next
        await rest()
    return HistoryPage(changes, undone, following)


async def load_pages(tx: Reading, wanted: HistoryFilter, before: int | None, limit: int) -> AsyncGenerator[HistoryPage]:
    """The same in pieces of a few milliseconds each; `next` of the last one says where to go on."""
    cursor = await _find_start(tx, wanted.until) if before is None else before
    found = letters = 0
    for window in _plan_windows(wanted, limit):
        changes = await history.read_page(tx, wanted, cursor, window, limit - found, PAGE_LETTERS - letters)
        found, letters = found + len(changes), letters + _count_letters(changes)
        if found == limit or letters >= PAGE_LETTERS:
            yield await _make_page(tx, wanted, changes, changes[-1].seq)
            return
        last = await history.find_scan_end(tx, wanted, cursor, window)
        is_last = last.rows < window or last.at < wanted.since - CLOCK_SLACK_MS
        cursor = last.seq
        yield await _make_page(tx, wanted, changes, None if is_last else cursor)
        if is_last:
            return


def _plan_windows(wanted: HistoryFilter, limit: int) -> list[int]:
    """How many rows each statement looks at."""
    if wanted.is_selective:
        return [WINDOW_ROWS] * (MOST_ITEM_WINDOWS if wanted.item_id else MOST_WINDOWS)
    whole, rest = divmod(limit, PIECE_ROWS)
    return [PIECE_ROWS] * whole + [rest] * bool(rest)


async def find_undone(tx: Reading, numbers: Iterable[int]) -> dict[int, int]:
    """Which of these changes are taken back, and by which: not by one that was taken back itself."""
    wanted = list(numbers)
    return history.resolve_undos(await history.find_undos(tx, wanted), wanted)


def hide_account_names(found: Iterable[HistoryChange], wanted: HistoryFilter) -> list[HistoryChange]:
    """Who may not look at accounts is not told what they are called either, but for their own."""
    if wanted.accounts:
        return list(found)
    return [
        each._replace(user=None, actor=each.actor if each.actor_id in {None, wanted.me} else HIDDEN_NAME)
        for each in found
    ]


async def load_state_at(
    tx: Reading, key: str, moment: PointInTime, codec: Codec, rest: Pause = do_not_pause
) -> tuple[str, PlayerState]:
    """The character's id, and what it had; also of one that is deleted by now, by its id. Rests between its pieces."""
    player_id = await _find_player_id(tx, key)
    world = await player_edits.load_state(tx, player_id)
    held = _PastState(dict(world.slots), dict(world.bags), dict(world.spells), dict(world.variables))
    held.there = await players.find_id(tx, player_id) is not None
    since = NEVER
    if moment != PointInTime():
        since = await _rewind_to(tx, player_id, held, moment, codec, rest)
    if not held.there:
        raise NotThereThen(key=key, why="")
    if since != NEVER and await _was_imported_after(tx, player_id, moment, since):
        raise NotThereThen(key=key, why=": an import that was later brought it in")
    return player_id, PlayerState(held.slots, held.bags, held.spells, held.variables)


async def _rewind_to(
    tx: Reading,
    player_id: str,
    held: _PastState,
    moment: PointInTime,
    codec: Codec,
    rest: Pause,
) -> int:
    """To the number that is returned: of the last change that stays."""
    await _require_past(tx, moment)
    await _require_untrimmed(tx, moment)
    most = SKIP_FACTOR * MOST_REWOUND
    # by the newest change until that time: those before it that say a later one waited for their turn
    since = moment.seq or 0 if moment.at is None else await history.find_newest_until(tx, player_id, moment.at, most)
    passed, told = await history.count_since(tx, player_id, since, most)
    if passed == most or told > MOST_REWOUND:
        raise HistoryTooLong(most=MOST_REWOUND)
    cursor = NEVER
    while steps := await history.read_back(tx, player_id, cursor, since, REWIND_BATCH_ROWS):
        for step in steps:
            held.rewind(step, codec)
        cursor = steps[-1].seq
        await rest()
    return since


async def _was_imported_after(tx: Reading, player_id: str, moment: PointInTime, since: int) -> bool:
    """Characters of an import have no row that says so, and none at all before it."""
    if await history.has_any_until(tx, player_id, since):
        return False
    following = await history.find_first_from(tx, since + 1) if moment.at is None else (0, moment.at + 1)
    return following is not None and await imports.has_any_from(tx, following[1])


async def _require_past(tx: Reading, moment: PointInTime) -> None:
    """Nobody is told how it was at a moment that is still to come; clocks may differ a little."""
    if moment.seq is not None and moment.seq > (last := await ledger.read_last(tx)):
        raise BadField(field="at", problem=f"must be the number of a change that has been made, {last} at most")
    if moment.at is not None and moment.at > await clock.now(tx) + CLOCK_SLACK_MS:
        raise BadField(field="at", problem="must be a time that has passed; leave it out to see what is there now")


async def _require_untrimmed(tx: Reading, moment: PointInTime) -> None:
    trimmed = (await feed.read_state(tx)).trimmed
    first = await history.find_first_from(tx, trimmed + 1) if trimmed else None
    if trimmed and (
        (moment.seq is not None and moment.seq < trimmed)
        or (moment.at is not None and (first is None or moment.at < first[1]))
    ):
        raise HistoryTrimmed(trimmed=trimmed)


async def _find_player_id(tx: Reading, key: str) -> str:
    """Who is deleted is known by id alone, and by what the ledger says."""
    try:
        return await lookup.find_player_id(tx, key)
    except NoSuchPlayer:
        by, text = lookup.parse_key(key)
        if by == "id" and await history.read_back(tx, text, NEVER, 0, 1):
            return text
        raise


async def _find_start(tx: Reading, until: int) -> int:
    """A number that no change until then is beyond, found without reading what is later."""
    if until == NEVER:
        return NEVER
    low, high = 0, await ledger.read_last(tx) + 1
    while high - low > WINDOW_ROWS:
        middle = (low + high) // 2
        found = await history.find_first_from(tx, middle)
        if found is None or found[1] > until + CLOCK_SLACK_MS:
            high = middle
        else:
            low = middle
    return high


async def _make_page(
    tx: Reading, wanted: HistoryFilter, found: list[HistoryChange], following: int | None
) -> HistoryPage:
    return HistoryPage(
        hide_account_names(found, wanted), await find_undone(tx, [each.seq for each in found]), following
    )


def _count_letters(found: Iterable[HistoryChange]) -> int:
    return sum(len(side) for each in found for side in (each.before, each.after) if side)


def _restore(now: dict[K, V], before: Mapping[K, V | None], after: Mapping[K, V | None]) -> None:
    for key in before.keys() | after.keys():
        was = before.get(key)
        if was is None:
            now.pop(key, None)
        else:
            now[key] = was
