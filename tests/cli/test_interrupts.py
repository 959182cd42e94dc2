"""Ctrl-C: what was stopped left nothing, and what is said to be stopped was."""

import signal
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

from command_line import CommandLine
from gamekeeper.cli import terminal
from gamekeeper.game.keeper import Keeper
from interrupted import outcomes

ABORTED = "\nAborted!\n"
# presses Ctrl-C when the program has come to importing that module
IMPORTING = """
import os, runpy, signal, sys

class Press:
    def find_spec(self, name, path=None, target=None):
        if name == "gamekeeper.cli.serve":
            os.kill(os.getpid(), signal.SIGINT)

signal.signal(signal.SIGINT, signal.default_int_handler)
sys.meta_path.insert(0, Press())
runpy.run_module("gamekeeper", run_name="__main__")
"""


def test_what_is_stopped_leaves_nothing(command: CommandLine, first_command: CommandLine, tmp_path: Path) -> None:
    """In the middle, and while what was written is read back, to its very end."""
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
    *stopped, looked_at = outcomes([*commands, ("lists", ["restore", str(good), *target])])
    assert [(each.code, each.said, each.went_through[-1]) for each in stopped] == [
        (1, ABORTED, point) for point, _ in commands
    ]
    assert sorted(tmp_path.iterdir()) == before
    assert kept.read_text() == "yesterday's"
    # into a database that was still empty; once it is there, only the look at it can be stopped
    assert looked_at.code == 1
    assert looked_at.said.startswith("Restored ")
    assert (
        "; doctor found 1 errors.\nerror: doctor: It was stopped before it had looked at everything." in looked_at.said
    )
    assert first_command.json("users", "show", "Ann")["name"] == "Ann"
    assert not list(Path(urlsplit(first_command.database).path).parent.glob("*.part*"))


def test_what_is_done_is_not_called_stopped(command: CommandLine) -> None:
    async def work(_: Keeper) -> str:
        signal.raise_signal(signal.SIGINT)
        return "done"

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        outcome = terminal.on_database(command.database, work)
    except KeyboardInterrupt:
        outcome = "stopped"
    finally:
        signal.signal(signal.SIGINT, before)
    assert outcome == "done"


def test_before_a_command_has_begun() -> None:
    done = subprocess.run([sys.executable, "-c", IMPORTING, "--version"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (1, "", ABORTED)
