"""The command `roles`, and `users give` and `users take`: roles, their item quotas, and who has them."""

from collections.abc import Sequence

import click

from gamekeeper.cli import terminal
from gamekeeper.cli.commands import CommandGroup
from gamekeeper.cli.users import PermissionType, apply_change, change_roles
from gamekeeper.game.access import roles as rules
from gamekeeper.game.access.roles import RoleDraft, RoleRequest
from gamekeeper.game.core import lookup
from gamekeeper.game.core.keeper import Keeper
from gamekeeper.game.core.writes import Decision
from gamekeeper.game.players.gifts import EVERY_OTHER_ITEM
from gamekeeper.store.access import roles as rows
from gamekeeper.store.access.roles import Role
from gamekeeper.store.engine.interface import Reading

ITEM_ADVICE = "The page Catalogue of the console shows the ids of items, as does GET /api/v1/gameobjects/item."


class ItemType(click.ParamType[str]):
    """The id of an item."""

    name = "id"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        found = lookup.parse_guid(value)
        if found is None:
            self.fail(f"'{value}' is not the id of an item. {ITEM_ADVICE}", param, ctx)
        return found


MAX_QUOTA = 2**31 - 1


class QuotaType(click.ParamType[tuple[str, int]]):
    """A quota on the command line: `ITEM_ID=MOST`, or `*=MOST` for every other item."""

    name = "quota"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, int]:
        item, _, most = value.partition("=")
        item_id = EVERY_OTHER_ITEM if item == "*" else lookup.parse_guid(item)
        if item_id is None or not most.isdecimal() or not most.isascii() or int(most) > MAX_QUOTA:
            example = "9e2b8323-5231-5487-a8b0-017c3b453c23=1000"
            self.fail(f"'{value}' is not a quota, such as {example}. {ITEM_ADVICE}", param, ctx)
        return item_id, int(most)


@click.group(cls=CommandGroup)
def roles() -> None:
    """List and edit roles, which are named sets of permissions."""


@roles.command(name="list", epilog="Example: gamekeeper roles list")
@terminal.json_option
@terminal.database_option
def list_(as_json: bool, database: str | None) -> None:  # noqa: FBT001 - click passes options by name
    """List all roles with their permissions."""

    async def read(keeper: Keeper) -> list[Role]:
        return list((await rows.read_all(keeper.store)).values())

    found = terminal.run_on_database(database, read)
    if as_json:
        terminal.print_json([_to_json_object(each) for each in found])
        return
    terminal.print_table([("ROLE", "ABOUT", "READ-ONLY", "QUOTAS PER DAY", "PERMISSIONS"), *map(_to_table_row, found)])


@roles.command(epilog="Example: gamekeeper roles save helper --permission players.read --permission moderation.mute")
@click.argument("name")
@click.option("--permission", "named", type=PermissionType(), multiple=True, help="Permission; repeatable.")
@click.option(
    "--quota",
    "quotas",
    type=QuotaType(),
    multiple=True,
    help="Most of an item that an account may give per UTC day: ITEM_ID=MOST, or '*=MOST' in quotes for every other "
    "item; repeatable.",
)
@click.option("--no-quotas", is_flag=True, help="Remove all quotas of the role.")
@click.option("--about", help="What the role is for.")
@click.option(
    "--read-only/--no-read-only",
    default=None,
    help="Accounts with only such roles, and only reading permissions directly, cannot write.",
)
@terminal.database_option
def save(
    name: str,
    named: Sequence[str],
    quotas: Sequence[tuple[str, int]],
    no_quotas: bool,  # noqa: FBT001 - click passes options by name
    about: str | None,
    read_only: bool | None,  # noqa: FBT001 - the same
    database: str | None,
) -> None:
    """Create or edit a role. With --permission or --quota, it has exactly the given ones afterwards."""
    draft = RoleDraft(about, named or None, read_only, dict(quotas) if quotas or no_quotas else None)

    async def decide(tx: Reading) -> Decision[Role]:
        return await rules.save(tx, name, draft, None)

    role = terminal.run_on_database(database, lambda keeper: apply_change(keeper, decide), final=True)
    click.echo(f"Permissions of the role {role.name}: {', '.join(sorted(rules.list_permissions(role))) or 'none'}.")
    if role.read_only:
        click.echo("The role is read-only.")
    if role.quotas:
        click.echo(f"Quotas per UTC day: {_list_quotas(role)}.")


@roles.command(epilog="Example: gamekeeper roles delete helper")
@click.argument("name")
@terminal.database_option
def delete(name: str, database: str | None) -> None:
    """Delete a role that no account has."""

    async def decide(tx: Reading) -> Decision[Role]:
        return await rules.delete(tx, name, None)

    terminal.run_on_database(database, lambda keeper: apply_change(keeper, decide), final=True)
    click.echo(f"Deleted the role {name}.")


@click.command(epilog="Example: gamekeeper users give ann moderator")
@click.argument("name")
@click.argument("role", nargs=-1, required=True)
@terminal.database_option
def give(name: str, role: Sequence[str], database: str | None) -> None:
    """Give an account roles; see `gamekeeper roles list`."""
    change_roles(database, name, RoleRequest(give=role))


@click.command(epilog="Example: gamekeeper users take ann moderator")
@click.argument("name")
@click.argument("role", nargs=-1, required=True)
@terminal.database_option
def take(name: str, role: Sequence[str], database: str | None) -> None:
    """Take roles away from an account. If it was the last one, the account's tokens are revoked within 5 seconds."""
    change_roles(database, name, RoleRequest(take=role))


def _to_table_row(role: Role) -> tuple[str, ...]:
    held = ", ".join(sorted(rules.list_permissions(role))) or "-"
    return role.name, role.about, "yes" if role.read_only else "no", _list_quotas(role) or "-", held


def _list_quotas(role: Role) -> str:
    return ", ".join(f"{'*' if item == EVERY_OTHER_ITEM else item}={most}" for item, most in role.quotas)


def _to_json_object(role: Role) -> dict[str, object]:
    return {**role._asdict(), "permissions": sorted(rules.list_permissions(role)), "quotas": dict(role.quotas)}
