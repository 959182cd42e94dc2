"""Run the battery's tests one by one, each without and then with its seeded faults, and print the results."""

import os
import random
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from pathlib import Path
from types import FrameType

import click

from battery.cases import ENGINES, NEITHER, Case, Figure, NotRun, Run, Timed
from battery.databases import Databases
from gamekeeper.store.engine import postgres_url

# Names of the modules with the battery's tests, in the order of docs/reliability.md
MODULES = (
    *("conservation", "failover", "contract", "hostile", "soak", "overload", "guessing"),
    *("disk", "clock", "upgrades", "backups", "network", "static"),
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
class Battery:
    """Options that hold for all battery tests of one command, and what the tests have shown."""

    seed: int
    seconds: int | None  # seconds: duration of the long forms of the tests; None: short forms
    by_clock: bool  # whether timings decide whether a test passes
    verdicts: Counter[str] = field(default_factory=Counter[str])
    figures: list[tuple[str, str, Figure]] = field(default_factory=list[tuple[str, str, Figure]])

    def run(self, opened: Databases, case: Case, on: str, fault: str | None) -> None:
        """Run a test and print its results. Repeat it, TRIES times in all, if only bars of time were missed."""
        name = f"{case.letter} {case.name}, {on}" + (f", fault {fault}" if fault else "")
        started = time.monotonic()
        tries, verdict, figures, said = 0, FAILED, list[Figure](), list[str]()
        while not tries or (tries < TRIES and verdict == FAILED and figures and self._is_met(figures, by_clock=False)):
            verdict, figures, said = self._try(opened, case, on, fault)
            tries += 1
        self.verdicts[verdict] += 1
        self.figures += [] if fault else [(case.letter, on, figure) for figure in figures]
        again = f"; try {tries}, for the clock spoilt the ones before" if tries > 1 else ""
        replay = f"make battery ONLY={case.letter} ENGINE={on} SEED={self.seed} FAULT={fault or 'none'}"
        replay += f" LONG={self.seconds}" if self.seconds else ""
        click.echo(f"{verdict}: {name} ({time.monotonic() - started:.1f} s{again}; again: {replay})")
        for line in said or map(self._describe, figures):
            click.echo(f"    {line}")

    def _try(
        self, opened: Databases, case: Case, on: str, fault: str | None
    ) -> tuple[str, Sequence[Figure], Sequence[str]]:
        with tempfile.TemporaryDirectory(prefix="gk-", ignore_cleanup_errors=True) as folder:
            try:
                another = partial(opened.empty, on, Path(folder))
                figures = case.run(Run(on, self.seed, Path(folder), another(), fault, self.seconds, another))
            except NotRun as reason:
                return NOT_RUN, [], [str(reason)]
            except Exception:  # noqa: BLE001 - an error in one test counts as its failure, and must not stop the other tests
                return FAILED, [], traceback.format_exc().splitlines()
        if not figures:
            return FAILED, [], ["it came back with nothing measured"]
        if not fault:
            return (PASSED if self._is_met(figures, by_clock=self.by_clock) else FAILED), figures, []
        # timings count only for faults that nothing else shows
        if not self._is_met(figures, by_clock=fault in case.timed_faults):
            return CAUGHT, figures, []
        return (UNDECIDED if fault in case.timed_faults and not self.by_clock else MISSED), figures, []

    def _is_met(self, figures: Sequence[Figure], *, by_clock: bool) -> bool:
        return all(each.met or (isinstance(each, Timed) and not by_clock) for each in figures)

    def _describe(self, figure: Figure) -> str:
        printed = f"; {NOT_DECISIVE}" if isinstance(figure, Timed) and not figure.met and not self.by_clock else ""
        return f"{'ok ' if figure.met else 'NOT'} {figure.what}: {figure.found} (wanted: {figure.bar}{printed})"


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
@click.option("--all", "everything", is_flag=True, help="What cannot be run here has failed.")
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
    seed = random.SystemRandom().randrange(10**6) if seed is None else seed
    cases = [case for module in MODULES for case in import_module(f"battery.{module}").CASES]
    chosen = [case for case in cases if not only or case.letter in only.split(",")]
    due = [(case, on, seeded) for case in chosen for on, seeded in list_runs(case, engine, fault)]
    if not due:
        raise click.UsageError("No test is like that; `make battery` without ONLY, ENGINE and FAULT runs them all.")
    os.environ.setdefault(postgres_url.TIMEOUT_VARIABLE, str(CONNECT_SECONDS))
    battery = Battery(seed, seconds, by_clock=clock == DECIDE)
    with closing(Databases()) as opened:
        for each in due:
            battery.run(opened, *each)
    rows = [f"| {letter} | {on} | {what} | {found} | {bar} |" for letter, on, (what, found, bar, _) in battery.figures]
    click.echo("\n".join(["| | engine | what | measured | bar |", "|---|---|---|---|---|", *rows]))
    click.echo(", ".join(f"{verdict} {battery.verdicts[verdict]}" for verdict in VERDICTS) + f"; seed {seed}")
    bad = (FAILED, MISSED, *([NOT_RUN] if everything else []))
    sys.exit(1 if any(battery.verdicts[each] for each in bad) else 0)


def list_runs(case: Case, engine: str | None, fault: str | None) -> Iterator[tuple[str, str | None]]:
    """Yield each engine of a test without and with each seeded fault, limited to the given engine and fault."""
    for on in case.engines:
        if engine in {None, on} or case.engines == NEITHER:
            if fault in {None, "none"}:
                yield on, None
            if on in case.fault_engines or case.engines == NEITHER:
                yield from ((on, each) for each in case.faults if fault in {None, each})


def _raise_interrupt(number: int, frame: FrameType | None) -> None:
    """Treat SIGTERM like Ctrl-C, so that all started processes are stopped."""
    del number, frame
    sys.exit(TERMINATED)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, _raise_interrupt)
    main()
