"""kill -9 in the middle of gives by 8 clients: with keys the sums are exact."""

import asyncio

import crash_gives


def test_a_killed_server_loses_nothing_and_doubles_nothing(empty_database: str) -> None:
    wrong = asyncio.run(crash_gives.crash(empty_database, gives=200, clients=8, kills=2, seed=1, with_keys=True))
    assert wrong == 0
