"""The SQLite file is moved, replaced or deleted while a server runs, or a log (WAL) is left without its file."""

import asyncio
import contextlib
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from threading import Event, Thread

import apsw
import httpx
import pytest

from command_line import CommandLine
from gamekeeper.http.insight import health
from gamekeeper.store.engine.interface import DatabaseUnavailable
from gamekeeper.store.engine.sqlite import SqliteStore
from people import COIN
from remote import wait_until
from server import Server
from world import World, prepare

pytestmark = pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
GIVE = "/api/v1/players/Bob/items/give"
BODY = {"itemid": COIN.id, "quantity": 1}
UNAVAILABLE = 503


def move(file: Path) -> None:
    file.rename(file.with_suffix(".moved"))


def replace(file: Path) -> None:
    other = file.with_suffix(".other")
    other.write_bytes(file.read_bytes())
    other.rename(file)


def delete(file: Path) -> None:
    file.unlink()


def empty(file: Path) -> None:
    file.write_bytes(b"")


def delete_log(file: Path) -> None:
    log_of(file).unlink()


def link(file: Path) -> None:
    """Move the database file as to a larger disk, and leave a symbolic link in its place."""
    move(file)
    file.symlink_to(file.with_suffix(".moved"))


def log_of(file: Path) -> Path:
    return file.with_name(file.name + "-wal")


def leave_log(file: Path) -> bytes:
    """Leave a WAL file as a killed server does. SQLite would delete the WAL of an empty file."""
    log = log_of(file)
    log.write_bytes(bytes(5000))
    return log.read_bytes()


@pytest.fixture
def file(database: str) -> Iterator[Path]:
    file = Path(database.removeprefix("sqlite:///"))
    yield file
    for suffix in (".moved", ".other", ".moved-wal", ".moved-shm", ".other-wal", ".other-shm"):
        file.with_suffix(suffix).unlink(missing_ok=True)


def ready(world: World) -> int:
    """Return the status of /health/ready, after its cached answer has expired."""
    world.run(asyncio.sleep(health.FRESH_SECONDS + 0.1))
    return world.get("/health/ready", by=None).status


@pytest.mark.parametrize("act", [move, replace, delete, delete_log, link])
def test_write_to_moved_file_is_refused(world: World, file: Path, act: Callable[[Path], None]) -> None:
    assert world.post(GIVE, BODY, by="Shop").status == 200
    act(file)
    refused = world.post(GIVE, BODY, by="Shop")
    assert (refused.status, refused.code) == (UNAVAILABLE, "database_away")
    assert ready(world) == UNAVAILABLE
    assert world.get("/health/live", by=None).status == 200
    if act is move:
        file.with_suffix(".moved").rename(file)
        assert world.post(GIVE, BODY, by="Shop").status == 200
        assert ready(world) == 200


@pytest.mark.parametrize("act", [move, replace, delete])
def test_long_read_of_moved_file_does_not_delete_log(world: World, file: Path, act: Callable[[Path], None]) -> None:
    """The connection of a long read must not create a file, or SQLite would delete the log of the moved file."""
    assert world.post(GIVE, BODY, by="Shop").status == 200
    act(file)
    log = log_of(file).read_bytes()
    assert world.get("/api/keeper/v1/changes").status == UNAVAILABLE
    assert (log_of(file).read_bytes(), file.exists()) == (log, act is replace)


class Giver:
    """Gives a player one coin after the other until the server refuses or stops."""

    def __init__(self, url: str, token: str) -> None:
        self.given = 0
        self.begun, self.refused = Event(), Event()
        self._client = httpx.Client(base_url=url, headers={"Authorization": f"Bearer {token}"}, timeout=60)
        self._thread = Thread(target=self._give)
        self._thread.start()

    def _give(self) -> None:
        with self._client:
            while self._client.post(GIVE, json=BODY).status_code == 200:
                self.given += 1
                self.begun.set()
        self.refused.set()


def coins(url: str, token: str) -> int:
    slots = httpx.get(f"{url}/api/v1/players/Bob/items", headers={"Authorization": f"Bearer {token}"}).json()
    return sum(slot["Quantity"] for slot in slots["inventory"] + slots["bank"] if slot["ItemId"] == COIN.id)


def wait_until_unready(url: str) -> None:
    """Wait until the health check reports not ready; a good answer is cached for half a second."""
    wait_until(lambda: httpx.get(f"{url}/health/ready").status_code == UNAVAILABLE)


@pytest.mark.long_only
def test_no_acknowledged_change_is_lost_when_the_file_is_moved_under_load(
    database: str, file: Path, known_tokens: Mapping[str, str]
) -> None:
    """The server stops accepting changes. No command opens another file with its log, and no other server starts."""
    token, moved = known_tokens["Shop"], file.with_suffix(".moved")
    with Server(database) as server:
        before = coins(server.url, token)
        older = file.read_bytes()
        giver = Giver(server.url, token)
        assert giver.begun.wait(60)
        move(file)
        assert giver.refused.wait(60)
        wait_until_unready(server.url)
        assert "is in use under another name" in CommandLine(f"sqlite:///{moved}").refuses("users", "list")
        file.write_bytes(older)
        log = log_of(file).read_bytes()
        for arguments in (("doctor",), ("users", "list")):
            assert "Put the server's file back, or stop the server" in CommandLine(database).refuses(*arguments)
        assert (file.read_bytes(), log_of(file).read_bytes(), log_of(moved).exists()) == (older, log, False)
        file.unlink()
        server.kill()
        command = [sys.executable, "-m", "gamekeeper", "serve", "--database", database, "--port", str(server.port)]
        start = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        assert (start.returncode, file.exists(), log_of(file).read_bytes()) == (1, False, log)
        assert "Put the database file back next to its log" in start.stderr
        moved.rename(file)
        server.start()
        assert coins(server.url, token) == before + giver.given


