"""Every page of every list is exact under random writes through several processes, one of which is killed."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import long_forms

pytestmark = pytest.mark.both_engines

OPERATIONS = long_forms.choose("120", "480")  # a round has 120, and a server is killed in every other one
ROOT = Path(__file__).parents[2]


def prove(database: str, *more: str) -> tuple[int, str]:
    """Run scripts/prove_lists.py as a program, since it starts servers and writers itself."""
    command = [sys.executable, "scripts/prove_lists.py", "--database", database, *more]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=300)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.long_form
def test_every_page_is_exact_after_writes_and_kills(empty_database: str) -> None:
    code, said = prove(empty_database, "--operations", OPERATIONS, "--seed", "1")
    assert (code, "every page is exact" in said) == (0, True), said
    assert f"{OPERATIONS} operations" in said
    assert " 0 kills" not in said
    assert " 0 checkpoints" not in said
    assert " 0 compared" not in said
