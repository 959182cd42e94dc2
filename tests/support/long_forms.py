"""Long forms of tests. `make test` runs the short forms, and `make long` runs the long ones.

A test with a long form has the mark `long_form`, by which `make long` finds it, and chooses its numbers with `choose`.
The short form does each sort of thing at least once, and on each engine what could lose a change or apply it twice.
"""

import os
from typing import TypeVar

T = TypeVar("T")
LONG = bool(os.environ.get("LONG_TESTS"))


def choose(short: T, long: T) -> T:
    """Return `long` in `make long`, otherwise `short`."""
    return long if LONG else short
