"""One search over players, accounts, the catalogue and changes; the best match first.

The cost does not depend on the size of the game: prefixes are index seeks, parts use the trigram index, and a typo in
the first letters is searched as the prefixes that may have been meant.
"""

from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple

from gamekeeper.game import catalogue, lookup, search
from gamekeeper.game.codec import Codec
from gamekeeper.game.undo_context import read_side
from gamekeeper.store import catalogue as entries
from gamekeeper.store import finder, history, pattern, players, users
from gamekeeper.store import search as parts
from gamekeeper.store.engine import Reading

MAX_PER_MATCH = 8  # search hits per kind (players, accounts …) and per way to match
SIMILAR_PER_PREFIX, MAX_SIMILAR = (
    2,
    64,
)  # search hits per corrected prefix, and for all corrected prefixes together
TYPO_LETTERS = 6  # number of first letters of a search text in which a typo is corrected
MAX_CANDIDATES = 1000
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
    found += await _find_by_prefix(tx, sought, accounts=accounts)
    found += await _find_in_catalogue(tx, text.strip(), sought)
    if len(sought) >= parts.PART_LETTERS and not _has_whole_match(found, sought) and await parts.has_index(tx):
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
    named = await _find_existing(tx, wanted) if wanted else []
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


async def _find_existing(tx: Reading, wanted: str) -> list[SearchHit]:
    return [SearchHit(each.kind, each.id, each.name, wanted, ID) for each in await finder.find_by_id(tx, wanted)]


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
        for each in await finder.find_deleted(tx, wanted)
    ]


async def _find_by_prefix(tx: Reading, sought: str, *, accounts: bool) -> list[SearchHit]:
    found = [
        _make_player_hit(each, sought) for each in await finder.find_players(tx, [sought], MAX_PER_MATCH, MAX_PER_MATCH)
    ]
    if accounts:
        found += [
            _make_user_hit(each, sought) for each in await finder.find_users(tx, [sought], MAX_PER_MATCH, MAX_PER_MATCH)
        ]
        found += [
            _make_user_hit(each, sought)
            for each in await finder.find_users_by_email(tx, [sought], MAX_PER_MATCH, MAX_PER_MATCH)
        ]
    return found


def _has_whole_match(found: Iterable[SearchHit], sought: str) -> bool:
    """Tell whether a long search text matched a whole name or id. Change numbers do not count: names may have them."""
    whole = any(each.match in {ID, EXACT} and each.kind != "change" for each in found)
    return whole and len(sought) > TYPO_LETTERS


async def _find_by_part(tx: Reading, sought: str, *, accounts: bool) -> list[SearchHit]:
    asked = search.pick_parts(sought)
    records = await players.read_summaries(
        tx, _pick_shortest(await parts.find_players(tx, asked, sought, MAX_CANDIDATES, MAX_CANDIDATES))
    )
    found = [SearchHit("player", each.id, each.name, _describe_level(each.level), PART, each.fold) for each in records]
    if accounts:
        named = await users.read_by_ids(
            tx, _pick_shortest(await parts.find_users(tx, asked, sought, MAX_CANDIDATES, MAX_CANDIDATES))
        )
        found += [SearchHit("user", each.id, each.name, each.email, PART, lookup.fold(each.name)) for each in named]
    return found


def _pick_shortest(found: Iterable[parts.PlayerMatch | parts.UserMatch]) -> list[str]:
    """Return the ids with the shortest names: the search text is the largest part of those names."""
    return [each.id for each in sorted(found, key=lambda each: (len(each.fold), each.fold))[:MAX_PER_MATCH]]


async def _find_in_catalogue(tx: Reading, typed: str, sought: str) -> list[SearchHit]:
    if not sought.isascii():
        kinds = CATALOGUE_KINDS.items()
        found = [
            (one, each) for one, kind in kinds for each in await catalogue.find_by_name(tx, kind, typed, MAX_PER_MATCH)
        ]
        return [_make_entry_hit(finder.FoundEntry(one, each.id, each.name), sought) for one, each in found]
    part = await finder.find_catalogue_entries(tx, pattern.build_substring_pattern(typed), MAX_PER_MATCH)
    # fewer hits than the limit are all names that contain the search text, also those that start with it
    beginning = (
        await finder.find_catalogue_entries(tx, pattern.build_prefix_pattern(typed), MAX_PER_MATCH)
        if len(part) == MAX_PER_MATCH
        else []
    )
    return [_make_entry_hit(each, sought) for each in dict.fromkeys([*beginning, *part])]


async def _find_similar(tx: Reading, sought: str, *, accounts: bool) -> list[SearchHit]:
    beginnings = _list_similar_prefixes(sought)
    found = [
        _make_player_hit(each, sought)
        for each in await finder.find_players(tx, beginnings, SIMILAR_PER_PREFIX, MAX_SIMILAR)
    ]
    if accounts:
        found += [
            _make_user_hit(each, sought)
            for each in await finder.find_users(tx, beginnings, SIMILAR_PER_PREFIX, MAX_SIMILAR)
        ]
        found += [
            _make_user_hit(each, sought)
            for each in await finder.find_users_by_email(tx, beginnings, SIMILAR_PER_PREFIX, MAX_SIMILAR)
        ]
    named = [
        _make_entry_hit(each, sought)
        for each in await finder.find_catalogue_entries(tx, pattern.build_substring_pattern(""), MAX_ENTRIES)
    ]
    meant = set(beginnings)
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


def _make_player_hit(each: finder.FoundPlayer, sought: str) -> SearchHit:
    return SearchHit(
        "player", each.id, each.name, _describe_level(each.level), _classify_match(each.fold, sought), each.fold
    )


def _make_user_hit(each: finder.FoundUser, sought: str) -> SearchHit:
    return SearchHit("user", each.id, each.name, each.email, _classify_match(each.fold, sought), each.fold)


def _make_entry_hit(each: finder.FoundEntry, sought: str) -> SearchHit:
    fold = lookup.fold(each.name)
    return SearchHit(each.kind, each.id, each.name, each.id, _classify_match(fold, sought), fold)


def _describe_level(level: int) -> str:
    return f"level {level}"
