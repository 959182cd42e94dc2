"""Test m: static analysis, and test coverage and mutation tests of the critical modules."""

import json
import os
import random
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

from battery.cases import NEITHER, Case, Figure, NotRun, Run
from battery.mutation import CONFIGURATION, MODULES, ROOT, test_mutants

PACKAGE = Path("src") / "gamekeeper" / "game"
PROGRAMS = Path(sys.executable).parent
# path of semgrep, which is in its own environment, because it needs an older click
SEMGREP = ROOT / ".venv" / "semgrep" / "bin" / "semgrep"
RULES = ROOT / ".semgrep"
SOURCES = ("src", "clients")
TOOL_FOLDERS = ("scripts", "battery", "benchmarks", "examples", "tests", "docs", "deploy")
SCANNED = (*SOURCES, *TOOL_FOLDERS, "Makefile", "pyproject.toml")
# bandit rules to skip: ruff's S105 to S107 cover them, where each exception has its reason on its line
SCAN = ("--all-files", "--disable-plugin", "KeywordDetector", "--exclude-files", r"(__pycache__|/data/|\.lock$)")
COVERED = 95.0
MUTANTS_A_SECOND = 0.25
FUNCTIONS, MUTANTS_EACH = 100, 12  # about so many functions with mutants, and mutants of most functions

BAD_FOR_RUFF, BAD_FOR_BANDIT, BAD_FOR_SEMGREP, SECRET = "bad-for-ruff", "bad-for-bandit", "bad-for-semgrep", "a-secret"
SNIPPETS = {
    BAD_FOR_RUFF: "import subprocess\nsubprocess.run(input(), shell=True)\n",
    BAD_FOR_BANDIT: "import hashlib\nDIGEST = hashlib.md5(b'')\n",
    BAD_FOR_SEMGREP: (RULES / "bad.py").read_text(encoding="utf-8"),
    SECRET: 'URL = "postgresql://game:' + "kD83hqLs02mXz" + '@db.example.com/game"\n',
}
FEW_TESTS = "few-tests"


def analyse(run: Run) -> list[Figure]:
    """Run all static analysis tools; with a seeded fault, run only its tool on a folder with one bad snippet."""
    if run.fault:
        return [_count_findings(TOOLS[run.fault], _with_snippet(run))]
    with ThreadPoolExecutor(2) as both:  # run two tools at a time, one per CPU core
        return list(both.map(_count_findings, TOOLS.values()))


def match_own_rules(run: Run) -> list[Figure]:
    """Run our own semgrep rules on the code; with a seeded fault, on a folder with one bad snippet."""
    if not SEMGREP.exists():
        raise NotRun("semgrep is missing; `make .venv/semgrep/ready` installs it from requirements-semgrep.lock")
    folder = _with_snippet(run) if run.fault else ROOT
    return [_count_findings(("semgrep with our rules", _semgrep), folder)]


def _count_findings(tool: tuple[str, Callable[[Path], int]], folder: Path = ROOT) -> Figure:
    name, count = tool
    return Figure.none(f"{name}: findings", count(folder))


def _with_snippet(run: Run) -> Path:
    (run.folder / PACKAGE).mkdir(parents=True)
    (run.folder / PACKAGE / "bad.py").write_text(SNIPPETS[str(run.fault)], encoding="utf-8")
    shutil.copy(ROOT / "pyproject.toml", run.folder)
    return run.folder


def _ruff(folder: Path) -> int:
    """Count ruff's findings in a folder; in the folder of a seeded fault only those of the security rules."""
    said = _run_tool(PROGRAMS / "ruff", "check", "--no-cache", "--output-format=json", ".", folder=folder)
    codes = [str(each["code"]) for each in json.loads(said)]
    return len(codes if folder == ROOT else [each for each in codes if re.match(r"S\d", each)])


def _sources(folder: Path) -> list[Path]:
    return [folder / each for each in SOURCES if (folder / each).exists()]


def _bandit(folder: Path) -> int:
    settings = ("-q", "-c", "pyproject.toml", "-f", "json")
    said = _run_tool(PROGRAMS / "bandit", "-r", *_sources(folder), *settings, folder=folder)
    return len(json.loads(said)["results"])


