"""The six ordered lists (such as ranking and players by name): how each makes its keys and reads its rows."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from gamekeeper.game import lookup
from gamekeeper.game.bucket_index import Key
from gamekeeper.store import players, presence, users
from gamekeeper.store.engine import Reading
from gamekeeper.store.lists import ListDelta
from gamekeeper.store.players import RankKey

R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class ListDefinition(Generic[R]):
    name: str
    lowest_key: Key  # a key that sorts before every key of the ordered list
    # makes a row's key from the level, exp and word (id, folded name or email) of an entry in the list change log
    make_key: Callable[[int, int, str], Key]
    seek: Callable[
        [Reading, str, Any, int, int], Awaitable[tuple[ListDelta, list[R]]]
    ]  # reads rows of the ordered list from a key on, with limit and offset
    # reads a number of keys of the ordered list, from a key on
    load_keys: Callable[[Reading, Any, int], Awaitable[Sequence[Key]]]
    load_bucket_starts: Callable[[Reading, int], Awaitable[Sequence[Key]]]  # reads every n-th key of the ordered list
    count: Callable[[Reading], Awaitable[int]]


def _make_name_key(_level: int, _exp: int, word: str) -> str:
    return word


RANK = ListDefinition(
    "rank",
    RankKey(0, 0, lookup.ZERO_GUID),
    RankKey,
    players.read_records_from_rank,
    players.read_keys_by_rank,
    players.read_lows_by_rank,
    players.count,
)
NAMES = ListDefinition(
    "names",
    "",
    _make_name_key,
    players.read_records_from_name,
    players.read_keys_by_name,
    players.read_lows_by_name,
    players.count,
)
USERS = ListDefinition(
    "users", "", _make_name_key, users.read_from_name, users.read_keys_by_name, users.read_lows_by_name, users.count
)
EMAILS = ListDefinition(
    "emails", "", _make_name_key, users.read_from_email, users.read_keys_by_email, users.read_lows_by_email, users.count
)
ONLINE = ListDefinition(
    "online",
    "",
    _make_name_key,
    presence.read_records_from_name,
    presence.read_keys_by_name,
    presence.read_lows_by_name,
    presence.count,
)
ONLINE_RANK = ListDefinition(
    "online_rank",
    RANK.lowest_key,
    RankKey,
    presence.read_records_from_rank,
    presence.read_keys_by_rank,
    presence.read_lows_by_rank,
    presence.count,
)
LISTS: tuple[ListDefinition[Any], ...] = (RANK, NAMES, USERS, EMAILS, ONLINE, ONLINE_RANK)
