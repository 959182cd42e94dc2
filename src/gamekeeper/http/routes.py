"""All operations of the API, collected from the modules of the rooms. `gamekeeper operations` prints them."""

from gamekeeper.ground import rooms
from gamekeeper.http import openapi
from gamekeeper.http.contract.operation import Group, Operation, Route

_groups: list[Group] = sorted([*rooms.collect("http", "GROUPS"), openapi.GROUP], key=lambda group: group.place)
_declared = [operation for group in _groups for operation in group.operations]
# all operations: first those of the API's specification, by their number there, then the others
ROUTES: tuple[Operation, ...] = tuple(sorted(_declared, key=lambda each: each.number or len(_declared)))
# requests that are refused as in the engine, so they are not operations
REFUSED: tuple[Route, ...] = tuple(rooms.collect("http", "REFUSED"))


def list_operations() -> list[dict[str, str]]:
    """List every operation, for the tables of docs/operations.md and the command line: column → cell, in order."""
    return [
        {
            "number": "" if each.number is None else str(each.number),
            "method": each.method,
            "path": each.path,
            "name": each.name,
            "access": each.access.value,
            "permissions": _name_permissions(each.permissions),
            "summary": each.summary,
        }
        for each in ROUTES
    ]


def _name_permissions(needed: frozenset[str] | None) -> str:
    return "no token" if needed is None else ", ".join(sorted(needed)) or "any token"
