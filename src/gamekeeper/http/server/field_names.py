"""Names of fields in bodies: nested fields of forms, and hints for unknown or misspelt names.

Forms nest fields as PHP's http_build_query spells them: `Color[A]=255`. Strict bodies reject unknown fields; the
refusal suggests the nearest known field: "Did you mean …?".
"""

import re
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from functools import lru_cache
from typing import get_args

import msgspec
from msgspec import Struct

from gamekeeper.game.core.refusals import BadField
from gamekeeper.http.contract.shapes import find_further
from gamekeeper.http.server.errors import UnknownField

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


MAX_LENGTH = 64  # characters of a misspelt name that are compared and quoted: comparing a very long name takes seconds

MISSPELT = 0.82  # similarity from which a name counts as a misspelt one: one wrong, missing or extra letter in five


def shorten(name: str) -> str:
    """Shorten a misspelt name for a message, and replace lone surrogates, which UTF-8 cannot encode."""
    short = name if len(name) <= MAX_LENGTH else f"{name[:MAX_LENGTH]}…"
    return short.encode("utf-8", "replace").decode()


def make_hint(name: str, known: Mapping[str, str]) -> str:
    """Suggest the known name nearest to a misspelt one. `known`: name in lower case → documented name."""
    if not known:
        return "None are accepted here."
    near = get_close_matches(name[:MAX_LENGTH].lower(), known, 1)
    return f"Did you mean '{known[near[0]]}'?" if near else f"Accepted: {', '.join(known.values())}."


def is_misspelt(name: str, known: Iterable[str]) -> bool:
    """Check whether a name, in lower case, is nearly a known one."""
    return len(name) <= MAX_LENGTH and bool(get_close_matches(name, known, 1, MISSPELT))


MAX_FURTHER_FIELDS = 500  # fields of one catalogue entry besides our own: the engine's largest objects have about 60


class UnknownFieldFound(Exception):
    """An unknown field of a strict body: its path, its name in lower case, and the shape it was sent in."""

    def __init__(self, path: str, name: str, shape: type[Struct]) -> None:
        self.path, self.name, self.shape = path, name, shape


def reject(sent: Mapping[str, object], accepted: frozenset[str], shape: type[Struct], path: str) -> None:
    """Reject unknown fields of a strict body. `sent` and `accepted` have names in lower case."""
    unknown = [name for name in sent if name not in accepted]
    further = find_further(shape)
    if further is None:
        raise UnknownFieldFound(path, unknown[0], shape)
    if len(unknown) > MAX_FURTHER_FIELDS:
        raise BadField(field=path, problem=f"has more than {MAX_FURTHER_FIELDS} further fields")
    for name in unknown:
        if name not in further and _is_misspelt(name, accepted):
            raise UnknownFieldFound(path, name, shape)


def make_error(raw: bytes, unknown: UnknownFieldFound) -> UnknownField:
    """Make the refusal of an unknown body field. Parsing lower-cased its name: find the original spelling."""
    name = shorten(unknown.name)
    sent = re.search(rf'"({re.escape(name)})"\s*:', raw.decode("utf-8"), re.IGNORECASE)
    name = sent[1] if sent else name
    known = {each.name.lower(): each.name for each in msgspec.structs.fields(unknown.shape)}
    field = f"{unknown.path}.{name}" if unknown.path else name
    return UnknownField(field=field, hint=make_hint(name, known))


@lru_cache(4096)
def _is_misspelt(name: str, accepted: frozenset[str]) -> bool:
    return is_misspelt(name, accepted)
