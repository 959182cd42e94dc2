"""Search: one search over players, accounts, the catalogue and changes, and by part of a name in lists.

The sort orders of the lists of players and accounts are here too.
"""

from collections.abc import Callable, Collection, Coroutine, Iterable, Iterator, Mapping, Sequence
from typing import Any, Generic, NamedTuple, TypeVar

from msgspec import Struct

from gamekeeper.game.core import lookup
from gamekeeper.game.core.change import Codec
from gamekeeper.game.core.refusals import SearchNotReady
from gamekeeper.game.core.undo import read_side
from gamekeeper.game.lists.list_index import EMAILS, NAMES, ONLINE, ONLINE_RANK, RANK, USERS, ListDefinition
from gamekeeper.game.lists.ordered_lists import Lists, PageRequest
from gamekeeper.game.world import catalogue
from gamekeeper.store.accounts import users
from gamekeeper.store.audit import history
from gamekeeper.store.engine import statements
from gamekeeper.store.engine.interface import Reading
from gamekeeper.store.engine.statements import as_column
from gamekeeper.store.lists import search
from gamekeeper.store.lists.search import PART_LETTERS, SQL, DeletedOwner, PlayerMatch, UserMatch
from gamekeeper.store.players import players
from gamekeeper.store.players.players import RankKey, RecordRow
from gamekeeper.store.world import catalogue as entries

R = TypeVar("R", RecordRow, users.User)
MAX_MATCHES = 1000  # a search reads and sorts at most this many matches
# rows that a search reads from the trigram index: they contain parts of the text, but not all contain the whole text
MAX_CANDIDATES = 4000
MAX_PARTS = 6  # trigrams of a search text that the index search uses: more would cost more than they save


class Matches(NamedTuple):
    found: Sequence[Any]
    is_cut: bool  # the limit of the search was reached: there may be more matches

    @classmethod
    def from_search(cls, found: Sequence[Any]) -> "Matches":
        """Return what a search for at most MAX_MATCHES has found."""
        return cls(found, len(found) >= MAX_MATCHES)


Find = Callable[[Reading, str], Coroutine[Any, Any, Matches]]


class Sort(Struct, Generic[R], frozen=True):
    """One sort order of a list of players or accounts, and how its rows are found."""

    # the ordered list to read; None: there is none, so rows are searched even without a search text
    listing: ListDefinition[R] | None
    find: Find
    key: Callable[[Any], Any]
    records: Callable[[Reading, Sequence[str]], Coroutine[Any, Any, Mapping[str, R]]]  # reads records by their ids


async def load_page(lists: Lists, sort: Sort[R], text: str, wanted: PageRequest) -> tuple[int, Sequence[R], bool]:
    """Return the total, a page of rows, and whether there may be more. A text too short to search is ignored."""
    folded = lookup.fold(text)
    sought = folded if len(folded) >= PART_LETTERS else ""
    if sort.listing and not sought:
        offset, limit, descending = wanted
        return *await lists.load_page(sort.listing, offset, limit, descending=descending), False
    if sought and not lookup.is_nameable(sought):
        return 0, [], False
    return await lists.store.read(lambda tx: _search(tx, sort, sought, wanted))


async def _search(tx: Reading, sort: Sort[R], sought: str, wanted: PageRequest) -> tuple[int, Sequence[R], bool]:
    matches = await sort.find(tx, sought)
    found = sorted(matches.found, key=sort.key, reverse=wanted.descending)
    ids = [each.id for each in found[wanted.offset : wanted.offset + wanted.limit]]
    records = await sort.records(tx, ids)
    return len(found), [records[each] for each in ids], matches.is_cut


async def match_players(tx: Reading, sought: str) -> Matches:
    await _require_index(tx)
    return Matches.from_search(
        await tx.rows(PlayerMatch, SQL.players, *_search_parts(sought, MAX_CANDIDATES, MAX_MATCHES))
    )


