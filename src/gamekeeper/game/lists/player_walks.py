"""Walks over players in the order of an index, from a key on. Each reads a limited number of rows at a time."""

from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from gamekeeper.game.core.lookup import ZERO_GUID
from gamekeeper.store.engine.interface import Reading, Value
from gamekeeper.store.engine.statements import Statement
from gamekeeper.store.lists import player_filters as rows
from gamekeeper.store.lists import search
from gamekeeper.store.lists.player_filters import SQL, AccountBan, Candidate

NAME, LEVEL, SEEN, QUANTITY, ACCOUNT = "name", "level", "seen", "quantity", "account"  # the orders
ONLINE_NOW, SEEN_BEFORE, NEVER_SEEN = 2, 1, 0  # first part of a key in the order `seen`
HIGHEST_ID = "ffffffff-ffff-ffff-ffff-ffffffffffff"
HIGHEST_TEXT = "\U0010ffff"  # after every folded name
HIGHEST_LONG, HIGHEST_LEVEL = 2**63 - 1, 2**31 - 1
Key = tuple[int | str, ...]


class PlayerFilter(msgspec.Struct, frozen=True, omit_defaults=True):
    """What players must have in common. Times are in ms since 1970; None: any."""

    class_id: str | None = None
    map_id: str | None = None
    level_from: int | None = None
    level_to: int | None = None
    seen_from: int | None = None  # a player who is online counts as seen now
    seen_to: int | None = None
    banned: bool | None = None
    online: bool | None = None
    item_id: str | None = None  # has at least one of it, as of the last counted change
    search: str = ""  # a part of the name, with at least three letters

    @property
    def has_levels(self) -> bool:
        return self.level_from is not None or self.level_to is not None

    @property
    def has_times(self) -> bool:
        return self.seen_from is not None or self.seen_to is not None

    @property
    def levels(self) -> tuple[int, int]:
        """The lowest and the highest level."""
        return self.level_from or 0, HIGHEST_LEVEL if self.level_to is None else self.level_to

    @property
    def times(self) -> tuple[int, int]:
        """The earliest and the latest time at which a player may have left the game."""
        return self.seen_from or 0, HIGHEST_LONG if self.seen_to is None else self.seen_to


class Order(NamedTuple):
    by: str
    descending: bool = False


class PlayerBatch(NamedTuple):
    candidates: Sequence[Candidate]  # in the order of the walk
    end: Key | None  # the next batch starts after it; None: there are no more


async def read_batch(tx: Reading, wanted: PlayerFilter, order: Order, after: Key | None, limit: int) -> PlayerBatch:
    """Read the next players in an order, of those with one of the properties that the filter wants."""
    start, down = after or find_start(wanted, order), order.descending
    last = wanted.levels[not down]  # level at which a walk by level ends
    if order.by == LEVEL and wanted.online:
        return await _look_up(tx, limit, SQL.online_by_rank_down if down else SQL.online_by_rank, *start, last)
    if order.by == LEVEL:
        found = await tx.rows(Candidate, SQL.by_rank_down if down else SQL.by_rank, *start, last, limit)
        return PlayerBatch(found, (end.level, end.exp, end.id) if (end := _find_end(found, limit)) else None)
    if order.by == SEEN:
        return await _walk_times(tx, wanted, order, start, limit)
    if order.by == QUANTITY:
        by = SQL.by_quantity_down if down else SQL.by_quantity
        return await _look_up(tx, limit, by, wanted.item_id or ZERO_GUID, *start)
    if order.by == ACCOUNT:
        return await _walk_bans(tx, start, limit)
    return await _walk_names(tx, wanted, start, limit, down=down)


def find_start(wanted: PlayerFilter, order: Order) -> Key:
    """Return a key before all players of a walk."""
    down = order.descending
    if order.by == LEVEL:
        lowest, highest = wanted.levels
        return (highest, HIGHEST_LONG, HIGHEST_ID) if down else (lowest, -1, ZERO_GUID)
    if order.by == SEEN:
        return _start_phase(wanted, order, _list_phases(wanted, order)[0])
    if order.by == QUANTITY:
        return (HIGHEST_LONG, HIGHEST_ID) if down else (0, ZERO_GUID)
    if order.by == ACCOUNT:
        return (ZERO_GUID, ZERO_GUID)
    return (HIGHEST_TEXT,) if down else ("",)


