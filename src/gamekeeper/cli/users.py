"""The command `users`: add, list and change accounts. The first account with API access is created here."""

import sys
from collections.abc import AsyncGenerator, Iterable, Sequence
from functools import partial
from typing import Annotated, NamedTuple
from unicodedata import category

import click

from gamekeeper.cli import terminal
from gamekeeper.cli.commands import add_group
from gamekeeper.cli.terminal import AsJson, Database, Output, Parsed, apply_change, argument, command, escape, option
from gamekeeper.game.access import api_keys, passwords, permissions, roles, second_factors
from gamekeeper.game.access.api_keys import KeyLoss
from gamekeeper.game.access.passwords import hash_for_wire
from gamekeeper.game.access.permissions import API
from gamekeeper.game.access.roles import RoleRequest
from gamekeeper.game.accounts import accounts
from gamekeeper.game.core import lookup
from gamekeeper.game.core.refusals import BadField
from gamekeeper.game.core.values import require_email, require_name
from gamekeeper.game.keeper import Keeper
from gamekeeper.ground.settings import Settings, variable
from gamekeeper.store.access import credentials
from gamekeeper.store.access import second_factors as factor_rows
from gamekeeper.store.access.roles import Powers
from gamekeeper.store.accounts import moderation
from gamekeeper.store.accounts import users as user_rows
from gamekeeper.store.accounts.moderation import ImposedPenalty
from gamekeeper.store.accounts.users import User

PAGE_SIZE = 500  # accounts that `users list` reads per query
CONTROL = "Cc"  # Unicode category of control characters: line breaks, NUL, tab


def parse_role(text: str, name: str = "role", known: Iterable[str] = permissions.POWER_ROLES) -> str:
    found = permissions.find_role(text)
    if found is None:
        raise click.BadParameter(f"'{text}' is not a {name}. Choose one of {', '.join(known)}.")
    return found


def parse_permission(text: str) -> str:
    """Parse a permission. Those that older versions knew are also accepted by their old names, such as ban."""
    name = text.lower()
    if name in permissions.POWERS:
        return permissions.COLUMNS[name]
    return name if name in permissions.ALL else parse_role(text, "permission", permissions.PERMISSIONS)


PERMISSION = Parsed("permission", parse_permission)
Permission = Annotated[str, argument(type=PERMISSION)]
Stdin = Annotated[bool, option("Read the password from standard input.", "--password-stdin")]
Generated = Annotated[bool, option("Generate a random password and print it.", "--generate-password")]
add_group("users", "Add and list accounts, and change their permissions.")


@command("users add", "ann --email ann@example.com --staff admin --generate-password")
def add(
    name: str,
    *,
    email: str = option("The account's email address.", required=True),
    api: bool = option("Allow the account to get tokens and call the API: the role api."),
    held: Sequence[str] = option("Role such as moderator, see `gamekeeper roles list`; repeatable.", "--staff"),
    granted_roles: Sequence[str] = option(
        "Permission users.query, users.manage or game.link, granted directly; repeatable.",
        "--role",
        type=Parsed("role", parse_role),
    ),
    powers: Sequence[str] = option(
        "Permission in the game, granted directly; repeatable.",
        "--power",
        type=click.Choice(["Editor", "Ban", "Kick", "Mute"], case_sensitive=False),
    ),
    from_stdin: Stdin,
    generated: Generated,
    database: Database,
) -> str:
    """Add an account."""
    granted = Powers(api=api, **{power.lower(): True for power in powers})
    for role in granted_roles:
        granted = permissions.grant(granted, role)
    with terminal.report_failures():
        address = require_email(email, "--email")
    password = choose_password(
        terminal.load_settings(database), (name, email), from_stdin=from_stdin, generated=generated
    )

    async def register(keeper: Keeper) -> User:
        _require_name(name, keeper.settings)
        stored = await keeper.passwords.hash_password(hash_for_wire(password))
        return await apply_change(keeper, lambda tx: accounts.register(tx, name, address, stored, granted, held))

    user = terminal.run_on_database(database, register, first=True, final=True)
    added = f"Added {user.name}. Permissions: {', '.join(list_permissions(user)) or 'none'}."
    return f"{added}\nPassword: {password}" if generated else added


