"""Read Intersect's databases in SQLite files, after an integrity check, or on a MySQL or MariaDB server.

Never writes to them; reads one consistent snapshot.
"""

import contextlib
import os
import sys
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote, urlsplit

import apsw

from gamekeeper.game.core.lookup import ZERO_GUID
from gamekeeper.intersect import values
from gamekeeper.intersect.sources import BadSource, KeySql, Row, Source, SourceTable

LOCK_SECONDS = 3  # longest wait for another program's lock on the SQLite file
CACHE_KIB = 64 * 1024  # KiB of page cache that SQLite uses to read the source
MAX_VALUE_MIB = 64  # largest value or row: an expression in the schema could compute one that fills the memory
GENERATED_COLUMNS = """SELECT c.name, t.name FROM sqlite_master AS t, pragma_table_xinfo(t.name) AS c
    WHERE t.type = 'table' AND c.hidden IN (2, 3) LIMIT 1"""


class SqliteSource(Source):
    placeholder, quote = "?", '"'
    tables_sql = """SELECT t.name, c.name FROM sqlite_master AS t, pragma_table_info(t.name) AS c
        WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite~_%' ESCAPE '~' ORDER BY t.rowid, c.cid"""

    def __init__(self, path: Path) -> None:
        self.name = str(path)
        self._indexed: set[str] = set()
        self._tolerant: dict[str, str] = {}  # queries, and the same queries with bytes that are not UTF-8 replaced
        try:
            self._db = _open(path)
            self._check()
            self._db.execute("BEGIN")
        except apsw.Error as error:
            raise _explain_error(path, error) from error

    def index_ids(self, table: SourceTable) -> None:
        """Create a temporary table of the ids in all spellings: one file can mix several of them."""
        if table.name in self._indexed:
            return
        self._indexed.add(table.name)
        place, key = self.make_key_sql(table, table.key).table, self.quote_name(table.key)
        self._db.execute(f"CREATE TEMP TABLE {place} (id TEXT PRIMARY KEY, upper TEXT, raw BLOB) WITHOUT ROWID")
        own = f"SELECT {self.make_guid_sql(key)} AS own FROM {self.quote_name(table.name)} LIMIT -1"  # noqa: S608 - names from the schema
        insert = (
            f"INSERT OR IGNORE INTO {place} SELECT own, upper(own), guid_bytes(own) FROM ({own}) "  # noqa: S608 - names from the schema
            f"WHERE own <> '{ZERO_GUID}' ORDER BY own"
        )
        list(self.query(insert))

    def query(self, text: str, *given: object) -> Iterator[Row]:
        done = 0
        try:
            for row in self._db.execute(self._make_tolerant(text, given) if self.has_bad_text else text, given):
                yield row
                done += 1
        except apsw.Error as error:
            raise _explain_error(Path(self.name), error) from error
        except UnicodeDecodeError:
            self.has_bad_text = True  # from now on, replace bytes that are not UTF-8: only when needed, as it is slower
            # run the query again and skip the rows already returned: the same snapshot gives them in the same order
            yield from islice(self.query(text, *given), done, None)

    def _make_tolerant(self, text: str, given: tuple[Any, ...]) -> str:
        """Read the texts of a query as bytes, which `decode_text` decodes: APSW itself only decodes valid UTF-8."""
        if text not in self._tolerant:
            columns = [f"c{number}" for number in range(self._count_columns(text, given))]
            texts = ", ".join(
                f"iif(typeof({each}) = 'text', decode_text(CAST({each} AS BLOB)), {each})" for each in columns
            )
            wrapped = f"WITH found ({', '.join(columns)}) AS ({text}) SELECT {texts} FROM found"  # noqa: S608 - our text
            self._tolerant[text] = wrapped if columns else text
        return self._tolerant[text]

    def _count_columns(self, text: str, given: tuple[Any, ...]) -> int:
        counts: list[int] = []

        def count_and_stop(cursor: apsw.Cursor, *_: object) -> bool:
            counts.append(len(cursor.get_description()))
            return False  # do not run the query

        cursor = self._db.cursor()
        cursor.exec_trace = count_and_stop
        with contextlib.suppress(apsw.ExecTraceAbort):
            cursor.execute(text, given)
        return counts[0]

    def _decode_text(self, raw: bytes) -> str:
        return raw.decode(self._encoding, "replace")

    def make_key_sql(self, owners: SourceTable, column: str) -> KeySql:
        return KeySql(
            f"temp.{self.quote_name('ids of ' + owners.name)}",
            "k.id",
            f"t.{self.quote_name(column)} IN (k.id, k.upper, k.raw)",
        )

    def make_guid_sql(self, expression: str) -> str:
        """Return NULL for text that is not ASCII: APSW might fail to decode it for the Python function `guid`."""
        odd = f"typeof({expression}) = 'text' AND {expression} GLOB '*[^ -~]*'"
        return f"CASE WHEN {odd} THEN NULL ELSE guid({expression}) END"

    def list_guid_spellings(self, guid: str) -> Sequence[object]:
        return guid, guid.upper(), values.encode_guid(guid)

    def _check(self) -> None:
        """Check the whole SQLite file before the import starts."""
        self._db.create_scalar_function("guid", values.parse_guid, 1, deterministic=True)
        self._db.create_scalar_function("guid_bytes", _encode_guid, 1, deterministic=True)
        self._db.create_scalar_function("decode_text", self._decode_text, 1, deterministic=True)
        self._encoding: str = self._db.pragma("encoding")  # such as UTF-8 or UTF-16le, names that Python knows too
        self._db.pragma("cache_size", -CACHE_KIB)
        self._db.limit(apsw.SQLITE_LIMIT_LENGTH, MAX_VALUE_MIB << 20)
        self._db.pragma("ignore_check_constraints", "ON")  # the check would compute these expressions for each row
        for column, table in self._db.execute(GENERATED_COLUMNS):
            raise BadSource(f"{self.name} has a generated column {column} in {table}, which Intersect does not create.")
        found = [row[0] for row in self._db.execute("PRAGMA quick_check(1)")]
        if found != ["ok"]:
            raise _report_damage(self.name, str(found[0]))


