"""Commands that the game carries out: kills and warps of players who are online, and chat messages.

A chat message goes to everybody, to one player, or near a map. Game servers acknowledge commands.
"""

from collections.abc import Callable, Coroutine, Mapping, Sequence
from functools import partial
from typing import Any

from gamekeeper.game.access.refusals import ServerNotAllowed
from gamekeeper.game.core import refusals as no
from gamekeeper.game.core.refusals import BadField, Refusal
from gamekeeper.game.core.writes import Decision
from gamekeeper.game.keeper import Keeper
from gamekeeper.game.world import commands
from gamekeeper.game.world.commands import CommandRequest
from gamekeeper.game.world.refusals import InvalidMap, InvalidPlayerId, NoRecipient, NoSuchMap, NotTold, TooManyMessages
from gamekeeper.http.accounts import account_shapes
from gamekeeper.http.accounts.moderation import declare_act
from gamekeeper.http.contract import examples
from gamekeeper.http.contract.operation import ANY_TOKEN, LINK, READ, Group, H, Route, needs
from gamekeeper.http.server.errors import ActNotImplemented, ActNotSupported, InvalidAction
from gamekeeper.http.server.metrics import GAUGE, MetricFamily, RoomMetrics, Sample, format_sample
from gamekeeper.http.server.rate_limits import require_server
from gamekeeper.http.server.request import Request
from gamekeeper.http.server.response import Response
from gamekeeper.http.world import link_shapes
from gamekeeper.http.world.link_shapes import Chat, ChatColor, ChatSent, DirectChatSent, EchoedChat, ProximityChatSent
from gamekeeper.store.engine.interface import Reading
from gamekeeper.store.world import feed
from gamekeeper.store.world.feed import Acknowledgement

GROUP = Group("Commands", "Kills and warps of players who are online.", place=140)
PLAYERS = "/api/v1/players/"
COMMAND = needs("players.command")
KILLED, WARPED = "{} has been killed!", "Warped '{}' to {} ({}, {})."
ACCOUNT, PLAYER = "Ottoline", "Halvard"  # names of the demo data, for the examples
# acts that the engine refuses too, by their name in lower case
NOT_SUPPORTED = {each.lower(): each for each in ("WarpMeTo", "WarpToMe")}
NOT_IMPLEMENTED = {each.lower(): each for each in ("SetSprite", "SetFace", "SetAccess", "None", "ReturnToOverworld")}
WARPED_THERE = WARPED.format(PLAYER, examples.DOCKS, 3, 4)


def _declare(
    act: str, example: account_shapes.Pardon | link_shapes.Warp, said: str, *refusals: type[Refusal]
) -> Callable[[H], H]:
    return declare_act(
        GROUP, act, COMMAND, example, said, refusals=(no.UserNotOnline, *refusals), account=ACCOUNT, player=PLAYER
    )


@_declare("kill", account_shapes.Pardon("Asked for it.", examples.KEEPER), KILLED.format(PLAYER), no.Outranked)
async def kill(request: Request, body: account_shapes.Pardon) -> Response:
    """Kill a player who is online; the game server gets it from the change feed."""
    order = _make_order(request)._replace(reason=body.reason or "", moderator=body.moderator or request.caller.name)
    return await request.change(
        partial(commands.kill, order=order), lambda name: account_shapes.Message(KILLED.format(name))
    )


@_declare("warpto", link_shapes.Warp(examples.DOCKS), WARPED_THERE)
async def warp(request: Request, body: link_shapes.Warp) -> Response:
    """Warp a player who is online to another map; it keeps its x and y."""
    return await _warp(request, body.mapid, None)


@_declare("warptoloc", link_shapes.Warp(examples.DOCKS, 3, 4), WARPED_THERE)
async def warp_to_place(request: Request, body: link_shapes.Warp) -> Response:
    """Warp a player who is online to a place on a map."""
    return await _warp(request, body.mapid, (body.x, body.y))


async def refuse_act(request: Request) -> bytes:
    """Refuse an act that is not an operation, as the engine does: before it looks at the player or account."""
    _, act = request.params
    if name := NOT_SUPPORTED.get(act.lower()):
        raise ActNotSupported(act=name)
    if name := NOT_IMPLEMENTED.get(act.lower()):
        raise ActNotImplemented(act=name)
    raise InvalidAction


REFUSED = tuple(
    Route(
        method="POST",
        path=f"/api/v1/{noun}/[lookupKey]/admin/[act]",
        permissions=ANY_TOKEN,
        access=READ,
        handler=refuse_act,
    )
    for noun in ("players", "users")
)


async def _warp(request: Request, map_id: str | None, place: tuple[int, int] | None) -> Response:
    codec = request.services.keeper.changes.codec
    decide = partial(commands.warp, order=_make_order(request), map_id=map_id, place=place, codec=codec)
    return await request.change(decide, lambda done: account_shapes.Message(WARPED.format(*done)))


