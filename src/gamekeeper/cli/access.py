"""The commands `roles`, `tokens` and `keys`, and `users give` and `users take`: permissions and secrets."""

from collections.abc import Sequence
from typing import Annotated

import click

from gamekeeper.cli import terminal
from gamekeeper.cli.commands import add_group
from gamekeeper.cli.terminal import Database, Output, Parsed, apply_change, argument, command, option
from gamekeeper.cli.users import PERMISSION, change_roles
from gamekeeper.game.access import api_keys, roles, tokens
from gamekeeper.game.access.api_keys import IssuedKey, KeyDraft, KeyEdit
from gamekeeper.game.access.roles import RoleDraft, RoleRequest
from gamekeeper.game.access.tokens import DAY_MS, TokenPair
from gamekeeper.game.core import lookup
from gamekeeper.game.core.request import EVERY_OTHER_ITEM
from gamekeeper.game.core.writes import Decision
from gamekeeper.game.keeper import Keeper
from gamekeeper.store.access import api_keys as key_rows
from gamekeeper.store.access import roles as role_rows
from gamekeeper.store.access import tokens as token_rows
from gamekeeper.store.access.api_keys import ApiKey, KeyLimits
from gamekeeper.store.access.roles import Role
from gamekeeper.store.access.tokens import ListedToken
from gamekeeper.store.accounts.users import User
from gamekeeper.store.engine import clock
from gamekeeper.store.engine.interface import Reading

ITEM_ADVICE = "The page Catalogue of the console shows the ids of items, as does GET /api/v1/gameobjects/item."
MAX_QUOTA = 2**31 - 1
YEAR_HOURS = 365 * 24
ROLE_HEADS = ("ROLE", "ABOUT", "READ-ONLY", "QUOTAS PER DAY", "PERMISSIONS")
TOKEN_HEADS = ("ID", "USER", "ACCESS", "EXPIRES", "USED", "STATE")
KEY_HEADS = ("ID", "NAME", "OWNER", "MAY", "LIMITS", "ADDRESSES", "EXPIRES", "LAST USED", "LAST ADDRESS", "STATE")
KEY_ID = "2c1d3f80-5a0b-4c1c-9a63-0a1f6c3b7e55"  # of the examples
TOKEN_TIMES = ("issued_at", "access_expires", "refresh_expires", "revoked_at", "last_used")
KEY_TIMES = ("created_at", "expires_at", "suspended_at", "revoked_at", "last_used", "old_text_ends_at")
add_group("roles", "List and edit roles, which are named sets of permissions.")
add_group("tokens", "Issue, list and revoke access tokens.")
add_group("keys", "Create, list, change, rotate and revoke API keys of programs.")


def parse_item_id(text: str) -> str:
    found = lookup.parse_guid(text)
    if found is None:
        raise click.BadParameter(f"'{text}' is not the id of an item. {ITEM_ADVICE}")
    return found


def parse_quota(text: str) -> tuple[str, int]:
    """Parse a quota: `ITEM_ID=MOST`, or `*=MOST` for every other item."""
    item, _, most = text.partition("=")
    item_id = EVERY_OTHER_ITEM if item == "*" else lookup.parse_guid(item)
    if item_id is None or not most.isdecimal() or not most.isascii() or int(most) > MAX_QUOTA:
        example = "9e2b8323-5231-5487-a8b0-017c3b453c23=1000"
        raise click.BadParameter(f"'{text}' is not a quota, such as {example}. {ITEM_ADVICE}")
    return item_id, int(most)


Permissions = Annotated[Sequence[str], option("Permission; repeatable.", "--permission", type=PERMISSION)]
KeyId = Annotated[str, argument(metavar="ID")]


@command("roles list", "")
async def list_roles(keeper: Keeper) -> Output:
    """List all roles with their permissions."""
    found = (await role_rows.read_all(keeper.store)).values()
    return Output(
        [ROLE_HEADS, *map(_to_role_row, found)],
        [
            {**each._asdict(), "permissions": sorted(roles.list_permissions(each)), "quotas": dict(each.quotas)}
            for each in found
        ],
    )


@command("roles save", "helper --permission players.read --permission moderation.mute", writes=True)
async def save_role(
    keeper: Keeper,
    name: str,
    *,
    named: Permissions,
    quotas: Sequence[tuple[str, int]] = option(
        "Most of an item that an account may give per UTC day: ITEM_ID=MOST, or '*=MOST' in quotes for every other "
        "item; repeatable.",
        "--quota",
        type=Parsed("quota", parse_quota),
    ),
    no_quotas: bool = option("Remove all quotas of the role."),
    about: str | None = option("What the role is for."),
    read_only: bool | None = option(
        "Accounts with only such roles, and only reading permissions directly, cannot write.",
        "--read-only/--no-read-only",
        default=None,
    ),
) -> str:
    """Create or edit a role. With --permission or --quota, it has exactly the given ones afterwards."""
    draft = RoleDraft(about, named or None, read_only, dict(quotas) if quotas or no_quotas else None)
    role = await apply_change(keeper, lambda tx: roles.save(tx, name, draft, None))
    done = [f"Permissions of the role {role.name}: {', '.join(sorted(roles.list_permissions(role))) or 'none'}."]
    done += ["The role is read-only."] if role.read_only else []
    done += [f"Quotas per UTC day: {_list_quotas(role)}."] if role.quotas else []
    return "\n".join(done)


