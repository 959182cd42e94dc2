"""Ctrl-C: an interrupted command changes nothing, and a completed one reports success."""

import json
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from command_line import CommandLine
from gamekeeper.cli import terminal
from gamekeeper.game.keeper import Keeper
from interrupted import CLOSING, INDEXES, WRITTEN, outcomes
from long_forms import choose
from server import free_port

ABORTED = "\nAborted!\n"


@pytest.mark.long_form
def test_interrupted_command_leaves_nothing(command: CommandLine, first_command: CommandLine, tmp_path: Path) -> None:
    """Interrupt the command while it writes data and while it reads the data back, up to the last step."""
    kept, good, exported = tmp_path / "kept", tmp_path / "good", tmp_path / "exported"
    kept.write_text("yesterday's")
    command.says("export", str(exported))
    filled = [name for name, rows in command.json("backup", str(good))["tables"].items() if rows]
    before = sorted(tmp_path.iterdir())
    source, target = ["--database", command.database], ["--database", first_command.database]
    commands = [
        ("users", ["backup", str(kept), "--force", *source]),
        (f"{filled[-1]}, checked", ["backup", str(tmp_path / "new"), *source]),
        ("users", ["export", str(tmp_path / "new"), *source]),
        ("users, checked", ["import", "gamekeeper", str(exported), *target]),
        ("users", ["restore", str(good), *target]),
        ("players", ["doctor", *source]),
    ]
    commands = choose([commands[0], commands[4]], commands)
    *stopped, looked_at = outcomes([*commands, ("lists", ["restore", str(good), *target])])
    assert [(each.code, each.said, each.went_through[-1]) for each in stopped] == [
        (1, ABORTED, point) for point, _ in commands
    ]
    assert sorted(tmp_path.iterdir()) == before
    assert kept.read_text() == "yesterday's"
    # interrupted after its commit, `restore` reports the restored data and the doctor's missing checks
    assert looked_at.code == 1
    assert looked_at.said.startswith("Restored ")
    assert "; doctor found 1 errors.\nerror: doctor: Interrupted before all checks were done." in looked_at.said
    assert first_command.json("users", "show", "Ann")["name"] == "Ann"
    assert not list(Path(urlsplit(first_command.database).path).parent.glob("*.part*"))


@pytest.fixture
def listening() -> Iterator[None]:
    """Enable SIGINT in child processes, also if the tests run in the background, where SIGINT is ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("listening")
def test_interrupt_after_commit_reports_success(command: CommandLine) -> None:
    async def work(_: Keeper) -> str:
        signal.raise_signal(signal.SIGINT)
        return "done"

    try:
        outcome = terminal.run_on_database(command.database, work, final=True)
    except KeyboardInterrupt:
        outcome = "stopped"
    assert outcome == "done"


@pytest.mark.long_only
def test_interrupt_prevents_the_next_step(command: CommandLine) -> None:
    """Ctrl-C while a database closes: the command starts no next step, but reports a committed change."""
    source = ["--database", command.database]
    erasing, serving, issuing = outcomes(
        [
            (CLOSING, ["users", "delete", "Ann", "--yes", *source]),
            (CLOSING, ["serve", "--port", str(free_port()), *source]),
            (CLOSING, ["tokens", "issue", "Shop", "--json", *source]),
        ]
    )
    assert [(each.code, each.said) for each in (erasing, serving)] == [(1, ABORTED)] * 2
    assert command.json("users", "show", "Ann")["name"] == "Ann"
    assert issuing.code == 0
    assert json.loads(issuing.said)["id"] in command.says("tokens", "list", "Shop")


@pytest.mark.long_only
def test_interrupt_before_indexes_is_reported(command: CommandLine, tmp_path: Path, databases: Any) -> None:
    """Ctrl-C after the rows are committed: the command says how to build the indexes."""
    backup, exported = tmp_path / "backup", tmp_path / "exported"
    command.says("backup", str(backup))
    command.says("export", str(exported))
    targets = [databases.empty() for _ in range(4)]
    commands = [
        (WRITTEN, ["restore", str(backup), "--database", targets[0]]),
        (INDEXES, ["restore", str(backup), "--database", targets[1]]),
        (INDEXES, ["import", "gamekeeper", str(exported), "--database", targets[2]]),
        (INDEXES, ["move", "--to", targets[3], "--database", command.database]),
    ]
    verbs = ["Restored", "Restored", "Imported", "Moved"]
    told = outcomes(commands)
    assert [(each.code, each.said.split()[0]) for each in told] == [(1, verb) for verb in verbs]
    # interrupted before the indexes were built, no command started the doctor afterwards
    assert [each.went_through[-1] for each in told] == [point for point, _ in commands]
    assert "This database was moved to" in command.refuses("migrate")
    for each, target in zip(told, targets, strict=True):
        assert "error: indexes: Interrupted before the indexes and lists were built." in each.said
        assert "gamekeeper doctor --fix --database" in each.said
        filled = CommandLine(target)
        assert "No errors found." in filled.says("doctor", "--fix")
        assert filled.json("users", "show", "Ann")["name"] == "Ann"
        databases.drop(target)
