"""Warnings of commands about what the doctor found. Separate from terminal.py: most commands do not load the doctor."""

from collections.abc import Iterable

from gamekeeper.cli import terminal
from gamekeeper.doctor import ERROR, DoctorFinding


def warn_of_errors(found: Iterable[DoctorFinding]) -> None:
    """Print the doctor's findings of level ERROR as warnings."""
    for each in found:
        if each.level == ERROR:
            terminal.warn(each.message)
