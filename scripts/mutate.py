"""Mutation testing: change one thing at a time in the critical modules, and count how often a test fails.

    .venv/bin/python scripts/mutate.py                    all five, an hour
    .venv/bin/python scripts/mutate.py --only players/inventory   one of them

It is our own: mutmut 3.8 fails with pytest 9.2, and cosmic-ray 8.7 removes no calls or arguments and starts a process
per mutant. Each mutant runs in its own process, forked after the libraries are loaded, and imports the changed module.
The tests run on SQLite, as these rules are the same on both engines. Exit code 0: the bar is met; 1: it is not.
"""

import argparse
import ast
import contextlib
import os
import random
import resource
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_loader
from pathlib import Path
from types import CodeType, ModuleType
from typing import NamedTuple

from mutants import Mutant, mutants

ROOT = Path(__file__).parent.parent
BAR = 0.85
SECONDS = 120  # seconds: timeout of a mutant's tests; longer means an endless loop
# pytest expression that excludes tests that can fail on a busy machine without a fault
QUIET = "not postgres and not same_time"
LIBRARIES = ("pytest", "hypothesis", "asyncpg", "argon2", "httpx", "msgspec", "email_validator", "aiosmtplib", "click")
TESTS = {
    "players/inventory": (
        "tests/players/test_inventory.py",
        "tests/players/test_replayed_inventory.py",
        "tests/players/test_items.py",
        "tests/players/test_slots.py",
    ),
    "core/writes": (
        "tests/core/test_write_path.py",
        "tests/core/test_writes.py",
        "tests/core/test_idempotency.py",
        "tests/core/test_dry_runs.py",
        "tests/players/test_gifts.py",
        "tests/world/test_commands.py",
        "tests/world/test_server_variables.py",
        "tests/audit/test_bulk.py",
        "tests/audit/test_bulk_runner.py",
        "tests/audit/test_approvals.py",
        "tests/access/test_security_log.py",
        "tests/accounts/test_erasure.py",
    ),
    "audit/approval_gate": (
        "tests/audit/test_approvals.py",
        "tests/audit/test_deciders.py",
        "tests/audit/test_approval_rules.py",
        "tests/audit/test_approval_commands.py",
        "tests/accounts/test_held_invitations.py",
    ),
    "access/tokens": (
        "tests/access/test_token_pairs.py",
        "tests/access/test_guesses.py",
        "tests/accounts/test_moderation.py::test_ban_revokes_tokens_and_prevents_log_in",
        "tests/access/test_tokens.py",
        "tests/access/test_log_in.py",
        "tests/access/test_revoking.py",
        "tests/access/test_second_factors.py",
        "tests/access/test_second_factors_page.py",
        "tests/access/test_oidc_accounts.py",
        "tests/access/test_sessions.py::test_sign_out_everywhere_ends_the_chosen_tokens",
    ),
    "access/passwords": (
        "tests/access/test_passwords.py",
        "tests/access/test_imported_hashes.py",
        "tests/access/test_new_passwords.py",
    ),
}


class Score(NamedTuple):
    module: str
    made: int
    survivors: list[Mutant]

    @property
    def share(self) -> float:
        return 1 - len(self.survivors) / self.made


class MutantLoader(MetaPathFinder, Loader):
    """Imports the mutated code of one module instead of its file."""

    def __init__(self, name: str, code: CodeType) -> None:
        self._name, self._code = name, code

    def find_spec(self, fullname: str, path: object, target: ModuleType | None = None) -> ModuleSpec | None:
        del path, target
        return spec_from_loader(fullname, self) if fullname == self._name else None

    def exec_module(self, module: ModuleType) -> None:
        exec(self._code, module.__dict__)  # noqa: S102 - our own module, but for the change


def score(module: str, at_once: int, seed: int, most: int | None = None) -> Score:
    """Test the module's mutants, or a random sample of `most`; return their number and the survivors."""
    path = ROOT / "src" / "gamekeeper" / "game" / f"{module}.py"
    tree = ast.parse(path.read_text(encoding="utf-8"))
    if _passes(module, tree) is False:
        raise RuntimeError(f"the tests of {module}.py fail without any change; mend them first")
    made = list(mutants(tree))
    if most is not None and most < len(made):
        made = random.Random(seed).sample(made, most)
    survivors: list[Mutant] = []
    for mutant, survived in _test_mutants(module, made, at_once):
        if survived:
            survivors.append(mutant)
            print(f"  survived: game/{module}.py:{mutant.line}: {mutant.what}", flush=True)
    return Score(module, len(made), survivors)


