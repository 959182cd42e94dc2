"""The command `keys`: create, list, change, rotate and revoke API keys."""

from collections.abc import Sequence

import click

from gamekeeper.cli import terminal
from gamekeeper.cli.commands import CommandGroup
from gamekeeper.cli.roles import ItemType
from gamekeeper.cli.users import PermissionType, apply_change
from gamekeeper.game.access import api_keys as rules
from gamekeeper.game.access.api_keys import IssuedKey, KeyDraft, KeyEdit
from gamekeeper.game.access.tokens import DAY_MS
from gamekeeper.game.core import lookup
from gamekeeper.game.core.keeper import Keeper
from gamekeeper.game.core.writes import Decision
from gamekeeper.store.access import api_keys as rows
from gamekeeper.store.access.api_keys import ApiKey, KeyLimits
from gamekeeper.store.engine import clock
from gamekeeper.store.engine.interface import Reading

HEADS = ("ID", "NAME", "OWNER", "MAY", "LIMITS", "ADDRESSES", "EXPIRES", "LAST USED", "LAST ADDRESS", "STATE")


@click.group(cls=CommandGroup)
def keys() -> None:
    """Create, list, change, rotate and revoke API keys of programs."""


@keys.command(epilog="Example: gamekeeper keys create 'web shop' --owner shop --role shop --address 192.0.2.0/24")
@click.argument("name")
@click.option("--owner", required=True, help="Account for which the key acts.")
@click.option("--role", help="Role of the key.")
@click.option("--permission", "named", type=PermissionType(), multiple=True, help="Permission; repeatable.")
@click.option("--days", type=click.IntRange(1, 36_500), help="Lifetime in days. [default: unlimited]")
@click.option("--address", "addresses", multiple=True, help="Address or network that may use it; repeatable.")
@click.option("--per-minute", type=click.IntRange(1), help="Requests per minute that each server process accepts.")
@click.option("--item", "items", type=ItemType(), multiple=True, help="Id of an item that it may give; repeatable.")
@click.option("--most-per-request", type=click.IntRange(1), help="Most of an item in one gift.")
@click.option("--most-per-day", type=click.IntRange(1), help="Most of an item on one UTC day.")
@click.option("--server", "servers", multiple=True, help="Game server that it may speak for; repeatable.")
@click.option("--replaces", help="Id of a key, or account, whose Idempotency-Keys it takes over.")
@terminal.json_option
@terminal.database_option
def create(
    *,
    name: str,
    owner: str,
    role: str | None,
    named: Sequence[str],
    days: int | None,
    addresses: Sequence[str],
    per_minute: int | None,
    items: Sequence[str],
    most_per_request: int | None,
    most_per_day: int | None,
    servers: Sequence[str],
    replaces: str | None,
    as_json: bool,
    database: str | None,
) -> None:
    """Create an API key and print it. It is not shown again: only its hash is stored."""
    if bool(named) == (role is not None):
        raise click.UsageError("Give either --role or --permission.")
    limits = KeyLimits(
        tuple(addresses) or None,
        per_minute,
        tuple(items) or None,
        most_per_request,
        most_per_day,
        tuple(servers) or None,
    )

    async def decide(tx: Reading) -> Decision[IssuedKey]:
        expires_at = None if days is None else await clock.now(tx) + days * DAY_MS
        return await rules.create(tx, KeyDraft(name, named, role, expires_at, limits, replaces, owner), None)

    terminal.require_output()
    _print_text(terminal.run_on_database(database, lambda keeper: apply_change(keeper, decide), final=True), as_json)


@keys.command(name="list", epilog="Example: gamekeeper keys list shop")
@click.argument("owner", required=False)
@terminal.json_option
@terminal.database_option
def list_(owner: str | None, as_json: bool, database: str | None) -> None:  # noqa: FBT001 - click passes options by name
    """List the API keys of all accounts, or of OWNER, newest first; also revoked ones."""

    async def read(keeper: Keeper) -> list[ApiKey]:
        user = await lookup.find_user(keeper.store, owner) if owner else None
        return await rows.read_list(keeper.store, user.id if user else None)

    found = terminal.run_on_database(database, read)
    if as_json:
        terminal.print_json([_to_json_object(each) for each in found])
        return
    terminal.print_table([HEADS, *map(_to_table_row, found)])


@keys.command(epilog="Example: gamekeeper keys rotate 2c1d3f80-5a0b-4c1c-9a63-0a1f6c3b7e55 --grace-minutes 60")
@click.argument("key_id", metavar="ID")
@click.option(
    "--grace-minutes", type=click.IntRange(0, 43_200), default=0, show_default=True, help="Time for the old secret."
)
@terminal.json_option
@terminal.database_option
def rotate(key_id: str, grace_minutes: int, as_json: bool, database: str | None) -> None:  # noqa: FBT001 - click passes options by name
    """Give an API key a new secret and print it. The old one works for --grace-minutes more, in all processes."""

    async def decide(tx: Reading) -> Decision[IssuedKey]:
        return await rules.rotate(tx, _parse_id(key_id), grace_minutes, None)

    terminal.require_output()
    _print_text(terminal.run_on_database(database, lambda keeper: apply_change(keeper, decide), final=True), as_json)


