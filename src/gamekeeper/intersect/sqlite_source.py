"""Read Intersect's databases in SQLite files, after an integrity check. Never writes to them."""

import os
import sqlite3
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from urllib.parse import quote

from gamekeeper.game.lookup import ZERO_GUID
from gamekeeper.intersect import values
from gamekeeper.intersect.schemas import BadSource, SourceTable
from gamekeeper.intersect.source import KeySql, Row, Source

LOCK_SECONDS = 3  # longest wait for another program's lock on the SQLite file
CACHE_KIB = 64 * 1024  # KiB of page cache that SQLite uses to read the source


class SqliteSource(Source):
    placeholder = "?"

    def __init__(self, path: Path) -> None:
        self.name = str(path)
        self._indexed: set[str] = set()
        try:
            self._db = _open(path)
            self._check()
            self._db.execute("BEGIN")
        except sqlite3.Error as error:
            raise _explain_error(path, error) from error

    def read_tables(self) -> dict[str, list[str]]:
        names = self.query(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite~_%' ESCAPE '~'"
        )
        return {
            name: [row[0] for row in self.query("SELECT name FROM pragma_table_info(?)", name)]
            for (name,) in list(names)
        }

    def index_ids(self, table: SourceTable) -> None:
        """Create a temporary table of the ids in all spellings: one file can mix several of them."""
        if table.name in self._indexed:
            return
        self._indexed.add(table.name)
        place, key = self.make_key_sql(table, table.key).table, self.quote_name(table.key)
        self.query_all(f"CREATE TEMP TABLE {place} (id TEXT PRIMARY KEY, upper TEXT, raw BLOB) WITHOUT ROWID")
        own = f"SELECT {self.make_guid_sql(key)} AS own FROM {self.quote_name(table.name)} LIMIT -1"  # noqa: S608 - names from the schema
        self.query_all(
            f"INSERT OR IGNORE INTO {place} SELECT own, upper(own), guid_bytes(own) FROM ({own}) "  # noqa: S608 - names from the schema
            f"WHERE own <> '{ZERO_GUID}' ORDER BY own"
        )

    def query_all(self, text: str, *given: object) -> list[Row]:
        try:
            return self._db.execute(text, given).fetchall()
        except sqlite3.Error as error:
            self._replace_bad_text(error)
            return self.query_all(text, *given)

    def query(self, text: str, *given: object) -> Iterator[Row]:
        done = 0
        try:
            for row in self._db.execute(text, given):
                yield row
                done += 1
        except sqlite3.Error as error:
            self._replace_bad_text(error)
            # run the query again and skip the rows already returned: the same snapshot gives them in the same order
            yield from islice(self.query(text, *given), done, None)

    def _replace_bad_text(self, error: sqlite3.Error) -> None:
        """From now on, replace bytes that are not UTF-8. Only when needed, because it is slower."""
        if hasattr(error, "sqlite_errorcode") or self.has_bad_text:  # an error of SQLite itself, not of decoding text
            raise _explain_error(Path(self.name), error) from error
        self.has_bad_text = True
        self._db.text_factory = partial(str, encoding="utf-8", errors="replace")

    def close(self) -> None:
        self._db.close()

    def quote_name(self, name: str) -> str:
        return '"' + name.replace('"', '""') + '"'

    def make_key_sql(self, owners: SourceTable, column: str) -> KeySql:
        return KeySql(
            f"temp.{self.quote_name('ids of ' + owners.name)}",
            "k.id",
            f"t.{self.quote_name(column)} IN (k.id, k.upper, k.raw)",
        )

    def make_guid_sql(self, expression: str) -> str:
        """Return NULL for text that is not ASCII: sqlite3 might fail to decode it for the Python function `guid`."""
        odd = f"typeof({expression}) = 'text' AND {expression} GLOB '*[^ -~]*'"
        return f"CASE WHEN {odd} THEN NULL ELSE guid({expression}) END"

    def list_guid_spellings(self, guid: str) -> Sequence[object]:
        return guid, guid.upper(), values.encode_guid(guid)

    def _check(self) -> None:
        """Check the whole SQLite file before the import starts."""
        self._db.create_function("guid", 1, values.parse_guid, deterministic=True)
        self._db.create_function("guid_bytes", 1, _encode_guid, deterministic=True)
        self._db.execute(f"PRAGMA cache_size = -{CACHE_KIB}")
        found = [row[0] for row in self._db.execute("PRAGMA quick_check(1)")]
        if found != ["ok"]:
            raise _report_damage(self.name, str(found[0]))


def _encode_guid(guid: str | None) -> bytes | None:
    return None if guid is None else values.encode_guid(guid)


def _open(path: Path) -> sqlite3.Connection:
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
    return sqlite3.connect(uri, uri=True, isolation_level=None, timeout=LOCK_SECONDS, check_same_thread=False)


def _explain_error(path: Path, error: sqlite3.Error) -> BadSource:
    name = getattr(error, "sqlite_errorname", "")
    if name.startswith("SQLITE_NOTADB"):
        return BadSource(f"{path} is not an SQLite database. Give playerdata.db and gamedata.db of the game.")
    if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        return BadSource(f"{path} is locked by another program. Stop the game server, or copy the file.")
    if name.startswith("SQLITE_CORRUPT"):
        return _report_damage(str(path), str(error))
    return BadSource(f"{path} cannot be read: {error}. Check the permissions of the file and its folder.")


def _report_damage(name: str, what: str) -> BadSource:
    return BadSource(
        f"{name} is damaged: {what.strip()}. Nothing was imported. Use a backup of the file, or recover its data with "
        f"`sqlite3 {name} .recover | sqlite3 saved.db` and import saved.db."
    )
