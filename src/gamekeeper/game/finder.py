"""One search for everything: characters, accounts, the catalogue, changes; the best match first.

Nothing here reads more when the game is bigger: beginnings are index seeks, parts are asked of the index of parts, and
a slip of the finger in the first letters is tried as the beginnings that it may have stood for.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from gamekeeper.game import lookup, search
from gamekeeper.store import finder, history, players, users
from gamekeeper.store import search as parts
from gamekeeper.store.engine import Reading

EACH = 8  # of one kind and one way to match
NEARBY = 2  # for each of the beginnings that a slip may have stood for
NEAR_LETTERS = 6  # a slip among the first so many letters is forgiven
CANDIDATES = 400
ALPHABET = "abcdefghijklmnopqrstuvwxyz0123456789_- "
ID, EXACT, PREFIX, PART, NEAR = "id", "exact", "prefix", "part", "near"
MATCHES = (ID, EXACT, PREFIX, PART, NEAR)
KINDS = ("player", "user", "item", "spell", "class", "map", "variable", "bag", "change")
SHORTEST_NEAR = 3


class Found(NamedTuple):
    kind: str
    id: str
    name: str
    detail: str
    match: str
    fold: str = ""


async def find(tx: Reading, text: str, most: int, *, accounts: bool) -> list[Found]:
    """`accounts`: whoever asks may see those and their emails."""
    sought = lookup.fold(text.strip())
    if not lookup.nameable(sought):
        return []
    found = [*await _by_id(tx, sought), *await _by_beginning(tx, sought, accounts=accounts)]
    if len(sought) >= parts.PART and await parts.indexed(tx):
        found += await _by_part(tx, sought, accounts=accounts)
    found += await _in_catalogue(tx, sought)
    if len(sought) >= SHORTEST_NEAR and not any(each.match in {ID, EXACT, PREFIX} for each in found):
        found += await _nearly(tx, sought, accounts=accounts)
    return _ranked([each for each in found if accounts or each.kind != "user"])[:most]


async def _by_id(tx: Reading, sought: str) -> list[Found]:
    wanted = lookup.guid(sought)
    named = await finder.by_id(tx, wanted) if wanted else []
    found = [Found(each.kind, each.id, each.name, each.id, ID) for each in named]
    if sought.isascii() and sought.isdigit() and len(sought) < len(str(history.NEVER)):
        change = await history.one(tx, int(sought))
        if change:
            found.append(Found("change", sought, f"Change {sought}", change.kind, ID))
    return found


async def _by_beginning(tx: Reading, sought: str, *, accounts: bool) -> list[Found]:
    found = [_player(each, sought) for each in await finder.players(tx, [sought], EACH, EACH)]
    if accounts:
        found += [_user(each, sought) for each in await finder.users(tx, [sought], EACH, EACH)]
        found += [_user(each, sought) for each in await finder.emails(tx, [sought], EACH, EACH)]
    return found


async def _by_part(tx: Reading, sought: str, *, accounts: bool) -> list[Found]:
    asked = search.parts_of(sought)
    ids = [each.id for each in await parts.players(tx, asked, sought, CANDIDATES, EACH)]
    records = await players.called(tx, ids)
    found = [Found("player", each.id, each.name, _level(each.level), PART, each.fold) for each in records]
    if accounts:
        those = [each.id for each in await parts.users(tx, asked, sought, CANDIDATES, EACH)]
        named = await users.of_ids(tx, those)
        found += [Found("user", each.id, each.name, each.email, PART, lookup.fold(each.name)) for each in named]
    return found


async def _in_catalogue(tx: Reading, sought: str) -> list[Found]:
    escaped = sought.replace("!", "!!").replace("%", "!%").replace("_", "!_")
    beginning, part = await finder.catalogue(tx, f"{escaped}%", EACH), await finder.catalogue(tx, f"%{escaped}%", EACH)
    return [_named(each, sought) for each in dict.fromkeys([*beginning, *part])]


async def _nearly(tx: Reading, sought: str, *, accounts: bool) -> list[Found]:
    beginnings = list(dict.fromkeys(slips(sought[:NEAR_LETTERS])))
    near = await finder.players(tx, beginnings, NEARBY, EACH)
    found = [Found("player", each.id, each.name, _level(each.level), NEAR, each.fold) for each in near]
    if accounts:
        those = await finder.users(tx, beginnings, NEARBY, EACH)
        found += [Found("user", each.id, each.name, each.email, NEAR, each.fold) for each in those]
    return found


def slips(typed: str) -> Iterator[str]:
    """What may have been meant: two letters exchanged, one too many, one wrong, one forgotten."""
    for at in range(len(typed) - 1):
        yield typed[:at] + typed[at + 1] + typed[at] + typed[at + 2 :]
    for at in range(len(typed)):
        yield typed[:at] + typed[at + 1 :]
    for at in range(1, len(typed)):
        for letter in ALPHABET:
            yield typed[:at] + letter + typed[at + 1 :]
            yield typed[:at] + letter + typed[at:]
    for letter in ALPHABET:
        yield letter + typed[1:]
        yield letter + typed


def _ranked(found: Iterable[Found]) -> list[Found]:
    """Each thing once, by its best match."""
    best: dict[tuple[str, str], Found] = {}
    for each in found:
        held = best.get((each.kind, each.id))
        if held is None or MATCHES.index(each.match) < MATCHES.index(held.match):
            best[each.kind, each.id] = each
    return sorted(best.values(), key=_order)


def _order(found: Found) -> tuple[int, int, int, str, str]:
    return MATCHES.index(found.match), KINDS.index(found.kind), len(found.name), found.fold, found.id


def _matched(fold: str, sought: str) -> str:
    return EXACT if fold.partition("\x01")[0] == sought else PREFIX if fold.startswith(sought) else PART


def _player(each: finder.Player, sought: str) -> Found:
    return Found("player", each.id, each.name, _level(each.level), _matched(each.fold, sought), each.fold)


def _user(each: finder.User, sought: str) -> Found:
    return Found("user", each.id, each.name, each.email, _matched(each.fold, sought), each.fold)


def _named(each: finder.Named, sought: str) -> Found:
    fold = lookup.fold(each.name)
    return Found(each.kind, each.id, each.name, each.id, _matched(fold, sought), fold)


def _level(level: int) -> str:
    return f"level {level}"
