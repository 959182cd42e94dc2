"""The catalogue of the game: items, spells, variables, classes and maps."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from gamekeeper.store import pattern
from gamekeeper.store.engine import Reading, Row, Writing
from gamekeeper.store.statements import Statement, Statements
from gamekeeper.store.table import as_table

SQL = Statements("catalogue")


class CatalogueItem(NamedTuple):
    id: str
    name: str
    stackable: bool
    max_stack: int | None
    bag_slots: int
    icon: str | None


class CatalogueVariable(NamedTuple):
    id: str
    name: str
    type: str


class NamedEntry(NamedTuple):
    """A spell, a class or a map in the catalogue."""

    id: str
    name: str


CatalogueEntry = CatalogueItem | CatalogueVariable | NamedEntry


class _KindStatements(NamedTuple):
    entry: type[CatalogueItem | CatalogueVariable | NamedEntry]
    total: Statement
    page: Statement
    called: Statement
    by_id: Statement
    save: Statement


KINDS: Mapping[str, _KindStatements] = {
    "items": _KindStatements(
        CatalogueItem, SQL.count_items, SQL.items, SQL.items_called, SQL.items_by_id, SQL.save_items
    ),
    "spells": _KindStatements(
        NamedEntry, SQL.count_spells, SQL.spells, SQL.spells_called, SQL.spells_by_id, SQL.save_spells
    ),
    "variables": _KindStatements(
        CatalogueVariable,
        SQL.count_variables,
        SQL.variables,
        SQL.variables_called,
        SQL.variables_by_id,
        SQL.save_variables,
    ),
    "classes": _KindStatements(
        NamedEntry, SQL.count_classes, SQL.classes, SQL.classes_called, SQL.classes_by_id, SQL.save_classes
    ),
    "maps": _KindStatements(NamedEntry, SQL.count_maps, SQL.maps, SQL.maps_called, SQL.maps_by_id, SQL.save_maps),
}


async def find_item(tx: Reading, item_id: str) -> CatalogueItem | None:
    row = await tx.one(SQL.item, item_id)
    return _to_item(row) if row else None


async def find_spell(tx: Reading, spell_id: str) -> NamedEntry | None:
    row = await tx.one(SQL.spell, spell_id)
    return NamedEntry(*row) if row else None


async def find_variable(tx: Reading, variable_id: str) -> CatalogueVariable | None:
    row = await tx.one(SQL.variable, variable_id)
    return CatalogueVariable(*row) if row else None


async def has_items(tx: Reading) -> bool:
    return await tx.one(SQL.any_item) is not None


async def has_spells(tx: Reading) -> bool:
    return await tx.one(SQL.any_spell) is not None


async def has_variables(tx: Reading) -> bool:
    return await tx.one(SQL.any_variable) is not None


async def has_classes(tx: Reading) -> bool:
    return await tx.one(SQL.any_class) is not None


async def count(tx: Reading, kind: str) -> int:
    row = await tx.one(KINDS[kind].total)
    return row[0] if row else 0


async def read_page(tx: Reading, kind: str, limit: int, offset: int) -> list[CatalogueEntry]:
    return _to_entries(kind, await tx.all(KINDS[kind].page, limit, offset))


async def search(tx: Reading, kind: str, text: str, limit: int) -> list[CatalogueEntry]:
    """Find catalogue entries whose name contains the text, ignoring the case of A to Z; best match first."""
    return _to_entries(kind, await tx.all(KINDS[kind].called, pattern.lower_ascii(text), limit))


async def lock_kind(tx: Reading, kind: str) -> None:
    """Lock a kind of catalogue entries, so that no other transaction changes them until this one ends."""
    await tx.one(SQL.hold, kind)


async def find_by_ids(tx: Reading, kind: str, ids: Iterable[str]) -> dict[str, CatalogueEntry]:
    rows = await tx.all(KINDS[kind].by_id, as_table({"id": each} for each in ids))
    return {entry.id: entry for entry in _to_entries(kind, rows)}


def save(tx: Writing, kind: str, entries: Iterable[CatalogueEntry]) -> None:
    tx.defer(KINDS[kind].save, as_table(entry._asdict() for entry in entries))


def _to_item(row: Row) -> CatalogueItem:
    return CatalogueItem(row[0], row[1], bool(row[2]), row[3], row[4], row[5])


def _to_entries(kind: str, rows: Sequence[Row]) -> list[CatalogueEntry]:
    if kind == "items":
        return [_to_item(row) for row in rows]
    return [KINDS[kind].entry(*row) for row in rows]
