"""The permissions that are stored with an account: flags, roles and directly granted permissions."""

from functools import lru_cache
from typing import NamedTuple


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