@command("roles delete", "helper", writes=True)
async def delete_role(keeper: Keeper, name: str) -> str:
    """Delete a role that no account has."""
    await apply_change(keeper, lambda tx: roles.delete(tx, name, None))
    return f"Deleted the role {name}."


@command("users give", "ann moderator", writes=True)
async def give_roles(keeper: Keeper, name: str, role: Sequence[str]) -> str:
    """Give an account roles; see `gamekeeper roles list`."""
    return await change_roles(keeper, name, RoleRequest(give=role))


@command("users take", "ann moderator", writes=True)
async def take_roles(keeper: Keeper, name: str, role: Sequence[str]) -> str:
    """Take roles away from an account. If it was the last one, the account's tokens are revoked within 5 seconds."""
    return await change_roles(keeper, name, RoleRequest(take=role))


def _to_role_row(role: Role) -> tuple[str, ...]:
    held = ", ".join(sorted(roles.list_permissions(role))) or "-"
    return role.name, role.about, "yes" if role.read_only else "no", _list_quotas(role) or "-", held


def _list_quotas(role: Role) -> str:
    return ", ".join(f"{'*' if item == EVERY_OTHER_ITEM else item}={most}" for item, most in role.quotas)


@command("tokens issue", epilog="Example: TOKEN=$(gamekeeper tokens issue shop --hours 720 --read-only)")
def issue_token(
    name: str,
    *,
    hours: int = option(
        "Lifetime in hours.",
        type=click.IntRange(1, 100 * YEAR_HOURS),
        default=YEAR_HOURS,
        show_default="8760, a year",
    ),
    read_only: bool = option("Issue a token that can only read."),
    database: Database,
) -> Output:
    """Issue a token for a service and print it. It is not shown again: only its hash is stored."""

    async def issue(keeper: Keeper) -> tuple[User, TokenPair]:
        user = await lookup.find_user(keeper.store, name)
        return user, await tokens.issue_for_service(keeper, user, hours, read_only=read_only)

    terminal.require_output()
    user, pair = terminal.run_on_database(database, issue, final=True)
    until = terminal.format_time(pair.expires_at)
    found = {"id": pair.id, "user": user.name, "token": pair.access, "read_only": read_only, "expires_at": until}
    note = f"Valid until {until}. Store it safely: it is not shown again. Its id is {pair.id}."
    return Output(pair.access, found, notes=[note])


@command("tokens list", "shop")
async def list_tokens(keeper: Keeper, name: str | None) -> Output:
    """List the tokens of all accounts, or of NAME, newest first.

    USED is the minute in which the token was last used; it is updated about half a minute later.
    """
    user = await lookup.find_user(keeper.store, name) if name else None
    found = await token_rows.read_list(keeper.store, user.id if user else None)
    most = token_rows.LIST_LIMIT
    note = f"Only the newest {most} tokens are listed. Give an account to list only its tokens."
    return Output(
        [TOKEN_HEADS, *map(_to_token_row, found)],
        [terminal.format_times(each._asdict(), TOKEN_TIMES) for each in found],
        notes=[note] if len(found) == most else [],
    )


@command("tokens revoke", "shop", writes=True)
async def revoke_tokens(keeper: Keeper, name: str, token_id: str | None = argument(metavar="[ID]")) -> str:
    """Revoke one token of an account, by its id, or all of them. Takes effect within 5 seconds."""
    user = await apply_change(
        keeper,
        lambda tx: tokens.revoke_all(tx, name) if token_id is None else tokens.revoke_one(tx, name, token_id),
    )
    return f"Revoked {'all tokens' if token_id is None else f'token {token_id}'} of {user.name}."


def _to_token_row(token: ListedToken) -> tuple[str, ...]:
    until = terminal.format_time(max(token.access_expires, token.refresh_expires))
    state = "revoked" if token.revoked_at is not None else "live" if token.live else "expired"
    return token.id, token.user, "read only" if token.read_only else "full", until, _format_time(token.last_used), state


