"""The game link: game servers report the catalogue, players and who is online."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from gamekeeper.game import catalogue, link, pictures, player_edits, presence
from gamekeeper.game import refusals as no
from gamekeeper.game.changes import Decision
from gamekeeper.game.key_refusals import PlayerOnOtherServer, ServerNotAllowed
from gamekeeper.game.variable_refusals import ReadOnlyVariable
from gamekeeper.http import catalogue_bodies, catalogue_codec, codec, instants, paging, player_records, samples, wire
from gamekeeper.http.key_guard import find_speaker, require_server
from gamekeeper.http.operation import LINK, READ, REVALIDATED, WRITE, Group
from gamekeeper.http.request import Request
from gamekeeper.http.response import Response
from gamekeeper.settings import MOST_PAGE_ROWS
from gamekeeper.store.engine import Reading
from gamekeeper.store.pictures import Picture
from gamekeeper.store.players import StoredPlayer

ENTRIES = (
    wire.lists.Paged[wire.catalogue.ItemEntry]
    | wire.lists.Paged[wire.catalogue.VariableEntry]
    | wire.lists.Paged[wire.catalogue.ServerVariableEntry]
    | wire.lists.Paged[wire.catalogue.GuildVariableEntry]
    | wire.lists.Paged[wire.catalogue.NamedEntry]
)
# one thread: several convert no more pictures, but use all processors and Python's lock, and other requests wait
_executor = ThreadPoolExecutor(1, "pictures")
GROUP = Group("Link", "For game servers: report the catalogue, players and who is online.")


@GROUP.operation(
    "PUT /api/link/v1/catalogue/[kind]",
    name="put_catalogue",
    permissions=LINK,
    access=WRITE,
    body=bytes,
    answer=wire.link.Count,
    refusals=(),
    example_body=[samples.DRAUGHT_ENTRY],
    example_answer=wire.link.Count(1),
)
async def put_catalogue(request: Request, body: bytes, kind: str) -> Response:
    """Publish entries of one kind of the catalogue, with any further fields."""
    content_type = request.headers.get(b"content-type", b"").decode("latin-1")
    given = await request.read_body(partial(catalogue_bodies.read_entries, kind, body, content_type))
    return await request.change(
        partial(catalogue.put, kind=kind, entries=given), lambda count: wire.encode(wire.link.Count(count))
    )


@GROUP.operation(
    "GET /api/link/v1/catalogue/[kind]",
    name="list_catalogue",
    permissions=LINK,
    access=READ,
    cache=REVALIDATED,
    query=wire.lists.PageQuery,
    answer=ENTRIES,
    rows=MOST_PAGE_ROWS,
    refusals=(),
    example_answer=wire.lists.Paged(31, 0, 5, 1, [samples.DRAUGHT_ENTRY]),
)
async def list_catalogue(request: Request, query: wire.lists.PageQuery, kind: str) -> bytes:
    """List one list of the catalogue, in pages."""
    page = paging.read_query(query, request.services.keeper.settings.max_page_size)
    total, found = await catalogue.load_detailed_page(request.services.keeper.store, kind, page.limit, page.offset)
    return wire.lists.encode_paged(
        total, page.number, page.size, [catalogue_codec.encode_entry(each) for each in found]
    )


@GROUP.operation(
    "PUT /api/link/v1/items/[itemId]/picture",
    name="put_item_picture",
    permissions=LINK,
    access=WRITE,
    body=wire.link.PutPicture,
    answer=wire.link.ItemPicture,
    refusals=(no.NoSuchItem,),
    example_body=wire.link.PutPicture(samples.PICTURE),
    example_answer=wire.link.ItemPicture(samples.COIN, samples.PICTURE_HASH),
)
async def put_item_picture(request: Request, body: wire.link.PutPicture, item_id: str) -> Response:
    """Publish the picture of an item: a PNG or WebP file as base64, of at most 64 KiB."""
    picture = await asyncio.get_running_loop().run_in_executor(_executor, pictures.convert_base64, body.Picture)
    return await _change_picture(request, item_id, picture)


@GROUP.operation(
    "DELETE /api/link/v1/items/[itemId]/picture",
    name="delete_item_picture",
    permissions=LINK,
    access=WRITE,
    answer=wire.link.ItemPicture,
    refusals=(no.NoSuchItem,),
    example_answer=wire.link.ItemPicture(samples.COIN, None),
)
async def delete_item_picture(request: Request, item_id: str) -> Response:
    """Remove the picture of an item. An item without a picture stays as it is."""
    return await _change_picture(request, item_id, None)


async def _change_picture(request: Request, item_id: str, picture: Picture | None) -> Response:
    """Set or remove the picture of an item, and answer with its hash."""
    return await request.change(
        partial(pictures.put, item_id=item_id, picture=picture),
        lambda found: wire.encode(wire.link.ItemPicture(item_id, found)),
    )


@GROUP.operation(
    "PUT /api/link/v1/players/[id]",
    name="put_player",
    permissions=LINK,
    access=WRITE,
    body=wire.link.PutPlayer,
    answer=wire.players.PlayerRecord,
    refusals=(
        *(no.MissingField, no.ReservedName, no.WrongVariableType, ReadOnlyVariable),
        *(no.NoSuchPlayer, no.NoSuchUser, no.NoSuchItem, no.NoSuchBag, no.NoSuchSpell, no.NoSuchVariable),
        PlayerOnOtherServer,
        *(
            no.NameTaken,
            no.SlotOutOfRange,
            no.StackTooLarge,
            no.SpellAlreadyKnown,
            no.UnappliedChanges,
            no.ChangesTrimmed,
            no.CursorAhead,
        ),
    ),
    example_body=wire.link.PutPlayer(Level=49, Items=[wire.items.ItemSlot(17, None, samples.DRAUGHT, 2)]),
    example_answer=samples.RECORD,
)
async def put_player(request: Request, body: wire.link.PutPlayer, player_id: str) -> Response:
    """Create a player, or report changes of a player."""
    put = partial(
        link.put_player,
        player_id=player_id,
        report=codec.read_report(body),
        settings=request.services.keeper.settings,
        codec=request.services.keeper.changes.codec,
        account_id=request.caller.account_id,
        note_bag=partial(request.services.keeper.signal_checks.note_bag, player_id=player_id),
    )

    async def decide(tx: Reading) -> Decision[StoredPlayer]:
        await presence.require_reach(tx, player_id, find_speaker(request.caller.key))
        return await put(tx)

    return await request.change(decide, player_records.encode_record)


@GROUP.operation(
    "DELETE /api/link/v1/players/[id]",
    name="delete_player_by_id",
    permissions=LINK,
    access=WRITE,
    answer=wire.players.PlayerRecord,
    refusals=(no.NoSuchPlayer, no.PlayerOnline),
    example_answer=samples.RECORD,
)
async def delete_player(request: Request, player_id: str) -> Response:
    """Delete a player who is not online."""
    decide = partial(player_edits.delete, key=player_id, codec=request.services.keeper.changes.codec)
    return await request.change(decide, player_records.encode_record)


@GROUP.operation(
    "PUT /api/link/v1/servers/[server]",
    name="send_heartbeat",
    permissions=LINK,
    access=WRITE,
    body=wire.link.Lease,
    answer=wire.link.ServerState,
    refusals=(ServerNotAllowed, no.CursorAhead),
    example_body=wire.link.Lease(30),
    example_answer=wire.link.ServerState(samples.REALM, samples.LATER_TIME, 7),
)
async def record_heartbeat(request: Request, body: wire.link.Lease, server: str) -> Response:
    """Send a heartbeat of a game server. Its players count as online until the lease expires."""
    require_server(request.caller.key, server)
    applied = codec.read_applied(body.AppliedSeq)
    decide = partial(presence.heartbeat, server=server, lease_ms=body.Lease * 1000, applied=applied)
    return await request.change(
        decide, lambda state: wire.encode(wire.link.ServerState(server, instants.format_instant(state[0]), state[1]))
    )


@GROUP.operation(
    "POST /api/link/v1/servers/[server]/joined",
    name="report_joined",
    permissions=LINK,
    access=WRITE,
    body=wire.link.Players,
    answer=wire.link.Online,
    refusals=(no.NoSuchServer, no.NoSuchPlayer, ServerNotAllowed, PlayerOnOtherServer),
    example_body=wire.link.Players([samples.PLAYER_ID]),
    example_answer=wire.link.Online(7),
)
async def report_joined(request: Request, body: wire.link.Players, server: str) -> Response:
    """Report players who have come online."""
    require_server(request.caller.key, server)
    decide = partial(presence.join, server=server, ids=body.Players, speaker=find_speaker(request.caller.key))
    return await request.change(decide, lambda online: wire.encode(wire.link.Online(online)))


@GROUP.operation(
    "POST /api/link/v1/servers/[server]/left",
    name="report_left",
    permissions=LINK,
    access=WRITE,
    body=wire.link.Players,
    answer=wire.link.Online,
    refusals=(no.NoSuchServer, no.NoSuchPlayer, ServerNotAllowed),
    example_body=wire.link.Players([samples.PLAYER_ID]),
    example_answer=wire.link.Online(7),
)
async def report_left(request: Request, body: wire.link.Players, server: str) -> Response:
    """Report players who have gone offline."""
    require_server(request.caller.key, server)
    decide = partial(presence.leave, server=server, ids=body.Players)
    return await request.change(decide, lambda online: wire.encode(wire.link.Online(online)))


@GROUP.operation(
    "DELETE /api/link/v1/servers/[server]",
    name="report_shutdown",
    permissions=LINK,
    access=WRITE,
    answer=wire.link.Online,
    refusals=(no.NoSuchServer, ServerNotAllowed),
    example_answer=wire.link.Online(7),
)
async def report_shutdown(request: Request, server: str) -> Response:
    """Report a game server's shutdown: all of its players go offline at once."""
    require_server(request.caller.key, server)
    decide = partial(presence.close_server, server=server)
    return await request.change(decide, lambda online: wire.encode(wire.link.Online(online)))
