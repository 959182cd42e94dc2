"""Times that the documents promise: busy machines cannot measure them, so the constants behind them are checked."""

from pathlib import Path

import pytest

from gamekeeper.game import presence
from gamekeeper.http import shared_query
from gamekeeper.store import hosts
from gamekeeper.store.statements import Statement
from world import World

DEPLOY = Path(__file__).parent.parent / "deploy"
SILENT_SECONDS = shared_query.TIMEOUT_SECONDS  # read here: conftest.py raises it for the tests


def test_silent_database_is_reported_after_two_seconds() -> None:
    assert SILENT_SECONDS == 2


def test_connecting_to_postgresql_takes_at_most_three_seconds_by_default() -> None:
    assert hosts.CONNECT_SECONDS == 3


def test_expired_lease_is_cleaned_up_within_a_second() -> None:
    assert presence.EXPIRE_SECONDS < 1


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
def test_locked_sqlite_file_is_awaited_for_five_seconds(world: World) -> None:
    assert world.run(world.keeper.store.one(Statement("patience", {"": "PRAGMA busy_timeout"}))) == (5000,)


def test_request_without_a_free_place_is_rejected_after_a_tenth_of_a_second() -> None:
    lines = [line.split() for line in (DEPLOY / "haproxy.cfg").read_text(encoding="utf-8").splitlines()]
    assert ["timeout", "queue", "100ms"] in lines
