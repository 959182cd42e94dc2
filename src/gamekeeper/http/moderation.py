"""Bans, mutes and kicks, of an account or of the account that a character belongs to."""

from collections.abc import Callable, Coroutine
from typing import Any

from gamekeeper.game import moderation
from gamekeeper.game import refusals as no
from gamekeeper.game.changes import Decision
from gamekeeper.game.moderation import Order
from gamekeeper.http import samples, wire
from gamekeeper.http.operation import BAN, KICK, MUTE, QUERY, WRITE, Group
from gamekeeper.http.request import Request
from gamekeeper.store.engine import Reading

PLAYERS = "/api/v1/players/"
BANNED, UNBANNED = "{} has been banned!", "{} has been unbanned!"
MUTED, UNMUTED = "{} has been muted!", "{} has been unmuted!"
KICKED = "{} has been kicked by the server!"
Rule = Callable[[Reading, Order], Coroutine[Any, Any, Decision[str]]]

GROUP = Group("Moderation", "Bans, mutes and kicks.")


@GROUP.operation(
    "POST /api/v1/users/[lookupKey]/admin/ban",
    name="ban_user",
    permissions=QUERY | BAN,
    access=WRITE,
    body=wire.Penalty,
    answer=wire.Message,
    refusals=(no.Outranked, no.OwnAccount, no.AlreadyBanned),
    example_body=wire.Penalty(7, "Sold what was not his.", samples.KEEPER),
    example_answer=wire.Message(BANNED.format(samples.USER)),
)
@GROUP.operation(
    "POST /api/v1/players/[lookupKey]/admin/ban",
    name="ban_player",
    permissions=BAN,
    access=WRITE,
    body=wire.Penalty,
    answer=wire.Message,
    refusals=(no.Outranked, no.OwnAccount, no.AlreadyBanned),
    example_body=wire.Penalty(7, "Sold what was not his.", samples.KEEPER),
    example_answer=wire.Message(BANNED.format(samples.USER)),
)
async def ban(request: Request, body: wire.Penalty) -> bytes:
    """Ban an account, for some days or for good; its tokens end, and it gets no others."""
    answer = await _act(request, moderation.ban, body, BANNED, body.duration)
    request.callers.forget()
    return answer


@GROUP.operation(
    "POST /api/v1/users/[lookupKey]/admin/unban",
    name="unban_user",
    permissions=QUERY | BAN,
    access=WRITE,
    body=wire.Pardon,
    answer=wire.Message,
    refusals=(no.Outranked,),
    example_body=wire.Pardon("Said sorry.", samples.KEEPER),
    example_answer=wire.Message(UNBANNED.format("Leopold")),
    example_path={"lookupKey": "Leopold"},
)
@GROUP.operation(
    "POST /api/v1/players/[lookupKey]/admin/unban",
    name="unban_player",
    permissions=BAN,
    access=WRITE,
    body=wire.Pardon,
    answer=wire.Message,
    refusals=(no.Outranked,),
    example_body=wire.Pardon("Said sorry.", samples.KEEPER),
    example_answer=wire.Message(UNBANNED.format("Leopold")),
    example_path={"lookupKey": "Ondine"},
)
async def unban(request: Request, body: wire.Pardon) -> bytes:
    """End an account's ban; 200 as well when it is not banned."""
    return await _act(request, moderation.unban, body, UNBANNED)


@GROUP.operation(
    "POST /api/v1/users/[lookupKey]/admin/mute",
    name="mute_user",
    permissions=QUERY | MUTE,
    access=WRITE,
    body=wire.Penalty,
    answer=wire.Message,
    refusals=(no.Outranked, no.AlreadyMuted),
    example_body=wire.Penalty(7, "Sold what was not his.", samples.KEEPER),
    example_answer=wire.Message(MUTED.format(samples.USER)),
)
@GROUP.operation(
    "POST /api/v1/players/[lookupKey]/admin/mute",
    name="mute_player",
    permissions=MUTE,
    access=WRITE,
    body=wire.Penalty,
    answer=wire.Message,
    refusals=(no.Outranked, no.AlreadyMuted),
    example_body=wire.Penalty(7, "Sold what was not his.", samples.KEEPER),
    example_answer=wire.Message(MUTED.format(samples.USER)),
)
async def mute(request: Request, body: wire.Penalty) -> bytes:
    """Mute an account, for some days or for good."""
    return await _act(request, moderation.mute, body, MUTED, body.duration)


@GROUP.operation(
    "POST /api/v1/users/[lookupKey]/admin/unmute",
    name="unmute_user",
    permissions=QUERY | MUTE,
    access=WRITE,
    body=wire.Pardon,
    answer=wire.Message,
    refusals=(no.Outranked,),
    example_body=wire.Pardon("Said sorry.", samples.KEEPER),
    example_answer=wire.Message(UNMUTED.format("Grizelda")),
    example_path={"lookupKey": "Grizelda"},
)
@GROUP.operation(
    "POST /api/v1/players/[lookupKey]/admin/unmute",
    name="unmute_player",
    permissions=MUTE,
    access=WRITE,
    body=wire.Pardon,
    answer=wire.Message,
    refusals=(no.Outranked,),
    example_body=wire.Pardon("Said sorry.", samples.KEEPER),
    example_answer=wire.Message(UNMUTED.format("Grizelda")),
    example_path={"lookupKey": "Fenwick"},
)
async def unmute(request: Request, body: wire.Pardon) -> bytes:
    """End an account's mute; 200 as well when it is not muted."""
    return await _act(request, moderation.unmute, body, UNMUTED)


@GROUP.operation(
    "POST /api/v1/users/[lookupKey]/admin/kick",
    name="kick_user",
    permissions=QUERY | KICK,
    access=WRITE,
    body=wire.Pardon,
    answer=wire.Message,
    refusals=(no.Outranked, no.UserNotOnline),
    example_body=wire.Pardon("Said sorry.", samples.KEEPER),
    example_answer=wire.Message(KICKED.format("Ottoline")),
    example_path={"lookupKey": "Ottoline"},
)
@GROUP.operation(
    "POST /api/v1/players/[lookupKey]/admin/kick",
    name="kick_player",
    permissions=KICK,
    access=WRITE,
    body=wire.Pardon,
    answer=wire.Message,
    refusals=(no.Outranked, no.UserNotOnline),
    example_body=wire.Pardon("Said sorry.", samples.KEEPER),
    example_answer=wire.Message(KICKED.format("Ottoline")),
    example_path={"lookupKey": "Halvard"},
)
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
