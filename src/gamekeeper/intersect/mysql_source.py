"""Read Intersect's databases on a MySQL or MariaDB server in one consistent snapshot."""

import sys
from collections.abc import Iterator, Sequence
from typing import Any
from urllib.parse import unquote, urlsplit

from gamekeeper.game.lookup import ZERO_GUID
from gamekeeper.intersect.schemas import BadSource, SourceTable
from gamekeeper.intersect.source import KeySql, Row, Source

SCHEME = "mysql://"
DEFAULT_PORT = 3306
CONNECT_SECONDS = 10  # timeout of a connection attempt to MySQL
FETCH_ROWS = 1000  # rows fetched from MySQL at once
# guids with hyphens, the only spelling that MySQL sorts in the same order as Gamekeeper's ids
GUID_REGEXP = "^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$"
SNAPSHOT_STATEMENTS = (
    "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ",
    "SET SESSION TRANSACTION READ ONLY",
    "START TRANSACTION WITH CONSISTENT SNAPSHOT",
)


class MysqlSource(Source):
    placeholder = "%s"

    def __init__(self, url: str) -> None:
        self.name = SCHEME
        self._driver = _import_driver()
        try:
            parts = urlsplit(url)
            self.name = f"{SCHEME}{parts.hostname}/{parts.path[1:]}"  # for messages: the URL without the password
            self._db = self._driver.connect(
                host=parts.hostname or "localhost",
                port=parts.port or DEFAULT_PORT,
                user=unquote(parts.username or ""),
                password=unquote(parts.password or ""),
                database=unquote(parts.path[1:]),
                charset="utf8mb4",
                connect_timeout=CONNECT_SECONDS,
                cursorclass=self._driver.cursors.SSCursor,
            )
        except (self._driver.MySQLError, ValueError) as error:
            raise BadSource(
                f"Cannot connect to {self.name}: {_describe_error(error)}. The address must have the form "
                "mysql://user:password@host/database. In a password write / as %2F, ? as %3F, # as %23, [ as %5B and "
                "@ as %40."
            ) from error
        for text in SNAPSHOT_STATEMENTS:
            list(self.query(text))

    def read_tables(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        text = (
            "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = DATABASE() "
            "ORDER BY table_name, ordinal_position"
        )
        for table, column in self.query(text):
            found.setdefault(table, []).append(column)
        return found

    def index_ids(self, table: SourceTable) -> None:
        """Do nothing: the MySQL server already sorts guids as we do, ignoring case."""

    def query(self, text: str, *given: object) -> Iterator[Row]:
        try:
            with self._db.cursor() as cursor:
                cursor.execute(text, given or None)
                while some := cursor.fetchmany(FETCH_ROWS):
                    yield from some
        except self._driver.MySQLError as error:
            raise BadSource(
                f"{self.name} cannot be read: {_describe_error(error)}. Nothing is changed there."
            ) from error

    def query_all(self, text: str, *given: object) -> list[Row]:
        return list(self.query(text, *given))

    def close(self) -> None:
        self._db.close()

    def quote_name(self, name: str) -> str:
        return "`" + name.replace("`", "``") + "`"

    def make_key_sql(self, owners: SourceTable, column: str) -> KeySql:
        key, name = self.quote_name(owners.key), self.quote_name(owners.name)
        table = f"(SELECT {key} FROM {name} WHERE {key} REGEXP '{GUID_REGEXP}' AND {key} <> '{ZERO_GUID}')"  # noqa: S608 - names from the schema
        return KeySql(table, f"LOWER(k.{key})", f"t.{self.quote_name(column)} = k.{key}")

    def make_guid_sql(self, expression: str) -> str:
        return f"CASE WHEN {expression} REGEXP '{GUID_REGEXP}' THEN LOWER({expression}) END"

    def list_guid_spellings(self, guid: str) -> Sequence[object]:
        return (guid,)


def _import_driver() -> Any:  # noqa: ANN401 - the driver has no types
    """Import PyMySQL, which is an optional dependency."""
    try:
        import pymysql  # noqa: PLC0415 - optional dependency
    except ImportError:
        raise BadSource(
            f"Reading from MySQL needs the package PyMySQL. Install it with: {sys.executable} -m pip install PyMySQL"
        ) from None
    return pymysql


def _describe_error(error: Exception) -> str:
    return str(error.args[-1] if error.args else error).rstrip(".")
