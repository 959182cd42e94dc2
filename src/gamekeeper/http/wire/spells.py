"""JSON shapes of the spells that a player knows."""

from msgspec import Struct

from gamekeeper.http.wire.scalars import Guid, Natural


class Spell(Struct):
    spellid: Guid


class KnownSpell(Struct):
    Slot: Natural
    SpellId: Guid


class SpellId(Struct):
    SpellId: Guid
