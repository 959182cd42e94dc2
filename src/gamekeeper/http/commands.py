"""Kills and warps of players who are online; the game carries them out."""

from collections.abc import Callable
from functools import partial

from gamekeeper.game import commands
from gamekeeper.game import refusals as no
from gamekeeper.game.commands import CommandRequest, Destination, WarpResult
from gamekeeper.game.refusals import Refusal
from gamekeeper.http import samples, wire
from gamekeeper.http.acts import declare_act
from gamekeeper.http.errors import ActNotImplemented, ActNotSupported, InvalidAction
from gamekeeper.http.operation import Group, H, needs
from gamekeeper.http.request import Request
from gamekeeper.http.response import Response

GROUP = Group("Commands", "Kills and warps of players who are online.")
PLAYERS = "/api/v1/players/"
COMMAND = needs("players.command")
KILLED, WARPED = "{} has been killed!", "Warped '{}' to {} ({}, {})."
ACCOUNT, PLAYER = "Ottoline", "Halvard"  # names of the demo data, for the examples
# acts that the engine refuses too, by their name in lower case
NOT_SUPPORTED = {each.lower(): each for each in ("WarpMeTo", "WarpToMe")}
NOT_IMPLEMENTED = {each.lower(): each for each in ("SetSprite", "SetFace", "SetAccess", "None", "ReturnToOverworld")}
WARPED_THERE = WARPED.format(PLAYER, samples.DOCKS, 3, 4)


def _declare(
    act: str, example: wire.moderation.Pardon | wire.commands.Warp, said: str, *refusals: type[Refusal]
) -> Callable[[H], H]:
    return declare_act(
        GROUP, act, COMMAND, example, said, refusals=(no.UserNotOnline, *refusals), account=ACCOUNT, player=PLAYER
    )


@_declare("kill", wire.moderation.Pardon("Asked for it.", samples.KEEPER), KILLED.format(PLAYER), no.Outranked)
async def kill(request: Request, body: wire.moderation.Pardon) -> Response:
    """Kill a player who is online; the game server gets it from the change feed."""
    order = _make_order(request)._replace(reason=body.reason or "", moderator=body.moderator or request.caller.name)
    return await request.change(
        partial(commands.kill, order=order), lambda name: wire.encode(wire.users.Message(KILLED.format(name)))
    )


@_declare("warpto", wire.commands.Warp(samples.DOCKS), WARPED_THERE)
async def warp(request: Request, body: wire.commands.Warp) -> Response:
    """Warp a player who is online to another map; it keeps its x and y."""
    return await _warp(request, Destination(body.mapid, None))


@_declare("warptoloc", wire.commands.Warp(samples.DOCKS, 3, 4), WARPED_THERE)
async def warp_to_place(request: Request, body: wire.commands.Warp) -> Response:
    """Warp a player who is online to a place on a map."""
    return await _warp(request, Destination(body.mapid, (body.x, body.y)))


async def refuse_act(request: Request) -> bytes:
    """Refuse an act that is not an operation, as the engine does: before it looks at the player or account."""
    _, act = request.params
    if name := NOT_SUPPORTED.get(act.lower()):
        raise ActNotSupported(act=name)
    if name := NOT_IMPLEMENTED.get(act.lower()):
        raise ActNotImplemented(act=name)
    raise InvalidAction


async def _warp(request: Request, to: Destination) -> Response:
    codec = request.services.keeper.changes.codec
    return await request.change(partial(commands.warp, order=_make_order(request), to=to, codec=codec), _encode_warp)


def _encode_warp(done: WarpResult) -> bytes:
    return wire.encode(wire.users.Message(WARPED.format(done.player, done.map_id, done.x, done.y)))


def _make_order(request: Request) -> CommandRequest:
    return CommandRequest(
        request.params[0],
        request.caller.actor,
        key_is_player=request.route.path.startswith(PLAYERS),
        life_ms=request.services.keeper.settings.command_seconds * 1000,
    )
