"""Pictures of items, as PNG files that are found by a hash of their pixels."""

import base64
from collections.abc import Iterable
from typing import NamedTuple

from gamekeeper.store.engine import Reading, Writing
from gamekeeper.store.statements import Statements
from gamekeeper.store.table import as_table

SQL = Statements("pictures")


class Picture(NamedTuple):
    hash: str  # SHA-256 of size and pixels, in hexadecimal digits
    content: bytes  # a PNG file


async def find_hash(tx: Reading, item_id: str) -> str | None:
    row = await tx.one(SQL.hash, item_id)
    return row[0] if row else None


async def find_hashes(tx: Reading, item_ids: Iterable[str]) -> dict[str, str]:
    """Return the hashes of the items' pictures, by item; items without a picture are left out."""
    return {row[0]: row[1] for row in await tx.all(SQL.hashes, as_table({"id": each} for each in item_ids))}


async def find_content(tx: Reading, picture_hash: str) -> bytes | None:
    row = await tx.one(SQL.content, picture_hash)
    return base64.b64decode(row[0]) if row else None


def save(tx: Writing, item_id: str, picture: Picture) -> None:
    tx.defer(SQL.save, item_id, picture.hash, base64.b64encode(picture.content).decode())


def delete(tx: Writing, item_id: str) -> None:
    tx.defer(SQL.delete, item_id)
