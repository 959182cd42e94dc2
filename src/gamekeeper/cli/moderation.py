"""The commands `users ban`, `unban`, `mute`, `unmute`, `suspend` and `resume`, with --for, --until and --days.

They check no permissions, because the operator may do all; but the last manager of staff stays.
"""

from collections.abc import Callable, Coroutine, Mapping
from datetime import UTC, datetime
from functools import partial
from typing import Annotated, Any, TypeVar

import click

from gamekeeper.cli import terminal
from gamekeeper.cli.terminal import Database, Parsed, apply_change, command, option
from gamekeeper.cli.users import describe_losses
from gamekeeper.game.access import api_keys
from gamekeeper.game.accounts import moderation
from gamekeeper.game.accounts.moderation import ModerationRequest
from gamekeeper.game.core import lookup
from gamekeeper.game.core.writes import Decision
from gamekeeper.game.keeper import Keeper
from gamekeeper.ground.instants import parse_instant
from gamekeeper.store.engine.interface import Reading

T = TypeVar("T")
Body = Mapping[str, str | int]  # the one field of a ban or mute that says how long it lasts
Rule = Callable[[Reading, ModerationRequest], Coroutine[Any, Any, Decision[str]]]
PERMANENT: Body = {"duration": 0}


def parse_typed_time(text: str, begin: str = "") -> Body:
    """Parse a typed time. `begin`: a word that it may leave out, because the name of the option says the same."""
    from gamekeeper.console.accounts.moderation import list_understood, parse_time  # noqa: PLC0415 - loads slowly

    typed = parse_time(f"{begin}{text.removeprefix(begin)}", datetime.now(UTC))
    if typed is None:
        problem = "is not understood, is not in the future, or is more than 100 years away."
        raise click.BadParameter(f"'{text}' {problem} {list_understood()}")
    return typed


Length = Annotated[
    Body | None,
    option(
        "Duration of a ban or mute, such as 30m, 3h, 2d, 1w, '1 month' or forever.",
        "--for",
        type=Parsed("duration", parse_typed_time),
    ),
]
Until = Annotated[
    Body | None,
    option(
        "End of a ban or mute, such as friday, 2030-01-31 or '2030-01-31 18:00' (UTC).",
        type=Parsed("time", partial(parse_typed_time, begin="until ")),
    ),
]
Days = Annotated[
    int | None,
    option("Duration of a ban or mute in days; 0: permanent.", type=click.IntRange(0, moderation.MAX_DAYS)),
]
Reason = Annotated[str, option("Reason; shown by `users show`, the console and the audit log.", default="")]


def choose_time(length: Body | None, until: Body | None, days: int | None) -> Body | None:
    """Return the time that the options give; None: they give none."""
    given = [each for each in (length, until, None if days is None else {"duration": days}) if each is not None]
    if len(given) > 1:
        raise click.UsageError("Give only one of --for, --until and --days.")
    return given[0] if given else None


@command("users ban", 'Mallory --days 7 --reason "sold stolen items"')
def ban(name: str, *, length: Length, until: Until, days: Days, reason: Reason, database: Database) -> str:
    """Ban an account, permanently without --for, --until or --days.

    Its tokens are revoked, and it gets no new ones while the ban lasts.
    """
    losses = list[api_keys.WeakenedKey]()

    async def decide(tx: Reading, order: ModerationRequest) -> Decision[str]:
        losses[:] = await api_keys.find_keys_stopped_by_ban(tx, await lookup.find_user(tx, name))
        return await moderation.ban(tx, order)

    done = _impose(database, "Banned", decide, name, choose_time(length, until, days), reason)
    return "\n".join((done, *describe_losses(losses)))


@command("users unban", "Mallory", writes=True)
async def unban(keeper: Keeper, name: str) -> str:
    """End an account's ban."""
    unbanned = await _lift(keeper, lambda tx: moderation.unban(tx, ModerationRequest(name)), "banned")
    return f"Unbanned {unbanned}."


@command("users mute", "Mallory --for 3h --reason shouting")
def mute(name: str, *, length: Length, until: Until, days: Days, reason: Reason, database: Database) -> str:
    """Mute an account, permanently without --for, --until or --days. The game server is informed over the game link."""
    return _impose(database, "Muted", moderation.mute, name, choose_time(length, until, days), reason)


@command("users unmute", "Mallory", writes=True)
async def unmute(keeper: Keeper, name: str) -> str:
    """End an account's mute."""
    unmuted = await _lift(keeper, lambda tx: moderation.unmute(tx, ModerationRequest(name)), "muted")
    return f"Unmuted {unmuted}."


def _impose(database: str | None, done: str, rule: Rule, name: str, time: Body | None, reason: str) -> str:
    """Ban or mute an account, permanently without a time. Return what was done, as text."""
    from gamekeeper.console.frame import formats  # noqa: PLC0415 - as above

    body = time or PERMANENT
    minutes = int(body.get("minutes", 0)) or int(body.get("duration", 0)) * moderation.DAY_MINUTES
    until = parse_instant(str(body["until"])) if "until" in body else None
    order = ModerationRequest(name, minutes, reason, until=until)

    async def apply(keeper: Keeper) -> str:
        return await apply_change(keeper, lambda tx: rule(tx, order))

    user = terminal.run_on_database(database, apply, final=True)
    return f"{done} {user} {formats.describe_duration(body)}."


@command("users suspend", "ann", writes=True)
async def suspend(keeper: Keeper, name: str) -> str:
    """Suspend an account: it cannot log in, and its tokens are revoked within 5 seconds. It can still play."""
    decide = partial(api_keys.decide_with_losses, rule=partial(moderation.suspend, key=name, actor=None))
    user, losses = await apply_change(keeper, decide)
    return "\n".join((f"Suspended {user.name}.", *describe_losses(losses)))


@command("users resume", "ann", writes=True)
async def resume(keeper: Keeper, name: str) -> str:
    """End the suspension of an account; it must log in again."""
    resumed = await _lift(keeper, lambda tx: moderation.resume(tx, name, None), "suspended")
    return f"Ended the suspension of {resumed.name}."


async def _lift(keeper: Keeper, rule: Callable[[Reading], Coroutine[Any, Any, Decision[T]]], state: str) -> T:
    """End a state of an account. Fail if it is not in that state, unlike the API: the name may be mistyped."""

    async def decide(tx: Reading) -> Decision[T]:
        decision = await rule(tx)
        if not decision.changes:
            terminal.fail(f"{getattr(decision.result, 'name', decision.result)} is not {state}.")
        return decision

    return await apply_change(keeper, decide)
