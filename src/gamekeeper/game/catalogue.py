"""The game's catalogue of items, spells, variables, classes, maps and other objects, which the game servers send."""

from collections.abc import Sequence

from gamekeeper.game import lookup
from gamekeeper.game.changes import Decision
from gamekeeper.game.refusals import NoSuchKind
from gamekeeper.game.world_effects import CataloguePut
from gamekeeper.store import catalogue
from gamekeeper.store.engine import Reading, Store

# catalogue entries of a kind whose names are case-folded in Python: the databases fold only A to Z
MOST_FOLDED = 10_000


def require_kind(kind: str) -> None:
    if kind not in catalogue.KINDS:
        raise NoSuchKind(kind=kind)


async def load_page(store: Store, kind: str, limit: int, offset: int) -> tuple[int, list[catalogue.CatalogueEntry]]:
    """Return the number of catalogue entries of a kind and one page of them, from the same snapshot."""

    async def look(tx: Reading) -> tuple[int, list[catalogue.CatalogueEntry]]:
        return await catalogue.count(tx, kind), await catalogue.read_page(tx, kind, limit, offset)

    return await store.read(look)


async def load_detailed_page(
    store: Store, kind: str, limit: int, offset: int
) -> tuple[int, list[catalogue.CatalogueEntry]]:
    """Return what `load_page` returns, with the details of the entries."""

    async def look(tx: Reading) -> tuple[int, list[catalogue.CatalogueEntry]]:
        found = await catalogue.read_page(tx, kind, limit, offset)
        return await catalogue.count(tx, kind), await catalogue.add_details(tx, kind, found)

    return await store.read(look)


async def find_detailed(store: Store, kind: str, own_id: str) -> catalogue.CatalogueEntry | None:
    """Return the entry with an id, with its details."""

    async def look(tx: Reading) -> list[catalogue.CatalogueEntry]:
        found = await catalogue.find_by_ids(tx, kind, [own_id])
        return await catalogue.add_details(tx, kind, [*found.values()])

    return next(iter(await store.read(look)), None)


async def find_by_name(tx: Reading, kind: str, text: str, limit: int) -> list[catalogue.CatalogueEntry]:
    """Find catalogue entries whose names contain a text, in any case. Exact names and prefixes come first."""
    sought = lookup.fold(text)
    if not lookup.is_nameable(sought):
        return []
    if sought.isascii():
        return await catalogue.search(tx, kind, sought, limit)
    # Python folds the names of only MOST_FOLDED entries; the database finds names in the exact case among all entries
    spelled = await catalogue.search(tx, kind, text, limit)
    looked_at = [
        each for each in await catalogue.read_page(tx, kind, MOST_FOLDED, 0) if sought in lookup.fold(each.name)
    ]
    return sorted(dict.fromkeys([*spelled, *looked_at]), key=lambda each: _sort_key(each, sought))[:limit]


async def put(tx: Reading, kind: str, entries: Sequence[catalogue.CatalogueEntry]) -> Decision[int]:
    """Insert or replace catalogue entries by id. Unchanged entries are not recorded in the audit log."""
    await catalogue.lock_kind(tx, kind)
    found = await catalogue.find_by_ids(tx, kind, [entry.id for entry in entries])
    before = {entry.id: entry for entry in await catalogue.add_details(tx, kind, [*found.values()])}
    kept = [_keep_value(entry, before.get(entry.id)) for entry in entries]
    differing = [entry for entry in kept if before.get(entry.id) != entry]
    replaced = [before[entry.id] for entry in differing if entry.id in before]
    changes = [CataloguePut(kind, replaced, differing)] if differing else []
    return Decision(changes, len(entries))


def _keep_value(entry: catalogue.CatalogueEntry, stored: catalogue.CatalogueEntry | None) -> catalogue.CatalogueEntry:
    """Return an entry with the stored value of the server's variable, if it was ever set: the published one is old."""
    if isinstance(entry, catalogue.CatalogueServerVariable) and isinstance(stored, catalogue.CatalogueServerVariable):
        return entry if stored.value is None else entry._replace(value=stored.value)
    return entry


def _sort_key(entry: catalogue.CatalogueEntry, sought: str) -> tuple[bool, bool, str, str]:
    """Sort catalogue entries like the database: exact names first, then names that start with the text."""
    fold = lookup.fold(entry.name)
    return fold != sought, not fold.startswith(sought), entry.name, entry.id
