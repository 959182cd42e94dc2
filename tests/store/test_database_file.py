"""The SQLite file is moved, replaced or deleted under a running server; a log is left without its file."""

import asyncio
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from threading import Event, Thread

import httpx
import pytest

from gamekeeper.http import health
from people import COIN
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


def delete_log(file: Path) -> None:
    log_of(file).unlink()


def log_of(file: Path) -> Path:
    return file.with_name(file.name + "-wal")


@pytest.fixture
def file(database: str) -> Iterator[Path]:
    file = Path(database.removeprefix("sqlite:///"))
    yield file
    for suffix in (".moved", ".other"):
        file.with_suffix(suffix).unlink(missing_ok=True)


def ready(world: World) -> int:
    """Status of /health/ready, once the last answer is no longer reused."""
    world.run(asyncio.sleep(health.FRESH_SECONDS + 0.1))
    return world.get("/health/ready", by=None).status


@pytest.mark.parametrize("act", [move, replace, delete, delete_log])
def test_no_write_goes_to_a_file_that_is_not_in_place(world: World, file: Path, act: Callable[[Path], None]) -> None:
    assert world.post(GIVE, BODY, by="Shop").status == 200
    act(file)
    refused = world.post(GIVE, BODY, by="Shop")
    assert (refused.status, refused.code) == (UNAVAILABLE, "database_away")
    assert ready(world) == UNAVAILABLE
    assert world.get("/health/live", by=None).status == 200


def test_a_file_that_is_put_back_is_written_again(world: World, file: Path) -> None:
    move(file)
    assert world.post(GIVE, BODY, by="Shop").status == UNAVAILABLE
    file.with_suffix(".moved").rename(file)
    assert world.post(GIVE, BODY, by="Shop").status == 200
    assert ready(world) == 200


@pytest.mark.parametrize("act", [move, replace, delete])
def test_long_read_of_a_moved_file_leaves_the_log_alone(world: World, file: Path, act: Callable[[Path], None]) -> None:
    """A connection that is opened for it must not create a file: SQLite would delete the log of the moved one."""
    assert world.post(GIVE, BODY, by="Shop").status == 200
    act(file)
    log = log_of(file).read_bytes()
    assert world.get("/api/keeper/v1/changes").status == UNAVAILABLE
    assert (log_of(file).read_bytes(), file.exists()) == (log, act is replace)


class Giver:
    """Gives one coin after the other until the server refuses or stops."""

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
    """A good answer is reused for half a second."""
    deadline = time.monotonic() + 60
    while httpx.get(f"{url}/health/ready").status_code != UNAVAILABLE:
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_no_acknowledged_change_is_lost_when_the_file_is_moved_under_load(
    database: str, file: Path, known_tokens: Mapping[str, str]
) -> None:
    """The server stops accepting changes, and no other one starts until the file is back beside its log."""
    token = known_tokens["Shop"]
    with Server(database) as server:
        before = coins(server.url, token)
        giver = Giver(server.url, token)
        assert giver.begun.wait(60)
        move(file)
        assert giver.refused.wait(60)
        wait_until_unready(server.url)
        server.kill()
        log = log_of(file).read_bytes()
        command = [sys.executable, "-m", "gamekeeper", "serve", "--database", database, "--port", str(server.port)]
        start = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        assert (start.returncode, file.exists(), log_of(file).read_bytes()) == (1, False, log)
        assert "Put the database file back beside its log" in start.stderr
        file.with_suffix(".moved").rename(file)
        server.start()
        assert coins(server.url, token) == before + giver.given


def test_a_log_beside_its_file_is_ordinary_recovery(database: str, file: Path, known_tokens: Mapping[str, str]) -> None:
    token = known_tokens["Shop"]
    with Server(database) as server:
        before = coins(server.url, token)
        assert httpx.post(server.url + GIVE, json=BODY, headers={"Authorization": f"Bearer {token}"}).is_success
        server.kill()
        assert log_of(file).stat().st_size > 0
        server.start()
        assert coins(server.url, token) == before + 1


def test_an_empty_log_without_a_file_is_no_obstacle(empty_database: str) -> None:
    log_of(Path(empty_database.removeprefix("sqlite:///"))).touch()
    assert asyncio.run(prepare(empty_database))
