"""Mutation tests of the critical modules with mutmut, which pyproject.toml configures.

python -m battery.mutation     tests all mutants, and prints those that no test notices; `make mutation` runs it
"""

import re
import shutil
import subprocess
import sys
import tomllib
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

from battery.cases import Figure

ROOT = Path(__file__).parent.parent
PROGRAM = Path(sys.executable).with_name("mutmut")
CONFIGURATION: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["mutmut"]
# by the room and name of a module, such as players/inventory
MODULES = ["/".join(Path(each).with_suffix("").parts[-2:]) for each in CONFIGURATION["only_mutate"]]
BAR = 0.85
UNNOTICED = {"survived", "no tests"}
MUTANT = re.compile(r"^ *gamekeeper\.game\.(\w+)\.(\w+)\.(\S+): (.+)$", re.MULTILINE)


def test_mutants(*patterns: str) -> list[Figure]:
    """Test the mutants with these names, default all. A module without tested mutants has failed."""
    shutil.rmtree(ROOT / "mutants", ignore_errors=True)
    subprocess.run([PROGRAM, "run", *patterns], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    said = subprocess.check_output([PROGRAM, "results", "--all", "true"], cwd=ROOT, text=True)
    counts: dict[str, Counter[bool]] = defaultdict(Counter)
    for room, module, mutant, status in MUTANT.findall(said):
        counts[f"{room}/{module}"][status not in UNNOTICED] += status != "not checked"
        if status in UNNOTICED:
            print(f"    {status}: game/{room}/{module}.py: {mutant}")
    return [_share_noticed(module, counts[module]) for module in MODULES]


def _share_noticed(module: str, count: Counter[bool]) -> Figure:
    made, noticed = count.total(), count[True]
    enough = made > 0 and noticed >= BAR * made
    return Figure(f"mutants of game/{module}.py noticed", f"{noticed} of {made}", f"≥ {BAR:.0%}", enough)


if __name__ == "__main__":
    figures = test_mutants()
    print("\n".join(f"{each.what}: {each.found} (wanted: {each.bar})" for each in figures))
    sys.exit(0 if all(each.met for each in figures) else 1)
