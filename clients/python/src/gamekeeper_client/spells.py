"""Spells that a player knows."""

from typing import Unpack

from msgspec import Struct

from gamekeeper_client.call import Payload
from gamekeeper_client.operation import WriteOptions, operation


class KnownSpell(Struct, rename="pascal"):
    slot: int
    spell_id: str


class SpellId(Struct, rename="pascal"):
    spell_id: str


class Spells:
    @operation("GET", "/api/v1/players/{player}/spells")
    def list_spells(self, player: str) -> Payload[list[KnownSpell]]:
        """List the spells that a player knows.

        Returns the spells with their slots.
        Raises NoSuchPlayer, TooManyLongReads, PermissionMissing.
        """
        return Payload(list[KnownSpell])

    @operation("POST", "/api/v1/players/{player}/spells/teach")
    def teach_spell(self, player: str, spell_id: str, **options: Unpack[WriteOptions]) -> Payload[SpellId]:
        """Teach a player a spell.

        spell_id: id of the spell in the catalogue.
        Returns the spell's id.
        Raises NoSuchPlayer, NoSuchSpell, SpellAlreadyKnown, NoFreeSpellSlot, BadField, PermissionMissing.
        """
        return Payload(SpellId, body={"spellid": spell_id})

    @operation("POST", "/api/v1/players/{player}/spells/forget")
    def forget_spell(self, player: str, spell_id: str, **options: Unpack[WriteOptions]) -> Payload[SpellId]:
        """Make a player forget a spell.

        spell_id: id of the spell in the catalogue.
        Returns the spell's id.
        Raises NoSuchPlayer, NoSuchSpell, SpellNotKnown, BadField, PermissionMissing.
        """
        return Payload(SpellId, body={"spellid": spell_id})
