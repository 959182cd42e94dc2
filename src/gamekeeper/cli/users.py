"""The command `users`: add, list and change accounts. The first account with API access is created here.

`users reset-second-factor` helps an account that lost its second factor.
"""

import sys
from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from functools import partial
from typing import Any, TypeVar
from unicodedata import category

import click
from msgspec.structs import replace

from gamekeeper.cli import account_status, terminal
from gamekeeper.cli.account_status import AccountStatus, list_permissions, to_json_object, to_table
from gamekeeper.cli.commands import CommandGroup, LazyCommands
from gamekeeper.game.access import api_keys, passwords, permissions, roles, second_factors
from gamekeeper.game.access.api_keys import KeyLoss
from gamekeeper.game.access.passwords import hash_for_wire
from gamekeeper.game.access.permissions import API
from gamekeeper.game.access.roles import RoleRequest
from gamekeeper.game.accounts import accounts
from gamekeeper.game.core import lookup
from gamekeeper.game.core.keeper import Keeper
from gamekeeper.game.core.refusals import BadField
from gamekeeper.game.core.writes import Decide
from gamekeeper.ground.settings import Settings, variable
from gamekeeper.store.access.roles import Powers
from gamekeeper.store.accounts import users as user_rows
from gamekeeper.store.accounts.users import User

PAGE_SIZE = 500  # accounts that `users list` reads per query
CONTROL = "Cc"  # Unicode category of control characters: line breaks, NUL, tab
R = TypeVar("R")
C = TypeVar("C", bound=Callable[..., Any])


class RoleType(click.ParamType[str]):
    name = "role"
    known: Sequence[str] = (*accounts.ROLES,)

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        found = accounts.find_role(value)
        if found is None:
            self.fail(f"'{value}' is not a {self.name}. Choose one of {', '.join(self.known)}.", param, ctx)
        return found


class PermissionType(RoleType):
    """A permission. Those that older versions knew are also accepted by their old names, such as ban."""

    name = "permission"
    known = (*permissions.PERMISSIONS,)

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if value.lower() in accounts.POWERS:
            return permissions.COLUMNS[value.lower()]
        return value.lower() if value.lower() in permissions.ALL else super().convert(value, param, ctx)


def add_password_options(command: C) -> C:
    """Add the options for giving a password. Without them the command prompts for it twice."""
    generate = click.option(
        "--generate-password", "generated", is_flag=True, help="Generate a random password and print it."
    )
    stdin = click.option("--password-stdin", "from_stdin", is_flag=True, help="Read the password from standard input.")
    return stdin(generate(command))


OTHER_COMMANDS = LazyCommands(
    {
        "delete": "person:delete",
        "export": "person:export",
        "ban": "moderation:ban",
        "unban": "moderation:unban",
        "mute": "moderation:mute",
        "unmute": "moderation:unmute",
        "suspend": "moderation:suspend",
        "resume": "moderation:resume",
        "give": "roles:give",
        "take": "roles:take",
        "email": "users:email",
        "rename": "users:rename",
        "reset-second-factor": "users:reset_second_factor",
    }
)


@click.group(cls=CommandGroup, commands=OTHER_COMMANDS)
def users() -> None:
    """Add and list accounts, and change their permissions."""


