"""What .ci/run asks of the battery, with programs in place of the real ones that only say what they were asked."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parent.parent / ".ci" / "run"
SOMEBODY = 1000


def asked(folder: Path, *, user: int, installs: bool) -> list[str]:
    """The calls of make, for that user, where the tools can be installed or not."""
    programs, calls = folder / "bin", folder / "calls"
    programs.mkdir()
    fails = "" if installs else 'case "$1" in battery-tools) exit 1;; esac'
    for name, text in {"id": f"echo {user}", "apt-get": "", "make": f'echo "$*" >> {calls}\n{fails}'}.items():
        (programs / name).write_text(f"#!/bin/sh\n{text}\n")
        (programs / name).chmod(0o755)
    (folder / ".ci").mkdir()
    copy = shutil.copy(SCRIPT, folder / ".ci" / "run")
    path = f"{programs}{os.pathsep}{os.environ['PATH']}"
    subprocess.run([copy], env={"PATH": path}, check=True, capture_output=True)
    return calls.read_text().splitlines()


@pytest.mark.parametrize(
    ("user", "installs", "calls"),
    [
        (0, True, ["test", "battery-tools", "battery SEED=14 CLOCK=print ALL=1"]),
        (0, False, ["test", "battery-tools", "battery SEED=14 CLOCK=print"]),
        (SOMEBODY, True, ["test", "battery SEED=14 CLOCK=print"]),
    ],
)
def test_with_all_its_tools_the_battery_leaves_nothing_out(
    tmp_path: Path, user: int, calls: list[str], *, installs: bool
) -> None:
    assert asked(tmp_path, user=user, installs=installs) == calls
