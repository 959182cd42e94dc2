"""Walks over players in the order of an index, from a key on. Each reads a limited number of rows at a time."""

from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from gamekeeper.game.core.lookup import ZERO_GUID
from gamekeeper.store.engine.interface import Reading
from gamekeeper.store.lists import player_filters as rows
from gamekeeper.store.lists import search
from gamekeeper.store.lists.player_filters import BothWays, Candidate

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


class Order(NamedTuple):
    by: str
    descending: bool = False


class PlayerBatch(NamedTuple):
    candidates: Sequence[Candidate]  # in the order of the walk
    end: Key | None  # the next batch starts after it; None: there are no more


async def read_batch(tx: Reading, wanted: PlayerFilter, order: Order, after: Key | None, limit: int) -> PlayerBatch:
    """Read the next players in an order, of those with one of the properties that the filter wants."""
    start = after or find_start(wanted, order)
    if order.by == LEVEL:
        return await _walk_ranks(tx, wanted, order, start, limit)
    if order.by == SEEN:
        return await _walk_times(tx, wanted, order, start, limit)
    if order.by == QUANTITY:
        by = rows.BY_QUANTITY.choose(descending=order.descending)
        return await _look_up(tx, await rows.read_keys(tx, by, wanted.item_id or ZERO_GUID, *start, limit), limit)
    if order.by == ACCOUNT:
        return await _walk_bans(tx, start, limit)
    return await _walk_names(tx, wanted, order, start, limit)


def find_start(wanted: PlayerFilter, order: Order) -> Key:
    """Return a key before all players of a walk."""
    down = order.descending
    if order.by == LEVEL:
        highest = HIGHEST_LEVEL if wanted.level_to is None else wanted.level_to
        return (highest, HIGHEST_LONG, HIGHEST_ID) if down else (wanted.level_from or 0, -1, ZERO_GUID)
    if order.by == SEEN:
        return _start_phase(wanted, order, _list_phases(wanted, order)[0])
    if order.by == QUANTITY:
        return (HIGHEST_LONG, HIGHEST_ID) if down else (0, ZERO_GUID)
    if order.by == ACCOUNT:
        return (ZERO_GUID, ZERO_GUID)
    return (HIGHEST_TEXT,) if down else ("",)


async def _walk_names(tx: Reading, wanted: PlayerFilter, order: Order, start: Key, limit: int) -> PlayerBatch:
    if wanted.online:
        by = rows.ONLINE_BY_NAME.choose(descending=order.descending)
        found = await rows.read_keys(tx, by, *start, limit)
        batch = await _look_up(tx, found, limit)
        return batch._replace(end=batch.end[:1] if batch.end else None)
    both: BothWays = rows.BY_MAP if wanted.map_id else rows.BY_CLASS if wanted.class_id else rows.BY_NAME
    equal = [each for each in (wanted.map_id or wanted.class_id,) if each]
    found = await rows.read_candidates(tx, both.choose(descending=order.descending), *equal, *start, limit)
    return PlayerBatch(found, (found[-1].fold,) if len(found) == limit else None)


async def _walk_ranks(tx: Reading, wanted: PlayerFilter, order: Order, start: Key, limit: int) -> PlayerBatch:
    last = (wanted.level_from or 0) if order.descending else (wanted.level_to or HIGHEST_LEVEL)
    if wanted.online:
        by = rows.ONLINE_BY_RANK.choose(descending=order.descending)
        return await _look_up(tx, await rows.read_keys(tx, by, *start, last, limit), limit)
    by = rows.BY_RANK.choose(descending=order.descending)
    found = await rows.read_candidates(tx, by, *start, last, limit)
    end = found[-1] if len(found) == limit else None
    return PlayerBatch(found, (end.level, end.exp, end.id) if end else None)


async def _walk_times(tx: Reading, wanted: PlayerFilter, order: Order, start: Key, limit: int) -> PlayerBatch:
    """Walk players by the time at which they were last seen. Those who are online are the last, then the others."""
    phases, (phase, *key) = _list_phases(wanted, order), start
    down, following = order.descending, None
    if phase in phases and phase != phases[-1]:
        following = _start_phase(wanted, order, phases[phases.index(phase) + 1])
    if phase == ONLINE_NOW:
        found = await rows.read_keys(tx, rows.ONLINE_BY_ID.choose(descending=down), key[-1], limit)
        batch = await _look_up(tx, found, limit)
        return batch._replace(end=(ONLINE_NOW, 0, *batch.end) if batch.end else following)
    if phase == SEEN_BEFORE:
        last = (wanted.seen_from or 0) if down else (HIGHEST_LONG if wanted.seen_to is None else wanted.seen_to)
        found = await rows.read_candidates(tx, rows.BY_SEEN.choose(descending=down), *key, last, limit)
    else:
        found = await rows.read_candidates(tx, rows.UNSEEN.choose(descending=down), key[-1], limit)
    end = (phase, found[-1].last_online or 0, found[-1].id) if len(found) == limit else following
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
    if order.descending:
        highest = HIGHEST_LONG if wanted.seen_to is None else wanted.seen_to
        return phase, highest if phase == SEEN_BEFORE else 0, HIGHEST_ID
    return phase, (wanted.seen_from or 0) if phase == SEEN_BEFORE else 0, ZERO_GUID


async def _walk_bans(tx: Reading, start: Key, limit: int) -> PlayerBatch:
    """Walk players of banned accounts, by account. A batch starts with the account of the last player before it."""
    user_id, player_id = start
    bans = await rows.read_bans(tx, str(user_id), limit)
    found = await rows.read_of_users(tx, [each.user_id for each in bans if each.in_force])
    following = sorted(
        (each.user_id, each.id, each) for each in found if (each.user_id, each.id) > (user_id, player_id)
    )
    end = (bans[-1].user_id, HIGHEST_ID) if len(bans) == limit else None
    return PlayerBatch([each for *key, each in following if tuple(key) > (user_id, player_id)], end)


async def _look_up(tx: Reading, keys: Sequence[Sequence[int | str]], limit: int) -> PlayerBatch:
    """Look up the players of the keys of another table. Deleted ones are left out."""
    found = {each.id: each for each in await rows.read_of_ids(tx, [str(key[-1]) for key in keys])}
    candidates = [found[str(key[-1])] for key in keys if key[-1] in found]
    return PlayerBatch(candidates, tuple(keys[-1]) if len(keys) == limit else None)
