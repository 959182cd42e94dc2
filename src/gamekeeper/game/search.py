"""Lists of players and accounts: their sort orders, and the search by part of a name or email.

Without a search text, pages come from the ordered lists, with exact totals. With one, a limited number of matches is
read and sorted, so the total has an upper limit. A search among online players filters the matches of all players.
`account_filters.py` has the lists of accounts in one state, such as banned.
"""

from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar

from gamekeeper.game import lookup
from gamekeeper.game.keeper import Keeper
from gamekeeper.game.list_definitions import EMAILS, NAMES, ONLINE, ONLINE_RANK, RANK, USERS, ListDefinition
from gamekeeper.game.lists import PageRequest
from gamekeeper.game.refusals import SearchNotReady
from gamekeeper.store import players, search, users
from gamekeeper.store.engine import Reading
from gamekeeper.store.players import RankKey, RecordRow
from gamekeeper.store.search import PART_LETTERS, PlayerMatch, UserMatch

R = TypeVar("R", RecordRow, users.User)
MAX_MATCHES = 1000  # a search reads and sorts at most this many matches
# rows that a search reads from the trigram index: they contain parts of the text, but not all contain the whole text
MAX_CANDIDATES = 4000
MAX_PARTS = 6  # trigrams of a search text that the index search uses: more would cost more than they save


class Matches(NamedTuple):
    found: Sequence[Any]
    is_cut: bool  # the limit of the search was reached: there may be more matches


Find = Callable[[Reading, str], Coroutine[Any, Any, Matches]]


@dataclass(frozen=True, slots=True)
class Sort(Generic[R]):
    """One sort order of a list of players or accounts, and how its rows are found."""

    # the ordered list to read; None: there is none, so rows are searched even without a search text
    listing: ListDefinition[R] | None
    find: Find
    key: Callable[[Any], Any]
    records: Callable[[Reading, Sequence[str]], Coroutine[Any, Any, Mapping[str, R]]]  # reads records by their ids


async def load_page(keeper: Keeper, sort: Sort[R], text: str, wanted: PageRequest) -> tuple[int, Sequence[R], bool]:
    """Return the total, a page of rows, and whether there may be more. A text too short to search is ignored."""
    folded = lookup.fold(text)
    sought = folded if len(folded) >= PART_LETTERS else ""
    if sort.listing and not sought:
        offset, limit, descending = wanted
        return *await keeper.lists.load_page(sort.listing, offset, limit, descending=descending), False
    if sought and not lookup.is_nameable(sought):
        return 0, [], False
    return await keeper.store.read(lambda tx: _search(tx, sort, sought, wanted))


async def _search(tx: Reading, sort: Sort[R], sought: str, wanted: PageRequest) -> tuple[int, Sequence[R], bool]:
    matches = await sort.find(tx, sought)
    found = sorted(matches.found, key=sort.key, reverse=wanted.descending)
    ids = [each.id for each in found[wanted.offset : wanted.offset + wanted.limit]]
    records = await sort.records(tx, ids)
    return len(found), [records[each] for each in ids], matches.is_cut


async def match_players(tx: Reading, sought: str) -> Matches:
    await _require_index(tx)
    found = await search.find_players(tx, pick_parts(sought), sought, MAX_CANDIDATES, MAX_MATCHES)
    return Matches(found, len(found) >= MAX_MATCHES)


async def _match_online(tx: Reading, sought: str) -> Matches:
    found, cut = await match_players(tx, sought)
    there = await search.filter_online(tx, [each.id for each in found])
    return Matches([each for each in found if each.id in there], cut)


async def match_users(tx: Reading, sought: str) -> Matches:
    await _require_index(tx)
    found = await search.find_users(tx, pick_parts(sought), sought, MAX_CANDIDATES, MAX_MATCHES)
    return Matches(found, len(found) >= MAX_MATCHES)


async def _require_index(tx: Reading) -> None:
    if not await search.has_index(tx):
        raise SearchNotReady  # without the trigram index the search would read every row


def pick_parts(sought: str) -> list[str]:
    """Pick trigrams of a search text for the index: the first, the last, and some evenly between."""
    last = len(sought) - PART_LETTERS
    places = [number * last // (MAX_PARTS - 1) for number in range(MAX_PARTS)]
    return list(dict.fromkeys(sought[at : at + PART_LETTERS] for at in places))


async def read_users(tx: Reading, ids: Sequence[str]) -> dict[str, users.User]:
    return {each.id: each for each in await users.read_by_ids(tx, ids)}


def get_name(found: PlayerMatch | UserMatch) -> str:
    return found.fold


def _rank_key(found: PlayerMatch) -> RankKey:
    return RankKey(found.level, found.exp, found.id)


def get_email(found: UserMatch) -> str:
    return found.email_fold


PLAYERS: Mapping[str, Sort[RecordRow]] = {
    "name": Sort(NAMES, match_players, get_name, players.read_records_of_ids),
    "level": Sort(RANK, match_players, _rank_key, players.read_records_of_ids),
}
ONLINE_PLAYERS: Mapping[str, Sort[RecordRow]] = {
    "name": Sort(ONLINE, _match_online, get_name, players.read_records_of_ids),
    "level": Sort(ONLINE_RANK, _match_online, _rank_key, players.read_records_of_ids),
}
ACCOUNTS: Mapping[str, Sort[users.User]] = {
    "name": Sort(USERS, match_users, get_name, read_users),
    "email": Sort(EMAILS, match_users, get_email, read_users),
}
