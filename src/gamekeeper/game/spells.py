"""Rules for the spells that a player knows."""

from collections.abc import Mapping

from gamekeeper.game import lookup
from gamekeeper.game.changes import Decision
from gamekeeper.game.player_effects import SpellsChanged
from gamekeeper.game.refusals import NoFreeSpellSlot, NoSuchSpell, SpellAlreadyKnown, SpellNotKnown
from gamekeeper.store import catalogue, spells
from gamekeeper.store.engine import Locking, Reading


def find_free_slot(known: Mapping[int, str], spell_id: str, size: int) -> int:
    if spell_id in known.values():
        raise SpellAlreadyKnown
    for slot in range(size):
        if slot not in known:
            return slot
    raise NoFreeSpellSlot(size=size)


def find_slot(known: Mapping[int, str], spell_id: str) -> int:
    for slot, each in known.items():
        if each == spell_id:
            return slot
    raise SpellNotKnown


async def teach(tx: Locking, player: str, spell_id: str, size: int) -> Decision[str]:
    locked = await lookup.lock_player(tx, player)
    await require_spell(tx, spell_id)
    slot = find_free_slot(await spells.read_known(tx, locked.id), spell_id, size)
    return Decision([SpellsChanged("spell_taught", locked.id, {slot: None}, {slot: spell_id})], spell_id)


async def forget(tx: Locking, player: str, spell_id: str) -> Decision[str]:
    locked = await lookup.lock_player(tx, player)
    await require_spell(tx, spell_id)
    slot = find_slot(await spells.read_known(tx, locked.id), spell_id)
    return Decision([SpellsChanged("spell_forgotten", locked.id, {slot: spell_id}, {slot: None})], spell_id)


async def require_spell(tx: Reading, spell_id: str) -> None:
    """Refuse a spell that the catalogue does not have. While the catalogue has no spells, any id is accepted."""
    if spell_id == lookup.ZERO_GUID or (
        await catalogue.find_spell(tx, spell_id) is None and await catalogue.has_spells(tx)
    ):
        raise NoSuchSpell
