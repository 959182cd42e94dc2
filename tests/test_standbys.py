"""Synchronous standbys: a shortage against the operator's setting is reported everywhere."""

import asyncio
from collections.abc import Callable, Generator
from pathlib import Path

import pytest

from findings import findings
from gamekeeper import app, log
from gamekeeper.doctor import ERROR
from gamekeeper.game import standbys
from gamekeeper.settings import Settings
from gamekeeper.store.replication import count_synchronous_standbys, parse_required_standbys
from loops import over
from pair import USER, Pair
from server import Server
from world import World

SHORTAGE = "The database has 0 synchronous standbys, but synchronous_standbys is 1: "


@pytest.fixture(scope="module")
def pair() -> Generator[Pair]:
    servers = Pair()
    try:
        servers.start()
        yield servers
    finally:
        servers.close()


@over(
    "names, count",
    [
        ("", 0),
        (" ", 0),
        ("*", 1),
        ("standby", 1),
        ("one, two", 1),
        ('"2 (odd)", two', 1),
        ("2 (one, two, three)", 2),
        ("FIRST 3 (*)", 3),
        ("any 12(one)", 12),
    ],
)
def test_required_standbys_are_read_from_the_parameter(names: str, count: int) -> None:
    assert parse_required_standbys(names) == count


def test_doctor_reports_too_few_standbys_as_an_error(make_world: Callable[..., World]) -> None:
    [found] = findings(make_world(synchronous_standbys=1), "standbys")
    assert found.level == ERROR
    assert found.message.startswith(SHORTAGE)
    assert findings(make_world(), "standbys") == []


def test_serving_process_logs_the_beginning_of_a_shortage_once(
    make_world: Callable[..., World], capsys: pytest.CaptureFixture[str]
) -> None:
    world = make_world(synchronous_standbys=1)
    watch = standbys.StandbyMonitor(world.keeper)
    world.run(watch.check())
    world.run(watch.check())
    log.flush()
    assert capsys.readouterr().err.count(SHORTAGE) == 1


@pytest.mark.long_only
@pytest.mark.parametrize("engine", ["postgres"], indirect=True)
def test_serve_warns_at_start(database: str, tmp_path: Path) -> None:
    server = Server(database, synchronous_standbys=1)
    with (tmp_path / "log").open("wb+") as said:
        server.stderr = said.fileno()
        with server:
            said.seek(0)
            assert f"WARNING: {SHORTAGE}" in said.read().decode()


@pytest.mark.long_only
def test_connected_standby_is_counted(pair: Pair) -> None:
    assert count(pair.primary.url) == 1
    assert shortage(pair.url, 1) == ""
    assert "has 1 synchronous standbys, but synchronous_standbys is 2" in shortage(pair.url, 2)


@pytest.mark.long_only
def test_required_standby_that_is_not_connected_is_not_counted(pair: Pair) -> None:
    """Writes wait for a disconnected required standby, so the operator must see the shortage."""
    set_names(pair, "FIRST 2 (standby, another)")
    try:
        assert count(pair.primary.url) == 1
    finally:
        set_names(pair, "standby")


@pytest.mark.long_only
def test_role_without_permission_to_see_standbys_counts_the_required_ones(pair: Pair) -> None:
    pair.primary.fetch("CREATE ROLE plain LOGIN")
    assert count(pair.primary.url.replace(f"{USER}@", "plain@")) == 1
    set_names(pair, "")
    try:
        assert count(pair.primary.url.replace(f"{USER}@", "plain@")) == 0
        assert SHORTAGE in shortage(pair.url, 1)
    finally:
        set_names(pair, "standby")


def count(url: str) -> int:
    store = app.open_store(Settings(database=url))

    async def read() -> int:
        await store.open()
        try:
            return await count_synchronous_standbys(store)
        finally:
            await store.close()

    return asyncio.run(read())


def shortage(url: str, expected: int) -> str:
    settings = Settings(database=url, synchronous_standbys=expected)
    return asyncio.run(app.run_with_keeper(settings, standbys.find_shortage))


def set_names(pair: Pair, names: str) -> None:
    """Set synchronous_standby_names and wait until the server has reloaded its configuration."""
    pair.primary.fetch(f"ALTER SYSTEM SET synchronous_standby_names = '{names}'")
    pair.primary.fetch("SELECT pg_reload_conf()")
    while pair.primary.fetch("SHOW synchronous_standby_names")[0][0] != names:
        pass
