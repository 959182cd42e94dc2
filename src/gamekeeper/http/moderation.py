"""Bans, mutes and kicks, of an account or of the account that a character belongs to."""

from collections.abc import Callable, Coroutine
from typing import Any

from gamekeeper.game import moderation
from gamekeeper.game.changes import Decision
from gamekeeper.game.moderation import Order
from gamekeeper.http import wire
from gamekeeper.http.request import Request
from gamekeeper.store.engine import Reading

PLAYERS = "/api/v1/players/"
BANNED, UNBANNED = "{} has been banned!", "{} has been unbanned!"
MUTED, UNMUTED = "{} has been muted!", "{} has been unmuted!"
KICKED = "{} has been kicked by the server!"
Rule = Callable[[Reading, Order], Coroutine[Any, Any, Decision[str]]]


async def ban(request: Request, body: wire.Penalty) -> bytes:
    """Ban an account, for some days or for good; its tokens end, and it gets no others."""
    answer = await _act(request, moderation.ban, body, BANNED, body.duration)
    request.callers.forget()
    return answer


async def unban(request: Request, body: wire.Pardon) -> bytes:
    """End an account's ban; 200 as well when it is not banned."""
    return await _act(request, moderation.unban, body, UNBANNED)


async def mute(request: Request, body: wire.Penalty) -> bytes:
    """Mute an account, for some days or for good."""
    return await _act(request, moderation.mute, body, MUTED, body.duration)


async def unmute(request: Request, body: wire.Pardon) -> bytes:
    """End an account's mute; 200 as well when it is not muted."""
    return await _act(request, moderation.unmute, body, UNMUTED)


async def kick(request: Request, body: wire.Pardon) -> bytes:
    """Throw an account's characters out of the game; the game hears it over its link."""
    return await _act(request, moderation.kick, body, KICKED)


async def _act(request: Request, rule: Rule, body: wire.Penalty | wire.Pardon, said: str, days: int = 0) -> bytes:
    order = Order(
        request.params[0],
        days,
        body.reason or "",
        body.moderator or request.caller.name,
        request.caller.account_id,
        of_player=request.path.startswith(PLAYERS),
    )
    return await request.change(lambda tx: rule(tx, order), lambda name: wire.encode(wire.Message(said.format(name))))
