from functools import partial

from gamekeeper.game import lookup, spells
from gamekeeper.game import refusals as no
from gamekeeper.http import samples, wire
from gamekeeper.http.answered_rows import OF_ONE_OWNER
from gamekeeper.http.long_lists import encode_rows
from gamekeeper.http.operation import READ, READ_PLAYERS, REVALIDATED, WRITE, Group, needs
from gamekeeper.http.request import Request
from gamekeeper.http.response import Response
from gamekeeper.store import spells as spell_rows
from gamekeeper.store.engine import Reading

GROUP = Group("Spells", "Known spells; teach and remove spells.")


@GROUP.operation(
    "GET /api/v1/players/[lookupKey]/spells",
    name="list_spells",
    number=16,
    permissions=READ_PLAYERS,
    access=READ,
    cache=REVALIDATED,
    answer=list[wire.spells.KnownSpell],
    rows=OF_ONE_OWNER,
    refusals=(no.TooManyLongReads,),
    example_answer=[wire.spells.KnownSpell(1, samples.STONE_SKIN)],
)
async def list_spells(request: Request) -> bytes:
    """List the spells a player knows."""

    async def look(tx: Reading) -> dict[int, str]:
        return await spell_rows.read_known(tx, await lookup.find_player_id(tx, request.params[0]))

    slots = await request.services.keeper.store.read(look)
    return await encode_rows(
        request,
        [*slots.items()],
        lambda some: wire.encode([wire.spells.KnownSpell(slot, spell) for slot, spell in some]),
    )


@GROUP.operation(
    "POST /api/v1/players/[lookupKey]/spells/teach",
    name="teach_spell",
    number=17,
    permissions=needs("spells.write"),
    access=WRITE,
    body=wire.spells.Spell,
    answer=wire.spells.SpellId,
    refusals=(no.NoSuchSpell, no.SpellAlreadyKnown, no.NoFreeSpellSlot),
    example_body=wire.spells.Spell(samples.EMBER_LANCE),
    example_answer=wire.spells.SpellId(samples.EMBER_LANCE),
)
async def teach(request: Request, body: wire.spells.Spell) -> Response:
    """Teach a player a spell."""
    size = request.services.keeper.settings.spell_slots
    decide = partial(spells.teach, player=request.params[0], spell_id=body.spellid, size=size)
    return await request.change(decide, lambda spell: wire.encode(wire.spells.SpellId(spell)))


@GROUP.operation(
    "POST /api/v1/players/[lookupKey]/spells/forget",
    name="forget_spell",
    number=18,
    permissions=needs("spells.write"),
    access=WRITE,
    body=wire.spells.Spell,
    answer=wire.spells.SpellId,
    refusals=(no.NoSuchSpell, no.SpellNotKnown),
    example_body=wire.spells.Spell(samples.STONE_SKIN),
    example_answer=wire.spells.SpellId(samples.EMBER_LANCE),
)
async def forget(request: Request, body: wire.spells.Spell) -> Response:
    """Remove a spell from a player's known spells."""
    decide = partial(spells.forget, player=request.params[0], spell_id=body.spellid)
    return await request.change(decide, lambda spell: wire.encode(wire.spells.SpellId(spell)))
