"""8 writers through two instances, and some that commit late: the feed tells all of it."""

import asyncio

import pytest

import follow_changes

pytestmark = pytest.mark.parametrize("engine", ["postgres"], indirect=True)


def test_the_feed_misses_nothing(empty_database: str) -> None:
    result = asyncio.run(follow_changes.follow(empty_database, changes=300, writers=8, seed=1, naive=False))
    assert result.changes >= 300
    assert result.missed == 0
