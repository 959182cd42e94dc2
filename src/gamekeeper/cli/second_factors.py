"""The command `users reset-second-factor`: help an account that lost its second factor."""

from functools import partial

import click

from gamekeeper.cli import terminal
from gamekeeper.cli.users import apply_change
from gamekeeper.game import second_factors
from gamekeeper.game.keeper import Keeper
from gamekeeper.store.users import User


@click.command(epilog="Example: gamekeeper users reset-second-factor ann")
@click.argument("name")
@terminal.database_option
def reset_second_factor(name: str, database: str | None) -> None:
    """Remove all second factors and recovery codes of an account, and revoke its tokens.

    NAME is the account's name or its id. The password alone signs in then; a role may require a new second factor.
    """

    async def reset(keeper: Keeper) -> User:
        return await apply_change(keeper, partial(second_factors.reset, key=name, actor=None, settings=keeper.settings))

    user = terminal.run_on_database(database, reset, final=True)
    click.echo(f"{user.name} has no second factor now; its tokens and console sessions are revoked.")
