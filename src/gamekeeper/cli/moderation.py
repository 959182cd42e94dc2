"""The commands `users ban`, `unban`, `mute` and `unmute`. They check no permissions: the operator may do all."""

from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

import click

from gamekeeper.cli import terminal
from gamekeeper.cli.penalty_times import Body, add_time_options, choose_time, describe_time, read_time
from gamekeeper.cli.users import apply_change, print_losses
from gamekeeper.game import key_losses, lookup, moderation
from gamekeeper.game.changes import Decision
from gamekeeper.game.moderation import ModerationRequest
from gamekeeper.store.engine import Reading

F = TypeVar("F", bound=Callable[..., Any])
Rule = Callable[[Reading, ModerationRequest], Coroutine[Any, Any, Decision[str]]]
PERMANENT: Body = {"duration": 0}


def add_penalty_options(command: F) -> F:
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
    losses = list[key_losses.KeyLoss]()

    async def decide(tx: Reading, order: ModerationRequest) -> Decision[str]:
        losses[:] = await key_losses.find_of_ban(tx, await lookup.find_user(tx, name))
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
