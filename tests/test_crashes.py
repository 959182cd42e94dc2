"""kill -9 of the server while 8 clients give items: with idempotency keys the totals are exact."""

import asyncio

import crash_gives


def test_killed_server_loses_and_duplicates_no_give(empty_database: str) -> None:
    wrong = asyncio.run(crash_gives.crash(empty_database, gives=200, clients=8, kills=2, seed=1, with_keys=True))
    assert wrong == 0
