"""Roles: names in any case, and `users.manage` never without `users.query`."""

import pytest

import people
from gamekeeper.game import accounts
from gamekeeper.store.users import Powers
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


@over("role", accounts.ROLES)
def test_granting_and_revoking_a_role_restores_the_powers(role: str) -> None:
    given = accounts.grant(Powers(), role)
    assert getattr(given, accounts.ROLES[role])
    assert accounts.revoke(accounts.revoke(given, role), "users.query") == Powers()


def test_database_refuses_manage_role_without_query_role(world: World) -> None:
    with pytest.raises(Exception, match=r"(?i)check"):
        world.sql("UPDATE users SET users_manage = (1 = 1) WHERE name = 'Ann'")


def test_stored_powers_follow_the_roles(world: World) -> None:
    for manages in (False, True):
        world.sql("UPDATE users SET users_query = (1 = 1), users_manage = $1 WHERE name = 'Ann'", manages)
        shown = world.get("/api/v1/users/Ann").json["Power"]
        changed = world.post("/api/v1/users/Ann/manage/email/change", {"new": f"ann{manages}@new.test"}).json["Power"]
        assert (shown["PersonalInformation"], changed["ApiPersonalInformation"]) == (True, True)
        assert changed["ApiUserManagement"] == manages
    assert world.get(f"/api/v1/users/{people.USER_IDS['Bob']}").json["Power"]["PersonalInformation"] is False
