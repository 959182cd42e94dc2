"""Bans, mutes and kicks of an account, which is named directly or by one of its players.

`declare_act` declares an act on an account or a player: one handler at two paths.
"""

from collections.abc import Callable, Coroutine, Sequence
from typing import Any

from msgspec import UNSET, Struct

from gamekeeper.game.access.refusals import LastManager
from gamekeeper.game.accounts import moderation
from gamekeeper.game.accounts.moderation import ModerationRequest
from gamekeeper.game.core import refusals as no
from gamekeeper.game.core.refusals import Refusal
from gamekeeper.game.core.writes import Decision
from gamekeeper.ground.instants import parse_instant
from gamekeeper.http.accounts import account_shapes
from gamekeeper.http.contract import examples
from gamekeeper.http.contract.operation import BAN, KICK, MUTE, QUERY, Group, H
from gamekeeper.http.server.request import Request
from gamekeeper.http.server.response import Response
from gamekeeper.store.engine.interface import Reading


def declare_act(
    group: Group,
    act: str,
    permissions: frozenset[str],
    example: Struct,
    message: str,
    *,
    refusals: Sequence[type[Refusal]],
    account: str,
    player: str,
) -> Callable[[H], H]:
    """Declare an act at `/api/v1/users/[lookupKey]/admin/…` and at `/api/v1/players/[lookupKey]/admin/…`.

    `account` and `player` are names of the demo data, and `message` is the answer, for the examples.
    """

    def declare(handler: H) -> H:
        for noun, needed, key in (("user", QUERY | permissions, account), ("player", permissions, player)):
            group.operation(
                f"POST /api/v1/{noun}s/[lookupKey]/admin/{act}",
                name=f"{act}_{noun}",
                permissions=needed,
                answer=account_shapes.Message,
                refusals=refusals,
                example_path={"lookupKey": key},
                example_body=example,
                example_answer=account_shapes.Message(message),
            )(handler)
        return handler

    return declare


PLAYERS = "/api/v1/players/"
BANNED, UNBANNED = "{} has been banned!", "{} has been unbanned!"
MUTED, UNMUTED = "{} has been muted!", "{} has been unmuted!"
KICKED = "{} has been kicked by the server!"
Rule = Callable[[Reading, ModerationRequest], Coroutine[Any, Any, Decision[str]]]

PENALTY, PARDON = (
    account_shapes.Penalty(7, "Sold what was not his.", examples.KEEPER),
    account_shapes.Pardon("Said sorry.", examples.KEEPER),
)
GROUP = Group("Moderation", "Bans, mutes and kicks.", place=110)
GROUPS = (GROUP,)


def _declare(
    act: str,
    power: frozenset[str],
    example: account_shapes.Penalty | account_shapes.Pardon,
    message: str,
    *,
    refusals: Sequence[type[no.Refusal]] = (),
    account: str = examples.USER,
    player: str = examples.PLAYER,
) -> Callable[[H], H]:
    answer = message.format(account)
    all_refusals = (no.Outranked, *refusals)
    return declare_act(GROUP, act, power, example, answer, refusals=all_refusals, account=account, player=player)


@_declare("ban", BAN, PENALTY, BANNED, refusals=(no.OwnAccount, no.AlreadyBanned, LastManager))
async def ban(request: Request, body: account_shapes.Penalty) -> Response:
    """Ban an account, for some time or permanently. Its tokens are revoked, and it cannot log in."""
    answer = await _act(request, moderation.ban, body, BANNED)
    request.services.callers.clear_cache()
    return answer


@_declare("unban", BAN, PARDON, UNBANNED, account="Leopold", player="Ondine")
async def unban(request: Request, body: account_shapes.Pardon) -> Response:
    """Lift an account's ban; also 200 if it is not banned."""
    return await _act(request, moderation.unban, body, UNBANNED)


@_declare("mute", MUTE, PENALTY, MUTED, refusals=(no.AlreadyMuted,))
async def mute(request: Request, body: account_shapes.Penalty) -> Response:
    """Mute an account, for some time or permanently."""
    return await _act(request, moderation.mute, body, MUTED)


@_declare("unmute", MUTE, PARDON, UNMUTED, account="Grizelda", player="Fenwick")
async def unmute(request: Request, body: account_shapes.Pardon) -> Response:
    """Lift an account's mute; also 200 if it is not muted."""
    return await _act(request, moderation.unmute, body, UNMUTED)


@_declare(
    "kick",
    KICK,
    account_shapes.Pardon("Stands in the doorway.", examples.KEEPER),
    KICKED,
    refusals=(no.UserNotOnline,),
    account="Ottoline",
    player="Halvard",
)
async def kick(request: Request, body: account_shapes.Pardon) -> Response:
    """Kick an account's players out of the game; the game server gets it from the change feed."""
    return await _act(request, moderation.kick, body, KICKED)


def _read_length(body: account_shapes.Penalty) -> tuple[int, int | None]:
    """Return a duration in minutes (0: permanent) and an end. A body may say it in one way only."""
    ways = [body.duration != 0, body.minutes is not UNSET, body.until is not UNSET]
    if sum(ways) > 1:
        raise no.BadField(
            field="minutes" if body.minutes is not UNSET else "until",
            problem="cannot be combined: send one of duration, minutes and until",
        )
    if body.until is not UNSET:
        return 0, parse_instant(body.until)
    return body.duration * moderation.DAY_MINUTES if body.minutes is UNSET else body.minutes, None


async def _act(
    request: Request, rule: Rule, body: account_shapes.Penalty | account_shapes.Pardon, said: str
) -> Response:
    minutes, until = _read_length(body) if isinstance(body, account_shapes.Penalty) else (0, None)
    order = ModerationRequest(
        request.params[0],
        minutes,
        body.reason or "",
        body.moderator or request.caller.name,
        request.caller.actor,
        key_is_player=request.route.path.startswith(PLAYERS),
        until=until,
    )
    return await request.change(lambda tx: rule(tx, order), lambda name: account_shapes.Message(said.format(name)))