async def _match_online(tx: Reading, sought: str) -> Matches:
    found, cut = await match_players(tx, sought)
    there = await search.filter_online(tx, [each.id for each in found])
    return Matches([each for each in found if each.id in there], cut)


async def match_users(tx: Reading, sought: str) -> Matches:
    await _require_index(tx)
    return Matches.from_search(await tx.rows(UserMatch, SQL.users, *_search_parts(sought, MAX_CANDIDATES, MAX_MATCHES)))


async def _require_index(tx: Reading) -> None:
    if not await search.has_index(tx):
        raise SearchNotReady  # without the trigram index the search would read every row


def _search_parts(sought: str, candidates: int, most: int) -> tuple[str, str, int, int]:
    """Return the parameters of a search for a part of a name, whose index gives up to `candidates` rows."""
    return as_column("part", pick_parts(sought)), sought, candidates, most


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


MAX_PER_MATCH = 8  # search hits per kind (players, accounts …) and per way to match
SIMILAR_PER_PREFIX, MAX_SIMILAR = 2, 64  # search hits per corrected prefix, and for all corrected prefixes together
TYPO_LETTERS = 6  # number of first letters of a search text in which a typo is corrected
MAX_CANDIDATES_PER_KIND = 1000
MAX_ENTRIES = 2000  # catalogue entries that are compared with a search text that has a typo
ALPHABET = "abcdefghijklmnopqrstuvwxyz0123456789_- "
ID, EXACT, PREFIX, PART, NEAR = "id", "exact", "prefix", "part", "near"
MATCHES = (ID, EXACT, PREFIX, PART, NEAR)
KINDS = ("player", "user", "item", "spell", "class", "map", "variable", "bag", "change")
CATALOGUE_KINDS = {"item": "items", "spell": "spells", "class": "classes", "map": "maps", "variable": "variables"}
SHORTEST_SIMILAR = 3
DELETED = "deleted"


class SearchHit(NamedTuple):
    kind: str
    id: str
    name: str
    detail: str
    match: str
    fold: str = ""
    deleted: bool = False


class Sight(NamedTuple):
    """What the caller of a search may see besides players and the catalogue."""

    accounts: bool  # accounts and their email addresses
    changes: bool  # the audit log: changes, and the names of deleted players

    @classmethod
    def from_permissions(cls, permissions: Collection[str]) -> "Sight":
        return cls("users.query" in permissions, "audit.read" in permissions)


async def find(tx: Reading, text: str, most: int, codec: Codec, sight: Sight) -> list[SearchHit]:
    """Search for a text."""
    accounts = sight.accounts
    sought = lookup.fold(text.strip())
    if not lookup.is_nameable(sought):
        return []
    found = await _find_by_id(tx, sought, codec, sight)
    found += await _find_by_start(tx, sought, [sought], (MAX_PER_MATCH, MAX_PER_MATCH), accounts=accounts)
    found += await _find_in_catalogue(tx, text.strip(), sought)
    if len(sought) >= search.PART_LETTERS and not _has_whole_match(found, sought) and await search.has_index(tx):
        found += await _find_by_part(tx, sought, accounts=accounts)
    if len(sought) >= SHORTEST_SIMILAR and not any(each.match in {ID, EXACT, PREFIX} for each in found):
        found += await _find_similar(tx, sought, accounts=accounts)
    return _rank_hits(found, len(sought))[:most]


async def find_similar_entries(tx: Reading, kind: str, text: str, most: int) -> list[entries.CatalogueEntry]:
    """Find catalogue entries of a kind that a text with a typo may mean; names of about the same length first."""
    sought = lookup.fold(text)
    if len(sought) < SHORTEST_SIMILAR or not lookup.is_nameable(sought):
        return []
    meant = set(_list_similar_prefixes(sought))
    found = [
        each for each in await entries.read_page(tx, kind, MAX_ENTRIES, 0) if _has_prefix(lookup.fold(each.name), meant)
    ]
    return sorted(found, key=lambda each: (abs(len(each.name) - len(sought)), each.name, each.id))[:most]


