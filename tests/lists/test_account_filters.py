"""Filtered lists of accounts: by state, role and last sign-in."""

from itertools import product
from typing import Any
from urllib.parse import urlencode

import pytest

import people
import staff
from expectations import refused
from gamekeeper.game.core.lookup import new_guid
from gamekeeper.game.lists import search
from world import World

PATH = "/api/keeper/v1/users"
HOUR = 3_600_000
# sign-ins of each account, in hours after 1970; those without one have never signed in
SIGN_INS = {"Ann": (1, 5), "Bob": (2,), "Clerk": (3, 3), "Mod": (4,), "Shop": (1, 6), "Gm": (2, 9)}
BANNED = {"Bob": 10, "Mod": 20, "Gm": 30}  # start of the ban, in hours
ROLES = {"Mod": {"moderator"}, "Gm": {"moderator", "game master"}, "Late": {"game master"}}
API = {"Root", "Clerk", "Shop", "Server", "Late"}


@pytest.fixture
def crowd(world: World) -> World:
    for name, held in ROLES.items():
        staff.add_account(world, name, *held, *({"api"} if name in API else ()))
    for name, hours in SIGN_INS.items():
        for hour in hours:
            add_event(world, name, "sign_in", hour)
    add_event(world, "Ann", "guess_failed", 50)
    for name, hour in BANNED.items():
        world.insert("bans", user_id=find_id(world, name), reason="", moderator="", started_at=hour * HOUR)
    return world


def add_event(world: World, name: str, kind: str, hour: int) -> None:
    world.insert("security_events", id=new_guid(), at=hour * HOUR, kind=kind, user_id=find_id(world, name))


def find_id(world: World, name: str) -> str:
    return world.sql("SELECT id FROM users WHERE name = $1", name)[0][0]


def make_time(hour: int) -> str:
    return f"1970-01-01T{hour:02}:00:00Z"


def expect(state: str, role: str, since: int | None, until: int | None, text: str) -> set[str]:
    names = {*people.ACCOUNTS, *ROLES}
    last = {name: max(hours) for name, hours in SIGN_INS.items()}
    return {
        name
        for name in names
        if (not state or name in BANNED)
        and (not role or role in ROLES.get(name, set()) or (role == "api" and name in API))
        and (since is None or last.get(name, -1) >= since)
        and (until is None or last.get(name, 99) <= until)
        and (text.lower() in f"{name}@example.test".lower())
    }


def ask(world: World, **query: Any) -> dict[str, Any]:
    return world.get(f"{PATH}?{urlencode({name: text for name, text in query.items() if text})}").accepted().json


@pytest.mark.both_engines
def test_each_combination_of_conditions_finds_what_matches(crowd: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """A list that is complete has exactly the matches; one that is not has only matches."""
    roles, texts = ("", "moderator", "api", "none"), ("", "mod@", "example")
    cases = list(product(("", "banned"), roles, (None, 2), (None, 5), texts))
    for most in (1000, 3):  # few accounts, and more than the limit
        monkeypatch.setattr(search, "MAX_MATCHES", most)
        complete = 0
        for state, role, since, until, text in cases:
            times = {"signedInFrom": since and make_time(since), "signedInTo": until and make_time(until)}
            found = ask(crowd, state=state, role=role, search=text, **times)
            names, wanted = {each["Name"] for each in found["Values"]}, expect(state, role, since, until, text)
            assert names <= wanted, (state, role, since, until, text)
            assert not found["Complete"] or names == wanted, (state, role, since, until, text)
            complete += found["Complete"]
        assert complete == len(cases) if most == 1000 else 20 < complete < len(cases)


@pytest.mark.both_engines
def test_orders_and_pages(crowd: World) -> None:
    def names(**query: Any) -> list[str]:
        return [each["Name"] for each in ask(crowd, **query)["Values"]]

    assert names(signedInFrom=make_time(3)) == ["Gm", "Shop", "Ann", "Mod", "Clerk"]
    assert names(signedInFrom=make_time(3), sortBy="newest", sortDirection="Descending")[0] == "Clerk"
    assert names(signedInFrom=make_time(3), sortBy="name") == ["Ann", "Clerk", "Gm", "Mod", "Shop"]
    assert names(signedInFrom=make_time(3), pageSize=2, page=1) == ["Ann", "Mod"]
    # the start of the ban comes before the sign-in
    assert names(state="banned", signedInFrom=make_time(1)) == ["Gm", "Mod", "Bob"]
    assert names(role="game master") == ["Gm", "Late"]
    refused(crowd.get(f"{PATH}?role=api&sortBy=newest"), 400, "bad_field", "newest needs")


def test_record_has_roles_and_state_and_last_sign_in_with_the_audit_log_only(crowd: World) -> None:
    [found] = ask(crowd, search="mod@")["Values"]
    assert (found["Roles"], found["IsBanned"], found["Suspended"]) == (["moderator"], True, False)
    assert found["LastSignIn"] == "1970-01-01T04:00:00.000Z"
    token = staff.add_account(crowd, "Reader", staff.save_role(crowd, "reader", ["users.query"]))
    answer = crowd.call("GET", f"{PATH}?search=mod@", token=token)
    assert [each["LastSignIn"] for each in answer.json["Values"]] == [None]
    for name in ("signedInFrom", "signedInTo"):
        refused(crowd.call("GET", f"{PATH}?{name}={make_time(1)}", token=token), 403, "permission_missing")
