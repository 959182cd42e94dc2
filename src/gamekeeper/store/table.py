"""Database rows as one JSON parameter, which both engines read with `json_each($1)` and `value->>'column'`."""

from collections.abc import Iterable, Mapping

import msgspec


def as_table(rows: Iterable[Mapping[str, object]]) -> str:
    return msgspec.json.encode({str(number): row for number, row in enumerate(rows)}).decode()