async def _find_by_id(tx: Reading, sought: str, codec: Codec, sight: Sight) -> list[SearchHit]:
    wanted = lookup.parse_guid(sought)
    existing = await tx.all(SQL.by_id, wanted) if wanted else ()
    named = [SearchHit(kind, found_id, name, wanted or "", ID) for kind, found_id, name in existing]
    named += await _find_deleted(tx, wanted, codec) if wanted and sight.changes else []
    found = [each for each in named if sight.accounts or each.kind != "user"]
    if not sight.changes:
        return found
    number = sought.removeprefix("#")  # people write change numbers as #123
    if number.isascii() and number.isdigit() and len(number) < len(str(history.NEVER)):
        change = await history.find_change(tx, int(number))
        if change and (sight.accounts or not change.about_account):
            found.append(SearchHit("change", number, f"Change {number}", change.kind, ID))
    return found


async def _find_deleted(tx: Reading, wanted: str, codec: Codec) -> list[SearchHit]:
    """Find deleted players and accounts in the audit log. Erased ones have no name there, so the id is shown.

    A player that exists again is found here too; `_rank_hits` removes the duplicate.
    """
    return [
        SearchHit(
            each.kind,
            wanted,
            str(read_side(each.before, codec).player.get("name") or wanted),
            DELETED,
            ID,
            deleted=True,
        )
        for each in await tx.rows(DeletedOwner, SQL.deleted, wanted)
    ]


async def _find_by_start(
    tx: Reading, sought: str, prefixes: Sequence[str], most: tuple[int, int], *, accounts: bool
) -> list[SearchHit]:
    """Find players and accounts whose name or email starts with a prefix. `most`: for each prefix, and in total."""
    ranges = search.as_ranges(prefixes)
    found = [
        _make_hit("player", row_id, name, _describe_level(level), sought, fold)
        for row_id, name, fold, level in await tx.all(SQL.players_start, ranges, *most)
    ]
    for statement in (SQL.users_start, SQL.emails) if accounts else ():
        found += [
            _make_hit("user", row_id, name, email, sought, fold)
            for row_id, name, fold, email in await tx.all(statement, ranges, *most)
        ]
    return found


def _has_whole_match(found: Iterable[SearchHit], sought: str) -> bool:
    """Tell whether a long search text matched a whole name or id. Change numbers do not count: names may have them."""
    whole = any(each.match in {ID, EXACT} and each.kind != "change" for each in found)
    return whole and len(sought) > TYPO_LETTERS


async def _find_by_part(tx: Reading, sought: str, *, accounts: bool) -> list[SearchHit]:
    asked = _search_parts(sought, MAX_CANDIDATES_PER_KIND, MAX_CANDIDATES_PER_KIND)
    records = await players.read_summaries(tx, _pick_shortest(await tx.rows(PlayerMatch, SQL.players, *asked)))
    found = [SearchHit("player", each.id, each.name, _describe_level(each.level), PART, each.fold) for each in records]
    if accounts:
        named = await users.read_by_ids(tx, _pick_shortest(await tx.rows(UserMatch, SQL.users, *asked)))
        found += [SearchHit("user", each.id, each.name, each.email, PART, lookup.fold(each.name)) for each in named]
    return found


def _pick_shortest(found: Iterable[search.PlayerMatch | search.UserMatch]) -> list[str]:
    """Return the ids with the shortest names: the search text is the largest part of those names."""
    return [each.id for each in sorted(found, key=lambda each: (len(each.fold), each.fold))[:MAX_PER_MATCH]]


