"""Whether the ways to commit that are compared differ in just what they should."""

import asyncio
from collections.abc import MutableMapping
from pathlib import Path
from typing import Any

import pytest

from benchmarks import committing
from benchmarks.committing import ALONE, AS_IT_COMES, NORMAL, Keyed
from gamekeeper import settings
from gamekeeper.store import sqlite

SYNCHRONOUS = {AS_IT_COMES: 2, NORMAL: 1, ALONE: 2}  # as SQLite counts them: FULL is 2


@pytest.fixture(autouse=True)
def _as_before(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("BATCH", "_connect"):
        monkeypatch.setattr(sqlite, name, getattr(sqlite, name))  # put back when the test is over


@pytest.mark.parametrize("way", [AS_IT_COMES, NORMAL, ALONE])
def test_a_way_changes_nothing_else(way: str, tmp_path: Path) -> None:
    before = sqlite.BATCH
    file = tmp_path / "world.db"
    file.touch()
    committing.build(settings.load({}, database=f"sqlite:///{file}"), way)
    db = vars(sqlite)["_connect"](file)
    assert db.execute("PRAGMA synchronous").fetchone() == (SYNCHRONOUS[way],)
    assert (1 if way == ALONE else before) == sqlite.BATCH
    db.close()


def test_every_request_has_a_key_of_its_own() -> None:
    seen: list[list[tuple[bytes, bytes]]] = []

    async def note(scope: MutableMapping[str, Any], _receive: object, _send: object) -> None:
        seen.append(scope["headers"])

    app: Any = note
    keyed: Any = Keyed(app)
    for _ in range(3):
        asyncio.run(keyed({"type": "http", "headers": [(b"host", b"here")]}, None, None))
    assert all(headers[0] == (b"host", b"here") for headers in seen)
    assert len({dict(headers)[b"idempotency-key"] for headers in seen}) == 3
