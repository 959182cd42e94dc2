"""Declarations of operations: each has all its parts, and its handler takes what the dispatcher passes."""

import inspect

import pytest
from msgspec import UNSET

from gamekeeper.game.access.permissions import PERMISSIONS
from gamekeeper.http.contract.operation import MOST_AT_ONCE, OF_ONE_OWNER, READ, Operation, is_list, list_types
from gamekeeper.http.insight import public
from gamekeeper.http.routes import ROUTES
from gamekeeper.http.server.response import Response

OPERATIONS = [pytest.param(each, id=each.name) for each in (*ROUTES, *public.ROUTES) if isinstance(each, Operation)]


@pytest.mark.parametrize("operation", OPERATIONS)
def test_operation_declares_all_its_parts(operation: Operation) -> None:
    assert operation.summary, "a docstring, which is its summary"
    assert operation.permissions is not UNSET, "permissions, of the operation or of its group"
    assert PERMISSIONS.keys() >= (operation.permissions or frozenset())
    returned = inspect.get_annotations(operation.handler)["return"]
    if set(list_types(returned)) <= {bytes, Response}:
        assert operation.answer is not returned, "the shape of the answer"
    else:
        assert operation.answer == returned


@pytest.mark.parametrize("operation", OPERATIONS)
def test_list_declares_how_many_rows_it_can_have(operation: Operation) -> None:
    if operation.access is READ and is_list(operation.answer) and operation.rows is None:
        assert operation.own_rows is OF_ONE_OWNER
    assert operation.gated or (operation.rows or 0) <= MOST_AT_ONCE


@pytest.mark.parametrize("operation", OPERATIONS)
def test_handler_takes_what_the_dispatcher_passes(operation: Operation) -> None:
    _, *parameters = inspect.signature(operation.handler).parameters.values()
    taken = {each.name: each.annotation for each in parameters}
    read = {each.argument: inspect.signature(each.read).return_annotation for each in operation.path_values}
    expected = {name: taken[name] for name in ("body", "query") if name in taken} | read
    assert list(taken.items()) == list(expected.items())
    if operation.query:
        assert operation.query.__struct_config__.frozen  # requests without parameters share one instance