async def _find_in_catalogue(tx: Reading, typed: str, sought: str) -> list[SearchHit]:
    if not sought.isascii():
        return [
            _make_entry_hit(one, each.id, each.name, sought)
            for one, kind in CATALOGUE_KINDS.items()
            for each in await catalogue.find_by_name(tx, kind, typed, MAX_PER_MATCH)
        ]
    part = await _find_entries(tx, statements.build_substring_pattern(typed), MAX_PER_MATCH, sought)
    # fewer hits than the limit are all names that contain the search text, also those that start with it
    is_cut = len(part) == MAX_PER_MATCH
    beginning = await _find_entries(tx, statements.build_prefix_pattern(typed), MAX_PER_MATCH, sought) if is_cut else []
    return list(dict.fromkeys([*beginning, *part]))


async def _find_entries(tx: Reading, pattern: str, most: int, sought: str) -> list[SearchHit]:
    found = await tx.all(SQL.catalogue, pattern, most)
    return [_make_entry_hit(kind, entry_id, name, sought) for kind, entry_id, name in found]


async def _find_similar(tx: Reading, sought: str, *, accounts: bool) -> list[SearchHit]:
    prefixes = _list_similar_prefixes(sought)
    found = await _find_by_start(tx, sought, prefixes, (SIMILAR_PER_PREFIX, MAX_SIMILAR), accounts=accounts)
    named, meant = await _find_entries(tx, statements.build_substring_pattern(""), MAX_ENTRIES, sought), set(prefixes)
    found += [each for each in named if _has_prefix(each.fold, meant)]
    return [each._replace(match=NEAR) for each in found]


def _list_similar_prefixes(sought: str) -> list[str]:
    """Return prefixes that a search text with a typo may have meant, without duplicates."""
    return list(dict.fromkeys(generate_typos(sought[:TYPO_LETTERS])))


def _has_prefix(fold: str, meant: set[str]) -> bool:
    """Tell whether a name starts with one of these corrected prefixes, of at most TYPO_LETTERS + 1 letters."""
    return any(fold[:size] in meant for size in range(1, TYPO_LETTERS + 2))


def generate_typos(typed: str) -> Iterator[str]:
    """Yield corrections of a text with a typo: letters swapped, replaced, added or removed; likeliest first."""
    for at in range(len(typed) - 1):
        yield typed[:at] + typed[at + 1] + typed[at] + typed[at + 2 :]
    for at in reversed(range(len(typed))):
        for letter in ALPHABET:
            yield typed[:at] + letter + typed[at + 1 :]
            yield typed[:at] + letter + typed[at:]
    for at in range(len(typed)):
        yield typed[:at] + typed[at + 1 :]


def _rank_hits(found: Iterable[SearchHit], typed: int) -> list[SearchHit]:
    """Keep the best search hit of each object, and sort: equal matches by the closeness of name and text length."""
    best: dict[tuple[str, str], SearchHit] = {}
    for each in found:
        held = best.get((each.kind, each.id))
        if held is None or MATCHES.index(each.match) < MATCHES.index(held.match):
            best[each.kind, each.id] = each
    return sorted(best.values(), key=lambda each: _sort_key(each, typed))


def _sort_key(found: SearchHit, typed: int) -> tuple[int, int, int, str, str]:
    distance = abs(len(found.name) - typed)
    return MATCHES.index(found.match), KINDS.index(found.kind), distance, found.fold, found.id


def _classify_match(fold: str, sought: str) -> str:
    return EXACT if lookup.strip_clash(fold) == sought else PREFIX if fold.startswith(sought) else PART


def _make_hit(kind: str, found_id: str, name: str, detail: str, sought: str, fold: str) -> SearchHit:
    return SearchHit(kind, found_id, name, detail, _classify_match(fold, sought), fold)


def _make_entry_hit(kind: str, entry_id: str, name: str, sought: str) -> SearchHit:
    return _make_hit(kind, entry_id, name, entry_id, sought, lookup.fold(name))


def _describe_level(level: int) -> str:
    return f"level {level}"
