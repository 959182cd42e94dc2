"""Nested fields of forms, as PHP's http_build_query spells them: `Color[A]=255`."""

import re
from collections.abc import Iterable
from typing import get_args

import msgspec
from msgspec import Struct

_NESTED = re.compile(r"(\w+)\[(\w+)\]", re.ASCII)


def nest(pairs: Iterable[tuple[str, str]], shape: type[Struct]) -> list[tuple[str, object]]:
    """Collect the nested fields of those fields that are records; all others stay as they are."""
    records = {each.name.lower() for each in msgspec.structs.fields(shape) if _is_record(each.type)}
    flat, nested = list[tuple[str, object]](), dict[str, dict[str, object]]()
    for name, value in pairs:
        found = _NESTED.fullmatch(name) if records else None
        if found and found[1].lower() in records:
            nested.setdefault(found[1], {})[found[2].lower()] = value
        else:
            flat.append((name, value))
    return [*flat, *nested.items()]


def _is_record(kind: object) -> bool:
    return any(isinstance(each, type) and issubclass(each, Struct) for each in (kind, *get_args(kind)))
