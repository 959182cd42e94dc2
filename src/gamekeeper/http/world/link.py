"""The game link: game servers report the catalogue, players and who is online."""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

from msgspec import UNSET, UnsetType

from gamekeeper.game.access.refusals import PlayerOnOtherServer, ServerNotAllowed
from gamekeeper.game.core import refusals as no
from gamekeeper.game.core.lookup import ZERO_GUID
from gamekeeper.game.core.player import BANK, INVENTORY
from gamekeeper.game.core.refusals import BadField
from gamekeeper.game.core.writes import Decision
from gamekeeper.game.players import player_edits, presence
from gamekeeper.game.players.refusals import ReadOnlyVariable
from gamekeeper.game.world import catalogue, link
from gamekeeper.game.world.feed import FeedQuery
from gamekeeper.game.world.link import PlayerReport
from gamekeeper.ground import instants
from gamekeeper.http.contract import examples, shapes
from gamekeeper.http.contract.operation import LINK, MOST_AT_ONCE, REVALIDATED, Group, Records
from gamekeeper.http.players import player_shapes, players
from gamekeeper.http.players.documents import read_slots, read_value
from gamekeeper.http.players.player_shapes import PLAYER_ATTRIBUTES
from gamekeeper.http.server import paging
from gamekeeper.http.server.rate_limits import find_speaker, require_server
from gamekeeper.http.server.request import Request
from gamekeeper.http.server.response import Response
from gamekeeper.http.world import catalogue as http_catalogue
from gamekeeper.http.world import catalogue_shapes, documents, link_shapes
from gamekeeper.store.engine.interface import Reading
from gamekeeper.store.players.players import StoredPlayer
from gamekeeper.store.world.catalogue import Picture

ENTRIES = (
    shapes.Paged[catalogue_shapes.ItemEntry]
    | shapes.Paged[catalogue_shapes.VariableEntry]
    | shapes.Paged[catalogue_shapes.ServerVariableEntry]
    | shapes.Paged[catalogue_shapes.GuildVariableEntry]
    | shapes.Paged[catalogue_shapes.NamedEntry]
)
# one thread: several convert no more pictures, but use all processors and Python's lock, and other requests wait
_executor = ThreadPoolExecutor(1, "pictures")
GROUP = Group("Link", "For game servers: report the catalogue, players and who is online.", place=270, permissions=LINK)


@GROUP.operation(
    "PUT /api/link/v1/catalogue/[kind]",
    records=Records("CatalogueEntry", tuple(dict.fromkeys(catalogue_shapes.ENTRIES.values()))),
    answer=link_shapes.Count,
)
async def put_catalogue(request: Request, body: bytes, kind: str) -> Response:
    """Publish entries of one kind of the catalogue, with any further fields."""
    content_type = request.headers.get(b"content-type", b"").decode("latin-1")
    given = await request.read_body(partial(http_catalogue.read_entries, kind, body, content_type))
    return await request.change(partial(catalogue.put, kind=kind, entries=given), link_shapes.Count)


@GROUP.operation("GET /api/link/v1/catalogue/[kind]", cache=REVALIDATED, answer=ENTRIES)
async def list_catalogue(request: Request, query: shapes.PageQuery, kind: str) -> bytes:
    """List one list of the catalogue, in pages."""
    page = paging.read_query(query, request.services.keeper.settings.max_page_size)
    load = partial(catalogue.load_page, kind=kind, limit=page.limit, offset=page.offset)
    total, found = await request.services.keeper.store.read(load)
    return shapes.encode_paged(total, page.number, page.size, [documents.encode_entry(each) for each in found])


@GROUP.operation("PUT /api/link/v1/items/[itemId]/picture", answer=link_shapes.ItemPicture, refusals=(no.NoSuchItem,))
async def put_item_picture(request: Request, body: link_shapes.PutPicture, item_id: str) -> Response:
    """Publish the picture of an item: a PNG or WebP file as base64, of at most 64 KiB."""
    picture = await asyncio.get_running_loop().run_in_executor(
        _executor, catalogue.convert_base64_picture, body.Picture
    )
    return await _change_picture(request, item_id, picture)


