"""Which accounts can manage staff: the last one must not lose that. Rules for accounts and roles use this.

Every transaction that may take the permission from an account locks the account first, then takes the staff lock. So
if two of them would together leave no account to manage staff, the second sees the first and is refused.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from gamekeeper.game import permissions
from gamekeeper.game.permissions import ADMIN, API
from gamekeeper.game.role_refusals import LastManager, UnknownRole
from gamekeeper.store import roles, search, users
from gamekeeper.store import staff as rows
from gamekeeper.store.engine import Reading
from gamekeeper.store.powers import Grants, Powers
from gamekeeper.store.roles import Role
from gamekeeper.store.users import User

MAX_STAFF = 4000  # accounts with permissions that a list of staff reads at most


class StaffMember(NamedTuple):
    user: User
    activity: rows.StaffActivity


class StaffPage(NamedTuple):
    members: list[StaffMember]
    next: int | None  # offset of the next page; None: this is the last page


def list_permissions(role: Role) -> frozenset[str]:
    """Return the permissions of a role, with those that they include."""
    return permissions.ALL if role.name == ADMIN else permissions.include(role.permissions)


def compute_grants(user: User, held: Iterable[str], direct: Iterable[str], table: Mapping[str, Role]) -> User:
    """Return an account with these roles and directly granted permissions, and with what they give."""
    names = tuple(sorted(held))
    of_roles = (table[each].permissions for each in (*names, *((API,) if user.powers.api else ())) if each in table)
    return user._replace(grants=Grants(names, frozenset(direct), frozenset[str]().union(*of_roles)))


async def add_roles(tx: Reading, user: User, held: Iterable[str]) -> User:
    """Return a new account with these roles, which must exist."""
    table, names = await roles.read_all(tx), {*held}
    require_roles(names, table)
    powers = user.powers._replace(api=user.powers.api or API in names)
    return compute_grants(user._replace(powers=powers), names - {API}, (), table)


def require_roles(names: Iterable[str], table: Mapping[str, Role]) -> None:
    """Refuse names of roles that do not exist."""
    for each in sorted(names):
        if each not in table:
            raise UnknownRole(role=each, known=", ".join(table))


async def apply_powers(tx: Reading, user: User, powers: Powers) -> User:
    """Return an account with new flags, and with the permissions of the role `api` if it has that now."""
    table = await roles.read_all(tx)
    return compute_grants(user._replace(powers=powers), user.grants.roles, user.grants.direct, table)


async def require_manager_left(tx: Reading, user: User, after: User | None) -> None:
    """Refuse a change after which no account can manage staff.

    `after`: the account then; None: deleted, banned or suspended. The caller has locked the account and the staff.
    A database without such an account has nothing to protect.
    """
    if not permissions.can_manage_staff(user) or (after is not None and permissions.can_manage_staff(after)):
        return
    if not await roles.has_another_manager(tx, user.id):
        raise LastManager


async def lock_if_staff(tx: Reading, user: User) -> User:
    """Take the staff lock if an account has roles, and return it as it is now. Other accounts need no lock."""
    if not permissions.can_log_in(user):
        return user
    await roles.lock_staff(tx)
    return await users.find_by_id(tx, user.id) or user


async def load_page(tx: Reading, offset: int, limit: int) -> StaffPage:
    """Load accounts that have a role or a directly granted permission, in order of name."""
    found = await search.find_with_powers(tx, MAX_STAFF)
    ids = [each.id for each in found[offset : offset + limit]]
    accounts = {each.id: each for each in await users.read_by_ids(tx, ids)} if ids else {}
    activity = await rows.read_activity(tx, ids) if ids else {}
    members = [StaffMember(accounts[each], activity[each]) for each in ids if each in accounts]
    return StaffPage(members, offset + limit if len(found) > offset + limit else None)
