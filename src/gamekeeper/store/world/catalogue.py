"""The catalogue of the game: items, spells, variables, classes, maps, objects without rules, pictures of items.

`details` of an entry is a JSON object, as text, with its further fields as the game published them. Most readers need
only the other fields, and details can be large, so only `add_details` reads them. A picture is a PNG file, found by a
hash of its pixels.
"""

import base64
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from gamekeeper.store.engine import statements
from gamekeeper.store.engine.interface import Reading, Row, Writing
from gamekeeper.store.engine.statements import Statement, Statements, as_column, as_table

SQL = Statements(__file__)


class CatalogueItem(NamedTuple):
    id: str
    name: str
    stackable: bool
    max_stack: int | None
    bag_slots: int
    icon: str | None
    details: str | None = None


class CatalogueVariable(NamedTuple):
    id: str
    name: str
    type: str
    details: str | None = None


class CatalogueGuildVariable(NamedTuple):
    """A variable that guilds can have. It has no details."""

    id: str
    name: str
    type: str
    text_id: str
    folder: str
    created_at: int
    details: str | None = None


class CatalogueServerVariable(NamedTuple):
    """A variable of the server. It has no details."""

    id: str
    name: str
    type: str
    text_id: str
    folder: str
    created_at: int
    value: str | None  # JSON; None: never set
    details: str | None = None


class NamedEntry(NamedTuple):
    """A spell, a class, a map or an object of another type in the catalogue."""

    id: str
    name: str
    details: str | None = None


CatalogueEntry = CatalogueItem | CatalogueVariable | CatalogueServerVariable | CatalogueGuildVariable | NamedEntry


class _KindStatements(NamedTuple):
    entry: type[CatalogueEntry]
    total: Statement
    page: Statement
    called: Statement
    by_id: Statement
    save: Statement
    details: Statement | None  # None: entries of this kind have no details
    # last parameters of all statements: the object type, for the kinds in the table game_objects
    more: tuple[str, ...] = ()


def _find_statements(entry: type[CatalogueEntry], table: str, *more: str) -> _KindStatements:
    """Find a kind's statements, which are named after its table; those of all kinds in game_objects after `objects`."""
    return _KindStatements(
        entry,
        total=SQL.named[f"count_{table}"],
        page=SQL.named[table],
        called=SQL.named[f"{table}_called"],
        by_id=SQL.named[f"{table}_by_id"],
        save=SQL.named[f"save_{table}"],
        details=SQL.named.get(f"{table}_details"),
        more=more,
    )


OBJECT_TYPES: Mapping[str, str] = {  # kind → type of the rows in game_objects, as the Intersect engine names it
    "animations": "animation",
    "npcs": "npc",
    "projectiles": "projectile",
    "quests": "quest",
    "resources": "resource",
    "shops": "shop",
    "crafttables": "crafttables",
    "crafts": "crafts",
    "events": "event",
    "tilesets": "tileset",
    "uservariables": "uservariable",
    "time": "time",
}
KINDS: Mapping[str, _KindStatements] = {
    "items": _find_statements(CatalogueItem, "items"),
    "spells": _find_statements(NamedEntry, "spells"),
    "variables": _find_statements(CatalogueVariable, "variables"),
    "servervariables": _find_statements(CatalogueServerVariable, "server_variables"),
    "guildvariables": _find_statements(CatalogueGuildVariable, "guild_variables"),
    "classes": _find_statements(NamedEntry, "classes"),
    "maps": _find_statements(NamedEntry, "maps"),
    **{kind: _find_statements(NamedEntry, "objects", object_type) for kind, object_type in OBJECT_TYPES.items()},
}


async def find_item(tx: Reading, item_id: str) -> CatalogueItem | None:
    return await tx.row(CatalogueItem, SQL.item, item_id)


async def find_spell(tx: Reading, spell_id: str) -> NamedEntry | None:
    return await tx.row(NamedEntry, SQL.spell, spell_id)


async def find_variable(tx: Reading, variable_id: str) -> CatalogueVariable | None:
    return await tx.row(CatalogueVariable, SQL.variable, variable_id)


async def find_id_by_name(tx: Reading, kind: str, name: str) -> str | None:
    """Return the id of an item or a variable with exactly this name; of several, the lowest."""
    return await tx.value(SQL.item_named if kind == "items" else SQL.variable_named, name)


async def has_items(tx: Reading) -> bool:
    return await tx.one(SQL.any_item) is not None


async def has_spells(tx: Reading) -> bool:
    return await tx.one(SQL.any_spell) is not None


async def has_variables(tx: Reading) -> bool:
    return await tx.one(SQL.any_variable) is not None


