"""The command `tokens`: issue, list and revoke access tokens."""

from collections.abc import Coroutine
from typing import Any

import click

from gamekeeper.cli import terminal
from gamekeeper.cli.commands import CommandGroup
from gamekeeper.cli.users import apply_change
from gamekeeper.game.access import tokens as rules
from gamekeeper.game.access.tokens import TokenPair
from gamekeeper.game.core import lookup
from gamekeeper.game.core.keeper import Keeper
from gamekeeper.game.core.writes import Decision
from gamekeeper.store.access import tokens as rows
from gamekeeper.store.accounts.users import User
from gamekeeper.store.engine.interface import Reading

YEAR_HOURS = 365 * 24


@click.group(cls=CommandGroup)
def tokens() -> None:
    """Issue, list and revoke access tokens."""


@tokens.command(epilog="Example: TOKEN=$(gamekeeper tokens issue shop --hours 720 --read-only)")
@click.argument("name")
@click.option(
    "--hours",
    type=click.IntRange(1, 100 * YEAR_HOURS),
    default=YEAR_HOURS,
    show_default="8760, a year",
    help="Lifetime in hours.",
)
@click.option("--read-only", is_flag=True, help="Issue a token that can only read.")
@terminal.json_option
@terminal.database_option
def issue(name: str, hours: int, read_only: bool, as_json: bool, database: str | None) -> None:  # noqa: FBT001 - click passes options by name
    """Issue a token for a service and print it. It is not shown again: only its hash is stored."""

    async def make(keeper: Keeper) -> tuple[User, TokenPair]:
        user = await lookup.find_user(keeper.store, name)
        return user, await rules.issue_for_service(keeper, user, hours, read_only=read_only)

    terminal.require_output()
    user, pair = terminal.run_on_database(database, make, final=True)
    until = terminal.format_time(pair.expires_at)
    if as_json:
        found = {"id": pair.id, "user": user.name, "token": pair.access, "read_only": read_only, "expires_at": until}
        terminal.print_json(found)
        return
    click.echo(pair.access)
    click.echo(f"Valid until {until}. Store it safely: it is not shown again. Its id is {pair.id}.", err=True)


@tokens.command(name="list", epilog="Example: gamekeeper tokens list shop")
@click.argument("name", required=False)
@terminal.json_option
@terminal.database_option
def list_(name: str | None, as_json: bool, database: str | None) -> None:  # noqa: FBT001 - click passes options by name
    """List the tokens of all accounts, or of NAME, newest first.

    USED is the minute in which the token was last used; it is updated about half a minute later.
    """

    async def read(keeper: Keeper) -> list[rows.ListedToken]:
        user = await lookup.find_user(keeper.store, name) if name else None
        return await rows.read_list(keeper.store, user.id if user else None)

    found = terminal.run_on_database(database, read)
    if as_json:
        terminal.print_json([_to_json_object(each) for each in found])
        return
    terminal.print_table([("ID", "USER", "ACCESS", "EXPIRES", "USED", "STATE"), *map(_to_table_row, found)])
    if len(found) == rows.LIST_LIMIT:
        click.echo(
            f"Only the newest {rows.LIST_LIMIT} tokens are listed. Give an account to list only its tokens.", err=True
        )


@tokens.command(epilog="Example: gamekeeper tokens revoke shop")
@click.argument("name")
@click.argument("token_id", metavar="[ID]", required=False)
@terminal.database_option
def revoke(name: str, token_id: str | None, database: str | None) -> None:
    """Revoke one token of an account, by its id, or all of them. Takes effect within 5 seconds."""

    async def end(keeper: Keeper) -> User:
        def decide(tx: Reading) -> Coroutine[Any, Any, Decision[User]]:
            return rules.revoke_one(tx, name, token_id) if token_id is not None else rules.revoke_all(tx, name)

        return await apply_change(keeper, decide)

    user = terminal.run_on_database(database, end, final=True)
    what = "all tokens" if token_id is None else f"token {token_id}"
    click.echo(f"Revoked {what} of {user.name}.")


def _to_json_object(token: rows.ListedToken) -> dict[str, object]:
    return {
        "id": token.id,
        "user": token.user,
        "read_only": token.read_only,
        "issued_at": terminal.format_time(token.issued_at),
        "access_expires": terminal.format_time(token.access_expires),
        "refresh_expires": terminal.format_time(token.refresh_expires),
        "revoked_at": terminal.format_time(token.revoked_at) if token.revoked_at is not None else None,
        "last_used": terminal.format_time(token.last_used) if token.last_used is not None else None,
        "live": token.live,
    }


def _to_table_row(token: rows.ListedToken) -> tuple[str, ...]:
    used = "never" if token.last_used is None else terminal.format_time(token.last_used)
    return (
        token.id,
        token.user,
        _describe_access(token),
        terminal.format_time(_find_last_expiry(token)),
        used,
        _describe_state(token),
    )


def _describe_access(token: rows.ListedToken) -> str:
    return "read only" if token.read_only else "full"


def _find_last_expiry(token: rows.ListedToken) -> int:
    return max(token.access_expires, token.refresh_expires)


def _describe_state(token: rows.ListedToken) -> str:
    if token.revoked_at is not None:
        return "revoked"
    return "live" if token.live else "expired"
