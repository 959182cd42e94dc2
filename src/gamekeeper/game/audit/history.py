"""The audit log, newest change first; and a player's items, spells and variables at an earlier time."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Mapping, Sequence
from typing import NamedTuple, TypeVar

from msgspec import Struct, field

from gamekeeper.game.core import lookup
from gamekeeper.game.core.change import GROUPS, ChangeSide, Codec, list_kinds
from gamekeeper.game.core.player import SlotAddress, Stack
from gamekeeper.game.core.refusals import BadField, HistoryTooLong, HistoryTrimmed, NoSuchPlayer, NotThereThen
from gamekeeper.game.core.undo import SKIP_FACTOR, find_undone
from gamekeeper.game.players import player_edits
from gamekeeper.game.players.changes import PlayerCreated, PlayerDeleted, PlayerState
from gamekeeper.game.world import commands
from gamekeeper.game.world.commands import NO_STATES, DeliveryState, FindCursor, States, ignore_cursors
from gamekeeper.ground.rooms import import_modules
from gamekeeper.store.audit import history
from gamekeeper.store.audit.history import NEVER, PAGE_LETTERS, HistoryChange, HistoryFilter, HistoryStep
from gamekeeper.store.core import ledger
from gamekeeper.store.core.ledger import read_state
from gamekeeper.store.engine import clock
from gamekeeper.store.engine.interface import Reading
from gamekeeper.store.players import players
from gamekeeper.store.world import imports

K = TypeVar("K")
V = TypeVar("V")
Pause = Callable[[], Awaitable[None]]  # called between the parts of a long read, so that other requests can run
WINDOW_ROWS = 625  # rows of the audit log that one statement reads with a filter: takes a few milliseconds
MAX_WINDOWS = 32  # windows (of WINDOW_ROWS rows) read per request: the caller continues from the returned cursor
MAX_ITEM_WINDOWS = 8  # windows read per request when filtering changes by item, which decodes each row
PIECE_ROWS = 250  # rows of the audit log that one statement reads without a filter
# a change may be this many ms older than one with a lower number: parallel transactions, different clocks
CLOCK_SLACK_MS = 60_000
REWIND_BATCH_ROWS = 100  # changes of a player that one statement reads while rewinding to an earlier time
# changes of a player's items, spells and variables that one request reverts at most to show an earlier state
MAX_REWOUND = 5_000
HIDDEN_NAME = ""  # shown instead of an account's name to callers that may not see accounts
import_modules("game", "changes")  # they declare the kinds of changes
KINDS = list_kinds()  # of all versions: old audit log entries keep their kind
PLAYER_KINDS, ACCOUNT_KINDS, COMMAND_KINDS, WORLD_KINDS, SIGNAL_KINDS, GLOBAL_KINDS = (
    tuple(each.name for each in KINDS.values() if each.group == group) for group in GROUPS
)
NOTE_KINDS = tuple(each.name for each in KINDS.values() if each.is_note)


class HistoryPage(NamedTuple):
    changes: list[HistoryChange]
    undone: Mapping[int, int]  # number of an undone change → number of the change that undid it
    next: int | None  # cursor: continue with changes before this number; None: no more changes
    deliveries: States = NO_STATES  # number of a change → how far game servers have got with it


class PointInTime(NamedTuple):
    """A point in a player's history: after a change (`seq`), or a time (`at`, ms since 1970). Neither: the present."""

    seq: int | None = None
    at: int | None = None


async def do_not_pause() -> None:
    """Do nothing between the parts of a long read: for callers that need not let other requests run."""


class _PastState(Struct):
    """A player's items, spells and variables while changes are reverted one by one."""

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
    tx: Reading,
    wanted: HistoryFilter,
    before: int | None,
    limit: int,
    rest: Pause = do_not_pause,
    find_cursor: FindCursor = ignore_cursors,
) -> HistoryPage:
    """Load at most `limit` audit log entries before a number; fewer if few match the filter or entries are long."""
    changes, undone, following = list[HistoryChange](), dict[int, int](), None
    delivered: dict[int, Sequence[DeliveryState]] = {}
    async for piece in load_pages(tx, wanted, before, limit, find_cursor):
        changes += piece.changes
        undone |= piece.undone
        delivered |= piece.deliveries
        following = piece.next
        await rest()
    return HistoryPage(changes, undone, following, delivered)


async def load_pages(
    tx: Reading, wanted: HistoryFilter, before: int | None, limit: int, find_cursor: FindCursor = ignore_cursors
) -> AsyncGenerator[HistoryPage]:
    """Yield a page of the audit log in parts of a few milliseconds each; `next` of the last part is the cursor."""
    cursor = await _find_start(tx, wanted.until) if before is None else before
    found = letters = 0
    for window in _plan_windows(wanted, limit):
        changes = await history.read_page(tx, wanted, cursor, window, limit - found, PAGE_LETTERS - letters)
        found, letters = found + len(changes), letters + _count_letters(changes)
        if found == limit or letters >= PAGE_LETTERS:
            yield await _make_page(tx, wanted, changes, changes[-1].seq, find_cursor)
            return
        last = await history.find_scan_end(tx, wanted, cursor, window)
        is_last = last.rows < window or last.at < wanted.since - CLOCK_SLACK_MS
        cursor = last.seq
        yield await _make_page(tx, wanted, changes, None if is_last else cursor, find_cursor)
        if is_last:
            return