async def has_classes(tx: Reading) -> bool:
    return await tx.one(SQL.any_class) is not None


async def count(tx: Reading, kind: str) -> int:
    return await tx.value(KINDS[kind].total, *KINDS[kind].more) or 0


async def read_page(tx: Reading, kind: str, limit: int, offset: int) -> list[CatalogueEntry]:
    return await tx.rows(KINDS[kind].entry, KINDS[kind].page, limit, offset, *KINDS[kind].more)


async def search(tx: Reading, kind: str, text: str, limit: int) -> list[CatalogueEntry]:
    """Find catalogue entries whose name contains the text, ignoring the case of A to Z; best match first."""
    found = KINDS[kind]
    return await tx.rows(found.entry, found.called, statements.lower_ascii(text), limit, *found.more)


async def lock_kind(tx: Reading, kind: str) -> None:
    """Lock a kind of catalogue entries, so that no other transaction changes them until this one ends."""
    await tx.one(SQL.hold, kind)


async def find_by_ids(tx: Reading, kind: str, ids: Iterable[str]) -> dict[str, CatalogueEntry]:
    found = KINDS[kind]
    rows = await tx.rows(found.entry, found.by_id, as_column("id", ids), *found.more)
    return {entry.id: entry for entry in rows}


async def add_details(tx: Reading, kind: str, entries: Sequence[CatalogueEntry]) -> list[CatalogueEntry]:
    """Return the entries with their details."""
    statement = KINDS[kind].details
    if statement is None:
        return list(entries)
    rows = await tx.all(statement, as_table({"id": each.id} for each in entries), *KINDS[kind].more)
    details = {own_id: _to_text(found) for own_id, found in rows}
    return [entry._replace(details=details.get(entry.id)) for entry in entries]


def save(tx: Writing, kind: str, entries: Iterable[CatalogueEntry]) -> None:
    tx.defer(KINDS[kind].save, as_table(entry._asdict() for entry in entries), *KINDS[kind].more)


def _to_text(stored: str | bytes) -> str:
    """Return stored JSON as text. PostgreSQL gives it as bytes."""
    return stored if isinstance(stored, str) else stored.decode()


class Picture(NamedTuple):
    hash: str  # SHA-256 of size and pixels, in hexadecimal digits
    content: bytes  # a PNG file


async def find_picture_hash(tx: Reading, item_id: str) -> str | None:
    return await tx.value(SQL.hash, item_id)


async def find_picture_hashes(tx: Reading, item_ids: Iterable[str]) -> dict[str, str]:
    """Return the hashes of the items' pictures, by item; items without a picture are left out."""
    return {row[0]: row[1] for row in await tx.all(SQL.hashes, as_column("id", item_ids))}


async def find_picture_content(tx: Reading, picture_hash: str) -> bytes | None:
    row = await tx.one(SQL.content, picture_hash)
    return base64.b64decode(row[0]) if row else None


def save_picture(tx: Writing, item_id: str, picture: Picture) -> None:
    tx.defer(SQL.save, item_id, picture.hash, base64.b64encode(picture.content).decode())


def delete_picture(tx: Writing, item_id: str) -> None:
    tx.defer(SQL.delete, item_id)


class ServerVariable(NamedTuple):
    id: str
    name: str
    type: str  # Integer, Boolean, String or Number
    text_id: str
    folder: str
    value: str | None  # JSON; None: never set
    created_at: int


async def count_server_variables(tx: Reading) -> int:
    return await tx.value(SQL.count) or 0


async def read_server_variables(tx: Reading, limit: int, offset: int) -> list[ServerVariable]:
    """Read one page of the variables, by id."""
    return await tx.rows(ServerVariable, SQL.page, limit, offset)


async def find_server_variable(tx: Reading, variable_id: str) -> ServerVariable | None:
    return await tx.row(ServerVariable, SQL.variable_server_variable, variable_id)


async def lock_server_variable(tx: Reading, variable_id: str) -> ServerVariable | None:
    return await tx.row(ServerVariable, SQL.lock, variable_id)


def set_server_variable(tx: Writing, variable_id: str, value: str | None) -> None:
    """Set the value, as JSON; None: as if never set."""
    tx.defer(SQL.set_value, variable_id, value)


def load_server_variables(tx: Writing, variables: Iterable[Row]) -> None:
    """Insert many variables; the values are in the order of ServerVariable."""
    tx.load(SQL.load, variables)


async def find_known_server_variables(tx: Reading, ids: Iterable[str]) -> set[str]:
    return {row[0] for row in await tx.all(SQL.known, as_column("id", ids))}