async def _walk_names(tx: Reading, wanted: PlayerFilter, start: Key, limit: int, *, down: bool) -> PlayerBatch:
    if wanted.online:
        batch = await _look_up(tx, limit, SQL.online_by_name_down if down else SQL.online_by_name, *start)
        return batch._replace(end=batch.end[:1] if batch.end else None)
    if wanted.map_id:
        by, equal = SQL.by_map_down if down else SQL.by_map, [wanted.map_id]
    elif wanted.class_id:
        by, equal = SQL.by_class_down if down else SQL.by_class, [wanted.class_id]
    else:
        by, equal = SQL.by_name_down if down else SQL.by_name, []
    found = await tx.rows(Candidate, by, *equal, *start, limit)
    return PlayerBatch(found, (end.fold,) if (end := _find_end(found, limit)) else None)


async def _walk_times(tx: Reading, wanted: PlayerFilter, order: Order, start: Key, limit: int) -> PlayerBatch:
    """Walk players by the time at which they were last seen. Those who are online are the last, then the others."""
    phases, (phase, *key) = _list_phases(wanted, order), start
    down, following = order.descending, None
    if phase in phases and phase != phases[-1]:
        following = _start_phase(wanted, order, phases[phases.index(phase) + 1])
    if phase == ONLINE_NOW:
        batch = await _look_up(tx, limit, SQL.online_by_id_down if down else SQL.online_by_id, key[-1])
        return batch._replace(end=(ONLINE_NOW, 0, *batch.end) if batch.end else following)
    if phase == SEEN_BEFORE:
        by = SQL.by_seen_down if down else SQL.by_seen
        found = await tx.rows(Candidate, by, *key, wanted.times[not down], limit)
    else:
        found = await tx.rows(Candidate, SQL.unseen_down if down else SQL.unseen, key[-1], limit)
    end = (phase, last.last_online or 0, last.id) if (last := _find_end(found, limit)) else following
    online = await search.filter_online(tx, [each.id for each in found])
    return PlayerBatch([each for each in found if each.id not in online], end)


def _list_phases(wanted: PlayerFilter, order: Order) -> list[int]:
    """List the parts of a walk by time, in its order."""
    phases = [NEVER_SEEN, SEEN_BEFORE, ONLINE_NOW]
    if wanted.has_times or wanted.online:
        phases.remove(NEVER_SEEN)
    if wanted.online:
        phases.remove(SEEN_BEFORE)
    elif wanted.seen_to is not None or wanted.online is False:
        phases.remove(ONLINE_NOW)
    return phases[::-1] if order.descending else phases


def _start_phase(wanted: PlayerFilter, order: Order, phase: int) -> Key:
    at = wanted.times[order.descending] if phase == SEEN_BEFORE else 0
    return phase, at, HIGHEST_ID if order.descending else ZERO_GUID


async def _walk_bans(tx: Reading, start: Key, limit: int) -> PlayerBatch:
    """Walk players of banned accounts, by account. A batch starts with the account of the last player before it."""
    bans = await tx.rows(AccountBan, SQL.bans, str(start[0]), limit)
    found = {
        (each.user_id, each.id): each
        for each in await rows.read_of_users(tx, [each.user_id for each in bans if each.in_force])
    }
    end = (bans[-1].user_id, HIGHEST_ID) if len(bans) == limit else None
    return PlayerBatch([found[key] for key in sorted(found) if key > start], end)


async def _look_up(tx: Reading, limit: int, walk: Statement, *values: Value) -> PlayerBatch:
    """Walk the keys of another table, and look up their players. Deleted ones are left out."""
    keys = await tx.all(walk, *values, limit)  # the last column is the player's id
    found = {each.id: each for each in await rows.read_of_ids(tx, [key[-1] for key in keys])}
    candidates = [found[key[-1]] for key in keys if key[-1] in found]
    return PlayerBatch(candidates, tuple(keys[-1]) if len(keys) == limit else None)


def _find_end(found: Sequence[Candidate], limit: int) -> Candidate | None:
    """Return the player after whom the next batch starts; None: there are no more."""
    return found[-1] if len(found) == limit else None
