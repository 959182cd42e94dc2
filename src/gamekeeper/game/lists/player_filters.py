"""Filtered lists of players. The size of the game does not change what a page costs.

Each property has an index. If at most MAX_SORTED players have one of the wanted properties, all of these are read and
compared with the whole filter: the list is exact, in any order, with a total. Otherwise the players are walked in the
order of an index and compared one by one, at most MAX_SEARCHED for one page; the next page goes on from there.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from gamekeeper.game.core import lookup
from gamekeeper.game.core.change import Codec
from gamekeeper.game.core.refusals import BadField, SearchNotReady
from gamekeeper.game.lists import player_walks, search
from gamekeeper.game.lists.list_index import NAMES, RANK
from gamekeeper.game.lists.ordered_lists import Lists
from gamekeeper.game.lists.player_walks import (
    ACCOUNT,
    LEVEL,
    NAME,
    NEVER_SEEN,
    ONLINE_NOW,
    QUANTITY,
    SEEN,
    SEEN_BEFORE,
    Key,
    Order,
    PlayerFilter,
)
from gamekeeper.store.accounts import moderation
from gamekeeper.store.engine.interface import Reading, Value
from gamekeeper.store.engine.statements import Statement
from gamekeeper.store.lists import player_filters as rows
from gamekeeper.store.lists import search as search_rows
from gamekeeper.store.lists.player_filters import SQL, Candidate
from gamekeeper.store.lists.search import PART_LETTERS
from gamekeeper.store.players import players
from gamekeeper.store.players.players import RecordRow

MAX_SORTED = 2000  # players with one property that are read and sorted: about 20 ms
MAX_SEARCHED = 2000  # players that are compared with a filter for one page
BATCH_ROWS = 500  # players that one statement of a walk reads
NEWEST_FIRST = {QUANTITY, SEEN}  # orders whose default direction is descending
NOT_NUMBERED = "more than 2000 players may match, so the pages have no numbers: use the cursor Next of the page before"
ORDERS = (NAME, LEVEL, SEEN, QUANTITY)


class Cursor(NamedTuple):
    """Where a page starts: after a key of an order."""

    order: Order
    key: Key


class PageWanted(NamedTuple):
    size: int
    order_by: str | None = None  # None: the order that suits the filter
    descending: bool | None = None  # None: the default of the order
    page: int = 0  # number of the page; only where the total is known
    cursor: Cursor | None = None


class Match(NamedTuple):
    player: Candidate
    online: bool
    quantity: int  # of the wanted item


class FoundPage(NamedTuple):
    ids: Sequence[str]
    total: int | None  # None: not known
    searched: int  # players that were compared with the filter
    order: Order
    next: Cursor | None


class PlayersPage(NamedTuple):
    records: Sequence[RecordRow]
    total: int | None
    searched: int
    order: Order
    next: Cursor | None


async def load_page(lists: Lists, codec: Codec, wanted: PlayerFilter, page: PageWanted) -> PlayersPage:
    """Load a page of the players that match a filter."""
    order = choose_order(wanted, page, is_small=False)
    if wanted == PlayerFilter() and not page.cursor and order.by in {NAME, LEVEL}:
        return await _load_numbered(lists, codec, page, order)

    async def read(tx: Reading) -> PlayersPage:
        found = await find(tx, wanted, page)
        records = await players.read_records_of_ids(tx, found.ids)
        return PlayersPage([records[each] for each in found.ids], *found[1:])

    return await lists.store.read(read)


async def find(tx: Reading, wanted: PlayerFilter, page: PageWanted) -> FoundPage:
    """Find a page of the players that match a filter."""
    if not await tx.value(SQL.indexed):
        raise SearchNotReady
    some = await _read_smallest_set(tx, wanted)
    if some is not None:
        return await _sort_all(tx, wanted, page, some[0], is_cut=some[1])
    if page.page:
        raise BadField(field="page", problem=NOT_NUMBERED)
    return await _walk(tx, wanted, page)


def choose_order(wanted: PlayerFilter, page: PageWanted, *, is_small: bool) -> Order:
    """Choose the order of a list: that of the cursor, the wanted one, or the one that suits the filter.

    `is_small`: whether all matches are read, so that any order costs the same.
    """
    natural = QUANTITY if wanted.item_id else ACCOUNT if wanted.banned and not is_small else NAME
    by = page.order_by or natural
    if by == QUANTITY and not wanted.item_id:
        raise BadField(field="sortBy", problem="quantity needs an item")
    chosen = Order(by, by in NEWEST_FIRST if page.descending is None else page.descending and by != ACCOUNT)
    if page.cursor is None:
        return chosen
    order = page.cursor.order
    is_foreign = (order.by == QUANTITY and not wanted.item_id) or (order.by == ACCOUNT and not wanted.banned)
    if is_foreign or (page.order_by is not None and chosen != order):
        raise BadField(field="cursor", problem="belongs to another filter or order")
    return order


def make_key(match: Match, by: str) -> Key:
    player = match.player
    if by == LEVEL:
        return player.level, player.exp, player.id
    if by == SEEN:
        phase = ONLINE_NOW if match.online else NEVER_SEEN if player.last_online is None else SEEN_BEFORE
        return phase, (player.last_online or 0) if phase == SEEN_BEFORE else 0, player.id
    if by == QUANTITY:
        return match.quantity, player.id
    return (player.user_id, player.id) if by == ACCOUNT else (player.fold,)


async def _load_numbered(lists: Lists, codec: Codec, page: PageWanted, order: Order) -> PlayersPage:
    """Load a page of all players from the ordered lists."""
    listing, offset = (RANK if order.by == LEVEL else NAMES), page.page * page.size
    total, records = await lists.load_page(listing, offset, page.size, descending=order.descending)
    following = None
    if records and offset + len(records) < total:
        last = codec.decode_player(records[-1][0], records[-1][4])
        for each in await rows.read_of_ids(lists.store, [last.id]):
            following = Cursor(order, make_key(Match(each, online=False, quantity=0), order.by))
    return PlayersPage(records, total, len(records), order, following)


async def _read_smallest_set(tx: Reading, wanted: PlayerFilter) -> tuple[list[Candidate], bool] | None:
    """Read all players with one of the properties, if they are few, and whether the search by name was cut.

    None: there are many players with each of the properties.
    """
    sought = lookup.fold(wanted.search)
    if len(sought) >= PART_LETTERS:
        if not lookup.is_nameable(sought):
            return [], False
        matches = await search.match_players(tx, sought)
        return await rows.read_of_ids(tx, [each.id for each in matches.found]), matches.is_cut
    if wanted.banned:
        accounts = [row[0] for row in await tx.all(SQL.banned, MAX_SORTED + 1)]
        if len(accounts) <= MAX_SORTED:
            return await rows.read_of_users(tx, accounts), False
    sets = await _count_sets(tx, wanted)
    smallest = min(sets, key=lambda each: each.size, default=None)
    return None if smallest is None or smallest.size > MAX_SORTED else (await _read_set(tx, smallest), False)


class _CountedSet(NamedTuple):
    """The players with one property."""

    size: int  # up to MAX_SORTED + 1
    property: PlayerFilter
    order_by: str = NAME


async def _count_sets(tx: Reading, wanted: PlayerFilter) -> list[_CountedSet]:
    sets = list[_CountedSet]()

    async def count(statement: Statement, *values: Value) -> int:
        return await tx.value(statement, *values, MAX_SORTED + 1)

    if wanted.item_id:
        size = await count(SQL.count_holders, wanted.item_id)
        sets.append(_CountedSet(size, PlayerFilter(item_id=wanted.item_id), QUANTITY))
    if wanted.map_id:
        sets.append(_CountedSet(await count(SQL.count_map, wanted.map_id), PlayerFilter(map_id=wanted.map_id)))
    if wanted.class_id:
        sets.append(_CountedSet(await count(SQL.count_class, wanted.class_id), PlayerFilter(class_id=wanted.class_id)))
    if wanted.has_levels:
        levels = PlayerFilter(level_from=wanted.level_from, level_to=wanted.level_to)
        sets.append(_CountedSet(await count(SQL.count_levels, *wanted.levels), levels, LEVEL))
    is_now = (wanted.online or wanted.has_times) and wanted.seen_to is None
    online = await count(SQL.count_online) if is_now else 0
    if wanted.online:
        sets.append(_CountedSet(online, PlayerFilter(online=True)))
    if wanted.has_times:
        times = PlayerFilter(seen_from=wanted.seen_from, seen_to=wanted.seen_to)
        left = await count(SQL.count_seen, *wanted.times)  # who left the game for the last time in this range
        sets.append(_CountedSet(online + left, times, SEEN))
    return sets


async def _read_set(tx: Reading, chosen: _CountedSet) -> list[Candidate]:
    found, after = list[Candidate](), None
    while True:
        batch = await player_walks.read_batch(tx, chosen.property, Order(chosen.order_by), after, MAX_SORTED + 1)
        found += batch.candidates
        if batch.end is None:
            return found
        after = batch.end


async def _sort_all(
    tx: Reading, wanted: PlayerFilter, page: PageWanted, some: Sequence[Candidate], *, is_cut: bool
) -> FoundPage:
    """Compare these players with the filter, sort them, and take the page."""
    order = choose_order(wanted, page, is_small=True)
    matches = await _compare(tx, wanted, some, needs_online=order.by == SEEN)
    keyed = sorted(((make_key(each, order.by), each.player.id) for each in matches), reverse=order.descending)
    first = page.page * page.size
    if page.cursor:
        first = sum(not _is_after(key, page.cursor.key, order) for key, _ in keyed)
    shown = keyed[first : first + page.size]
    following = Cursor(order, shown[-1][0]) if shown and first + len(shown) < len(keyed) else None
    return FoundPage([each for _, each in shown], None if is_cut else len(keyed), len(some), order, following)


async def _walk(tx: Reading, wanted: PlayerFilter, page: PageWanted) -> FoundPage:
    """Compare players in the order of an index, until the page is full or the limit is reached."""
    order = choose_order(wanted, page, is_small=False)
    after, searched, found = page.cursor.key if page.cursor else None, 0, list[tuple[Key, str]]()
    while searched < MAX_SEARCHED and len(found) <= page.size:
        limit = min(BATCH_ROWS, MAX_SEARCHED - searched)
        batch = await player_walks.read_batch(tx, wanted, order, after, limit)
        matches = await _compare(tx, wanted, batch.candidates, needs_online=order.by == SEEN)
        found += [(make_key(each, order.by), each.player.id) for each in matches]
        searched += limit if batch.end else len(batch.candidates)
        after = batch.end
        if after is None:
            break
    shown = found[: page.size]
    following = shown[-1][0] if len(found) > page.size else after
    ids = [each for _, each in shown]
    return FoundPage(ids, None, searched, order, Cursor(order, following) if following else None)


def _is_after(key: Key, other: Key, order: Order) -> bool:
    return key < other if order.descending else key > other


async def _compare(
    tx: Reading, wanted: PlayerFilter, some: Iterable[Candidate], *, needs_online: bool = False
) -> list[Match]:
    """Return those players that match the whole filter."""
    left = [each for each in some if _has_columns(each, wanted)]
    online = set[str]()
    if needs_online or wanted.online is not None or wanted.has_times:
        online = await search_rows.filter_online(tx, [each.id for each in left])
    left = [each for each in left if _was_seen(each, wanted, is_online=each.id in online)]
    if wanted.banned is not None:
        banned = {each.user_id for each in await moderation.find_bans(tx, {each.user_id for each in left})}
        left = [each for each in left if (each.user_id in banned) == wanted.banned]
    held = await rows.read_held(tx, wanted.item_id, [each.id for each in left]) if wanted.item_id else {}
    return [
        Match(each, each.id in online, held.get(each.id, 0)) for each in left if not wanted.item_id or each.id in held
    ]


def _has_columns(player: Candidate, wanted: PlayerFilter) -> bool:
    return (
        (wanted.class_id in {None, player.class_id} and wanted.map_id in {None, player.map_id})
        and (wanted.level_from is None or player.level >= wanted.level_from)
        and (wanted.level_to is None or player.level <= wanted.level_to)
    )


def _was_seen(player: Candidate, wanted: PlayerFilter, *, is_online: bool) -> bool:
    if wanted.online is not None and is_online != wanted.online:
        return False
    if not wanted.has_times:
        return True
    if is_online:
        return wanted.seen_to is None
    earliest, latest = wanted.times
    return player.last_online is not None and earliest <= player.last_online <= latest
