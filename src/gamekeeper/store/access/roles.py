"""Roles and their permissions, the roles and permissions of accounts, and the recent activity of staff."""

from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from gamekeeper.store.core.person import PersonRows
from gamekeeper.store.engine.interface import Reading, Writing
from gamekeeper.store.engine.statements import Statements, as_column, as_table


class Powers(NamedTuple):
    editor: bool = False
    ban: bool = False
    kick: bool = False
    mute: bool = False
    api: bool = False
    users_query: bool = False
    users_manage: bool = False
    game_link: bool = False


class Grants(NamedTuple):
    """Roles of an account besides `api`, and permissions that have no flag in `Powers`."""

    roles: tuple[str, ...] = ()
    direct: frozenset[str] = frozenset()  # directly granted permissions
    by_roles: frozenset[str] = frozenset()  # permissions of the roles, also of the role `api`


NO_GRANTS = Grants()


@lru_cache(maxsize=1024)
def parse_grants(text: str | None) -> Grants:
    """Parse the column `grants` of the view user_records: roles with @, direct permissions with =, those of roles."""
    words = text.split(",") if text else []
    return Grants(
        tuple(sorted(each[1:] for each in words if each[0] == "@")),
        frozenset(each[1:] for each in words if each[0] == "="),
        frozenset(each for each in words if each[0] not in "@="),
    )


SQL = Statements(__file__)
NO_ROLE = ""  # no role has this name


class Role(NamedTuple):
    name: str
    about: str
    permissions: frozenset[str]  # permissions in the table; the role `admin` has all, also those that are not there
    builtin: bool = False
    read_only: bool = False  # accounts with only such roles cannot write
    quotas: tuple[tuple[str, int], ...] = ()  # id of an item, and the most of it that may be given per UTC day


async def read_all(tx: Reading) -> dict[str, Role]:
    """Read all roles, by name."""
    rows = await tx.all(SQL.all)
    return {
        name: Role(name, about, frozenset(_split(held)), bool(builtin), bool(read_only), _parse_quotas(quotas))
        for name, about, builtin, read_only, held, quotas in rows
    }


async def has_holder(tx: Reading, role: str) -> bool:
    return await tx.one(SQL.has_holder, role) is not None


async def lock_staff(tx: Reading) -> None:
    """Wait for other transactions that decide who manages staff. Lock accounts before this."""
    await tx.one(SQL.lock_staff)


async def has_another_manager(tx: Reading, user_id: str | None, role: str = NO_ROLE) -> bool:
    """Tell whether an account can manage staff: another than this one, and not only by this role."""
    return await tx.one(SQL.another_manager, user_id, role) is not None


async def has_another_decider(tx: Reading, but: Iterable[str]) -> bool:
    """Tell whether an account that is not one of these can decide on approvals at present."""
    return await tx.one(SQL.another_decider, as_column("id", but)) is not None


def save(tx: Writing, role: Role) -> None:
    """Insert or update a role, without its permissions."""
    tx.defer(SQL.save, role.name, role.about, role.read_only)


def remove_permissions(tx: Writing, role: str, permissions: Iterable[str]) -> None:
    tx.defer(SQL.remove_permissions, role, as_column("permission", sorted(permissions)))


def add_permissions(tx: Writing, role: str, permissions: Iterable[str]) -> None:
    tx.defer(SQL.add_permissions, role, as_column("permission", sorted(permissions)))


def save_quotas(tx: Writing, role: str, quotas: Iterable[tuple[str, int]]) -> None:
    """Replace the quotas of a role."""
    table = as_table({"item": item_id, "most": most} for item_id, most in quotas)
    tx.defer(SQL.remove_quotas, role, table)
    tx.defer(SQL.save_quotas, role, table)


def delete(tx: Writing, role: str) -> None:
    tx.defer(SQL.delete, role)


def give(tx: Writing, user_id: str, roles: Iterable[str]) -> None:
    tx.defer(SQL.give, user_id, as_column("role", roles))


def take(tx: Writing, user_id: str, roles: Iterable[str]) -> None:
    tx.defer(SQL.take, user_id, as_column("role", roles))


def grant(tx: Writing, user_id: str, permissions: Iterable[str]) -> None:
    tx.defer(SQL.grant, user_id, as_column("permission", permissions))


def revoke(tx: Writing, user_id: str, permissions: Iterable[str]) -> None:
    tx.defer(SQL.revoke, user_id, as_column("permission", permissions))


def _split(joined: str | None) -> list[str]:
    return joined.split(",") if joined else []


def _parse_quotas(joined: str | None) -> tuple[tuple[str, int], ...]:
    pairs = (each.partition("=") for each in sorted(_split(joined)))
    return tuple((item_id, int(most)) for item_id, _, most in pairs)


class StaffActivity(NamedTuple):
    last_sign_in: int | None  # last sign-in in the security log; None: none is stored
    sessions: int  # live sessions of the console
    has_second_factor: bool


async def read_staff_activity(tx: Reading, ids: Iterable[str]) -> dict[str, StaffActivity]:
    found = await tx.all(SQL.activity, as_column("id", ids))
    return {row[0]: StaffActivity(row[1], row[2], bool(row[3])) for row in found}


PERSON = (PersonRows(40, "roles", SQL.of_person),)
