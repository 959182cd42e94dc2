"""Errors of the client can be pickled and copied, as process pools and task queues do."""

import copy
import pickle
from collections.abc import Iterator

from gamekeeper_client import errors
from gamekeeper_client.feed import Change
from loops import over

CHANGE = Change(7, "2026-11-16T00:00:00Z", "items_given", "p", None, {"Items": []}, "Root", "r")


def find_classes(kind: type[errors.GamekeeperError] = errors.GamekeeperError) -> Iterator[type[errors.GamekeeperError]]:
    yield kind
    for each in kind.__subclasses__():
        yield from find_classes(each)


def make(kind: type[errors.GamekeeperError]) -> errors.GamekeeperError:
    if issubclass(kind, errors.Refused):
        return kind(409, errors.Error("No room.", "a_code", "request-1", [CHANGE]), 3.5)
    return errors.Unreachable("No answer.", permanent=True) if kind is errors.Unreachable else kind("What happened.")


@over("kind", *list(find_classes()))
def test_copied_error_keeps_all_attributes(kind: type[errors.GamekeeperError]) -> None:
    error = make(kind)
    error.idempotency_key = "order-4711"
    for again in (pickle.loads(pickle.dumps(error)), copy.deepcopy(error)):  # noqa: S301 - data of this test
        assert type(again) is kind
        assert vars(again) == vars(error)
        assert (again.args, str(again)) == (error.args, str(error))
