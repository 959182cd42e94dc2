"""Errors of the client can be pickled and copied, as process pools and task queues do."""

import copy
import pickle
from collections.abc import Callable, Iterator
from typing import Any

from gamekeeper_client import errors
from gamekeeper_client.feed import Change
from loops import collecting

CHANGE = Change(7, "2026-11-16T00:00:00Z", "items_given", "p", None, {"Items": []}, "Root", "r")
WAYS: dict[str, Callable[[Any], Any]] = {
    "pickle": lambda error: pickle.loads(pickle.dumps(error)),  # noqa: S301 - data of this test
    "oldest pickle": lambda error: pickle.loads(pickle.dumps(error, protocol=0)),  # noqa: S301 - data of this test
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
}


def find_classes(kind: type[errors.GamekeeperError]) -> Iterator[type[errors.GamekeeperError]]:
    yield kind
    for each in kind.__subclasses__():
        yield from find_classes(each)


def make(kind: type[errors.GamekeeperError]) -> errors.GamekeeperError:
    if issubclass(kind, errors.Refused):
        return kind(409, errors.Error("No room.", "a_code", "request-1", [CHANGE]), 3.5)
    return errors.Unreachable("No answer.", permanent=True) if kind is errors.Unreachable else kind("What happened.")


def test_errors_keep_all_attributes() -> None:
    with collecting() as case:
        for kind in find_classes(errors.GamekeeperError):
            for way, repeat in WAYS.items():
                with case(kind.__name__, way):
                    error = make(kind)
                    error.idempotency_key = "order-4711"
                    error.add_note("while serving a visitor")
                    again = repeat(error)
                    assert type(again) is kind
                    assert vars(again) == vars(error)
                    assert (again.args, str(again)) == (error.args, str(error))


def test_refusal_keeps_its_fields() -> None:
    again = pickle.loads(pickle.dumps(make(errors.UnappliedChanges)))  # noqa: S301 - data of this test
    fields = (again.status, again.code, again.message, again.request_id, again.retry_after, again.changes)
    assert fields == (409, "a_code", "No room.", "request-1", 3.5, [CHANGE])