def _make_order(request: Request) -> CommandRequest:
    return CommandRequest(
        request.params[0],
        request.caller.actor,
        key_is_player=request.route.path.startswith(PLAYERS),
        life_ms=request.services.keeper.settings.command_seconds * 1000,
    )


SEND = needs("chat.send")
CHAT_GROUP = Group("Chat", "Chat messages into the game.", place=150, permissions=SEND)
YELLOW, GREY = ChatColor(255, 255, 255, 0), ChatColor(255, 220, 220, 220)  # the engine's default colours
TOO_MANY = (TooManyMessages,)


@CHAT_GROUP.operation("POST /api/v1/chat", name="send_chat", answer=ChatSent, refusals=TOO_MANY)
@CHAT_GROUP.operation("POST /api/v1/chat/global", name="send_global_chat", answer=ChatSent, refusals=TOO_MANY)
async def send_to_all(request: Request, body: Chat) -> Response:
    """Send a chat message to all players who are online."""
    answer = ChatSent(success=True, chatMessage=_echo(body))
    return await _send(request, body, partial(commands.send_to_all, message=_make_message(body, YELLOW)), answer)


@CHAT_GROUP.operation(
    "POST /api/v1/chat/direct/[lookupKey]",
    answer=DirectChatSent,
    refusals=(*TOO_MANY, NoRecipient, InvalidPlayerId),
    example_path={"lookupKey": "Halvard"},
)
async def send_direct_chat(request: Request, body: Chat) -> Response:
    """Send a chat message to one player who is online."""
    key = request.params[0]
    answer = DirectChatSent(success=True, lookupKey=key, chatMessage=_echo(body))
    decide = partial(commands.send_to_player, key=key, message=_make_message(body, GREY))
    return await _send(request, body, decide, answer)


@CHAT_GROUP.operation(
    "POST /api/v1/chat/proximity/[mapId]",
    answer=ProximityChatSent,
    refusals=(*TOO_MANY, NoSuchMap, InvalidMap),
)
async def send_proximity_chat(request: Request, body: Chat, map_id: str) -> Response:
    """Send a chat message to the players on a map and its neighbours."""
    answer = ProximityChatSent(success=True, mapId=map_id, chatMessage=_echo(body))
    decide = partial(commands.send_near, map_id=map_id, message=_make_message(body, GREY))
    return await _send(request, body, decide, answer)


async def _send(
    request: Request,
    body: Chat,
    decide: Callable[..., Coroutine[Any, Any, Decision[None]]],
    answer: ChatSent | DirectChatSent | ProximityChatSent,
) -> Response:
    settings = request.services.keeper.settings
    if len(body.Message or "") > settings.chat_characters:
        raise BadField(field="Message", problem=f"must have at most {settings.chat_characters} characters")

    counted: list[bool] = []

    async def count_and_decide(tx: Reading) -> Decision[None]:
        if not counted:  # the transaction may be run again
            account, most = request.caller.account_id, settings.chat_per_minute
            request.services.chat_guard.count(account, most, dry_run=request.dry_run)
            counted.append(True)
        return await decide(tx, life_ms=settings.command_seconds * 1000)

    return await request.change(count_and_decide, lambda _: answer)


def _make_message(body: Chat, default: ChatColor) -> Mapping[str, object]:
    shown = {name: getattr(body.Color or default, name) for name in ChatColor.__struct_fields__}
    return {"Message": body.Message or "", "Color": shown, "Target": body.Target or ""}


def _echo(body: Chat) -> EchoedChat:
    return EchoedChat(body.Message, body.Color, body.Target)


DELIVERIES_GROUP = Group("Deliveries", "For game servers: acknowledge commands.", 290, LINK)
GROUPS = (GROUP, CHAT_GROUP, DELIVERIES_GROUP)


@DELIVERIES_GROUP.operation(
    "POST /api/link/v1/servers/[server]/acks",
    answer=commands.StandingAcks,
    refusals=(NotTold, ServerNotAllowed),
)
async def acknowledge_commands(request: Request, body: link_shapes.Acks, server: str) -> Response:
    """Acknowledge commands of the change feed, all or none; the first one of each stands."""
    require_server(request.caller.key, server)
    acks = [Acknowledgement(each.Seq, each.State, each.Reason or None) for each in body.Acks]
    return await request.change(partial(commands.acknowledge, server=server, acks=acks))


async def _count_overdue(keeper: Keeper) -> Sequence[Sample]:
    warning_ms = keeper.settings.delivery_warning_seconds * 1000
    overdue = await feed.read_overdue(keeper.store, warning_ms, feed.MAX_EXAMINED)
    return [format_sample("gamekeeper_deliveries", {"state": "overdue"}, len(overdue))]


DELIVERIES = MetricFamily(GAUGE, "Commands that no game server has acknowledged in time.")
METRICS = (RoomMetrics({"gamekeeper_deliveries": DELIVERIES}, _count_overdue),)
