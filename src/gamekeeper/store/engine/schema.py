"""The schema as all migrations leave it, put together from their texts without a database."""

import re
from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

from gamekeeper.store.engine.migrate import split_script
from gamekeeper.store.engine.statements import FOLDER

_CREATED = re.compile(
    r"^CREATE (?:UNIQUE )?(VIRTUAL TABLE|TABLE|VIEW|TRIGGER|FUNCTION|SEQUENCE|INDEX) (\w+)(?: ON (\w+))?", re.MULTILINE
)
_DROPPED = re.compile(r"^DROP (?:TABLE|INDEX|VIEW) (?:IF EXISTS )?(\w+)", re.MULTILINE)
_ADDED = re.compile(r"^ALTER TABLE (\w+) ADD COLUMN (.*)", re.MULTILINE | re.DOTALL)
_OTHER = re.compile(r"^(ALTER|INSERT) (?:TABLE |INTO (?=\w+_by_part))(\w+)", re.MULTILINE)
_LAST_COLUMN = re.compile(r"(.*\n    [a-z]\w* [^\n]*?),?(\s*-- [^\n]*)?(\n.*)", re.DOTALL)
_COLUMN = re.compile(r"^    (\w+) +(?:\{(\w+)\}|TEXT)", re.MULTILINE)
_TIME = re.compile(r"(^|_)(at|online|used|until|expires)$")
# columns with JSON that is only read as a whole; their type in the migrations is TEXT, which cannot be changed any more
_JSON_TEXTS = {
    "api_keys": ("permissions", "addresses", "items", "servers"),
    "bulk_jobs": ("details",),
    "economy": ("variables",),
    "guild_values": ("value",),
    "item_growth": ("changes",),
    "player_gains": ("changes",),
    "player_texts": ("value",),
    "server_variables": ("value",),
    "signals": ("evidence",),
    "slots": ("buffs",),
}


class Definition(NamedTuple):
    """An SQL statement of the schema."""

    kind: str  # what it creates, such as TABLE; ALTER: it changes a table; INSERT: it fills a search index
    name: str
    table: str | None  # table of an index
    text: str


@cache
def assemble(engine: str) -> tuple[Definition, ...]:
    """Return the statements that create the schema in an empty database, with the comments of the migrations."""
    made: dict[tuple[str, str], Definition] = {}
    for path in sorted((FOLDER / "migrations").glob("*.sql")):
        script = path.read_text(encoding="utf-8").replace("--:", "--").replace("CREATE OR REPLACE ", "CREATE ")
        for text in split_script(script, engine):
            if found := _DROPPED.search(text):
                made = {key: each for key, each in made.items() if found[1] not in (each.name, each.table)}
            elif found := _ADDED.search(text):
                made["TABLE", found[1]] = _add_column(made["TABLE", found[1]], text, found[2])
            elif found := _CREATED.search(text):
                made.pop((found[1], found[2]), None)
                made[found[1], found[2]] = Definition(found[1], found[2], found[3], text)
            elif found := _OTHER.search(text):
                made[found[1], text] = Definition(found[1], found[2], None, text)
    return tuple(made.values())


def _add_column(table: Definition, text: str, column: str) -> Definition:
    """Add a column after the last one, as both engines do, with the comments above it."""
    if not (found := _LAST_COLUMN.fullmatch(table.text)):
        raise ValueError(f"The table {table.name} has no column.")
    comments = "".join(f"    {line}\n" for line in text.split("\n") if line.startswith("-- "))
    end = "," if found[3].startswith("\n    ") else ""  # constraints of the table follow
    return table._replace(text=f"{found[1]},{found[2] or ''}\n{comments}    {column}{end}{found[3]}")


@cache
def read_column_types(table: str) -> Mapping[str, str]:
    """Return the columns of a table whose type is a placeholder, such as {guid}, with its name: column, placeholder."""
    text = "".join(each.text for each in assemble("sqlite") if each[:2] == ("TABLE", table))
    found = {
        column: "json_text" if column in _JSON_TEXTS.get(table, ()) else word for column, word in _COLUMN.findall(text)
    }
    return {column: word for column, word in found.items() if word}


def is_time(column: str, word: str) -> bool:
    """Return whether a column has times, by its name and its placeholder type."""
    return word == "long" and bool(_TIME.search(column))
