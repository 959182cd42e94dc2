from functools import partial

from gamekeeper.game.core import lookup
from gamekeeper.game.core import refusals as no
from gamekeeper.game.players import player_edits
from gamekeeper.http.contract import examples, shapes
from gamekeeper.http.contract.operation import OF_ONE_OWNER, READ_PLAYERS, REVALIDATED, Group, needs
from gamekeeper.http.players import player_shapes
from gamekeeper.http.server.paging import encode_rows
from gamekeeper.http.server.request import Request
from gamekeeper.http.server.response import Response
from gamekeeper.store.engine.interface import Reading
from gamekeeper.store.players import players as spell_rows

GROUP = Group("Spells", "Known spells; teach and remove spells.", 70, READ_PLAYERS, REVALIDATED)
GROUPS = (GROUP,)


@GROUP.operation(
    "GET /api/v1/players/[lookupKey]/spells",
    number=16,
    answer=list[player_shapes.KnownSpell],
    rows=OF_ONE_OWNER,
)
async def list_spells(request: Request) -> bytes:
    """List the spells a player knows."""

    async def look(tx: Reading) -> dict[int, str]:
        return await spell_rows.read_known_spells(tx, await lookup.find_player_id(tx, request.params[0]))

    slots = await request.services.keeper.store.read(look)
    return await encode_rows(
        request,
        [*slots.items()],
        lambda some: shapes.encode([player_shapes.KnownSpell(slot, spell) for slot, spell in some]),
    )


@GROUP.operation(
    "POST /api/v1/players/[lookupKey]/spells/teach",
    number=17,
    permissions=needs("spells.write"),
    answer=player_shapes.SpellId,
    refusals=(no.NoSuchSpell, no.SpellAlreadyKnown, no.NoFreeSpellSlot),
    example_body=player_shapes.Spell(examples.EMBER_LANCE),
)
async def teach_spell(request: Request, body: player_shapes.Spell) -> Response:
    """Teach a player a spell."""
    size = request.services.keeper.settings.spell_slots
    decide = partial(player_edits.teach_spell, player=request.params[0], spell_id=body.spellid, size=size)
    return await request.change(decide, player_shapes.SpellId)


@GROUP.operation(
    "POST /api/v1/players/[lookupKey]/spells/forget",
    number=18,
    permissions=needs("spells.write"),
    answer=player_shapes.SpellId,
    refusals=(no.NoSuchSpell, no.SpellNotKnown),
)
async def forget_spell(request: Request, body: player_shapes.Spell) -> Response:
    """Remove a spell from a player's known spells."""
    decide = partial(player_edits.forget_spell, player=request.params[0], spell_id=body.spellid)
    return await request.change(decide, player_shapes.SpellId)