def test_log_next_to_its_file_is_recovered(database: str, file: Path, known_tokens: Mapping[str, str]) -> None:
    token = known_tokens["Shop"]
    with Server(database) as server:
        before = coins(server.url, token)
        assert httpx.post(server.url + GIVE, json=BODY, headers={"Authorization": f"Bearer {token}"}).is_success
        server.kill()
        assert log_of(file).stat().st_size > 0
        server.start()
        assert coins(server.url, token) == before + 1


def test_empty_log_without_file_is_accepted(empty_database: str) -> None:
    log_of(Path(empty_database.removeprefix("sqlite:///"))).touch()
    assert asyncio.run(prepare(empty_database, {}))


COMMANDS = [
    *(("doctor",), ("users", "list"), ("users", "add", "Nina", "--email", "nina@example.test", "--generate-password")),
    *(("tokens", "list"), ("mail", "list"), ("backup", "file"), ("migrate",)),
]


@pytest.mark.parametrize("act", [delete, empty])
def test_no_command_deletes_a_log_whose_file_is_missing_or_empty(
    database: str, file: Path, act: Callable[[Path], None]
) -> None:
    log = leave_log(file)
    act(file)
    for arguments in COMMANDS:
        assert "holds 5000 bytes of changes" in CommandLine(database).refuses(*arguments)
        assert (file.exists() and file.stat().st_size, log_of(file).read_bytes()) == (0, log), arguments


def test_links_are_followed_only_without_a_log_beside_them(database: str, file: Path) -> None:
    link(file)
    assert "No errors found" in CommandLine(database).says("doctor")
    log = leave_log(file)
    for arguments in COMMANDS:
        assert "Put the database file itself back where the link is" in CommandLine(database).refuses(*arguments)
        assert (log_of(file).read_bytes(), log_of(file.with_suffix(".moved")).exists()) == (log, False), arguments
    log_of(file).unlink()
    file.unlink()
    file.with_suffix(".moved").rename(file)
    file.with_suffix(".other").hardlink_to(file)
    assert "has 2 names (hard links)" in CommandLine(database).refuses("doctor")
    file.unlink()
    file.symlink_to(file)
    assert "cannot be opened" in CommandLine(database).refuses("migrate")
    file.unlink()


def test_log_of_the_file_that_a_copy_replaced_is_named(database: str, file: Path) -> None:
    """A killed server leaves its log: SQLite reads it as a part of any file that is put beside it."""
    copy = file.with_suffix(".copy")
    copy.write_bytes(file.read_bytes())
    with contextlib.closing(apsw.Connection(str(copy))) as db:
        db.execute("PRAGMA journal_mode = DELETE; PRAGMA page_size = 4096; VACUUM").fetchall()
    with contextlib.closing(apsw.Connection(str(file))) as db:
        db.execute(
            "PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; UPDATE users SET created_at = created_at + 1"
        ).fetchall()
        log = log_of(file).read_bytes()
    file.write_bytes(copy.read_bytes())
    log_of(file).write_bytes(log)
    for arguments in (("doctor",), ("users", "list")):
        assert f"its log {log_of(file)}" in CommandLine(database).refuses(*arguments)
        assert (file.read_bytes(), log_of(file).read_bytes()) == (copy.read_bytes(), log)
    log_of(file).unlink()
    file.write_bytes(copy.read_bytes())
    assert "Ann" in CommandLine(database).says("users", "list")


def test_console_doctor_does_not_change_replaced_file(world: World, database: str, file: Path) -> None:
    """The console's doctor runs in the server's process, which cannot see its own file locks."""
    assert world.post(GIVE, BODY, by="Shop").status == 200
    replace(file)
    log = log_of(file).read_bytes()
    assert "was moved, replaced or deleted" in CommandLine(database).refuses("doctor")
    assert log_of(file).read_bytes() == log


PROBE = """
import sys
from pathlib import Path
from gamekeeper.store.engine import sqlite_file
print(sqlite_file._is_locked(Path(sys.argv[1]), *sqlite_file.IN_USE))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="locks are looked at on Linux only")
def test_store_keeps_locks_after_failed_open(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the store's locks, another process would take itself for the file's only user and delete the WAL."""

    def fail(_: SqliteStore) -> None:
        raise DatabaseUnavailable("the disk did not answer")

    async def open_twice() -> str:
        store = SqliteStore(file)
        with monkeypatch.context() as patched:
            patched.setattr(SqliteStore, "_set_clock", fail)
            with pytest.raises(DatabaseUnavailable):
                await store.open()
        await store.open()
        try:
            command = [sys.executable, "-c", PROBE, str(file)]
            return (await asyncio.to_thread(subprocess.run, command, capture_output=True, text=True, check=True)).stdout
        finally:
            await store.close()

    assert asyncio.run(open_twice()) == "True\n"
