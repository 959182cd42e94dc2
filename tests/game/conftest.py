"""Ordered lists that are small enough to see through, who reads their counts anew, and passwords by themselves."""

from collections.abc import Generator
from typing import Any

import pytest

from gamekeeper.game import lists, order
from gamekeeper.game.passwords import Passwords
from gamekeeper.store import lists as stored
from listings import CHECKPOINT


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that a few dozen rows divide buckets and blocks, and a few changes make a checkpoint."""
    for module in (order, lists):
        monkeypatch.setattr(module, "FULL", 4)
    monkeypatch.setattr(order, "CROWDED", 8)
    monkeypatch.setattr(order, "BLOCK", 3)
    monkeypatch.setattr(lists, "DIVIDED", 2)
    monkeypatch.setattr(lists, "CHECKPOINT", CHECKPOINT)


@pytest.fixture
def reloads(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Gets longer whenever somebody reads the blocks."""
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
