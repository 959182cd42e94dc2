"""Rules of strict bodies that a type cannot express."""

from collections.abc import Mapping, Sequence

import msgspec
from msgspec import Struct

from gamekeeper.http.access.role_shapes import ChangePowers, SaveRole
from gamekeeper.http.players.player_shapes import ItemSlot, NamedSlot, RankedPlayer
from gamekeeper.http.world import catalogue_shapes
from gamekeeper.http.world.link_shapes import PutPlayer

# Shape → fields that a body has both or neither: an item slot with only one would be emptied by mistake.
TOGETHER: Mapping[type[Struct], Sequence[str]] = {ItemSlot: ("ItemId", "Quantity")}
# Read-only fields of our answers. Strict bodies ignore them, so that callers can send back a record they have read.
READ_ONLY: Mapping[type[Struct], Sequence[str]] = {
    PutPlayer: [name for name in RankedPlayer.__struct_fields__ if name not in PutPlayer.__struct_fields__],
    ItemSlot: [name for name in NamedSlot.__struct_fields__ if name not in ItemSlot.__struct_fields__],
    ChangePowers: ["Id", "Name", "WeakenedKeys"],
    SaveRole: ["Name", "BuiltIn"],
}
# Shapes that a caller may send with further fields, which are kept. Misspelt fields of the shape are still rejected.
OPEN: frozenset[type[Struct]] = frozenset(catalogue_shapes.ENTRIES.values()) - {
    catalogue_shapes.ServerVariableEntry,
    catalogue_shapes.GuildVariableEntry,
}


def describe_together(shape: type[Struct]) -> dict[str, object]:
    """Return JSON Schema's `dependentRequired` for fields that a body has together; empty if the shape has none."""
    together = TOGETHER.get(shape, ())
    optional = [each.name for each in msgspec.structs.fields(shape) if not each.required]
    needing = {field: [each for each in together if each != field] for field in optional}
    return {"dependentRequired": needing} if together else {}