def _plan_windows(wanted: HistoryFilter, limit: int) -> list[int]:
    """Return how many rows of the audit log each statement of one history request reads."""
    if wanted.is_selective:
        return [WINDOW_ROWS] * (MAX_ITEM_WINDOWS if wanted.item_id else MAX_WINDOWS)
    whole, rest = divmod(limit, PIECE_ROWS)
    return [PIECE_ROWS] * whole + [rest] * bool(rest)


async def find_undone_changes(tx: Reading, changes: Iterable[HistoryChange]) -> dict[int, int]:
    """Return the same as `find_undone`, also for notices for the game: they are undone with their ban or mute."""
    found = list(changes)
    notices = [each for each in found if each.is_game_notice]
    sources = await history.find_sources_of_notices(tx, notices) if notices else {}
    undone = await find_undone(tx, {*(each.seq for each in found), *sources.values()})
    by = {each.seq: undone.get(sources.get(each.seq, each.seq)) for each in found}
    return {seq: undo for seq, undo in by.items() if undo is not None}


def hide_unseen(found: Iterable[HistoryChange], wanted: HistoryFilter) -> list[HistoryChange]:
    """Hide what the caller may not see: the names of accounts, except the caller's own, and the contents of notes."""
    shown = list(found)
    if not wanted.notes:
        shown = [each._replace(before=None, after=None) if each.kind in NOTE_KINDS else each for each in shown]
    if wanted.accounts:
        return shown
    return [each._replace(user=None, **_hide_actor(each, wanted.me)) for each in shown]


def _hide_actor(change: HistoryChange, me: str | None) -> dict[str, str | None]:
    if change.actor_id in {None, me}:
        return {}
    return {"actor": HIDDEN_NAME, "key": None if change.key is None else HIDDEN_NAME}


async def load_state_at(
    tx: Reading, key: str, moment: PointInTime, codec: Codec, rest: Pause = do_not_pause
) -> tuple[str, PlayerState]:
    """Return a player's id and its items, spells and variables at a point in time. A deleted player is found by id."""
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
    """Revert a player's changes back to a point in time, and return the number of the last change that remains."""
    await _require_past(tx, moment)
    await _require_untrimmed(tx, moment)
    most = SKIP_FACTOR * MAX_REWOUND
    since = await find_last_kept(tx, player_id, moment)
    passed, told = await history.count_since(tx, player_id, since, most)
    if passed == most or told > MAX_REWOUND:
        raise HistoryTooLong(most=MAX_REWOUND)
    cursor = NEVER
    while steps := await history.read_back(tx, player_id, cursor, since, REWIND_BATCH_ROWS):
        for step in steps:
            held.rewind(step, codec)
        cursor = steps[-1].seq
        await rest()
    return since


async def find_last_kept(tx: Reading, player_id: str, moment: PointInTime) -> int:
    """Find the number of the last change that remains when a player's changes are reverted to a point in time.

    A time means: after the player's highest change number up to it. Lower numbers remain even if their time is later.
    """
    if moment.at is None:
        return moment.seq or 0
    return await tx.value(history.SQL.until, player_id, moment.at, SKIP_FACTOR * MAX_REWOUND) or 0


async def _was_imported_after(tx: Reading, player_id: str, moment: PointInTime, since: int) -> bool:
    """Tell whether an import created the player after this time: imported players have no entry of their creation."""
    if await tx.one(history.SQL.any_until, player_id, since):
        return False
    following = await history.find_first_from(tx, since + 1) if moment.at is None else (0, moment.at + 1)
    return following is not None and await tx.one(imports.SQL.any_from, following[1]) is not None


async def _require_past(tx: Reading, moment: PointInTime) -> None:
    """Refuse a point in time in the future; a small difference of clocks is allowed."""
    if moment.seq is not None and moment.seq > (last := await ledger.read_last(tx)):
        raise BadField(field="at", problem=f"must be the number of an existing change, at most {last}")
    if moment.at is not None and moment.at > await clock.now(tx) + CLOCK_SLACK_MS:
        raise BadField(field="at", problem="must be a time in the past; leave it out for the present state")


async def _require_untrimmed(tx: Reading, moment: PointInTime) -> None:
    trimmed = (await read_state(tx)).trimmed
    first = await history.find_first_from(tx, trimmed + 1) if trimmed else None
    if trimmed and (
        (moment.seq is not None and moment.seq < trimmed)
        or (moment.at is not None and (first is None or moment.at < first[1]))
    ):
        raise HistoryTrimmed(trimmed=trimmed)


async def _find_player_id(tx: Reading, key: str) -> str:
    """Find a player's id. A deleted player is found only by its id, in the audit log."""
    try:
        return await lookup.find_player_id(tx, key)
    except NoSuchPlayer:
        by, text = lookup.parse_key(key)
        if by == "id" and await history.read_back(tx, text, NEVER, 0, 1):
            return text
        raise


async def _find_start(tx: Reading, until: int) -> int:
    """Find a change number above all changes up to a time, by binary search, without reading later changes."""
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
    tx: Reading, wanted: HistoryFilter, found: list[HistoryChange], following: int | None, find_cursor: FindCursor
) -> HistoryPage:
    undone = await find_undone_changes(tx, found)
    delivered = await commands.load_delivery_states(tx, found, find_cursor)
    return HistoryPage(hide_unseen(found, wanted), undone, following, delivered)


def _count_letters(found: Iterable[HistoryChange]) -> int:
    return sum(len(side) for each in found for side in (each.before, each.after) if side)


def _restore(now: dict[K, V], before: Mapping[K, V | None], after: Mapping[K, V | None]) -> None:
    for key in before.keys() | after.keys():
        was = before.get(key)
        if was is None:
            now.pop(key, None)
        else:
            now[key] = was