def _test_mutants(module: str, made: Iterable[Mutant], at_once: int) -> Iterator[tuple[Mutant, bool]]:
    running: dict[int, tuple[Mutant, Path]] = {}
    for mutant in made:
        folder = _folder()
        running[_fork(module, mutant.tree, folder)] = mutant, folder
        if len(running) == at_once:
            yield _next(running)
    while running:
        yield _next(running)


def _next(running: dict[int, tuple[Mutant, Path]]) -> tuple[Mutant, bool]:
    process, status = os.wait()
    mutant, folder = running.pop(process)
    _tidy(process, folder)
    return mutant, status == 0


def _passes(module: str, tree: ast.Module) -> bool:
    folder = _folder()
    process = _fork(module, tree, folder)
    status = os.waitpid(process, 0)[1]
    _tidy(process, folder)
    return status == 0


def _folder() -> Path:
    return Path(tempfile.mkdtemp(prefix="gk-mutant-"))


def _tidy(process: int, folder: Path) -> None:
    """Stop the mutant's process and everything that its tests started, and delete its folder."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process, signal.SIGKILL)
    shutil.rmtree(folder, ignore_errors=True)


def _fork(module: str, tree: ast.Module, folder: Path) -> int:
    code = compile(ast.fix_missing_locations(tree), f"{module}.py", "exec")
    process = os.fork()
    if process == 0:
        os._exit(_run_tests(module, code, folder))
    return process


def _run_tests(module: str, code: CodeType, folder: Path) -> int:
    """Run the tests on a mutant in the forked process; return 0 when all pass, so the mutant survived."""
    os.setpgid(0, 0)
    signal.alarm(SECONDS)
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    for stream in (1, 2):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream)
    sys.meta_path.insert(0, MutantLoader(f"gamekeeper.game.{module.replace('/', '.')}", code))
    sys.path[:0] = [str(ROOT / "src")]
    import hypothesis  # noqa: PLC0415 - loaded before the fork already
    import pytest  # noqa: PLC0415 - the same

    # hypothesis does not shrink examples, since the failing example is not shown
    quick = [hypothesis.Phase.explicit, hypothesis.Phase.generate]
    untimed = [hypothesis.HealthCheck.too_slow]
    hypothesis.settings.register_profile(
        "mutants", phases=quick, derandomize=True, database=None, deadline=None, suppress_health_check=untimed
    )
    tests = [str(ROOT / each) for each in TESTS[module]]
    # pytest's warning is ignored: the libraries were imported before the fork on purpose
    loaded = ["-W", "ignore::pytest.PytestAssertRewriteWarning"]
    options = [*loaded, "-x", "-k", QUIET, "-p", "no:cacheprovider", "-p", "no:xdist", "--basetemp", str(folder)]
    options += ["--hypothesis-profile", "mutants"]
    codes = (int(pytest.main([*options, "--rootdir", str(ROOT), each])) for each in tests)
    return next((code for code in codes if code), 0)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=TESTS, action="append")
    parser.add_argument("--at-once", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--most", type=int, help="of each module; all of them unless told")
    parser.add_argument("--seed", type=int, default=1, help="which ones those are")
    given = parser.parse_args()
    os.chdir(ROOT)
    for library in LIBRARIES:
        import_module(library)
    scores: list[Score] = []
    for module in given.only or TESTS:
        started = time.monotonic()
        scores.append(score(module, given.at_once, given.seed, given.most))
        print(_line(scores[-1]), f"({time.monotonic() - started:.0f} s)", flush=True)
    return 0 if all(each.share >= BAR for each in scores) else 1


def _line(each: Score) -> str:
    return f"{each.module}.py: {each.made - len(each.survivors)} of {each.made} mutants noticed, {each.share:.1%}"


if __name__ == "__main__":
    sys.exit(main())
