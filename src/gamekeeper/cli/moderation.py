"""The commands `users ban`, `unban`, `mute`, `unmute`, `suspend` and `resume`, with --for, --until and --days.

They check no permissions, because the operator may do all; but the last manager of staff stays.
"""

from collections.abc import Callable, Coroutine, Mapping
from datetime import UTC, datetime
from functools import partial
from typing import Any, TypeVar

import click

from gamekeeper.cli import terminal
from gamekeeper.cli.users import apply_change, print_losses
from gamekeeper.game.access import api_keys
from gamekeeper.game.accounts import moderation, suspensions
from gamekeeper.game.accounts.moderation import ModerationRequest
from gamekeeper.game.core import lookup
from gamekeeper.game.core.writes import Decision
from gamekeeper.http.server.instants import parse_instant
from gamekeeper.store.accounts.users import User
from gamekeeper.store.engine.interface import Reading

Command = TypeVar("Command", bound=Callable[..., Any])
Body = Mapping[str, str | int]  # the one field of a ban or mute that says how long it lasts


class TimeType(click.ParamType[Body]):
    """A typed time. `begin`: a word that it may leave out, because the name of the option says the same."""

    def __init__(self, name: str, begin: str = "") -> None:
        self.name = name
        self.begin = begin

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> Body:
        from gamekeeper.console.lists.palette_words import list_understood, parse_time  # noqa: PLC0415 - loads slowly

        typed = parse_time(f"{self.begin}{value.removeprefix(self.begin)}", datetime.now(UTC))
        if typed is None:
            problem = "is not understood, is not in the future, or is more than 100 years away."
            self.fail(f"'{value}' {problem} {list_understood()}", param, ctx)
        return typed.body


def add_time_options(command: Command) -> Command:
    """Add the options --for, --until and --days; `choose_time` takes their values."""
    limit = click.IntRange(0, moderation.MAX_DAYS)
    days = click.option("--days", type=limit, help="Duration of a ban or mute in days; 0: permanent.")
    until = click.option(
        *("--until", "until"),
        type=TimeType("time", "until "),
        help="End of a ban or mute, such as friday, 2030-01-31 or '2030-01-31 18:00' (UTC).",
    )
    length = click.option(
        *("--for", "length"),
        type=TimeType("duration"),
        help="Duration of a ban or mute, such as 30m, 3h, 2d, 1w, '1 month' or forever.",
    )
    return length(until(days(command)))


def choose_time(length: Body | None, until: Body | None, days: int | None) -> Body | None:
    """Return the time that the options give; None: they give none."""
    given = [each for each in (length, until, None if days is None else {"duration": days}) if each is not None]
    if len(given) > 1:
        raise click.UsageError("Give only one of --for, --until and --days.")
    return given[0] if given else None


def describe_time(body: Body) -> str:
    """Describe a duration or an end, such as "for 2 hours"."""
    from gamekeeper.console.frame import formats  # noqa: PLC0415 - as above

    return formats.describe_duration(body)


def read_time(body: Body) -> tuple[int, int | None]:
    """Return a duration in minutes (0: permanent), and an end in milliseconds."""
    if until := body.get("until"):
        return 0, parse_instant(str(until))
    return int(body.get("minutes", 0)) or int(body.get("duration", 0)) * moderation.DAY_MINUTES, None


Rule = Callable[[Reading, ModerationRequest], Coroutine[Any, Any, Decision[str]]]
PERMANENT: Body = {"duration": 0}


def add_penalty_options(command: Command) -> Command:
    reason = click.option("--reason", default="", help="Reason; shown by `users show`, the console and the audit log.")
    return add_time_options(reason(command))


@click.command(epilog='Example: gamekeeper users ban Mallory --days 7 --reason "sold stolen items"')
@click.argument("name")
@add_penalty_options
@terminal.database_option
def ban(
    name: str, length: Body | None, until: Body | None, days: int | None, reason: str, database: str | None
) -> None:
    """Ban an account, permanently without --for, --until or --days.

    Its tokens are revoked, and it gets no new ones while the ban lasts.
    """
    body = choose_time(length, until, days) or PERMANENT
    losses = list[api_keys.KeyLoss]()

    async def decide(tx: Reading, order: ModerationRequest) -> Decision[str]:
        losses[:] = await api_keys.find_keys_stopped_by_ban(tx, await lookup.find_user(tx, name))
        return await moderation.ban(tx, order)

    click.echo(f"Banned {_apply(database, decide, _make_order(name, body, reason))} {describe_time(body)}.")
    print_losses(losses)


@click.command(epilog="Example: gamekeeper users unban Mallory")
@click.argument("name")
@terminal.database_option
def unban(name: str, database: str | None) -> None:
    """End an account's ban."""
    click.echo(f"Unbanned {_lift(database, moderation.unban, name, 'banned')}.")


@click.command(epilog="Example: gamekeeper users mute Mallory --for 3h --reason shouting")
@click.argument("name")
@add_penalty_options
@terminal.database_option
def mute(
    name: str, length: Body | None, until: Body | None, days: int | None, reason: str, database: str | None
) -> None:
    """Mute an account, permanently without --for, --until or --days. The game server is informed over the game link."""
    body = choose_time(length, until, days) or PERMANENT
    muted = _apply(database, moderation.mute, _make_order(name, body, reason))
    click.echo(f"Muted {muted} {describe_time(body)}.")


@click.command(epilog="Example: gamekeeper users unmute Mallory")
@click.argument("name")
@terminal.database_option
def unmute(name: str, database: str | None) -> None:
    """End an account's mute."""
    click.echo(f"Unmuted {_lift(database, moderation.unmute, name, 'muted')}.")


def _make_order(name: str, body: Body, reason: str) -> ModerationRequest:
    minutes, until = read_time(body)
    return ModerationRequest(name, minutes, reason, until=until)


def _apply(database: str | None, rule: Rule, order: ModerationRequest) -> str:
    return terminal.run_on_database(
        database, lambda keeper: apply_change(keeper, lambda tx: rule(tx, order)), final=True
    )


def _lift(database: str | None, rule: Rule, name: str, state: str) -> str:
    """End a ban or a mute. Fail if the account has none, unlike the API: the name may be mistyped."""

    async def decide(tx: Reading, order: ModerationRequest) -> Decision[str]:
        decision = await rule(tx, order)
        if not decision.changes:
            terminal.fail(f"{decision.result} is not {state}.")
        return decision

    return _apply(database, decide, ModerationRequest(name))


@click.command(epilog="Example: gamekeeper users suspend ann")
@click.argument("name")
@terminal.database_option
def suspend(name: str, database: str | None) -> None:
    """Suspend an account: it cannot log in, and its tokens are revoked within 5 seconds. It can still play."""
    decide = partial(api_keys.decide_with_losses, rule=partial(suspensions.suspend, key=name, actor=None))
    user, losses = terminal.run_on_database(database, lambda keeper: apply_change(keeper, decide), final=True)
    click.echo(f"Suspended {user.name}.")
    print_losses(losses)


@click.command(epilog="Example: gamekeeper users resume ann")
@click.argument("name")
@terminal.database_option
def resume(name: str, database: str | None) -> None:
    """End the suspension of an account; it must log in again."""

    async def decide(tx: Reading) -> Decision[User]:
        decision = await suspensions.resume(tx, name, None)
        if not decision.changes:
            terminal.fail(f"{decision.result.name} is not suspended.")
        return decision

    user = terminal.run_on_database(database, lambda keeper: apply_change(keeper, decide), final=True)
    click.echo(f"Ended the suspension of {user.name}.")
