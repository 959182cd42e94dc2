"""The feed delivers every change of 8 writers on two instances, also of those that commit late."""

import asyncio

import pytest

import follow_changes

pytestmark = pytest.mark.parametrize("engine", ["postgres"], indirect=True)


def test_feed_misses_no_change(empty_database: str) -> None:
    result = asyncio.run(follow_changes.follow(empty_database, changes=300, writers=8, seed=1, naive=False))
    assert result.changes >= 300
    assert result.missed == 0