@GROUP.operation(
    "DELETE /api/link/v1/items/[itemId]/picture",
    answer=link_shapes.ItemPicture,
    refusals=(no.NoSuchItem,),
)
async def delete_item_picture(request: Request, item_id: str) -> Response:
    """Remove the picture of an item. An item without a picture stays as it is."""
    return await _change_picture(request, item_id, None)


async def _change_picture(request: Request, item_id: str, picture: Picture | None) -> Response:
    """Set or remove the picture of an item, and answer with its hash."""
    return await request.change(
        partial(catalogue.put_picture, item_id=item_id, picture=picture),
        lambda found: link_shapes.ItemPicture(item_id, found),
    )


@GROUP.operation(
    "PUT /api/link/v1/players/[id]",
    answer=player_shapes.PlayerRecord,
    refusals=(
        *(no.MissingField, no.ReservedName, no.WrongVariableType, ReadOnlyVariable),
        *(no.NoSuchPlayer, no.NoSuchUser, no.NoSuchItem, no.NoSuchBag, no.NoSuchSpell, no.NoSuchVariable),
        *(PlayerOnOtherServer, no.NameTaken, no.SlotOutOfRange, no.StackTooLarge, no.SpellAlreadyKnown),
        *(no.UnappliedChanges, no.ChangesTrimmed, no.CursorAhead),
    ),
    example_body=link_shapes.PutPlayer(Level=49, Items=[player_shapes.ItemSlot(17, None, examples.DRAUGHT, 2)]),
)
async def put_player(request: Request, body: link_shapes.PutPlayer, player_id: str) -> Response:
    """Create a player, or report changes of a player."""
    put = partial(
        link.put_player,
        player_id=player_id,
        report=_read_report(body),
        settings=request.services.keeper.settings,
        codec=request.services.keeper.changes.codec,
        account_id=request.caller.account_id,
        note_bag=partial(request.services.keeper.signal_checks.note_bag, player_id=player_id),
    )

    async def decide(tx: Reading) -> Decision[StoredPlayer]:
        await presence.require_reach(tx, player_id, find_speaker(request.caller.key))
        return await put(tx)

    return await request.change(decide, players.encode_record)


@GROUP.operation(
    "DELETE /api/link/v1/players/[id]",
    answer=player_shapes.PlayerRecord,
    refusals=(no.NoSuchPlayer, no.PlayerOnline),
)
async def delete_player_by_id(request: Request, player_id: str) -> Response:
    """Delete a player who is not online."""
    decide = partial(player_edits.delete, key=player_id, codec=request.services.keeper.changes.codec)
    return await request.change(decide, players.encode_record)


@GROUP.operation(
    "PUT /api/link/v1/servers/[server]",
    answer=link_shapes.ServerState,
    refusals=(ServerNotAllowed, no.CursorAhead),
)
async def send_heartbeat(request: Request, body: link_shapes.Lease, server: str) -> Response:
    """Send a heartbeat of a game server. Its players count as online until the lease expires."""
    require_server(request.caller.key, server)
    applied = _read_applied(body.AppliedSeq)
    decide = partial(presence.heartbeat, server=server, lease_ms=body.Lease * 1000, applied=applied)
    return await request.change(
        decide,
        lambda state: link_shapes.ServerState(server, instants.format_instant(state[0]), state[1]),
    )


@GROUP.operation(
    "POST /api/link/v1/servers/[server]/joined",
    answer=link_shapes.Online,
    refusals=(no.NoSuchServer, no.NoSuchPlayer, ServerNotAllowed, PlayerOnOtherServer),
)
async def report_joined(request: Request, body: link_shapes.Players, server: str) -> Response:
    """Report players who have come online."""
    speaker = find_speaker(request.caller.key)
    return await _change_presence(request, server, partial(presence.join, ids=body.Players, speaker=speaker))