@users.command(epilog="Example: gamekeeper users add ann --email ann@example.com --staff admin --generate-password")
@click.argument("name")
@click.option("--email", required=True, help="The account's email address.")
@click.option("--api", is_flag=True, help="Allow the account to get tokens and call the API: the role api.")
@click.option("--staff", "held", multiple=True, help="Role such as moderator, see `gamekeeper roles list`; repeatable.")
@click.option(
    "--role",
    "granted_roles",
    type=RoleType(),
    multiple=True,
    help="Permission users.query, users.manage or game.link, granted directly; repeatable.",
)
@click.option(
    "--power",
    "powers",
    type=click.Choice(["Editor", "Ban", "Kick", "Mute"], case_sensitive=False),
    multiple=True,
    help="Permission in the game, granted directly; repeatable.",
)
@add_password_options
@terminal.database_option
def add(
    name: str,
    *,
    email: str,
    api: bool,
    held: Sequence[str],
    granted_roles: Sequence[str],
    powers: Sequence[str],
    from_stdin: bool,
    generated: bool,
    database: str | None,
) -> None:
    """Add an account."""
    granted = Powers(api=api, **{power.lower(): True for power in powers})
    for role in granted_roles:
        granted = accounts.grant(granted, role)
    with terminal.report_failures():
        address = accounts.require_email(email, "--email")
    password = choose_password(
        terminal.load_settings(database), (name, email), from_stdin=from_stdin, generated=generated
    )

    async def register(keeper: Keeper) -> User:
        _require_name(name, keeper.settings)
        stored = await keeper.passwords.hash_password(hash_for_wire(password))
        return await apply_change(keeper, lambda tx: accounts.register(tx, name, address, stored, granted, held))

    user = terminal.run_on_database(database, register, first=True, final=True)
    click.echo(f"Added {user.name}. Permissions: {', '.join(list_permissions(user)) or 'none'}.")
    if generated:
        click.echo(f"Password: {password}")


@users.command(name="list", epilog="Example: gamekeeper users list --json")
@terminal.json_option
@terminal.database_option
def list_(as_json: bool, database: str | None) -> None:  # noqa: FBT001 - click passes options by name
    """List all accounts, sorted by name."""

    async def write(keeper: Keeper) -> None:
        if as_json:
            await terminal.print_json_list(to_json_object(status) async for status in _read_accounts(keeper))
            return
        async for status in _read_accounts(keeper):
            user = status.user
            name, email = terminal.escape(user.name), terminal.escape(user.email)
            suspended = "  suspended" if user.suspended else ""
            click.echo(f"{name:<20}  {email:<32}  {', '.join(list_permissions(user)) or '-'}{suspended}")

    terminal.run_on_database(database, write)


@users.command(epilog="Example: gamekeeper users show root")
@click.argument("name")
@terminal.json_option
@terminal.database_option
def show(name: str, as_json: bool, database: str | None) -> None:  # noqa: FBT001 - click passes options by name
    """Show one account; NAME is its name or its id."""

    async def find(keeper: Keeper) -> AccountStatus:
        return (await account_status.load(keeper, [await lookup.find_user(keeper.store, name)]))[0]

    found = terminal.run_on_database(database, find)
    if as_json:
        terminal.print_json(to_json_object(found))
        return
    terminal.print_table(to_table(found))


@users.command(epilog="Example: gamekeeper users grant root users.manage")
@click.argument("name")
@click.argument("permission", type=PermissionType())
@terminal.database_option
def grant(name: str, permission: str, database: str | None) -> None:
    """Grant an account a permission directly. `gamekeeper users give` gives it a role.

    For example users.query, users.manage (includes users.query) and game.link; in the game: editor, ban, kick, mute.
    """
    change_roles(database, name, RoleRequest(grant=[permission]))


@users.command(epilog="Example: gamekeeper users revoke root users.manage")
@click.argument("name")
@click.argument("permission", type=PermissionType())
@terminal.database_option
def revoke(name: str, permission: str, database: str | None) -> None:
    """Revoke a directly granted permission. Revoking users.query also revokes users.manage."""
    change_roles(database, name, RoleRequest(revoke=[permission]))


@users.command(epilog="Example: gamekeeper users api root on")
@click.argument("name")
@click.argument("state", type=click.Choice(["on", "off"]))
@terminal.database_option
def api(name: str, state: str, database: str | None) -> None:
    """Switch an account's API access, the role api, on or off. Off revokes its tokens within 5 seconds."""
    change_roles(database, name, RoleRequest(give=[API]) if state == "on" else RoleRequest(take=[API]))


@users.command(epilog="Example: gamekeeper users password root --password-stdin < secret.txt")
@click.argument("name")
@add_password_options
@terminal.database_option
def password(name: str, from_stdin: bool, generated: bool, database: str | None) -> None:  # noqa: FBT001 - click passes options by name
    """Set an account's password and revoke all its tokens."""
    plain = choose_password(terminal.load_settings(database), (name,), from_stdin=from_stdin, generated=generated)

    async def set_password(keeper: Keeper) -> User:
        stored = await keeper.passwords.hash_password(hash_for_wire(plain))
        return await apply_change(keeper, lambda tx: accounts.change_password(tx, name, stored, None))

    user = terminal.run_on_database(database, set_password, final=True)
    click.echo(f"Set the password of {user.name} and revoked the account's tokens.")
    if generated:
        click.echo(f"Password: {plain}")


