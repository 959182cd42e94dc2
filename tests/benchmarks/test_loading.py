import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from benchmarks import loading
from gamekeeper.demo import filling

SCHEMA = "SELECT type, name FROM sqlite_master WHERE type IN ('index', 'trigger')"


def asked(path: Path, query: str) -> Sequence[Any]:
    with closing(sqlite3.connect(path)) as db:
        return sorted(db.execute(query))


def test_both_do_the_same_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loading, "PLAYERS", 50)
    monkeypatch.setattr(filling, "BATCH", 20)
    empty, ours, plain = (tmp_path / f"{name}.db" for name in ("empty", "ours", "plain"))
    loading.fill(empty)
    for each in (ours, plain):
        each.write_bytes(empty.read_bytes())
    loading.load(ours)
    loading.insert(plain, loading.loaded(empty, ours))
    for table in ("users", "players", *loading.HELD):
        everything = f"SELECT * FROM {table}"  # noqa: S608 - our tables
        assert asked(plain, everything) == asked(ours, everything)
    logged = "SELECT COUNT(*) FROM list_changes"
    assert asked(plain, logged) == asked(empty, logged)
    left_out = {*asked(ours, SCHEMA)} - {*asked(plain, SCHEMA)}
    assert left_out == {("trigger", name) for name in loading.LISTING}
