"""What the export of a person's data reads: a module registers its lists in the tuple `PERSON`, without secrets."""

import re
from collections.abc import AsyncIterator, Callable
from typing import Any

from msgspec import Struct

from gamekeeper.store.engine.interface import Reading, Value
from gamekeeper.store.engine.statements import Statement

PAGE = 500  # rows of a person's data that are in memory at a time
_SELECTED = re.compile(r"SELECT\s+(.*?)\s+FROM\s", re.DOTALL)
_FIRST = {"id": "00000000-0000-0000-0000-000000000000", "variable_id": "00000000-0000-0000-0000-000000000000"}
Fields = dict[str, Any]  # column → value


def _add_nothing(_: Fields) -> Fields:
    return {}


class PersonRows(Struct, frozen=True):
    """The rows of one statement. Its first parameter is the id of the account, and its columns become JSON fields."""

    place: int  # the lists are written in this order; statements of one list follow each other
    list: str
    statement: Statement
    cursor: tuple[str, ...] = ()  # columns of the cursor of a statement that reads pages: its next parameters
    of_players: bool = False  # the first parameter is the id of a player instead; the account may have deleted it
    booleans: tuple[str, ...] = ()  # SQLite has numbers for them
    json: tuple[str, ...] = ()  # columns that are JSON already
    amend: Callable[[Fields], Fields] = _add_nothing  # returns fields to add, or to replace
    is_long: bool = False  # the rows of all players of an account: they get a line each, as those read in pages

    @property
    def has_lines(self) -> bool:
        return self.is_long or self.of_players or bool(self.cursor)

    async def read(self, tx: Reading, owner_id: str) -> AsyncIterator[Fields]:
        """Yield the rows of an account, or of one of its players."""
        names = list_columns(self.statement)
        after: list[Value] = [_FIRST.get(name, 0) for name in self.cursor]
        while True:
            limit = (*after, PAGE) if self.cursor else ()
            rows = await tx.all(self.statement, owner_id, *limit)
            for row in rows:
                fields = dict(zip(names, row, strict=True))
                fields |= {name: bool(fields[name]) for name in self.booleans}
                yield fields | self.amend(fields)
            if not self.cursor or not rows:
                return
            last = dict(zip(names, rows[-1], strict=True))
            after = [last[name] for name in self.cursor]


def list_columns(statement: Statement) -> list[str]:
    """Return the names of the columns that a statement selects: `r.at AS time` is called time, `r.at` at."""
    found = _SELECTED.match(next(iter(statement.texts.values())))
    return [re.split(r"[\s.]", column.strip())[-1] for column in found[1].split(",")] if found else []