def choose_password(loaded: Settings, names: Sequence[str], *, from_stdin: bool, generated: bool) -> str:
    """Return a password from a prompt, from standard input, or generated.

    There is no option with the password itself: other users could see it in the process list.
    """
    if generated and from_stdin:
        raise click.UsageError("Give either --password-stdin or --generate-password.")
    if generated:
        terminal.require_output()
        return passwords.generate(loaded)
    if not from_stdin:
        return _ask_password(loaded, names)
    plain = _read_password()
    problem = passwords.find_problem(plain, loaded, names)
    if problem:
        terminal.fail(problem)
    return plain


def _ask_password(loaded: Settings, names: Sequence[str]) -> str:
    """Prompt until the typed password is acceptable; Ctrl-C aborts the command."""
    if not sys.stdin.isatty():
        raise click.UsageError(
            "Cannot ask for the password without a terminal. Use --password-stdin or --generate-password."
        )
    while True:
        plain: str = click.prompt("Password", hide_input=True, confirmation_prompt="Repeat the password")
        problem = passwords.find_problem(plain, loaded, names)
        if not problem:
            return plain
        terminal.print_error(problem)


def _read_password() -> str:
    try:
        plain = sys.stdin.buffer.read().decode().removesuffix("\n").removesuffix("\r")
    except UnicodeDecodeError:
        raise click.UsageError("The password on standard input is not UTF-8.") from None
    if not plain:
        raise click.UsageError("The password on standard input is empty.")
    if any(category(each) == CONTROL for each in plain):
        raise click.UsageError("The password on standard input must be one line, without control characters.")
    return plain


async def apply_change(keeper: Keeper, decide: Decide[R], *, dry_run: bool = False) -> R:
    """Apply a change of an account and return its result, mostly the account after the change."""
    results: list[R] = []

    def keep(result: R) -> bytes:
        results.append(result)
        return b""

    await keeper.changes.apply(replace(terminal.make_intent(), dry_run=dry_run), decide, keep)
    return results[-1]


async def _read_accounts(keeper: Keeper) -> AsyncGenerator[AccountStatus]:
    fold = ""
    while page := await user_rows.read_after(keeper.store, fold, PAGE_SIZE):
        for status in await account_status.load(keeper, [user for user, _ in page]):
            yield status
        fold = page[-1][1]


def _require_name(name: str, settings: Settings) -> None:
    try:
        accounts.require_name(name, "NAME", settings)
    except BadField as bad:
        terminal.fail(f"{bad.message} Choose another name, or set {variable('name_pattern')}.")


def change_roles(database: str | None, name: str, wanted: RoleRequest) -> None:
    """Give and take roles, grant and revoke permissions, and print what the account has then."""
    rule = partial(roles.change_account, key=name, wanted=wanted, actor=None)
    decide = partial(api_keys.decide_with_losses, rule=rule)
    user, losses = terminal.run_on_database(database, lambda keeper: apply_change(keeper, decide), final=True)
    click.echo(f"Permissions of {user.name}: {', '.join(list_permissions(user)) or 'none'}.")
    print_losses(losses)


def print_losses(losses: Iterable[KeyLoss]) -> None:
    """Print the API keys that lose permissions by a change of their owner."""
    for each in losses:
        click.echo(f"API key {each.key.name} ({each.key.id}) loses {', '.join(sorted(each.lost))}.")


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


@click.command(epilog="Example: gamekeeper users rename ann anna")
@click.argument("name")
@click.argument("new")
@terminal.database_option
def rename(name: str, new: str, database: str | None) -> None:
    """Rename an account."""

    async def set_name(keeper: Keeper) -> User:
        wanted = accounts.require_name(new, "name", keeper.settings)
        return await apply_change(keeper, partial(accounts.rename, key=name, name=wanted))

    user = terminal.run_on_database(database, set_name, final=True)
    click.echo(f"The name of the account is {user.name} now.")


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