@keys.command(epilog="Example: gamekeeper keys revoke 2c1d3f80-5a0b-4c1c-9a63-0a1f6c3b7e55")
@click.argument("key_id", metavar="ID")
@terminal.database_option
def revoke(key_id: str, database: str | None) -> None:
    """Revoke an API key for good; it stops within 5 seconds."""

    async def decide(tx: Reading) -> Decision[IssuedKey]:
        return await rules.revoke(tx, _parse_id(key_id))

    done = terminal.run_on_database(database, lambda keeper: apply_change(keeper, decide), final=True)
    click.echo(f"Revoked the API key {done.key.name}.")


@keys.command(epilog="Example: gamekeeper keys suspend 2c1d3f80-5a0b-4c1c-9a63-0a1f6c3b7e55")
@click.argument("key_id", metavar="ID")
@terminal.database_option
def suspend(key_id: str, database: str | None) -> None:
    """Stop an API key until `keys resume`; it stops within 5 seconds."""
    _change(database, key_id, KeyEdit(suspended=True))


@keys.command(epilog="Example: gamekeeper keys resume 2c1d3f80-5a0b-4c1c-9a63-0a1f6c3b7e55")
@click.argument("key_id", metavar="ID")
@terminal.database_option
def resume(key_id: str, database: str | None) -> None:
    """Let a suspended API key work again, for example after `restore`."""
    _change(database, key_id, KeyEdit(suspended=False))


@keys.command(epilog="Example: gamekeeper keys give 2c1d3f80-5a0b-4c1c-9a63-0a1f6c3b7e55 newshop")
@click.argument("key_id", metavar="ID")
@click.argument("owner")
@terminal.database_option
def give(key_id: str, owner: str, database: str | None) -> None:
    """Give an API key another owner, whose permissions limit it from then on."""
    _change(database, key_id, KeyEdit(owner=owner))


def _change(database: str | None, key_id: str, wanted: KeyEdit) -> None:
    async def decide(tx: Reading) -> Decision[IssuedKey]:
        return await rules.edit(tx, _parse_id(key_id), wanted, None)

    done = terminal.run_on_database(database, lambda keeper: apply_change(keeper, decide), final=True)
    click.echo(f"API key {done.key.name} of {done.key.user}: {_name_state(done.key)}.")


def _parse_id(text: str) -> str:
    return lookup.parse_guid(text) or lookup.ZERO_GUID


def _print_text(issued: IssuedKey, as_json: bool) -> None:  # noqa: FBT001 - passed on from click
    if as_json:
        terminal.print_json({**_to_json_object(issued.key), "key": issued.text, "effective": sorted(issued.held)})
        return
    click.echo(issued.text)
    may = ", ".join(sorted(issued.held)) or "nothing"
    click.echo(f"Store it safely: it is not shown again. Its id is {issued.key.id}. It may do now: {may}.", err=True)
    if lacking := ", ".join(sorted(issued.lacking)):
        click.echo(f"Not {lacking}: the owner does not have {'it' if len(issued.lacking) == 1 else 'them'}.", err=True)
    elif not issued.held:
        click.echo("The key is suspended, or its owner is suspended or banned or has no role.", err=True)


def _to_table_row(key: ApiKey) -> tuple[str, ...]:
    may = key.role or ", ".join(sorted(key.permissions))
    addresses = "any" if key.limits.addresses is None else ", ".join(key.limits.addresses)
    used = (_format_time(key.last_used), key.last_address or "-")
    limits = "; ".join(_list_limits(key.limits)) or "-"
    return key.id, key.name, key.user, may, limits, addresses, _format_time(key.expires_at), *used, _name_state(key)


def _list_limits(limits: KeyLimits) -> list[str]:
    found = [
        (limits.per_minute, "{} requests per minute"),
        (None if limits.items is None else ", ".join(limits.items), "only the items {}"),
        (limits.most_per_request, "{} of an item per gift"),
        (limits.most_per_day, "{} of an item per UTC day"),
        (None if limits.servers is None else ", ".join(limits.servers), "only the game servers {}"),
    ]
    return [text.format(value) for value, text in found if value is not None]


def _format_time(at: int | None) -> str:
    return "never" if at is None else terminal.format_time(at)


def _name_state(key: ApiKey) -> str:
    if key.revoked_at is not None:
        return "revoked"
    if key.suspended_at is not None:
        return "suspended"
    return "active" if key.live else "expired"


def _to_json_object(key: ApiKey) -> dict[str, object]:
    found: dict[str, object] = {**key._asdict(), **key.limits._asdict(), "state": _name_state(key)}
    found["permissions"] = sorted(key.permissions)
    for name in ("created_at", "expires_at", "suspended_at", "revoked_at", "last_used", "old_text_ends_at"):
        at = found[name]
        found[name] = terminal.format_time(at) if isinstance(at, int) else None
    del found["limits"], found["live"]
    return found
