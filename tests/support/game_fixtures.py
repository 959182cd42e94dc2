"""Fixtures: lists with small buckets, counters of block reloads and argon2 checks, password hashing, crashes."""

import asyncio
from collections.abc import Callable, Generator
from typing import Any

import pytest
from argon2 import PasswordHasher

from gamekeeper.game.access.passwords import Passwords
from gamekeeper.game.insight import board_follower, economy
from gamekeeper.game.lists import list_index, ordered_lists, ranked_lists
from gamekeeper.ground import crash
from gamekeeper.store.core import ordered_lists as stored
from listings import CHECKPOINT


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make buckets and blocks of the ordered lists small, so that a few dozen rows split them."""
    for module in (list_index, ordered_lists):
        monkeypatch.setattr(module, "BUCKET_ROWS", 4)
    monkeypatch.setattr(list_index, "SPLIT_ROWS", 8)
    monkeypatch.setattr(list_index, "BLOCK_BUCKETS", 3)
    monkeypatch.setattr(ordered_lists, "MAX_SPLITS", 2)
    monkeypatch.setattr(ordered_lists, "CHECKPOINT_ENTRIES", CHECKPOINT)


@pytest.fixture
def small_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the steps of the economy and of boards small, and their buckets, so that a few dozen rows need many."""
    for module in (economy, board_follower):
        monkeypatch.setattr(module, "BATCH_PLAYERS", 4)
        monkeypatch.setattr(module, "BATCH_CHANGES", 3)
    monkeypatch.setattr(ranked_lists, "BUCKET_ROWS", 4)
    monkeypatch.setattr(ranked_lists, "BLOCK_BUCKETS", 3)


@pytest.fixture
def reloads(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return a list that grows by one whenever a process reads the blocks of the ordered lists."""
    seen: list[int] = []
    blocks = stored.read_blocks

    async def noted(tx: Any) -> Any:
        seen.append(1)
        return await blocks(tx)

    monkeypatch.setattr(stored, "read_blocks", noted)
    return seen


@pytest.fixture
def checking() -> Generator[Passwords]:
    made = Passwords(queue=3)
    yield made
    made.close()


@pytest.fixture
def hashed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list with one entry for every argon2 check, in all instances."""
    found: list[str] = []
    real = PasswordHasher.verify

    def counted(hasher: PasswordHasher, stored: str, sent: str) -> bool:
        found.append(stored)
        return real(hasher, stored, sent)

    monkeypatch.setattr(PasswordHasher, "verify", counted)
    return found


@pytest.fixture
def repeat_killed(monkeypatch: pytest.MonkeyPatch) -> Callable[..., int]:
    """Return a function that kills work at a crash point and repeats it until its end. It returns the number of kills.

    Each run passes the point once more than the run before it, at most `most_passes` times, and is killed there.
    """

    class Killed(BaseException):
        pass

    passes = {"left": 0}

    def repeat(point: str, work: Callable[[], None], most_passes: int = 60) -> int:
        def kill(name: str) -> None:
            if name == point:
                passes["left"] -= 1
                if passes["left"] < 0:
                    raise Killed

        monkeypatch.setattr(crash, "crash_at", kill)
        for kills in range(60):
            passes["left"] = min(kills, most_passes)
            try:
                work()
            except (Killed, asyncio.CancelledError):
                continue
            passes["left"] = 1000
            return kills
        raise AssertionError("the work never came to its end")

    return repeat
