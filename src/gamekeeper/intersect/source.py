"""Read-only access to an Intersect database: batches of rows, sorted by our ids, from one consistent snapshot."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple

from gamekeeper.game.lookup import ZERO_GUID
from gamekeeper.intersect.schemas import SourceTable

Row = tuple[Any, ...]
IDS_PER_QUERY = 300  # most ids that one query looks up; each spelling of an id is a parameter of the query


class KeySql(NamedTuple):
    """SQL fragments to join a table's rows (`t`) with the valid ids of their owners (`k`), sorted like our ids."""

    table: str
    id: str
    matches: str


class TableSize(NamedTuple):
    rows: int
    filled: int  # number of rows that are not empty slots


class Source(ABC):
    """A database of Intersect. Every row that it returns starts with its owner's id, as a guid in our spelling."""

    name: str
    has_bad_text = False  # whether invalid UTF-8 was found in the database so far
    placeholder: str  # placeholder of a value in an SQL statement

    @abstractmethod
    def read_tables(self) -> dict[str, list[str]]: ...

    @abstractmethod
    def index_ids(self, table: SourceTable) -> None:
        """Prepare to read tables whose rows belong to rows of this table, in the order of this table's ids."""

    @abstractmethod
    def query(self, text: str, *given: object) -> Iterator[Row]:
        """Yield the rows of a query one by one: they may be larger than memory."""

    @abstractmethod
    def query_all(self, text: str, *given: object) -> list[Row]: ...

    @abstractmethod
    def close(self) -> None: ...

    @abstractmethod
    def quote_name(self, name: str) -> str: ...

    @abstractmethod
    def make_key_sql(self, owners: SourceTable, column: str) -> KeySql: ...

    @abstractmethod
    def make_guid_sql(self, expression: str) -> str:
        """Return SQL that converts a column to a guid in Gamekeeper's spelling, or to NULL if it is no guid."""

    @abstractmethod
    def list_guid_spellings(self, guid: str) -> Sequence[object]:
        """Return all spellings of a guid that an Intersect database may contain."""

    def read_migrations(self) -> set[str]:
        history = next((each for each in self.read_tables() if each.lower() == "__efmigrationshistory"), None)
        if history is None:
            return set()
        column, table = self.quote_name("MigrationId"), self.quote_name(history)
        return {row[0] for row in self.query(f"SELECT {column} FROM {table}")}  # noqa: S608 - names from the schema

    def read_ids(self, table: SourceTable, after: str, limit: int) -> list[str]:
        keys = self.make_key_sql(table, table.key)
        text = f"SELECT {keys.id} FROM {keys.table} k WHERE k.id > {self.placeholder} ORDER BY k.id LIMIT {limit:d}"  # noqa: S608 - names from the schema
        return [row[0] for row in self.query_all(text, after)]

    def read_rows(self, owners: SourceTable, table: SourceTable, first: str, last: str) -> list[Row]:
        """Return the rows of owners from the first to the last id, sorted by owner."""
        keys, name, mark = self.make_key_sql(owners, table.key), self.quote_name(table.name), self.placeholder
        text = (
            f"SELECT {keys.id}, {self._make_columns_sql(table)} FROM {keys.table} k CROSS JOIN {name} t "  # noqa: S608 - names from the schema
            f"WHERE {keys.matches} AND k.id >= {mark} AND k.id <= {mark}{self._fill_sql(table)} ORDER BY k.id"
        )
        return self.query_all(text, first, last)

    def read_rows_of(self, table: SourceTable, ids: Iterable[str]) -> Iterator[Row]:
        """Yield the rows of these owners, in any order."""
        waiting, key, name = iter(ids), self._make_column_sql(table.key), self.quote_name(table.name)
        while some := list(islice(waiting, IDS_PER_QUERY)):
            forms = [form for each in some for form in self.list_guid_spellings(each)]
            marks = ", ".join([self.placeholder] * len(forms))
            text = (
                f"SELECT {self.make_guid_sql(key)}, {self._make_columns_sql(table)} FROM {name} t "  # noqa: S608 - names from the schema
                f"WHERE {key} IN ({marks}){self._fill_sql(table)}"
            )
            yield from self.query(text, *forms)

    def read_table(self, table: SourceTable) -> Iterator[Row]:
        key, columns = self.make_guid_sql(self._make_column_sql(table.key)), self._make_columns_sql(table)
        return self.query(f"SELECT {key}, {columns} FROM {self.quote_name(table.name)} t ORDER BY 1")  # noqa: S608 - names from the schema

    def read_orphans(self, owners: SourceTable, table: SourceTable) -> Iterator[Row]:
        """Yield id and owner of rows without a valid owner. For a table of owners, yield rows with an invalid id."""
        keys = self.make_key_sql(owners, table.key)
        key, name = self._make_column_sql(table.key), self.quote_name(table.name)
        first = key if table is owners else self._make_column_sql(table.columns[0] or table.key)
        found = f"SELECT 1 FROM {keys.table} k WHERE k.id = {self.make_guid_sql(key)} AND {keys.matches}"  # noqa: S608 - names from the schema
        text = f"SELECT {first}, {key} FROM {name} t WHERE NOT EXISTS ({found}){self._fill_sql(table)}"  # noqa: S608 - names from the schema
        return self.query(text)

    def read_first(self, table: SourceTable, wanted: int, by: int, least: int, most: int) -> object:
        """Return the smallest value of column `wanted` in rows whose column `by` is from `least` to below `most`."""
        value, number = (self._make_column_sql(table.columns[each] or "") for each in (wanted, by))
        mark, name = self.placeholder, self.quote_name(table.name)
        text = f"SELECT MIN({value}) FROM {name} t WHERE {number} >= {mark} AND {number} < {mark}"  # noqa: S608 - names from the schema
        return next(self.query(text, least, most))[0]

    def read_distinct(self, table: SourceTable, wanted: str, zero: str) -> Iterator[Row]:
        """Yield the different values of a column that is not null, in rows whose column `zero` is 0."""
        value, name = self._make_column_sql(wanted), self.quote_name(table.name)
        return self.query(
            f"SELECT DISTINCT {value} FROM {name} t WHERE {value} IS NOT NULL AND {self._make_column_sql(zero)} = 0"  # noqa: S608 - names from the schema
        )

    def count_rows(self, table: SourceTable) -> TableSize:
        filled = f"COUNT(CASE WHEN true{self._fill_sql(table)} THEN 1 END)"
        return TableSize(*next(self.query(f"SELECT COUNT(*), {filled} FROM {self.quote_name(table.name)} t")))  # noqa: S608 - names from the schema

    def count_all(self, name: str) -> int:
        return next(self.query(f"SELECT COUNT(*) FROM {self.quote_name(name)}"))[0]  # noqa: S608 - name from the schema

    def _fill_sql(self, table: SourceTable) -> str:
        if table.blank is None:
            return ""
        zeros = ", ".join(self.make_literal_sql(form) for form in self.list_guid_spellings(ZERO_GUID))
        return f" AND {self._make_column_sql(table.blank)} NOT IN ({zeros})"

    def make_literal_sql(self, value: object) -> str:
        return f"x'{value.hex()}'" if isinstance(value, bytes) else f"'{value}'"

    def _make_columns_sql(self, table: SourceTable) -> str:
        return ", ".join(self._make_column_sql(each) if each else "NULL" for each in table.columns)

    def _make_column_sql(self, name: str) -> str:
        return f"t.{self.quote_name(name)}"
