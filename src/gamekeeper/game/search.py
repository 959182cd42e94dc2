"""Searching the lists by a part of a name or an email, and the orders that they can be had in.

Without a search a page comes out of the ordered lists, whole and exact. With one, at most so many are looked at,
however many there are, and put into order: this is the one kind of list whose total has a ceiling. A search among
those online has the same: it keeps those of the matches that are.
"""

from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from gamekeeper.game import lookup
from gamekeeper.game.keeper import Keeper
from gamekeeper.game.lists import EMAILS, NAMES, ONLINE, ONLINE_RANK, RANK, USERS, Listing, Wanted
from gamekeeper.game.refusals import SearchNotReady
from gamekeeper.store import players, search, users
from gamekeeper.store.engine import Reading
from gamekeeper.store.players import RankKey, Record
from gamekeeper.store.search import PART, PlayerFound, UserFound

R = TypeVar("R", Record, users.User)
SEARCHED = 1000  # matches that are put into order
CANDIDATES = 4000  # that are looked at: they have the parts, and most often the text
PARTS = 6  # of a text that the index is asked for: more would cost more than they save


@dataclass(frozen=True, slots=True)
class Sort(Generic[R]):
    """An order in which a list can be had."""

    listing: Listing[R]
    find: Callable[[Reading, str], Coroutine[Any, Any, Sequence[Any]]]
    key: Callable[[Any], Any]
    records: Callable[[Reading, Sequence[str]], Coroutine[Any, Any, Sequence[R]]]


async def page(keeper: Keeper, sort: Sort[R], text: str, wanted: Wanted) -> tuple[int, Sequence[R]]:
    """How many there are, and those of a page. A text that is too short to search for is none."""
    folded = lookup.fold(text)
    sought = folded if len(folded) >= PART else ""
    if not sought:
        offset, limit, descending = wanted
        return await keeper.lists.page(sort.listing, offset, limit, descending=descending)
    if not lookup.nameable(sought):
        return 0, []
    return await keeper.store.read(lambda tx: _found(tx, sort, sought, wanted))


async def _found(tx: Reading, sort: Sort[R], sought: str, wanted: Wanted) -> tuple[int, Sequence[R]]:
    if not await search.indexed(tx):
        raise SearchNotReady  # without it every row would have to be looked at
    found = sorted(await sort.find(tx, sought), key=sort.key, reverse=wanted.descending)
    ids = [each.id for each in found[wanted.offset : wanted.offset + wanted.limit]]
    records = {record.id: record for record in await sort.records(tx, ids)}
    return len(found), [records[each] for each in ids]


async def _players(tx: Reading, sought: str) -> Sequence[PlayerFound]:
    return await search.players(tx, parts_of(sought), sought, CANDIDATES, SEARCHED)


async def _online(tx: Reading, sought: str) -> Sequence[PlayerFound]:
    found = await _players(tx, sought)
    there = await search.online_among(tx, [each.id for each in found])
    return [each for each in found if each.id in there]


async def _users(tx: Reading, sought: str) -> Sequence[UserFound]:
    return await search.users(tx, parts_of(sought), sought, CANDIDATES, SEARCHED)


def parts_of(sought: str) -> list[str]:
    """Some of it, from all over it: the first, the last, and what lies evenly between."""
    last = len(sought) - PART
    places = [number * last // (PARTS - 1) for number in range(PARTS)]
    return list(dict.fromkeys(sought[at : at + PART] for at in places))


def _by_name(found: PlayerFound | UserFound) -> str:
    return found.fold


def _by_rank(found: PlayerFound) -> RankKey:
    return RankKey(found.level, found.exp, found.id)


def _by_email(found: UserFound) -> str:
    return found.email_fold


PLAYERS: Mapping[str, Sort[Record]] = {
    "name": Sort(NAMES, _players, _by_name, players.records_of_ids),
    "level": Sort(RANK, _players, _by_rank, players.records_of_ids),
}
ONLINE_PLAYERS: Mapping[str, Sort[Record]] = {
    "name": Sort(ONLINE, _online, _by_name, players.records_of_ids),
    "level": Sort(ONLINE_RANK, _online, _by_rank, players.records_of_ids),
}
ACCOUNTS: Mapping[str, Sort[users.User]] = {
    "name": Sort(USERS, _users, _by_name, users.of_ids),
    "email": Sort(EMAILS, _users, _by_email, users.of_ids),
}
