"""Tiles of items: the picture that the game published, or letters of the name where there is none."""

import zlib
from typing import NamedTuple

from gamekeeper.console.pictures import build_address
from gamekeeper.store.catalogue import CatalogueEntry, CatalogueItem

COLOUR_COUNT = 12  # number of background colours of item tiles, defined in tiles.css
DATA_URL = "data:image/"  # start of an icon that is embedded as a data URL, so it needs no request


class Tile(NamedTuple):
    initials: str = ""
    colour: int = 0
    picture: str = ""  # address; empty: the tile has letters


def make_tile(item_id: str, name: str, entry: CatalogueEntry | None, picture_hash: str | None) -> Tile:
    """Make the tile of an item. `entry`: None if the catalogue does not have it."""
    icon = entry.icon or "" if isinstance(entry, CatalogueItem) else ""
    picture = build_address(picture_hash) or (icon if icon.startswith(DATA_URL) else "")
    return Tile(_make_initials(name) if entry else "?", zlib.crc32(item_id.encode()) % COLOUR_COUNT, picture)


def _make_initials(name: str) -> str:
    words = name.split()
    return "".join(word[0] for word in words[:2]).upper() if len(words) > 1 else name.strip()[:2].capitalize()
