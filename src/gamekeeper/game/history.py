"""What happened, the newest first; and what a character had at an earlier moment."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, TypeVar

from gamekeeper.game import characters, lookup
from gamekeeper.game.effects import PlayerCreated, PlayerDeleted, World
from gamekeeper.game.inventory import Spot, Stack
from gamekeeper.game.refusals import HistoryTooLong, HistoryTrimmed, NoSuchPlayer, NotThereThen
from gamekeeper.game.spelling import Spelling, Trace
from gamekeeper.store import feed, history, ledger, players
from gamekeeper.store.engine import Reading
from gamekeeper.store.history import NEVER, Filter, Step, Told

K = TypeVar("K")
V = TypeVar("V")
WINDOW = 5_000  # rows looked at in one go
WINDOWS = 4  # such goes in one request: who wants to look further back asks again from there
CLOCK_SLACK_MS = 60_000  # transactions that were begun in one order may be numbered in another
BACK = 1_000  # rows of a character read in one go
FURTHEST = 20_000  # of them that are taken back to see an earlier moment


class Page(NamedTuple):
    changes: list[Told]
    undone: Mapping[int, int]  # those that were taken back, and by which change
    next: int | None  # where to go on: changes before this one; None: there are none


class Moment(NamedTuple):
    """A number in the ledger or a time: everything up to it has happened. Nothing: now."""

    seq: int | None = None
    at: int | None = None


@dataclass(slots=True)
class _Held:
    """What a character holds, while its changes are taken back one by one."""

    slots: dict[Spot, Stack]
    bags: dict[str, int]
    spells: dict[int, str]
    variables: dict[str, int | bool]
    there: bool = field(default=True)

    def take_back(self, step: Step, spelling: Spelling) -> None:
        before = spelling.read_trace(step.before) if step.before else Trace()
        after = spelling.read_trace(step.after) if step.after else Trace()
        if step.kind == PlayerCreated.kind:
            self.there = False
        elif step.kind == PlayerDeleted.kind:
            self.there = True
        for bag_id in after.bags.keys() - before.bags.keys():
            self.bags.pop(bag_id, None)
        self.bags.update(before.bags)
        _take_back(self.slots, before.slots, after.slots)
        _take_back(self.spells, before.spells, after.spells)
        _take_back(self.variables, before.variables, after.variables)


async def page(tx: Reading, wanted: Filter, before: int | None, limit: int) -> Page:
    """At most so many changes before a number, and fewer where few of many are wanted."""
    cursor = await _start(tx, wanted.until) if before is None else before
    found: list[Told] = []
    for window in [WINDOW] * WINDOWS if wanted.picks else [limit]:
        found += await history.page(tx, wanted, cursor, window, limit - len(found))
        if len(found) == limit:
            return await _page(tx, wanted, found, found[-1].seq)
        last = await history.reached(tx, wanted, cursor, window)
        if last.rows < window or last.at < wanted.since - CLOCK_SLACK_MS:
            return await _page(tx, wanted, found, None)
        cursor = last.seq
    return await _page(tx, wanted, found, cursor)


async def undone_by(tx: Reading, numbers: Iterable[int]) -> dict[int, int]:
    """Which of these changes are taken back, and by which: not by one that was taken back itself."""
    wanted = list(numbers)
    undoing = await history.undoing(tx, wanted)
    by: dict[int, int] = {}
    for seq in sorted({*undoing, *wanted}, reverse=True):  # what takes a change back is later than it
        standing = [each for each in undoing.get(seq, ()) if each not in by]
        if standing:
            by[seq] = max(standing)
    return {seq: by[seq] for seq in wanted if seq in by}


async def belongings(tx: Reading, key: str, moment: Moment, spelling: Spelling) -> tuple[str, World]:
    """The character's id, and what it had; also of one that is deleted by now, by its id."""
    player_id = await _id_of(tx, key)
    world = await characters.belongings(tx, player_id)
    held = _Held(dict(world.slots), dict(world.bags), dict(world.spells), dict(world.variables))
    held.there = await players.id_by_id(tx, player_id) is not None
    if moment != Moment():
        await _go_back(tx, player_id, held, moment, spelling)
    if not held.there:
        raise NotThereThen(key=key)
    return player_id, World(held.slots, held.bags, held.spells, held.variables)


async def _go_back(tx: Reading, player_id: str, held: _Held, moment: Moment, spelling: Spelling) -> None:
    await _require_kept(tx, moment)
    cursor = NEVER
    for _ in range(FURTHEST // BACK + 1):
        steps = await history.back(tx, player_id, cursor, moment.seq or 0, BACK)
        for step in steps:
            if moment.at is not None and step.at <= moment.at:
                return  # changes before it that say a later time waited for their turn
            held.take_back(step, spelling)
        if len(steps) < BACK:
            return
        cursor = steps[-1].seq
    raise HistoryTooLong(most=FURTHEST)


async def _require_kept(tx: Reading, moment: Moment) -> None:
    trimmed = (await feed.standing(tx)).trimmed
    first = await history.first_from(tx, trimmed + 1) if trimmed else None
    if trimmed and (
        (moment.seq is not None and moment.seq < trimmed)
        or (moment.at is not None and (first is None or moment.at < first[1]))
    ):
        raise HistoryTrimmed(trimmed=trimmed)


async def _id_of(tx: Reading, key: str) -> str:
    """Who is deleted is known by id alone, and by what the ledger says."""
    try:
        return await lookup.player_id(tx, key)
    except NoSuchPlayer:
        by, text = lookup.key_of(key)
        if by == "id" and await history.back(tx, text, NEVER, 0, 1):
            return text
        raise


async def _start(tx: Reading, until: int) -> int:
    """A number that no change until then is beyond, found without reading what is later."""
    if until == NEVER:
        return NEVER
    low, high = 0, await ledger.last(tx) + 1
    while high - low > WINDOW:
        middle = (low + high) // 2
        found = await history.first_from(tx, middle)
        if found is None or found[1] > until + CLOCK_SLACK_MS:
            high = middle
        else:
            low = middle
    return high


async def _page(tx: Reading, wanted: Filter, found: list[Told], following: int | None) -> Page:
    """Who may not look at accounts is not told what they are called either."""
    shown = found if wanted.accounts else [each._replace(user=None) for each in found]
    return Page(shown, await undone_by(tx, [each.seq for each in found]), following)


def _take_back(now: dict[K, V], before: Mapping[K, V | None], after: Mapping[K, V | None]) -> None:
    for key in before.keys() | after.keys():
        was = before.get(key)
        if was is None:
            now.pop(key, None)
        else:
            now[key] = was
