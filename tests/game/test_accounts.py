"""Roles: names in any case, and `users.manage` never without `users.query`."""

import pytest

from gamekeeper.game.accounts import accounts
from gamekeeper.store.access.roles import Powers
from loops import over
from world import World


@over(
    "given, role",
    [
        ("users.query", "users.query"),
        ("Users.Query", "users.query"),
        ("UserQuery", "users.query"),
        ("usermanage", "users.manage"),
        ("users", None),
        ("", None),
    ],
)
def test_role_is_found_in_any_case_and_by_synonym(given: str, role: str | None) -> None:
    assert accounts.find_role(given) == role


def test_users_manage_includes_users_query() -> None:
    held = accounts.grant(Powers(api=True), "users.manage")
    assert held == Powers(api=True, users_query=True, users_manage=True)
    assert accounts.revoke(held, "users.manage") == Powers(api=True, users_query=True)
    assert accounts.revoke(held, "users.query") == Powers(api=True)


def test_database_refuses_manage_role_without_query_role(world: World) -> None:
    with pytest.raises(Exception, match=r"(?i)check"):
        world.sql("UPDATE users SET users_manage = (1 = 1) WHERE name = 'Ann'")