@command("users list", "--json")
async def list_users(keeper: Keeper, *, as_json: AsJson) -> None:
    """List all accounts, sorted by name."""
    if as_json:
        await terminal.print_json_list(_to_json_object(status) async for status in _read_accounts(keeper))
        return
    async for status in _read_accounts(keeper):
        user = status.user
        suspended = "  suspended" if user.suspended else ""
        held = ", ".join(list_permissions(user)) or "-"
        click.echo(f"{escape(user.name):<20}  {escape(user.email):<32}  {held}{suspended}")


@command("users show", "root")
async def show(keeper: Keeper, name: str) -> Output:
    """Show one account; NAME is its name or its id."""
    found = (await _load(keeper, [await lookup.find_user(keeper.store, name)]))[0]
    return Output(_to_table(found), _to_json_object(found))


@command("users grant", "root users.manage", writes=True)
async def grant(keeper: Keeper, name: str, permission: Permission) -> str:
    """Grant an account a permission directly. `gamekeeper users give` gives it a role.

    For example users.query, users.manage (includes users.query) and game.link; in the game: editor, ban, kick, mute.
    """
    return await change_roles(keeper, name, RoleRequest(grant=[permission]))


@command("users revoke", "root users.manage", writes=True)
async def revoke(keeper: Keeper, name: str, permission: Permission) -> str:
    """Revoke a directly granted permission. Revoking users.query also revokes users.manage."""
    return await change_roles(keeper, name, RoleRequest(revoke=[permission]))


@command("users api", "root on", writes=True)
async def api(keeper: Keeper, name: str, state: str = argument(type=click.Choice(["on", "off"]))) -> str:
    """Switch an account's API access, the role api, on or off. Off revokes its tokens within 5 seconds."""
    return await change_roles(keeper, name, RoleRequest(give=[API]) if state == "on" else RoleRequest(take=[API]))


@command("users password", "root --password-stdin < secret.txt")
def password(name: str, *, from_stdin: Stdin, generated: Generated, database: Database) -> str:
    """Set an account's password and revoke all its tokens."""
    plain = choose_password(terminal.load_settings(database), (name,), from_stdin=from_stdin, generated=generated)

    async def set_password(keeper: Keeper) -> User:
        stored = await keeper.passwords.hash_password(hash_for_wire(plain))
        return await apply_change(keeper, lambda tx: accounts.change_password(tx, name, stored, None))

    user = terminal.run_on_database(database, set_password, final=True)
    done = f"Set the password of {user.name} and revoked the account's tokens."
    return f"{done}\nPassword: {plain}" if generated else done


@command("users email", "ann ann@example.com", writes=True)
async def email(keeper: Keeper, name: str, address: str) -> str:
    """Set an account's email address."""
    wanted = require_email(address, "email")
    user = await apply_change(keeper, lambda tx: accounts.change_email(tx, name, wanted, None))
    return f"Set the email address of {user.name}."


@command("users rename", "ann anna", writes=True)
async def rename(keeper: Keeper, name: str, new: str) -> str:
    """Rename an account."""
    wanted = require_name(new, "name", keeper.settings)
    user = await apply_change(keeper, partial(accounts.rename, key=name, name=wanted))
    return f"The name of the account is {user.name} now."


@command("users reset-second-factor", "ann", writes=True)
async def reset_second_factor(keeper: Keeper, name: str) -> str:
    """Remove all second factors and recovery codes of an account, and revoke its tokens.

    NAME is the account's name or its id. The password alone signs in then; a role may require a new second factor.
    """
    user = await apply_change(keeper, partial(second_factors.reset, key=name, actor=None, settings=keeper.settings))
    return f"{user.name} has no second factor now; its tokens and console sessions are revoked."


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


async def _read_accounts(keeper: Keeper) -> AsyncGenerator["AccountStatus"]:
    fold = ""
    while page := await user_rows.read_after(keeper.store, fold, PAGE_SIZE):
        for status in await _load(keeper, [user for user, _ in page]):
            yield status
        fold = page[-1][1]


def _require_name(name: str, settings: Settings) -> None:
    try:
        require_name(name, "NAME", settings)
    except BadField as bad:
        terminal.fail(f"{bad.message} Choose another name, or set {variable('name_pattern')}.")


