"""Run the battery's tests one by one, each without and then with its seeded faults, and print the results."""

import os
import random
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from pathlib import Path
from types import FrameType

import click

from battery import databases
from battery.cases import ENGINES, NEITHER, Case, Figure, NotRun, Run, Timed
from battery.databases import Databases
from gamekeeper.store.engine import postgres_url

# Names of the modules with the battery's tests, in the order of docs/reliability.md
MODULES = (
    "conservation",
    "two_processes",
    "commits",
    "failover",
    "contract",
    "hostile",
    "soak",
    "overload",
    "places",
    "starvation",
    "locked",
    "guessing",
    "disk",
    "clock",
    "upgrades",
    "backups",
    "network",
    "static",
)
TRIES = 3  # attempts of a battery test in which only timings miss their bar
PASSED, FAILED, CAUGHT, MISSED, NOT_RUN = "passed", "FAILED", "caught", "FAULT NOT CAUGHT", "not run"
UNDECIDED = "undecided"  # verdict on a seeded fault that only timings show, when timings are printed but do not decide
VERDICTS = (PASSED, CAUGHT, FAILED, MISSED, UNDECIDED, NOT_RUN)
DECIDE, PRINT = "decide", "print"
NOT_DECISIVE = "by the clock: it does not decide here"
CONNECT_SECONDS = 60  # timeout of connecting to PostgreSQL on a busy machine; tests of silent servers set their own
TERMINATED = 128 + signal.SIGTERM


@dataclass
class Verdicts:
    verdicts: list[str] = field(default_factory=list[str])
    figures: list[tuple[str, str, Figure]] = field(default_factory=list[tuple[str, str, Figure]])
    left_out: bool = False  # whether a battery test that could have run was skipped

    def good(self, *, everything: bool) -> bool:
        return not {FAILED, MISSED} & {*self.verdicts} and not (everything and self.left_out)


@dataclass(frozen=True)
class Repeatable:
    """Options that hold for all battery tests of one command."""

    seed: int
    seconds: int | None  # seconds: duration of the long forms of the tests; None: short forms
    by_clock: bool  # whether timings decide whether a test passes


@click.command()
@click.option("--only", default="", metavar="LETTERS", help="Some of the tests, such as a,f; all of them unless told.")
@click.option("--engine", type=click.Choice((*ENGINES, *NEITHER)), help="One of them; all unless told.")
@click.option("--fault", help="One seeded fault, which must be caught; 'none': no fault at all.")
@click.option("--seed", type=int, help="Of everything random; a new one unless told.")
@click.option("--long", "seconds", type=int, metavar="SECONDS", help="The long forms, each for about so long.")
@click.option(
    "--clock",
    type=click.Choice((DECIDE, PRINT)),
    default=DECIDE,
    help="Whether figures by the clock decide (the default) or are only printed, for a machine with other work.",
)
@click.option("--all", "everything", is_flag=True, help="What cannot be run here has failed; Patroni may be left out.")
def main(
    only: str,
    engine: str | None,
    fault: str | None,
    seed: int | None,
    seconds: int | None,
    clock: str,
    *,
    everything: bool,
) -> None:
    """Run the battery. The exit code is 0 when every test passes and every seeded fault is caught."""
    wanted = [each for each in only.split(",") if each]
    seed = random.SystemRandom().randrange(10**6) if seed is None else seed
    chosen = [case for case in cases() if not wanted or case.letter in wanted]
    due = [(case, on, seeded) for case in chosen for on, seeded in runs(case, engine, fault)]
    if not due:
        raise click.UsageError("No test is like that; `make battery` without ONLY, ENGINE and FAULT runs them all.")
    os.environ.setdefault(postgres_url.TIMEOUT_VARIABLE, str(CONNECT_SECONDS))
    tally = Verdicts()
    settings = Repeatable(seed, seconds, by_clock=clock == DECIDE)
    with databases.open_databases() as opened:
        for case, on, seeded in due:
            _do(opened, case, on, seeded, settings, tally)
    click.echo(_table(tally.figures))
    counts = {verdict: tally.verdicts.count(verdict) for verdict in VERDICTS}
    click.echo(", ".join(f"{verdict} {count}" for verdict, count in counts.items()) + f"; seed {seed}")
    sys.exit(0 if tally.good(everything=everything) else 1)


