"""One search for everything: characters, accounts, the catalogue, changes; the best match first.

Nothing here reads more when the game is bigger: beginnings are index seeks, parts are asked of the index of parts, and
a slip of the finger in the first letters is tried as the beginnings that it may have stood for.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from gamekeeper.game import catalogue, lookup, search
from gamekeeper.game.spelling import Spelling
from gamekeeper.game.undoing import side
from gamekeeper.store import catalogue as entries
from gamekeeper.store import finder, history, pattern, players, users
from gamekeeper.store import search as parts
from gamekeeper.store.engine import Reading

EACH = 8  # of one kind and one way to match
NEARBY, NEAR_MOST = 2, 64  # for each of the beginnings that a slip may have stood for, and for all of them
NEAR_LETTERS = 6  # a slip among the first so many letters is forgiven
CANDIDATES = 1000
CATALOGUE = 2000  # entries that are looked at for a slip
ALPHABET = "abcdefghijklmnopqrstuvwxyz0123456789_- "
ID, EXACT, PREFIX, PART, NEAR = "id", "exact", "prefix", "part", "near"
MATCHES = (ID, EXACT, PREFIX, PART, NEAR)
KINDS = ("player", "user", "item", "spell", "class", "map", "variable", "bag", "change")
ENTRIES = {"item": "items", "spell": "spells", "class": "classes", "map": "maps", "variable": "variables"}
SHORTEST_NEAR = 3
DELETED = "deleted"


class Found(NamedTuple):
    kind: str
    id: str
    name: str
    detail: str
    match: str
    fold: str = ""
    deleted: bool = False


async def find(tx: Reading, text: str, most: int, spelling: Spelling, *, accounts: bool) -> list[Found]:
    """`accounts`: whoever asks may see those and their emails."""
    sought = lookup.fold(text.strip())
    if not lookup.nameable(sought):
        return []
    found = await _by_id(tx, sought, spelling, accounts=accounts)
    found += await _by_beginning(tx, sought, accounts=accounts)
    found += await _in_catalogue(tx, text.strip(), sought)
    if len(sought) >= parts.PART_LETTERS and not _enough(found, sought) and await parts.has_index(tx):
        found += await _by_part(tx, sought, accounts=accounts)
    if len(sought) >= SHORTEST_NEAR and not any(each.match in {ID, EXACT, PREFIX} for each in found):
        found += await _nearly(tx, sought, accounts=accounts)
    return _ranked(found, len(sought))[:most]


async def entries_near(tx: Reading, kind: str, text: str, most: int) -> list[entries.CatalogueEntry]:
    """What of one kind of the catalogue may be meant by a slip; what is about as long as what was typed first."""
    sought = lookup.fold(text)
    if len(sought) < SHORTEST_NEAR or not lookup.nameable(sought):
        return []
    meant = set(_beginnings(sought))
    found = [each for each in await entries.read_page(tx, kind, CATALOGUE, 0) if _begins(lookup.fold(each.name), meant)]
    return sorted(found, key=lambda each: (abs(len(each.name) - len(sought)), each.name, each.id))[:most]


async def _by_id(tx: Reading, sought: str, spelling: Spelling, *, accounts: bool) -> list[Found]:
    wanted = lookup.guid(sought)
    named = [*await _there(tx, wanted), *await _gone(tx, wanted, spelling)] if wanted else []
    found = [each for each in named if accounts or each.kind != "user"]
    number = sought.removeprefix("#")  # as people write them
    if number.isascii() and number.isdigit() and len(number) < len(str(history.NEVER)):
        change = await history.find_change(tx, int(number))
        if change and (accounts or not change.about_account):
            found.append(Found("change", number, f"Change {number}", change.kind, ID))
    return found


async def _there(tx: Reading, wanted: str) -> list[Found]:
    return [Found(each.kind, each.id, each.name, wanted, ID) for each in await finder.find_by_id(tx, wanted)]


async def _gone(tx: Reading, wanted: str, spelling: Spelling) -> list[Found]:
    """By what the ledger says; who was erased has no name there. What is there again is found twice, and told once."""
    return [
        Found(
            each.kind, wanted, str(side(each.before, spelling).player.get("name") or wanted), DELETED, ID, deleted=True
        )
        for each in await finder.find_deleted(tx, wanted)
    ]


async def _by_beginning(tx: Reading, sought: str, *, accounts: bool) -> list[Found]:
    found = [_player(each, sought) for each in await finder.find_players(tx, [sought], EACH, EACH)]
    if accounts:
        found += [_user(each, sought) for each in await finder.find_users(tx, [sought], EACH, EACH)]
        found += [_user(each, sought) for each in await finder.find_users_by_email(tx, [sought], EACH, EACH)]
    return found


def _enough(found: Iterable[Found], sought: str) -> bool:
    """Who types a long name whole means it; a number may be a change's and a part of a name as well."""
    whole = any(each.match in {ID, EXACT} and each.kind != "change" for each in found)
    return whole and len(sought) > NEAR_LETTERS


