"""The commands `users suspend` and `users resume`. They check no permissions, but the last manager of staff stays."""

from functools import partial

import click

from gamekeeper.cli import terminal
from gamekeeper.cli.users import apply_change, print_losses
from gamekeeper.game import key_losses, suspensions
from gamekeeper.game.changes import Decision
from gamekeeper.store.engine import Reading
from gamekeeper.store.users import User


@click.command(epilog="Example: gamekeeper users suspend ann")
@click.argument("name")
@terminal.database_option
def suspend(name: str, database: str | None) -> None:
    """Suspend an account: it cannot log in, and its tokens are revoked within 5 seconds. It can still play."""
    decide = partial(key_losses.decide, rule=partial(suspensions.suspend, key=name, actor=None))
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
