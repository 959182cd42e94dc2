from functools import partial

from gamekeeper.game import lookup, spells
from gamekeeper.http import wire
from gamekeeper.http.request import Request
from gamekeeper.store import spells as spell_rows
from gamekeeper.store.engine import Reading


async def known(request: Request) -> bytes:
    """Spells a character knows."""

    async def look(tx: Reading) -> dict[int, str]:
        return await spell_rows.known(tx, await lookup.player_id(tx, request.params[0]))

    slots = await request.keeper.store.read(look)
    return wire.encode([wire.KnownSpell(slot, spell) for slot, spell in slots.items()])


async def teach(request: Request, body: wire.Spell) -> bytes:
    """Teach a character a spell."""
    size = request.keeper.settings.spell_slots
    decide = partial(spells.teach, player=request.params[0], spell_id=body.spellid, size=size)
    return await request.change(decide, lambda spell: wire.encode(wire.SpellId(spell)))


async def forget(request: Request, body: wire.Spell) -> bytes:
    """Make a character forget a spell."""
    decide = partial(spells.forget, player=request.params[0], spell_id=body.spellid)
    return await request.change(decide, lambda spell: wire.encode(wire.SpellId(spell)))
