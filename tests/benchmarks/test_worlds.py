from pathlib import Path

import pytest

from benchmarks import worlds
from benchmarks.worlds import SQLITE


def test_the_largest_is_of_those_that_are_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worlds, "DATA", tmp_path)
    monkeypatch.setattr(worlds, "TOKENS", 1)
    with worlds.opened() as opened:
        assert opened.largest(SQLITE, (3, 5)).players == 3
        opened.get(SQLITE, 5)
        assert opened.largest(SQLITE, (3, 5)).players == 5
