"""The catalogue of the game: items, spells, variables, classes, maps, objects without rules, pictures of items.

`details` of an entry is a JSON object, as text, with its further fields as the game published them. Most readers need
only the other fields, and details can be large, so only `add_details` reads them. A picture is a PNG file, found by a
hash of its pixels.
"""

import base64
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from gamekeeper.store.engine import statements
from gamekeeper.store.engine.interface import Reading, Writing
from gamekeeper.store.engine.statements import Statements, as_column, as_table

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
    type: str  # Integer, Boolean, String or Number
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


class _Kind(NamedTuple):
    entry: type[CatalogueEntry]
    table: str  # ends or starts the names of the statements of the kind
    # last parameters of all statements: the object type, for the kinds in the table game_objects
    more: tuple[str, ...] = ()


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
KINDS: Mapping[str, _Kind] = {
    "items": _Kind(CatalogueItem, "items"),
    "spells": _Kind(NamedEntry, "spells"),
    "variables": _Kind(CatalogueVariable, "variables"),
    "servervariables": _Kind(CatalogueServerVariable, "server_variables"),
    "guildvariables": _Kind(CatalogueGuildVariable, "guild_variables"),
    "classes": _Kind(NamedEntry, "classes"),
    "maps": _Kind(NamedEntry, "maps"),
    **{kind: _Kind(NamedEntry, "objects", (object_type,)) for kind, object_type in OBJECT_TYPES.items()},
}


async def find_item(tx: Reading, item_id: str) -> CatalogueItem | None:
    return await tx.row(CatalogueItem, SQL.item, item_id)


async def find_variable(tx: Reading, variable_id: str) -> CatalogueVariable | None:
    return await tx.row(CatalogueVariable, SQL.variable, variable_id)


async def find_id_by_name(tx: Reading, kind: str, name: str) -> str | None:
    """Return the id of an item or a variable with exactly this name; of several, the lowest."""
    return await tx.value(SQL.item_named if kind == "items" else SQL.variable_named, name)


async def has_items(tx: Reading) -> bool:
    return await tx.one(SQL.any_item) is not None


async def has_variables(tx: Reading) -> bool:
    return await tx.one(SQL.any_variable) is not None


async def count(tx: Reading, kind: str) -> int:
    _, table, more = KINDS[kind]
    return await tx.value(SQL.named[f"count_{table}"], *more)


async def read_page(tx: Reading, kind: str, limit: int, offset: int) -> list[CatalogueEntry]:
    entry, table, more = KINDS[kind]
    return await tx.rows(entry, SQL.named[table], limit, offset, *more)


async def search(tx: Reading, kind: str, text: str, limit: int) -> list[CatalogueEntry]:
    """Find catalogue entries whose name contains the text, ignoring the case of A to Z; best match first."""
    entry, table, more = KINDS[kind]
    return await tx.rows(entry, SQL.named[f"{table}_called"], statements.lower_ascii(text), limit, *more)


async def lock_kind(tx: Reading, kind: str) -> None:
    """Lock a kind of catalogue entries, so that no other transaction changes them until this one ends."""
    await tx.one(SQL.hold, kind)


async def find_by_ids(tx: Reading, kind: str, ids: Iterable[str]) -> dict[str, CatalogueEntry]:
    entry, table, more = KINDS[kind]
    rows = await tx.rows(entry, SQL.named[f"{table}_by_id"], as_column("id", ids), *more)
    return {each.id: each for each in rows}


async def add_details(tx: Reading, kind: str, entries: Sequence[CatalogueEntry]) -> list[CatalogueEntry]:
    """Return the entries with their details."""
    _, table, more = KINDS[kind]
    statement = SQL.named.get(f"{table}_details")  # None: entries of this kind have no details
    if statement is None:
        return list(entries)
    rows = await tx.all(statement, as_column("id", [each.id for each in entries]), *more)
    details = {row[0]: row[1] for row in rows}
    return [entry._replace(details=details.get(entry.id)) for entry in entries]


def save(tx: Writing, kind: str, entries: Iterable[CatalogueEntry]) -> None:
    _, table, more = KINDS[kind]
    tx.defer(SQL.named[f"save_{table}"], as_table(entry._asdict() for entry in entries), *more)


class Picture(NamedTuple):
    hash: str  # SHA-256 of size and pixels, in hexadecimal digits
    content: bytes  # a PNG file


async def find_picture_hashes(tx: Reading, item_ids: Iterable[str]) -> dict[str, str]:
    """Return the hashes of the items' pictures, by item; items without a picture are left out."""
    return {row[0]: row[1] for row in await tx.all(SQL.picture_hashes, as_column("id", item_ids))}


async def find_picture_content(tx: Reading, picture_hash: str) -> bytes | None:
    row = await tx.one(SQL.picture_content, picture_hash)
    return base64.b64decode(row[0]) if row else None


def save_picture(tx: Writing, item_id: str, picture: Picture) -> None:
    tx.defer(SQL.save_picture, item_id, picture.hash, base64.b64encode(picture.content).decode())


async def find_known_server_variables(tx: Reading, ids: Iterable[str]) -> set[str]:
    return {row[0] for row in await tx.all(SQL.known_server_variables, as_column("id", ids))}
