"""A set of keys in a temporary SQLite database, which may be larger than memory."""

import json
from collections.abc import Iterable

import apsw


class KeySet:
    def __init__(self) -> None:
        self._db = apsw.Connection("")  # "" opens a temporary SQLite database
        self._db.execute("CREATE TABLE seen (kind TEXT, key TEXT, PRIMARY KEY (kind, key)) WITHOUT ROWID")
        self._db.execute("BEGIN")

    def add(self, kind: str, keys: Iterable[str]) -> None:
        self._db.executemany("INSERT OR IGNORE INTO seen VALUES (?, ?)", ((kind, key) for key in keys))

    def find_known(self, kind: str, keys: Iterable[str]) -> set[str]:
        text = "SELECT seen.key FROM json_each(?) AS asked JOIN seen ON seen.kind = ? AND seen.key = asked.value"
        return {row[0] for row in self._db.execute(text, (json.dumps(list(keys)), kind))}

    def close(self) -> None:
        self._db.close()
