"""Every page of every list is exact under random writes through several processes, one of which is killed."""

import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parents[1] / "scripts" / "prove_lists.py"


def prove(database: str, *more: str) -> tuple[int, str]:
    """Run scripts/prove_lists.py as a program, since it starts servers and writers itself."""
    command = [sys.executable, SCRIPT, "--database", database, *more]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    return done.returncode, done.stdout + done.stderr


def test_every_page_is_exact_after_writes_and_kills(empty_database: str) -> None:
    code, said = prove(empty_database, "--operations", "240", "--seed", "1")
    assert (code, "every page is exact" in said) == (0, True), said
    assert "240 operations" in said
    assert " 1 kills" in said
    assert " 0 checkpoints" not in said
    assert " 0 compared" not in said
