"""Roles and their permissions, the roles and permissions of accounts, and the recent activity of staff."""

from functools import lru_cache
from typing import Annotated, NamedTuple

from gamekeeper.store.core.person import PersonRows
from gamekeeper.store.engine.interface import ReadAs, Reading
from gamekeeper.store.engine.statements import Statements


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


def parse_names(joined: str | None) -> frozenset[str]:
    return frozenset(joined.split(",")) if joined else frozenset()


def _parse_quotas(joined: str | None) -> tuple[tuple[str, int], ...]:
    pairs = (each.partition("=") for each in sorted(parse_names(joined)))
    return tuple((item_id, int(most)) for item_id, _, most in pairs)


StoredGrants = Annotated[Grants, ReadAs(parse_grants)]
Names = Annotated[frozenset[str], ReadAs(parse_names)]
Quotas = Annotated[tuple[tuple[str, int], ...], ReadAs(_parse_quotas)]
SQL = Statements(__file__)
NO_ROLE = ""  # no role has this name


class Role(NamedTuple):
    name: str
    about: str
    permissions: Names  # permissions in the table; the role `admin` has all, also those that are not there
    builtin: bool = False
    read_only: bool = False  # accounts with only such roles cannot write
    quotas: Quotas = ()  # id of an item, and the most of it that may be given per UTC day


async def read_all(tx: Reading) -> dict[str, Role]:
    """Read all roles, by name."""
    return {each.name: each for each in await tx.rows(Role, SQL.all)}


async def lock_staff(tx: Reading) -> None:
    """Wait for other transactions that decide who manages staff. Lock accounts before this."""
    await tx.one(SQL.lock_staff)


async def has_another_manager(tx: Reading, user_id: str | None, role: str = NO_ROLE) -> bool:
    """Tell whether an account can manage staff: another than this one, and not only by this role."""
    return await tx.one(SQL.another_manager, user_id, role) is not None


class StaffActivity(NamedTuple):
    last_sign_in: int | None  # last sign-in in the security log; None: none is stored
    sessions: int  # live sessions of the console
    has_second_factor: bool


PERSON = (PersonRows(40, "roles", SQL.of_person),)