def _semgrep(folder: Path) -> int:
    """Run semgrep without network access; count its findings."""
    quiet = ("--metrics=off", "--disable-version-check", "--no-git-ignore", "--json")
    rules = ("--config", RULES / "gamekeeper.yml")
    said = (_run_tool(SEMGREP, "scan", *quiet, *rules, each.name, folder=folder) for each in _sources(folder))
    return sum(len(json.loads(each)["results"]) for each in said)


def _secrets(folder: Path) -> int:
    """Count secrets in the code that are not in the baseline, which lists reviewed examples and test passwords."""
    known = json.loads((ROOT / ".secrets.baseline").read_text(encoding="utf-8"))["results"]
    seen = {(name, each["hashed_secret"]) for name, found in known.items() for each in found}
    there = [each for each in SCANNED if (folder / each).exists()]
    said = _run_tool(PROGRAMS / "detect-secrets", "scan", *SCAN, *there, folder=folder)
    found = json.loads(said)["results"]
    return len({(name, each["hashed_secret"]) for name, of in found.items() for each in of} - seen)


TOOLS: dict[str, tuple[str, Callable[[Path], int]]] = {
    BAD_FOR_RUFF: ("ruff, with its security rules", _ruff),
    BAD_FOR_BANDIT: ("bandit", _bandit),
    SECRET: ("detect-secrets", _secrets),
}


def _run_tool(*command: str | Path, folder: Path) -> str:
    environment = {**os.environ, "SEMGREP_SEND_METRICS": "off"}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if not done.stdout:
        raise RuntimeError(f"{command[0]} said nothing but: {done.stderr}")
    return done.stdout


def measure_coverage(run: Run) -> list[Figure]:
    """Measure branch coverage of the critical modules by their own tests, on SQLite only."""
    tests: list[str] = CONFIGURATION["pytest_add_cli_args_test_selection"][: 1 if run.fault else None]
    data = f"--data-file={run.folder / 'coverage'}"
    with ThreadPoolExecutor(2) as both:  # run both halves of the tests at once, one per CPU core
        halves = [half for half in (tests[::2], tests[1::2]) if half]
        said = "".join(both.map(partial(_covering, data), halves))
    failed = len(re.findall(r"^(?:FAILED|ERROR) ", said, re.MULTILINE))
    if failed:
        print(said[-3000:])  # which tests, and why
    subprocess.run([PROGRAMS / "coverage", "combine", "-q", data], cwd=ROOT, check=True)
    report: dict[str, Any] = json.loads(_run_tool(PROGRAMS / "coverage", "json", data, "-q", "-o", "-", folder=ROOT))
    shares = {
        "/".join(Path(name).with_suffix("").parts[-2:]): each["summary"]["percent_branches_covered"]
        for name, each in report["files"].items()
    }
    figures = [Figure.none("failed tests of these modules", failed)]
    for module in MODULES:
        share: float = shares.get(module, 0.0)
        what = f"branches of game/{module}.py tested"
        figures.append(Figure(what, f"{share:.1f} %", f"≥ {COVERED:.0f} %", share >= COVERED))
    return [*figures, *_mutate_some(run.seconds, run.seed)] if run.seconds and not run.fault else figures


def _covering(data: str, tests: Sequence[str]) -> str:
    """Run pytest with coverage into the given data file, and return its output."""
    include = f"--include={','.join(f'*/game/{module}.py' for module in MODULES)}"
    count = (PROGRAMS / "coverage", "run", data, "--parallel-mode", "--branch", include)
    return _run_tool(*count, "-m", "pytest", "-q", *CONFIGURATION["pytest_add_cli_args"], *tests, folder=ROOT)


def _mutate_some(seconds: int, seed: int) -> list[Figure]:
    """Test as many mutants of each function as the time allows. `make mutation` tests all."""
    some = min(MUTANTS_EACH, 1 + int(seconds * MUTANTS_A_SECOND / FUNCTIONS))
    return test_mutants(*(f"*__mutmut_{each}" for each in random.Random(seed).sample(range(1, MUTANTS_EACH + 1), some)))


CASES = (
    Case("m", "static", analyse, tuple(TOOLS), NEITHER),
    Case("m", "rules of ours", match_own_rules, (BAD_FOR_SEMGREP,), NEITHER),
    Case("m", "coverage", measure_coverage, (FEW_TESTS,), NEITHER),
)
