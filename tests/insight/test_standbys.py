"""Synchronous standbys: a shortage against the operator's setting is reported everywhere."""

import asyncio
from collections.abc import Generator

import pytest

from findings import findings
from gamekeeper import app
from gamekeeper.doctor.findings import ERROR
from gamekeeper.ground import log
from gamekeeper.ground.settings import Settings
from gamekeeper.store.engine.database_checks import (
    StandbyMonitor,
    count_synchronous_standbys,
    find_standby_shortage,
    parse_required_standbys,
)
from loops import over
from pair import USER, Pair
from world import MakeWorld

SHORTAGE = "The database has 0 synchronous standbys, but synchronous_standbys is 1: "


@pytest.fixture
def pair() -> Generator[Pair]:
    servers = Pair()
    try:
        servers.start()
        yield servers
    finally:
        servers.close()


@over(
    "names, count",
    (" ", 0),
    ("*", 1),
    ("one, two", 1),
    ('"2 (odd)", two', 1),
    ("2 (one, two, three)", 2),
    ("FIRST 3 (*)", 3),
    ("any 12(one)", 12),
)
def test_required_standbys_are_read_from_the_parameter(names: str, count: int) -> None:
    assert parse_required_standbys(names) == count


def test_doctor_reports_too_few_standbys_as_an_error_and_the_log_their_beginning_once(
    make_world: MakeWorld, capsys: pytest.CaptureFixture[str]
) -> None:
    world = make_world(synchronous_standbys=1)
    [found] = findings(world, "standbys")
    assert found.level == ERROR
    assert found.message.startswith(SHORTAGE)
    assert findings(make_world(), "standbys") == []
    watch = StandbyMonitor(world.keeper.store, 1)
    world.run(watch.check())
    world.run(watch.check())
    log.flush()
    assert capsys.readouterr().err.count(SHORTAGE) == 1


@pytest.mark.long_only
def test_connected_synchronous_standbys_are_counted(pair: Pair) -> None:
    """Writes wait for a required standby that is not connected, so the operator must see the shortage."""
    pair.primary.fetch("CREATE ROLE plain LOGIN")
    plain = pair.primary.url.replace(f"{USER}@", "plain@")  # a role that may not see standbys: the required ones
    assert (count(pair.primary.url), count(plain), shortage(pair.url, 1)) == (1, 1, "")
    assert "has 1 synchronous standbys, but synchronous_standbys is 2" in shortage(pair.url, 2)
    try:
        set_names(pair, "FIRST 2 (standby, another)")
        assert count(pair.primary.url) == 1
        set_names(pair, "")
        assert (count(plain), SHORTAGE in shortage(pair.url, 1)) == (0, True)
    finally:
        set_names(pair, "standby")


def count(url: str) -> int:
    return asyncio.run(app.run_with_keeper(Settings(database=url), lambda each: count_synchronous_standbys(each.store)))


def shortage(url: str, expected: int) -> str:
    settings = Settings(database=url)
    return asyncio.run(app.run_with_keeper(settings, lambda each: find_standby_shortage(each.store, expected)))


def set_names(pair: Pair, names: str) -> None:
    """Set synchronous_standby_names and wait until the server has reloaded its configuration."""
    pair.primary.fetch(f"ALTER SYSTEM SET synchronous_standby_names = '{names}'")
    pair.primary.fetch("SELECT pg_reload_conf()")
    while pair.primary.fetch("SHOW synchronous_standby_names")[0][0] != names:
        pass