async def _by_part(tx: Reading, sought: str, *, accounts: bool) -> list[Found]:
    asked = search.parts_of(sought)
    records = await players.read_summaries(
        tx, _shortest(await parts.find_players(tx, asked, sought, CANDIDATES, CANDIDATES))
    )
    found = [Found("player", each.id, each.name, _level(each.level), PART, each.fold) for each in records]
    if accounts:
        named = await users.read_by_ids(
            tx, _shortest(await parts.find_users(tx, asked, sought, CANDIDATES, CANDIDATES))
        )
        found += [Found("user", each.id, each.name, each.email, PART, lookup.fold(each.name)) for each in named]
    return found


def _shortest(found: Iterable[parts.PlayerMatch | parts.UserMatch]) -> list[str]:
    """The ids of those of whom the part is most."""
    return [each.id for each in sorted(found, key=lambda each: (len(each.fold), each.fold))[:EACH]]


async def _in_catalogue(tx: Reading, typed: str, sought: str) -> list[Found]:
    if not sought.isascii():
        kinds = ENTRIES.items()
        found = [(one, each) for one, kind in kinds for each in await catalogue.called(tx, kind, typed, EACH)]
        return [_named(finder.FoundEntry(one, each.id, each.name), sought) for one, each in found]
    part = await finder.find_catalogue_entries(tx, pattern.build_substring_pattern(typed), EACH)
    # if there are no more with this part, those that begin so are among them
    beginning = (
        await finder.find_catalogue_entries(tx, pattern.build_prefix_pattern(typed), EACH) if len(part) == EACH else []
    )
    return [_named(each, sought) for each in dict.fromkeys([*beginning, *part])]


async def _nearly(tx: Reading, sought: str, *, accounts: bool) -> list[Found]:
    beginnings = _beginnings(sought)
    found = [_player(each, sought) for each in await finder.find_players(tx, beginnings, NEARBY, NEAR_MOST)]
    if accounts:
        found += [_user(each, sought) for each in await finder.find_users(tx, beginnings, NEARBY, NEAR_MOST)]
        found += [_user(each, sought) for each in await finder.find_users_by_email(tx, beginnings, NEARBY, NEAR_MOST)]
    named = [
        _named(each, sought)
        for each in await finder.find_catalogue_entries(tx, pattern.build_substring_pattern(""), CATALOGUE)
    ]
    meant = set(beginnings)
    found += [each for each in named if _begins(each.fold, meant)]
    return [each._replace(match=NEAR) for each in found]


def _beginnings(sought: str) -> list[str]:
    """That may have been meant, each once."""
    return list(dict.fromkeys(slips(sought[:NEAR_LETTERS])))


def _begins(fold: str, meant: set[str]) -> bool:
    """With one of these: none of them is longer than a slip makes what is looked at."""
    return any(fold[:size] in meant for size in range(1, NEAR_LETTERS + 2))


def slips(typed: str) -> Iterator[str]:
    """What may have been meant: two letters exchanged, one wrong, one forgotten, one too many; what says most first."""
    for at in range(len(typed) - 1):
        yield typed[:at] + typed[at + 1] + typed[at] + typed[at + 2 :]
    for at in reversed(range(len(typed))):
        for letter in ALPHABET:
            yield typed[:at] + letter + typed[at + 1 :]
            yield typed[:at] + letter + typed[at:]
    for at in range(len(typed)):
        yield typed[:at] + typed[at + 1 :]


def _ranked(found: Iterable[Found], typed: int) -> list[Found]:
    """Each thing once, by its best match; of equal ones what is about as long as what was typed."""
    best: dict[tuple[str, str], Found] = {}
    for each in found:
        held = best.get((each.kind, each.id))
        if held is None or MATCHES.index(each.match) < MATCHES.index(held.match):
            best[each.kind, each.id] = each
    return sorted(best.values(), key=lambda each: _order(each, typed))


def _order(found: Found, typed: int) -> tuple[int, int, int, str, str]:
    distance = abs(len(found.name) - typed)
    return MATCHES.index(found.match), KINDS.index(found.kind), distance, found.fold, found.id


def _matched(fold: str, sought: str) -> str:
    return EXACT if lookup.shown(fold) == sought else PREFIX if fold.startswith(sought) else PART


def _player(each: finder.FoundPlayer, sought: str) -> Found:
    return Found("player", each.id, each.name, _level(each.level), _matched(each.fold, sought), each.fold)


def _user(each: finder.FoundUser, sought: str) -> Found:
    return Found("user", each.id, each.name, each.email, _matched(each.fold, sought), each.fold)


def _named(each: finder.FoundEntry, sought: str) -> Found:
    fold = lookup.fold(each.name)
    return Found(each.kind, each.id, each.name, each.id, _matched(fold, sought), fold)


def _level(level: int) -> str:
    return f"level {level}"
