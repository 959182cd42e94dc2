"""A database of Intersect, read only: its tables in the order of our ids, some at a time, as they are at one moment."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple

from gamekeeper.game.lookup import ZERO_GUID
from gamekeeper.intersect.schemas import SourceTable

Row = tuple[Any, ...]
IDS_PER_QUERY = 300  # ids in one question


class KeySql(NamedTuple):
    """Where a table's ids, if they are guids and not all zeros, stand in our order, as `k`; how a row, `t`, matches."""

    table: str
    id: str
    matches: str


class TableSize(NamedTuple):
    rows: int
    filled: int  # without those that stand for an empty slot


class Source(ABC):
    """`name` is what people know it by. Whose a row is stands before its columns, as a guid of ours."""

    name: str
    has_bad_text = False  # whether it has text that is not UTF-8, as far as it was read
    placeholder: str  # where a value goes in a statement

    @abstractmethod
    def read_tables(self) -> dict[str, list[str]]: ...

    @abstractmethod
    def index_ids(self, table: SourceTable) -> None:
        """Makes ready that others are read in the order of its ids."""

    @abstractmethod
    def query(self, text: str, *given: object) -> Iterator[Row]:
        """Row by row: they may be more than the memory holds."""

    @abstractmethod
    def query_all(self, text: str, *given: object) -> list[Row]: ...

    @abstractmethod
    def close(self) -> None: ...

    @abstractmethod
    def quote_name(self, name: str) -> str: ...

    @abstractmethod
    def key_sql(self, owners: SourceTable, column: str) -> KeySql: ...

    @abstractmethod
    def guid_sql(self, expression: str) -> str:
        """The guid in it as we spell it; NULL when it is none."""

    @abstractmethod
    def guid_spellings(self, guid: str) -> Sequence[object]:
        """All ways to spell it there."""

    def read_migrations(self) -> set[str]:
        history = next((each for each in self.read_tables() if each.lower() == "__efmigrationshistory"), None)
        if history is None:
            return set()
        column, table = self.quote_name("MigrationId"), self.quote_name(history)
        return {row[0] for row in self.query(f"SELECT {column} FROM {table}")}  # noqa: S608 - names that the schema has

    def read_ids(self, table: SourceTable, after: str, limit: int) -> list[str]:
        keys = self.key_sql(table, table.key)
        text = f"SELECT {keys.id} FROM {keys.table} k WHERE k.id > {self.placeholder} ORDER BY k.id LIMIT {limit:d}"  # noqa: S608 - names that the schema has
        return [row[0] for row in self.query_all(text, after)]

    def read_rows(self, owners: SourceTable, table: SourceTable, first: str, last: str) -> list[Row]:
        """What those from the first to the last id have in a table, in the order of the ids."""
        keys, name, mark = self.key_sql(owners, table.key), self.quote_name(table.name), self.placeholder
        text = (
            f"SELECT {keys.id}, {self._columns_sql(table)} FROM {keys.table} k CROSS JOIN {name} t "  # noqa: S608 - names that the schema has
            f"WHERE {keys.matches} AND k.id >= {mark} AND k.id <= {mark}{self._filled_sql(table)} ORDER BY k.id"
        )
        return self.query_all(text, first, last)

    def read_rows_of(self, table: SourceTable, ids: Iterable[str]) -> Iterator[Row]:
        """What some have in a table, in any order."""
        waiting, key, name = iter(ids), self._column_sql(table.key), self.quote_name(table.name)
        while some := list(islice(waiting, IDS_PER_QUERY)):
            forms = [form for each in some for form in self.guid_spellings(each)]
            marks = ", ".join([self.placeholder] * len(forms))
            text = (
                f"SELECT {self.guid_sql(key)}, {self._columns_sql(table)} FROM {name} t "  # noqa: S608 - names that the schema has
                f"WHERE {key} IN ({marks}){self._filled_sql(table)}"
            )
            yield from self.query(text, *forms)

    def read_table(self, table: SourceTable) -> Iterator[Row]:
        key = self._column_sql(table.key)
        return self.query(
            f"SELECT {self.guid_sql(key)}, {self._columns_sql(table)} FROM {self.quote_name(table.name)} t ORDER BY 1"  # noqa: S608 - names that the schema has
        )

    def read_orphans(self, owners: SourceTable, table: SourceTable) -> Iterator[Row]:
        """The first column of those rows that `rows` gives to nobody; of owners themselves, what stands for an id."""
        keys = self.key_sql(owners, table.key)
        key, name = self._column_sql(table.key), self.quote_name(table.name)
        first = key if table is owners else self._column_sql(table.columns[0] or table.key)
        found = f"SELECT 1 FROM {keys.table} k WHERE k.id = {self.guid_sql(key)} AND {keys.matches}"  # noqa: S608 - names that the schema has
        text = f"SELECT {first}, {key} FROM {name} t WHERE NOT EXISTS ({found}){self._filled_sql(table)}"  # noqa: S608 - names that the schema has
        return self.query(text)

    def count_rows(self, table: SourceTable) -> TableSize:
        filled = f"COUNT(CASE WHEN true{self._filled_sql(table)} THEN 1 END)"
        return TableSize(*next(self.query(f"SELECT COUNT(*), {filled} FROM {self.quote_name(table.name)} t")))  # noqa: S608 - names that the schema has

    def count_all(self, name: str) -> int:
        return next(self.query(f"SELECT COUNT(*) FROM {self.quote_name(name)}"))[0]  # noqa: S608 - a name that the schema has

    def _filled_sql(self, table: SourceTable) -> str:
        if table.blank is None:
            return ""
        zeros = ", ".join(self.literal_sql(form) for form in self.guid_spellings(ZERO_GUID))
        return f" AND {self._column_sql(table.blank)} NOT IN ({zeros})"

    def literal_sql(self, value: object) -> str:
        return f"x'{value.hex()}'" if isinstance(value, bytes) else f"'{value}'"

    def _columns_sql(self, table: SourceTable) -> str:
        return ", ".join(self._column_sql(each) if each else "NULL" for each in table.columns)

    def _column_sql(self, name: str) -> str:
        return f"t.{self.quote_name(name)}"
