"""Unknown fields of strict bodies: a refusal that suggests the nearest known field.

Open shapes, those of the catalogue, may have further fields. There only misspelt fields of the shape are rejected.
"""

import re
from collections.abc import Mapping
from functools import lru_cache

import msgspec
from msgspec import Struct

from gamekeeper.game.refusals import BadField
from gamekeeper.http import hints, wire
from gamekeeper.http.errors import UnknownField

MAX_FURTHER_FIELDS = 500  # fields of one catalogue entry besides our own: the engine's largest objects have about 60


class UnknownFieldFound(Exception):
    """An unknown field of a strict body: its path, its name in lower case, and the shape it was sent in."""

    def __init__(self, path: str, name: str, shape: type[Struct]) -> None:
        self.path, self.name, self.shape = path, name, shape


def reject(sent: Mapping[str, object], accepted: frozenset[str], shape: type[Struct], path: str) -> None:
    """Reject unknown fields of a strict body. `sent` and `accepted` have names in lower case."""
    unknown = [name for name in sent if name not in accepted]
    if shape not in wire.strict.OPEN:
        raise UnknownFieldFound(path, unknown[0], shape)
    if len(unknown) > MAX_FURTHER_FIELDS:
        raise BadField(field=path, problem=f"has more than {MAX_FURTHER_FIELDS} further fields")
    for name in unknown:
        if _is_misspelt(name, accepted):
            raise UnknownFieldFound(path, name, shape)


def make_error(raw: bytes, unknown: UnknownFieldFound) -> UnknownField:
    """Make the refusal of an unknown body field. Parsing lower-cased its name: find the original spelling."""
    name = hints.shorten(unknown.name)
    sent = re.search(rf'"({re.escape(name)})"\s*:', raw.decode("utf-8"), re.IGNORECASE)
    name = sent[1] if sent else name
    known = {each.name.lower(): each.name for each in msgspec.structs.fields(unknown.shape)}
    field = f"{unknown.path}.{name}" if unknown.path else name
    return UnknownField(field=field, hint=hints.make_hint(name, known))


@lru_cache(4096)
def _is_misspelt(name: str, accepted: frozenset[str]) -> bool:
    return name not in wire.catalogue.ENGINE_FIELDS and hints.is_misspelt(name, accepted)
