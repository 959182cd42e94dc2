"""Loops over many cases inside one test: all cases run, and the test fails with the list of those that failed."""

import functools
import inspect
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

SHOWN = 20  # failed cases that a report shows


@contextmanager
def collecting() -> Generator[Callable[..., AbstractContextManager[None]]]:
    """Yield `case(*labels)`: a context whose failure is noted with its labels, so that the loop goes on."""
    failed: list[str] = []

    @contextmanager
    def case(*labels: object) -> Generator[None]:
        try:
            yield
        except Exception as error:  # noqa: BLE001 - every failure of a case is reported at the end
            failed.append(f"{' '.join(map(str, labels))}: {type(error).__name__}: {error}")

    yield case
    assert not failed, "\n".join([f"{len(failed)} cases failed:", *failed[:SHOWN]])


def over(names: str, *cases: Any) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Run a test once for all cases, which share its fixtures: for cases that do not disturb each other.

    `names` are the arguments that each case gives, separated by ", ". A failure names the case.
    """
    given = names.split(", ")
    if len(cases) < 2:
        raise TypeError("Give each case as an argument.")

    def wrap(test: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(test)
        def run(**fixtures: Any) -> None:
            with collecting() as case:
                for each in cases:
                    values = (each,) if len(given) == 1 else each
                    with case(*(getattr(value, "name", value) for value in values)):
                        test(**fixtures, **dict(zip(given, values, strict=True)))

        signature = inspect.signature(test)
        kept = [each for name, each in signature.parameters.items() if name not in given]
        vars(run)["__signature__"] = signature.replace(parameters=kept)
        del vars(run)["__wrapped__"]  # pytest would look for fixtures with the names of the values
        return run

    return wrap