@GROUP.operation(
    "POST /api/link/v1/servers/[server]/left",
    answer=link_shapes.Online,
    refusals=(no.NoSuchServer, no.NoSuchPlayer, ServerNotAllowed),
)
async def report_left(request: Request, body: link_shapes.Players, server: str) -> Response:
    """Report players who have gone offline."""
    return await _change_presence(request, server, partial(presence.leave, ids=body.Players))


@GROUP.operation(
    "DELETE /api/link/v1/servers/[server]",
    answer=link_shapes.Online,
    refusals=(no.NoSuchServer, ServerNotAllowed),
)
async def report_shutdown(request: Request, server: str) -> Response:
    """Report a game server's shutdown: all of its players go offline at once."""
    return await _change_presence(request, server, presence.close_server)


async def _change_presence(
    request: Request, server: str, decide: Callable[..., Coroutine[Any, Any, Decision[int]]]
) -> Response:
    require_server(request.caller.key, server)
    return await request.change(partial(decide, server=server), link_shapes.Online)


def _read_report(body: link_shapes.PutPlayer) -> PlayerReport:
    """Convert a game server's report to the rules' values."""
    _require_unique("Items", [each.Slot for each in body.Items or []])
    _require_unique("Bank", [each.Slot for each in body.Bank or []])
    _require_unique("Bags", [each.Id for each in body.Bags or []])
    _require_unique("Bags", [(bag.Id, each.Slot) for bag in body.Bags or [] for each in bag.Slots])
    _require_unique("Spells", [each.Slot for each in body.Spells or []])
    _require_unique("Variables", [each.VariableId for each in body.Variables or []])
    names = [name for name in link_shapes.PutPlayer.__struct_fields__ if name in PLAYER_ATTRIBUTES]
    given = {name: getattr(body, name) for name in names if getattr(body, name) is not UNSET}
    slots = read_slots(INVENTORY, body.Items or []) | read_slots(BANK, body.Bank or [])
    for bag in body.Bags or []:
        slots |= read_slots(bag.Id, bag.Slots)
    return PlayerReport(
        fields={PLAYER_ATTRIBUTES[name]: read_value(name, value) for name, value in given.items()},
        slots=slots,
        bags={bag.Id: bag.SlotCount for bag in body.Bags or []},
        spells={each.Slot: None if each.SpellId == ZERO_GUID else each.SpellId for each in body.Spells or []},
        variables={each.VariableId: each.Value for each in body.Variables or []},
        applied=_read_applied(body.AppliedSeq),
    )


def _require_unique(field: str, keys: Sequence[object]) -> None:
    """Reject a game server's report that has the same slot, bag, spell or variable twice."""
    if len(set(keys)) < len(keys):
        raise BadField(field=field, problem="has the same slot, bag or variable twice")


def _read_applied(given: int | UnsetType) -> int | None:
    return None if given is UNSET else given


FEED_GROUP = Group("Feed", "For game servers: the changes of players, in order.", 280, LINK)
GROUPS = (GROUP, FEED_GROUP)


@FEED_GROUP.operation(
    "GET /api/link/v1/changes",
    answer=link_shapes.Changes,
    rows=MOST_AT_ONCE,
    refusals=(no.EpochChanged, no.ChangesTrimmed, no.CursorAhead, ServerNotAllowed),
)
async def list_changes(request: Request, query: link_shapes.FeedQuery) -> bytes:
    """List changes of players after a number, in order; with `wait`, as a long poll."""
    if query.server:
        require_server(request.caller.key, query.server)
    asked = FeedQuery(
        after=None if query.after == "now" else query.after,
        limit=query.limit,
        wait_seconds=query.wait,
        account_id=request.caller.account_id,
        include_own=query.own,
        epoch=query.epoch or None,
        server=query.server or None,
    )
    telling = request.run_until_disconnect(request.services.keeper.feed.read_changes(asked))
    told = await (request.services.admission.release_while(telling) if asked.wait_seconds else telling)
    if told is None:
        return b""  # nobody reads this answer: the client has disconnected
    if asked.wait_seconds:
        await request.recheck_permissions()  # check the token again: it may have been revoked during the long poll
    return shapes.encode(link_shapes.Changes(documents.make_feed_changes(told.changes), told.next, told.epoch))
