"""The documents that are shipped with the server: their names, titles and files."""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

IN_WHEEL = Path(__file__).parents[1] / "docs"
IN_CHECKOUT = Path(__file__).parents[3] / "docs"
FOLDERS = ("", "guides", "decisions")


class Document(NamedTuple):
    title: str
    file: Path


def _read_documents() -> dict[str, Document]:
    """List the documents by name, with their first heading. A requested name is only looked up here."""
    root = IN_WHEEL if IN_WHEEL.is_dir() else IN_CHECKOUT
    return {
        make_name(folder, each.stem): Document(_make_title(folder, each), each)
        for folder in FOLDERS
        for each in sorted((root / folder).glob("*.md"))
    }


def make_name(folder: str, stem: str) -> str:
    """Make the name of a document, which is one segment of an address: `settings`, or `guides-run`."""
    return f"{folder}-{stem}" if folder else stem


def _make_title(folder: str, file: Path) -> str:
    """Return a document's first heading, after the name of its folder: some are also titles in docs itself."""
    with file.open(encoding="utf-8") as lines:
        heading = lines.readline().removeprefix("# ").strip()
    return f"{folder.capitalize()}: {heading}" if folder else heading


DOCUMENTS: Mapping[str, Document] = _read_documents()
