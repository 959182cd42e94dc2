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
    HIGHEST_LEVEL,
    HIGHEST_LONG,
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
from gamekeeper.store.engine.interface import Reading
from gamekeeper.store.lists import player_filters as rows
from gamekeeper.store.lists import search as search_rows
from gamekeeper.store.lists.player_filters import Candidate
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
    if not await rows.has_indexes(tx):
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
        accounts = await rows.read_banned(tx, MAX_SORTED)
        if len(accounts) <= MAX_SORTED:
            return await rows.read_of_users(tx, accounts), False
    sets = await _count_sets(tx, wanted)
    if not sets or min(sets, key=_get_size).size > MAX_SORTED:
        return None
    return await _read_set(tx, min(sets, key=_get_size)), False


class _CountedSet(NamedTuple):
    """The players with one property."""

    size: int  # up to MAX_SORTED + 1
    property: PlayerFilter
    order_by: str


async def _count_sets(tx: Reading, wanted: PlayerFilter) -> list[_CountedSet]:
    sets = list[_CountedSet]()
    limit = MAX_SORTED + 1
    if wanted.item_id:
        count = await rows.count_holders(tx, wanted.item_id, limit)
        sets.append(_CountedSet(count, PlayerFilter(item_id=wanted.item_id), QUANTITY))
    if wanted.map_id:
        count = await rows.count_map(tx, wanted.map_id, limit)
        sets.append(_CountedSet(count, PlayerFilter(map_id=wanted.map_id), NAME))
    if wanted.class_id:
        count = await rows.count_class(tx, wanted.class_id, limit)
        sets.append(_CountedSet(count, PlayerFilter(class_id=wanted.class_id), NAME))
    if wanted.has_levels:
        lowest, highest = wanted.level_from or 0, HIGHEST_LEVEL if wanted.level_to is None else wanted.level_to
        count = await rows.count_levels(tx, lowest, highest, limit)
        sets.append(_CountedSet(count, PlayerFilter(level_from=lowest, level_to=highest), LEVEL))
    if wanted.online or wanted.has_times:
        online = await rows.count_online(tx, limit) if wanted.seen_to is None else 0
        if wanted.online:
            sets.append(_CountedSet(online, PlayerFilter(online=True), NAME))
        if wanted.has_times:
            earliest, latest = wanted.seen_from or 0, HIGHEST_LONG if wanted.seen_to is None else wanted.seen_to
            count = online + await rows.count_seen(tx, earliest, latest, limit)
            times = PlayerFilter(seen_from=wanted.seen_from, seen_to=wanted.seen_to)
            sets.append(_CountedSet(count, times, SEEN))
    return sets


def _get_size(each: _CountedSet) -> int:
    return each.size


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
    if needs_online or wanted.online is not None or wanted.has_times:
        online = await search_rows.filter_online(tx, [each.id for each in left])
    else:
        online = set[str]()
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
    at = player.last_online
    return at is not None and (wanted.seen_from or 0) <= at <= (
        HIGHEST_LONG if wanted.seen_to is None else wanted.seen_to
    )
