"""The whole corpus of hostile requests on both engines: each gets a 4xx that names the field, and changes nothing."""

import json
from collections import Counter

import hostile_runs
import odd
import pytest
import state
from corpus import CORPUS, GROUPS
from good_requests import BY_HANDLER
from hostile import JSON, Hostile

import long_forms
from world import World

pytestmark = pytest.mark.both_engines

ENGINES = ("sqlite", "postgres")


def choose_cases(group: str, engine: str) -> list[Hostile]:
    """Return the hostile requests that an engine gets: every other one to each path. `make long` sends all."""
    cases = [case for case in CORPUS if case.group == group]
    if long_forms.LONG:
        return cases
    sent: Counter[tuple[str, bytes]] = Counter()
    chosen: list[Hostile] = []
    for number, case in enumerate(cases):
        place = case.method, case.path.partition(b"?")[0]
        sent[place] += 1
        # a path with one request in the group: these alternate among themselves
        if ENGINES[(sent[place] + (number if sent[place] == 1 else 0)) % len(ENGINES)] == engine:
            chosen.append(case)
    return chosen


@pytest.mark.long_form
@pytest.mark.parametrize("group", GROUPS)
def test_hostile_requests_are_refused_and_change_nothing(shared_world: World, group: str) -> None:
    """Each request is sent on one engine; `make long` sends it on both."""
    before = state.fingerprint(shared_world)
    cases = choose_cases(group, shared_world.keeper.store.engine)
    assert cases
    answers = hostile_runs.send_all(shared_world, cases)
    checked = zip(cases, answers, strict=True)
    assert {case.about: found for case, answer in checked if (found := hostile_runs.faults(case, answer))} == {}
    assert state.list_changed(before, state.fingerprint(shared_world)) == []


def test_unusual_requests_are_answered_like_plain_ones(unchanged: World) -> None:
    likes = list({like.identity: like for _, like in odd.CASES if like is not None}.values())
    answers = hostile_runs.send_all(unchanged, likes)
    plain = {like.identity: answer.raw for like, answer in zip(likes, answers, strict=True)}
    answers = hostile_runs.send_all(unchanged, (case for case, _ in odd.CASES))
    found = {
        case.about: f"{answer.status} {answer.raw[:200]!r}"
        for (case, like), answer in zip(odd.CASES, answers, strict=True)
        if answer.status != 200 or (like and answer.raw != plain[like.identity])
    }
    assert found == {}


def test_registration_with_extra_permission_fields_gives_no_power(world: World) -> None:
    register = BY_HANDLER["accounts.register_user"]
    body = odd.whole(register, **odd.extra_fields_of(register))
    case = Hostile("odd", register.name, register.route.method, register.path.encode(), (200,), body, JSON)
    assert hostile_runs.send(world, case).status == 200
    powers = "editor, ban, kick, mute, api, users_query, users_manage, game_link"
    found = world.sql(f"SELECT {powers} FROM users WHERE fold = 'newcomer'")  # noqa: S608 - ours
    assert [any(row) for row in found] == [False]


def test_extra_scope_does_not_widen_a_token(shared_world: World) -> None:
    body = {
        **json.loads(odd.whole(BY_HANDLER["tokens.issue_token"])),
        "scope": "read",
        "read_only": False,
        "Roles": ["users.manage"],
    }
    token = shared_world.post("/api/oauth/token", body, by=None).json["access_token"]
    give = BY_HANDLER["items.give_item"]
    assert shared_world.post(give.path, give.body, token=token).code == "read_only_token"
    assert shared_world.post("/api/v1/users/Ann/manage/email/change", {"new": "e@x.test"}, token=token).status == 403