@command("keys create", "'web shop' --owner shop --role shop --address 192.0.2.0/24")
def create_key(
    name: str,
    *,
    owner: str = option("Account for which the key acts.", required=True),
    role: str | None = option("Role of the key."),
    named: Permissions,
    days: int | None = option("Lifetime in days. [default: unlimited]", type=click.IntRange(1, 36_500)),
    addresses: Sequence[str] = option("Address or network that may use it; repeatable.", "--address"),
    per_minute: int | None = option("Requests per minute that each server process accepts.", type=click.IntRange(1)),
    items: Sequence[str] = option(
        "Id of an item that it may give; repeatable.", "--item", type=Parsed("id", parse_item_id)
    ),
    most_per_request: int | None = option("Most of an item in one gift.", type=click.IntRange(1)),
    most_per_day: int | None = option("Most of an item on one UTC day.", type=click.IntRange(1)),
    servers: Sequence[str] = option("Game server that it may speak for; repeatable.", "--server"),
    replaces: str | None = option("Id of a key, or account, whose Idempotency-Keys it takes over."),
    database: Database,
) -> Output:
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
        return await api_keys.create(tx, KeyDraft(name, named, role, expires_at, limits, replaces, owner), None)

    terminal.require_output()
    return _show_secret(terminal.run_on_database(database, lambda keeper: apply_change(keeper, decide), final=True))


@command("keys list", "shop")
async def list_keys(keeper: Keeper, owner: str | None) -> Output:
    """List the API keys of all accounts, or of OWNER, newest first; also revoked ones."""
    user = await lookup.find_user(keeper.store, owner) if owner else None
    found = await key_rows.read_list(keeper.store, user.id if user else None)
    return Output([KEY_HEADS, *map(_to_key_row, found)], [_to_json_object(each) for each in found])


@command("keys rotate", f"{KEY_ID} --grace-minutes 60")
def rotate_key(
    key_id: KeyId,
    *,
    grace_minutes: int = option(
        "Time for the old secret.", type=click.IntRange(0, 43_200), default=0, show_default=True
    ),
    database: Database,
) -> Output:
    """Give an API key a new secret and print it. The old one works for --grace-minutes more, in all processes."""

    async def rotate(keeper: Keeper) -> IssuedKey:
        return await apply_change(keeper, lambda tx: api_keys.rotate(tx, _parse_id(key_id), grace_minutes, None))

    terminal.require_output()
    return _show_secret(terminal.run_on_database(database, rotate, final=True))


@command("keys revoke", KEY_ID, writes=True)
async def revoke_key(keeper: Keeper, key_id: KeyId) -> str:
    """Revoke an API key for good; it stops within 5 seconds."""
    done = await apply_change(keeper, lambda tx: api_keys.revoke(tx, _parse_id(key_id)))
    return f"Revoked the API key {done.key.name}."


@command("keys suspend", KEY_ID, writes=True)
async def suspend_key(keeper: Keeper, key_id: KeyId) -> str:
    """Stop an API key until `keys resume`; it stops within 5 seconds."""
    return await _change_key(keeper, key_id, KeyEdit(suspended=True))


@command("keys resume", KEY_ID, writes=True)
async def resume_key(keeper: Keeper, key_id: KeyId) -> str:
    """Let a suspended API key work again, for example after `restore`."""
    return await _change_key(keeper, key_id, KeyEdit(suspended=False))


@command("keys give", f"{KEY_ID} newshop", writes=True)
async def give_key(keeper: Keeper, key_id: KeyId, owner: str) -> str:
    """Give an API key another owner, whose permissions limit it from then on."""
    return await _change_key(keeper, key_id, KeyEdit(owner=owner))


async def _change_key(keeper: Keeper, key_id: str, wanted: KeyEdit) -> str:
    done = await apply_change(keeper, lambda tx: api_keys.edit(tx, _parse_id(key_id), wanted, None))
    return f"API key {done.key.name} of {done.key.user}: {_name_state(done.key)}."


def _parse_id(text: str) -> str:
    return lookup.parse_guid(text) or lookup.ZERO_GUID


def _show_secret(issued: IssuedKey) -> Output:
    may = ", ".join(sorted(issued.held)) or "nothing"
    notes = [f"Store it safely: it is not shown again. Its id is {issued.key.id}. It may do now: {may}."]
    if lacking := ", ".join(sorted(issued.lacking)):
        notes.append(f"Not {lacking}: the owner does not have {'it' if len(issued.lacking) == 1 else 'them'}.")
    elif not issued.held:
        notes.append("The key is suspended, or its owner is suspended or banned or has no role.")
    found = {**_to_json_object(issued.key), "key": issued.text, "effective": sorted(issued.held)}
    return Output(issued.text or "", found, notes=notes)


def _to_key_row(key: ApiKey) -> tuple[str, ...]:
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
    found = {**key._asdict(), **key.limits._asdict(), "state": _name_state(key), "permissions": sorted(key.permissions)}
    del found["limits"], found["live"]
    return terminal.format_times(found, KEY_TIMES)