async def change_roles(keeper: Keeper, name: str, wanted: RoleRequest) -> str:
    """Give and take roles, grant and revoke permissions; return what the account has then, as text."""
    rule = partial(roles.change_account, key=name, wanted=wanted, actor=None)
    user, losses = await apply_change(keeper, partial(api_keys.decide_with_losses, rule=rule))
    held = f"Permissions of {user.name}: {', '.join(list_permissions(user)) or 'none'}."
    return "\n".join((held, *describe_losses(losses)))


def describe_losses(losses: Iterable[KeyLoss]) -> list[str]:
    """Describe the API keys that lose permissions by a change of their owner."""
    return [f"API key {each.key.name} ({each.key.id}) loses {', '.join(sorted(each.lost))}." for each in losses]


class AccountStatus(NamedTuple):
    """An account with its current mute and ban, whether it has a second factor, and its linked sign-ins."""

    user: User
    mute: ImposedPenalty | None
    ban: ImposedPenalty | None
    has_second_factor: bool
    issuers: Sequence[str]  # of linked sign-ins with OpenID Connect


async def _load(keeper: Keeper, found: Sequence[User]) -> list[AccountStatus]:
    ids = [user.id for user in found]
    mutes = {each.user_id: each for each in await moderation.find_mutes(keeper.store, ids)}
    bans = {each.user_id: each for each in await moderation.find_bans(keeper.store, ids)}
    holders = await factor_rows.find_holders(keeper.store, ids)
    issuers = await credentials.find_issuers(keeper.store, ids)
    return [
        AccountStatus(user, mutes.get(user.id), bans.get(user.id), user.id in holders, issuers.get(user.id, []))
        for user in found
    ]


def list_permissions(user: User) -> list[str]:
    """Return the names of an account's roles and directly granted permissions, as this command line spells them."""
    old = (["api"] if user.powers.api else []) + _list_roles(user.powers) + _list_powers(user.powers)
    return [*old, *(f"role {each}" for each in user.grants.roles), *sorted(user.grants.direct)]


def _to_json_object(status: AccountStatus) -> dict[str, str | bool | list[str] | None]:
    """Return an account for programs. `roles` and `powers` are permissions; versions before the roles named them so."""
    user = status.user
    return {
        "id": user.id,
        "name": user.name,
        "email": user.email,
        "api": user.powers.api,
        "roles": _list_roles(user.powers),
        "powers": _list_powers(user.powers),
        "staff": list(user.grants.roles),
        "permissions": sorted(user.grants.direct),
        "muted": _describe_penalty(status.mute),
        "mute_reason": user.mute_reason,
        "banned": _describe_penalty(status.ban),
        "ban_reason": user.ban_reason,
        "suspended": user.suspended,
        "second_factor": status.has_second_factor,
        "linked_sign_ins": list(status.issuers),
        "created_at": terminal.format_time(user.created_at),
    }


def _to_table(status: AccountStatus) -> list[tuple[str, str]]:
    """Return an account for people."""
    user = status.user
    granted = sorted(permissions.list_granted(user.powers, user.grants))
    return [
        ("id", user.id),
        ("name", user.name),
        ("email", user.email),
        ("roles", ", ".join(permissions.list_roles(user)) or "none"),
        ("granted directly", ", ".join(granted) or "none"),
        ("muted", _describe_penalty(status.mute)),
        ("reason of the mute", user.mute_reason or "-"),
        ("banned", _describe_penalty(status.ban)),
        ("reason of the ban", user.ban_reason or "-"),
        ("suspended", "yes" if user.suspended else "no"),
        ("second factor", "yes" if status.has_second_factor else "no"),
        ("linked sign-ins", ", ".join(status.issuers) or "none"),
        ("created", terminal.format_time(user.created_at)),
    ]


def _describe_penalty(penalty: ImposedPenalty | None) -> str:
    if penalty is None:
        return "no"
    return "for good" if penalty.ends_at is None else f"until {terminal.format_time(penalty.ends_at)}"


def _list_roles(powers: Powers) -> list[str]:
    return [role for role, power in permissions.POWER_ROLES.items() if getattr(powers, power)]


def _list_powers(powers: Powers) -> list[str]:
    return [power.title() for power in permissions.POWERS if getattr(powers, power)]
