"""A database of Intersect, read only: its tables in the order of our ids, some at a time, as they are at one moment."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple

from gamekeeper.game.lookup import ZERO_GUID
from gamekeeper.intersect.eras import Table

Row = tuple[Any, ...]
SOME = 300  # ids in one question


class Keys(NamedTuple):
    """Where a table's ids, if they are guids and not all zeros, stand in our order, as `k`; how a row, `t`, matches."""

    place: str
    id: str
    matches: str


class Counted(NamedTuple):
    rows: int
    filled: int  # without those that stand for an empty slot


class Source(ABC):
    """`name` is what people know it by. Whose a row is stands before its columns, as a guid of ours."""

    name: str
    replaces = False  # whether it has text that is not UTF-8, as far as it was read
    mark: str  # where a value goes in a statement

    @abstractmethod
    def tables(self) -> dict[str, list[str]]: ...

    @abstractmethod
    def order(self, table: Table) -> None:
        """Makes ready that others are read in the order of its ids."""

    @abstractmethod
    def run(self, text: str, *given: object) -> Iterator[Row]:
        """Row by row: they may be more than the memory holds."""

    @abstractmethod
    def all(self, text: str, *given: object) -> list[Row]: ...

    @abstractmethod
    def close(self) -> None: ...

    @abstractmethod
    def quoted(self, name: str) -> str: ...

    @abstractmethod
    def keys(self, owners: Table, column: str) -> Keys: ...

    @abstractmethod
    def guid(self, expression: str) -> str:
        """The guid in it as we spell it; NULL when it is none."""

    @abstractmethod
    def forms(self, guid: str) -> Sequence[object]:
        """All ways to spell it there."""

    def migrations(self) -> set[str]:
        history = next((each for each in self.tables() if each.lower() == "__efmigrationshistory"), None)
        if history is None:
            return set()
        return {row[0] for row in self.run(f"SELECT {self.quoted('MigrationId')} FROM {self.quoted(history)}")}  # noqa: S608 - names that the schema has

    def ids(self, table: Table, after: str, limit: int) -> list[str]:
        keys = self.keys(table, table.key)
        text = f"SELECT {keys.id} FROM {keys.place} k WHERE k.id > {self.mark} ORDER BY k.id LIMIT {limit:d}"  # noqa: S608 - names that the schema has
        return [row[0] for row in self.all(text, after)]

    def rows(self, owners: Table, table: Table, first: str, last: str) -> list[Row]:
        """What those from the first to the last id have in a table, in the order of the ids."""
        keys = self.keys(owners, table.key)
        text = (
            f"SELECT {keys.id}, {self._columns(table)} FROM {keys.place} k CROSS JOIN {self.quoted(table.name)} t "  # noqa: S608 - names that the schema has
            f"WHERE {keys.matches} AND k.id >= {self.mark} AND k.id <= {self.mark}{self._filled(table)} ORDER BY k.id"
        )
        return self.all(text, first, last)

    def among(self, table: Table, ids: Iterable[str]) -> Iterator[Row]:
        """What some have in a table, in any order."""
        waiting = iter(ids)
        while some := list(islice(waiting, SOME)):
            forms = [form for each in some for form in self.forms(each)]
            marks = ", ".join([self.mark] * len(forms))
            text = (
                f"SELECT {self.guid(self._column(table.key))}, {self._columns(table)} FROM {self.quoted(table.name)} t "  # noqa: S608 - names that the schema has
                f"WHERE {self._column(table.key)} IN ({marks}){self._filled(table)}"
            )
            yield from self.run(text, *forms)

    def every(self, table: Table) -> Iterator[Row]:
        key = self._column(table.key)
        return self.run(
            f"SELECT {self.guid(key)}, {self._columns(table)} FROM {self.quoted(table.name)} t ORDER BY 1"  # noqa: S608 - names that the schema has
        )

    def strays(self, owners: Table, table: Table) -> Iterator[Row]:
        """The first column of those rows that `rows` gives to nobody; of owners themselves, what stands for an id."""
        keys = self.keys(owners, table.key)
        key = self._column(table.key)
        first = key if table is owners else self._column(table.columns[0] or table.key)
        found = f"SELECT 1 FROM {keys.place} k WHERE k.id = {self.guid(key)} AND {keys.matches}"  # noqa: S608 - names that the schema has
        text = f"SELECT {first}, {key} FROM {self.quoted(table.name)} t WHERE NOT EXISTS ({found}){self._filled(table)}"  # noqa: S608 - names that the schema has
        return self.run(text)

    def count(self, table: Table) -> Counted:
        filled = f"COUNT(CASE WHEN true{self._filled(table)} THEN 1 END)"
        return Counted(*next(self.run(f"SELECT COUNT(*), {filled} FROM {self.quoted(table.name)} t")))  # noqa: S608 - names that the schema has

    def size(self, name: str) -> int:
        return next(self.run(f"SELECT COUNT(*) FROM {self.quoted(name)}"))[0]  # noqa: S608 - a name that the schema has

    def _filled(self, table: Table) -> str:
        if table.blank is None:
            return ""
        zeros = ", ".join(self.literal(form) for form in self.forms(ZERO_GUID))
        return f" AND {self._column(table.blank)} NOT IN ({zeros})"

    def literal(self, value: object) -> str:
        return f"x'{value.hex()}'" if isinstance(value, bytes) else f"'{value}'"

    def _columns(self, table: Table) -> str:
        return ", ".join(self._column(each) if each else "NULL" for each in table.columns)

    def _column(self, name: str) -> str:
        return f"t.{self.quoted(name)}"
