"""Progress of a bulk load, with and without a terminal."""

import pytest

from gamekeeper.cli import progress


def test_progress_lines_without_terminal(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "PRINT_SECONDS", 0.0)
    with progress.load_progress(3000) as advance:
        advance(1000)
        advance(2000)
    first, last = capsys.readouterr().err.splitlines()
    assert first.startswith("Loading players: 1,000 of 3,000, ")
    assert first.endswith(" s left")
    assert "players/s" in first
    assert last.startswith("Loaded 3,000 players, ")


def test_progress_lines_are_rate_limited(capsys: pytest.CaptureFixture[str]) -> None:
    with progress.load_progress(3000) as advance:
        advance(1000)
    assert capsys.readouterr().err == ""


def test_progress_bar_on_a_terminal(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "120")
    with progress.load_progress(3000) as advance:
        advance(1000)
        advance(2000)
    shown = capsys.readouterr().err
    assert "Building indexes" in shown
    assert "3000/3000" in shown
    assert "players/s" in shown


def test_no_progress_without_players_to_load(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    with progress.load_progress(0):
        pass
    assert "Loading" not in capsys.readouterr().err
