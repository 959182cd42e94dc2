"""Intersect's databases on a MySQL or MariaDB server, read in one snapshot."""

from collections.abc import Iterator, Sequence
from typing import Any
from urllib.parse import unquote, urlsplit

from gamekeeper.game.lookup import ZERO_GUID
from gamekeeper.intersect.eras import BadSource, Table
from gamekeeper.intersect.source import Keys, Row, Source

SCHEME = "mysql://"
PORT = 3306
CONNECT_SECONDS = 10
SOME = 1000  # rows in one go
GUID = "^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$"  # in the one form that is in their order
SNAPSHOT = (
    "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ",
    "SET SESSION TRANSACTION READ ONLY",
    "START TRANSACTION WITH CONSISTENT SNAPSHOT",
)


class MysqlSource(Source):
    mark = "%s"

    def __init__(self, url: str) -> None:
        self.name = SCHEME
        self._driver = _driver()
        try:
            parts = urlsplit(url)
            self.name = f"{SCHEME}{parts.hostname}/{parts.path[1:]}"  # without the password
            self._db = self._driver.connect(
                host=parts.hostname or "localhost",
                port=parts.port or PORT,
                user=unquote(parts.username or ""),
                password=unquote(parts.password or ""),
                database=unquote(parts.path[1:]),
                charset="utf8mb4",
                connect_timeout=CONNECT_SECONDS,
                cursorclass=self._driver.cursors.SSCursor,
            )
        except (self._driver.MySQLError, ValueError) as error:
            raise BadSource(
                f"{self.name} cannot be reached: {_said(error)}. It is mysql://user:password@host/database; in a "
                "password write / as %2F, ? as %3F, # as %23, [ as %5B and @ as %40."
            ) from error
        for text in SNAPSHOT:
            list(self.run(text))

    def tables(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        text = (
            "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = DATABASE() "
            "ORDER BY table_name, ordinal_position"
        )
        for table, column in self.run(text):
            found.setdefault(table, []).append(column)
        return found

    def order(self, table: Table) -> None:
        """They are in order: the server compares guids as we do, without regard to case."""

    def run(self, text: str, *given: object) -> Iterator[Row]:
        try:
            with self._db.cursor() as cursor:
                cursor.execute(text, given or None)
                while some := cursor.fetchmany(SOME):
                    yield from some
        except self._driver.MySQLError as error:
            raise BadSource(f"{self.name} cannot be read: {_said(error)}. Nothing is changed there.") from error

    def all(self, text: str, *given: object) -> list[Row]:
        return list(self.run(text, *given))

    def close(self) -> None:
        self._db.close()

    def quoted(self, name: str) -> str:
        return "`" + name.replace("`", "``") + "`"

    def keys(self, owners: Table, column: str) -> Keys:
        key = self.quoted(owners.key)
        place = f"(SELECT {key} FROM {self.quoted(owners.name)} WHERE {key} REGEXP '{GUID}' AND {key} <> '{ZERO_GUID}')"  # noqa: S608 - names that the schema has
        return Keys(place, f"LOWER(k.{key})", f"t.{self.quoted(column)} = k.{key}")

    def guid(self, expression: str) -> str:
        return f"CASE WHEN {expression} REGEXP '{GUID}' THEN LOWER({expression}) END"

    def forms(self, guid: str) -> Sequence[object]:
        return (guid,)


def _driver() -> Any:  # noqa: ANN401 - the driver has no types
    """Only who needs it has it."""
    try:
        import pymysql  # noqa: PLC0415 - an extra
    except ImportError:
        raise BadSource(
            "Reading from MySQL needs another package. Install it with: pip install 'gamekeeper[mysql]'"
        ) from None
    return pymysql


def _said(error: Exception) -> str:
    return str(error.args[-1] if error.args else error).rstrip(".")
