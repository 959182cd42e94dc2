"""Database rows as one JSON parameter, which both engines read with `json_each`."""

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec


def as_table(rows: Iterable[Mapping[str, object]]) -> str:
    """Encode rows for `json_each($1)` and `value->>'column'`."""
    return msgspec.json.encode({str(number): row for number, row in enumerate(rows)}).decode()


def as_tree(rows: Iterable[tuple[str, ...]], values: Iterable[int]) -> str:
    """Encode rows as nested objects, one level per column, with a number for each row.

    Every level is read with its own `json_each`. That is cheaper than `as_table` for many rows whose first columns are
    equal: no row is parsed by itself. Rows must differ.
    """
    tree: dict[str, Any] = {}
    level, branch = tree, ()
    for row, value in zip(rows, values, strict=False):
        if row[:-1] != branch:  # consecutive rows often differ in the last column only
            level, branch = tree, row[:-1]
            for name in branch:
                level = level.setdefault(name, {})
        level[row[-1]] = value
    return msgspec.json.encode(tree).decode()
