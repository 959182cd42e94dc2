"""The documents that are shipped with the server: their names, titles and files."""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

IN_WHEEL = Path(__file__).parents[1] / "docs"
IN_CHECKOUT = Path(__file__).parents[3] / "docs"


class Document(NamedTuple):
    title: str
    file: Path


def _read_documents() -> dict[str, Document]:
    """List the documents by name, with their first heading. A requested name is only looked up here."""
    folder = IN_WHEEL if IN_WHEEL.is_dir() else IN_CHECKOUT
    found = {each.stem: each for each in sorted(folder.glob("*.md"))}
    return {name: Document(_read_title(each), each) for name, each in found.items()}


def _read_title(file: Path) -> str:
    with file.open(encoding="utf-8") as lines:
        return lines.readline().removeprefix("# ").strip()


DOCUMENTS: Mapping[str, Document] = _read_documents()
