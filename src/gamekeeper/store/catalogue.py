"""What the game knows of: items, spells, variables, classes and maps."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from gamekeeper.store import pattern
from gamekeeper.store.engine import Reading, Row, Writing
from gamekeeper.store.statements import Statement, Statements
from gamekeeper.store.table import as_table

SQL = Statements("catalogue")


class Item(NamedTuple):
    id: str
    name: str
    stackable: bool
    max_stack: int | None
    bag_slots: int
    icon: str | None


class Variable(NamedTuple):
    id: str
    name: str
    type: str


class Named(NamedTuple):
    """A spell, a class or a map."""

    id: str
    name: str


Entry = Item | Variable | Named


class _Kind(NamedTuple):
    entry: type[Item | Variable | Named]
    total: Statement
    page: Statement
    called: Statement
    by_id: Statement
    save: Statement


KINDS: Mapping[str, _Kind] = {
    "items": _Kind(Item, SQL.count_items, SQL.items, SQL.items_called, SQL.items_by_id, SQL.save_items),
    "spells": _Kind(Named, SQL.count_spells, SQL.spells, SQL.spells_called, SQL.spells_by_id, SQL.save_spells),
    "variables": _Kind(
        Variable, SQL.count_variables, SQL.variables, SQL.variables_called, SQL.variables_by_id, SQL.save_variables
    ),
    "classes": _Kind(Named, SQL.count_classes, SQL.classes, SQL.classes_called, SQL.classes_by_id, SQL.save_classes),
    "maps": _Kind(Named, SQL.count_maps, SQL.maps, SQL.maps_called, SQL.maps_by_id, SQL.save_maps),
}


async def item(tx: Reading, item_id: str) -> Item | None:
    row = await tx.one(SQL.item, item_id)
    return _item(row) if row else None


async def spell(tx: Reading, spell_id: str) -> Named | None:
    row = await tx.one(SQL.spell, spell_id)
    return Named(*row) if row else None


async def variable(tx: Reading, variable_id: str) -> Variable | None:
    row = await tx.one(SQL.variable, variable_id)
    return Variable(*row) if row else None


async def any_item(tx: Reading) -> bool:
    return await tx.one(SQL.any_item) is not None


async def any_spell(tx: Reading) -> bool:
    return await tx.one(SQL.any_spell) is not None


async def any_variable(tx: Reading) -> bool:
    return await tx.one(SQL.any_variable) is not None


async def any_class(tx: Reading) -> bool:
    return await tx.one(SQL.any_class) is not None


async def count(tx: Reading, kind: str) -> int:
    row = await tx.one(KINDS[kind].total)
    return row[0] if row else 0


async def page(tx: Reading, kind: str, limit: int, offset: int) -> list[Entry]:
    return _entries(kind, await tx.all(KINDS[kind].page, limit, offset))


async def called(tx: Reading, kind: str, text: str, limit: int) -> list[Entry]:
    """Those with this text in their names, A to Z in any case; the likeliest first."""
    return _entries(kind, await tx.all(KINDS[kind].called, pattern.lowered(text), limit))


async def hold(tx: Reading, kind: str) -> None:
    """Until the end of the transaction: nobody else puts entries of this kind."""
    await tx.one(SQL.hold, kind)


async def by_id(tx: Reading, kind: str, ids: Iterable[str]) -> dict[str, Entry]:
    rows = await tx.all(KINDS[kind].by_id, as_table({"id": each} for each in ids))
    return {entry.id: entry for entry in _entries(kind, rows)}


def save(tx: Writing, kind: str, entries: Iterable[Entry]) -> None:
    tx.later(KINDS[kind].save, as_table(entry._asdict() for entry in entries))


def _item(row: Row) -> Item:
    return Item(row[0], row[1], bool(row[2]), row[3], row[4], row[5])


def _entries(kind: str, rows: Sequence[Row]) -> list[Entry]:
    if kind == "items":
        return [_item(row) for row in rows]
    return [KINDS[kind].entry(*row) for row in rows]
