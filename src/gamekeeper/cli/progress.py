"""Progress of long commands: bars on a terminal. Bulk loads print a line every few seconds elsewhere."""

import contextlib
import time
from collections.abc import Callable, Generator
from functools import partial

import click
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
)
from rich.text import Text

PRINT_SECONDS = 5.0


@contextlib.contextmanager
def load_progress(wanted: int) -> Generator[Callable[[int], None]]:
    """Show the progress of loading `wanted` players; yields a function to call with the number just loaded."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield _LoadLines(wanted).advance
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), _Rate(), TimeRemainingColumn())
    with Progress(*columns, console=console) as progress:
        yield partial(_advance, progress, progress.add_task("Loading players", total=wanted, visible=wanted > 0))


@contextlib.contextmanager
def show_bars() -> Generator[Callable[[str, int, int | None], None]]:
    """Show one bar per task; yields a function to call with the task's name, the number done and the total, if known.

    Shows nothing if standard error is not a terminal.
    """
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        tasks: dict[str, TaskID] = {}

        def report_progress(what: str, done: int, total: int | None) -> None:
            if what not in tasks:
                tasks[what] = progress.add_task(what, total=total)
            progress.update(tasks[what], completed=done)

        yield report_progress


class _Rate(ProgressColumn):
    def render(self, task: Task) -> Text:
        return Text(f"{task.finished_speed or task.speed or 0:,.0f} players/s", "dim")


def _advance(progress: Progress, task: TaskID, count: int) -> None:
    progress.advance(task, count)
    if progress.finished:
        progress.update(task, description="Building indexes")


class _LoadLines:
    def __init__(self, wanted: int) -> None:
        self._wanted = wanted
        self._done = 0
        self._began = self._said = time.monotonic()

    def advance(self, count: int) -> None:
        self._done += count
        now = time.monotonic()
        rate = self._done / max(now - self._began, 0.001)
        if self._done == self._wanted:
            click.echo(f"Loaded {self._done:,} players, {rate:,.0f} players/s; building indexes.", err=True)
        elif now - self._said >= PRINT_SECONDS:
            self._said = now
            left = (self._wanted - self._done) / rate
            how_far = f"{self._done:,} of {self._wanted:,}, {rate:,.0f} players/s, {left:,.0f} s left"
            click.echo(f"Loading players: {how_far}", err=True)
