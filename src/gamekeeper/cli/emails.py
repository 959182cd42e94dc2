"""The command `users email`."""

import click

from gamekeeper.cli import terminal
from gamekeeper.cli.users import apply_change
from gamekeeper.game import accounts
from gamekeeper.game.keeper import Keeper
from gamekeeper.store.users import User


@click.command(epilog="Example: gamekeeper users email ann ann@example.com")
@click.argument("name")
@click.argument("address")
@terminal.database_option
def email(name: str, address: str, database: str | None) -> None:
    """Set an account's email address."""

    async def set_email(keeper: Keeper) -> User:
        wanted = accounts.require_email(address, "email")
        return await apply_change(keeper, lambda tx: accounts.change_email(tx, name, wanted, None))

    user = terminal.run_on_database(database, set_email, final=True)
    click.echo(f"Set the email address of {user.name}.")
