"""Accounts with roles, and their tokens, for tests of permissions."""

import asyncio
from collections.abc import Iterable
from functools import partial
from typing import Any

import pytest

import people
from gamekeeper.game.access import identities, roles, tokens
from gamekeeper.game.access.changes import UserRegistered
from gamekeeper.game.access.identities import ProvenIdentity
from gamekeeper.game.access.roles import RoleDraft
from gamekeeper.game.core import lookup
from gamekeeper.store.access import roles as role_rows
from gamekeeper.store.access.roles import Grants, Powers
from gamekeeper.store.accounts.users import User
from world import QUICK, SENT, World

STORED = QUICK.hash(SENT)


def save_role(world: World, name: str, permissions: Iterable[str], *, read_only: bool = False) -> str:
    """Create or edit a role as the command line does; return its name."""
    draft = RoleDraft("", list(permissions), read_only)
    world.apply(partial(roles.save, name=name, draft=draft, actor=None))
    return name


def add_account(world: World, name: str, *held: str, powers: Powers | None = None) -> str:
    """Register an account with these roles, and return a token of it."""
    given = (powers or Powers())._replace(api="api" in held or bool(powers and powers.api))
    user = User(lookup.new_guid(), name, f"{name.lower()}@example.test", STORED, given, 0, None, None)
    user = user._replace(grants=Grants(tuple(each for each in held if each != "api")))
    world.make(UserRegistered(user))
    return world.run(tokens.issue_for_service(world.keeper, user, 1, read_only=False)).access


def link_identity(world: World, name: str, subject: str) -> None:
    """Link an identity of an OpenID Connect provider to an account."""
    proven = ProvenIdentity("https://id.example", subject, "id.example")
    world.apply(partial(identities.link, user_id=people.USER_IDS[name], proven=proven, started_at=4711))


def fill_roles(world: World) -> None:
    """Fill the tables of roles, API keys, gifts and identities: a new role, an edited one, and an account with both."""
    save_role(world, "helper", ["players.read", "moderation.mute"])
    save_role(world, "shop", ["items.give"])
    wanted = {"give": ["helper", "shop"], "grant": ["audit.read"]}
    assert world.post("/api/keeper/v1/users/Ann/roles", wanted).status == 200
    limits = {"Addresses": ["192.0.2.0/24", "127.0.0.1"], "PerMinute": 5, "Servers": ["realm-1"], "MostPerDay": 9}
    key = {"Name": "shop", "Role": "shop", "Owner": "Root", "ExpiresAt": "2999-01-01T00:00:00Z", **limits}
    text = world.post("/api/keeper/v1/keys", key).json["Key"]
    world.give("Bob", 2, token=text).accepted()
    link_identity(world, "Ann", "ann-at-work")
    world.insert("role_quotas", role="helper", item_id=people.COIN.id, most=5)


def slow_down_manager_check(engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Widen the time between the check for another manager and the commit. On SQLite a writer cannot sleep."""
    if engine != "postgres":
        return
    check = role_rows.has_another_manager

    async def check_slowly(*given: Any) -> bool:
        found = await check(*given)
        await asyncio.sleep(0.05)
        return found

    monkeypatch.setattr(role_rows, "has_another_manager", check_slowly)