def _encode_guid(guid: str | None) -> bytes | None:
    return None if guid is None else values.encode_guid(guid)


def _open(path: Path) -> apsw.Connection:
    if not path.is_file():
        raise BadSource(f"The file {path} does not exist. Intersect keeps its databases in the folder resources.")
    options = "mode=ro"
    if not os.access(path.parent, os.W_OK):  # in a read-only folder SQLite cannot create its -shm file
        wal = path.with_name(path.name + "-wal")
        if wal.exists() and wal.stat().st_size:
            raise BadSource(
                f"{wal} has changes that cannot be read, because the folder is read-only. Copy {path.name}* to "
                "another folder."
            )
        options += "&immutable=1"
    uri = f"file:{quote(str(path.absolute()))}?{options}"
    db = apsw.Connection(uri, apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI)
    db.set_busy_timeout(int(LOCK_SECONDS * 1000))
    return db


def _explain_error(path: Path, error: apsw.Error) -> BadSource:
    if isinstance(error, apsw.NotADBError):
        return BadSource(f"{path} is not an SQLite database. Give playerdata.db and gamedata.db of the game.")
    if isinstance(error, (apsw.BusyError, apsw.LockedError)):
        return BadSource(f"{path} is locked by another program. Stop the game server, or copy the file.")
    if isinstance(error, apsw.TooBigError):
        return BadSource(f"{path} has a value of more than {MAX_VALUE_MIB} MiB, which Intersect does not write.")
    if isinstance(error, apsw.CorruptError):
        return _report_damage(str(path), str(error))
    return BadSource(f"{path} cannot be read: {error}. Check the permissions of the file and its folder.")


def _report_damage(name: str, what: str) -> BadSource:
    return BadSource(
        f"{name} is damaged: {what.strip()}. Nothing was imported. Use a backup of the file, or recover its data with "
        f"`sqlite3 {name} .recover | sqlite3 saved.db` and import saved.db."
    )


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
    placeholder, quote = "%s", "`"
    tables_sql = """SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = DATABASE()
        ORDER BY table_name, ordinal_position"""

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

    def make_key_sql(self, owners: SourceTable, column: str) -> KeySql:
        key, name = self.quote_name(owners.key), self.quote_name(owners.name)
        table = f"(SELECT {key} FROM {name} WHERE {key} REGEXP '{GUID_REGEXP}' AND {key} <> '{ZERO_GUID}')"  # noqa: S608 - names from the schema
        return KeySql(table, f"LOWER(k.{key})", f"t.{self.quote_name(column)} = k.{key}")

    def make_guid_sql(self, expression: str) -> str:
        return f"CASE WHEN {expression} REGEXP '{GUID_REGEXP}' THEN LOWER({expression}) END"


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
