"""Times that documents promise: tests on a busy machine cannot measure them, so what they come from is looked at."""

from pathlib import Path

import pytest

from gamekeeper.game import presence
from gamekeeper.http import shared_query
from gamekeeper.store.statements import Statement
from world import World

DEPLOY = Path(__file__).parent.parent / "deploy"


def test_a_database_that_is_silent_is_told_of_after_two_seconds() -> None:
    assert shared_query.ANSWER_SECONDS == 2


def test_a_lapsed_lease_is_over_within_a_second() -> None:
    assert presence.EXPIRE_SECONDS < 1


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
def test_a_locked_file_is_waited_for_five_seconds(world: World) -> None:
    assert world.run(world.keeper.store.one(Statement("patience", {"": "PRAGMA busy_timeout"}))) == (5000,)


def test_who_finds_no_room_is_turned_away_after_a_tenth_of_a_second() -> None:
    lines = [line.split() for line in (DEPLOY / "haproxy.cfg").read_text(encoding="utf-8").splitlines()]
    assert ["timeout", "queue", "100ms"] in lines