def cases() -> list[Case]:
    return [case for module in MODULES for case in import_module(f"battery.{module}").CASES]


def runs(case: Case, engine: str | None, fault: str | None) -> Iterator[tuple[str, str | None]]:
    """Yield each engine of a test without and with each seeded fault, limited to the given engine and fault."""
    for on in case.engines:
        if engine in {None, on} or case.engines == NEITHER:
            if fault in {None, "none"}:
                yield on, None
            if on in case.fault_engines or case.engines == NEITHER:
                yield from ((on, each) for each in case.faults if fault in {None, each})


def _do(opened: Databases, case: Case, on: str, seeded: str | None, settings: Repeatable, tally: Verdicts) -> None:
    name = f"{case.letter} {case.name}, {on}" + (f", fault {seeded}" if seeded else "")
    started = time.monotonic()
    tries = 0
    while True:
        verdict, figures, said = _verdict(opened, case, on, seeded, settings)
        tries += 1
        if tries == TRIES or not _missed_only_timings(verdict, figures):
            break
    tally.verdicts.append(verdict)
    tally.left_out |= verdict == NOT_RUN and not case.optional
    if not seeded:
        tally.figures += [(case.letter, on, figure) for figure in figures]
    replay = f"make battery ONLY={case.letter} ENGINE={on} SEED={settings.seed} FAULT={seeded or 'none'}"
    if settings.seconds:
        replay += f" LONG={settings.seconds}"
    again = f"; try {tries}, for the clock spoilt the ones before" if tries > 1 else ""
    click.echo(f"{verdict}: {name} ({time.monotonic() - started:.1f} s{again}; again: {replay})")
    for line in said or [_line(each, by_clock=settings.by_clock) for each in figures]:
        click.echo(f"    {line}")


def _verdict(
    opened: Databases, case: Case, on: str, seeded: str | None, settings: Repeatable
) -> tuple[str, list[Figure], list[str]]:
    with tempfile.TemporaryDirectory(prefix="gk-", ignore_cleanup_errors=True) as folder:
        try:
            another = partial(opened.empty, on, Path(folder))
            run = Run(on, settings.seed, Path(folder), another(), seeded, settings.seconds, another)
            figures = case.run(run)
        except NotRun as reason:
            return NOT_RUN, [], [str(reason)]
        except Exception:  # noqa: BLE001 - a test that breaks has failed, and the others go on
            return FAILED, [], traceback.format_exc().splitlines()
    if not figures:
        return FAILED, [], ["it came back with nothing measured"]
    if seeded and _is_caught(case, seeded, figures):
        return CAUGHT, figures, []
    if seeded:
        return (UNDECIDED if seeded in case.timed_faults and not settings.by_clock else MISSED), figures, []
    met = all(each.met or (isinstance(each, Timed) and not settings.by_clock) for each in figures)
    return (PASSED if met else FAILED), figures, []


def _is_caught(case: Case, fault: str, figures: Sequence[Figure]) -> bool:
    """Return whether the figures show the seeded fault; timings count only for faults that nothing else shows."""
    return any(not each.met and (fault in case.timed_faults or not isinstance(each, Timed)) for each in figures)


def _missed_only_timings(verdict: str, figures: Sequence[Figure]) -> bool:
    """Return whether only timings missed their bar, and no other figure."""
    return verdict == FAILED and bool(figures) and all(each.met or isinstance(each, Timed) for each in figures)


def _line(figure: Figure, *, by_clock: bool) -> str:
    printed = f"; {NOT_DECISIVE}" if isinstance(figure, Timed) and not figure.met and not by_clock else ""
    return f"{'ok ' if figure.met else 'NOT'} {figure.what}: {figure.found} (wanted: {figure.bar}{printed})"


def _table(figures: Sequence[tuple[str, str, Figure]]) -> str:
    rows = [f"| {letter} | {on} | {what} | {found} | {bar} |" for letter, on, (what, found, bar, _) in figures]
    return "\n".join(["| | engine | what | measured | bar |", "|---|---|---|---|---|", *rows])


def _raise_interrupt(number: int, frame: FrameType | None) -> None:
    """Treat SIGTERM like Ctrl-C, so that all started processes are stopped."""
    del number, frame
    sys.exit(TERMINATED)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, _raise_interrupt)
    main()
