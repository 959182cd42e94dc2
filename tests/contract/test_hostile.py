"""The whole corpus of hostile requests on both engines: each gets a 4xx that names the field, and changes nothing."""

import json
import re
from collections import Counter
from collections.abc import Generator, Mapping
from dataclasses import replace
from functools import cache
from typing import Any

import good_requests
import hostile_runs
import odd
import pytest
import state
from corpus import CORPUS, GROUPS
from good_requests import BY_HANDLER, Example
from hostile import JSON, Hostile

import long_forms
from gamekeeper.http.operation import WRITE
from gamekeeper.http.routes import ROUTES
from gamekeeper.store.engine import Reading
from gamekeeper.store.statements import Statement
from world import World

pytestmark = pytest.mark.both_engines

ENGINES = ("sqlite", "postgres")
NOT_COMPARED = {  # by table: columns that differ between two runs of the same requests
    "list_changes": {"mark"},
    "users": {"id", "password", "created_at"},
    "players": {"last_online"},
    "ledger": {"at", "user_id", "request_id"},
    "resets": {"code", "expires_at", "mail_id"},
    "mails": {"id", "queued_at", "expires_at", "next_try_at"},
    "servers": {"expires_at"},
    "play_sessions": {"started_at", "ended_at"},
    "registrations": {"at", "user_id"},
    "bans": {"started_at", "ends_at"},
    "mutes": {"started_at", "ends_at"},
    "token_rounds": {"began_at"},
    "user_roles": {"given_at"},
    "user_permissions": {"given_at"},
    "deliveries": {"queued_at", "expires_at", "acked_at"},
    "approvals": {"requested_at", "expires_at", "token_id"},
}


def test_corpus_is_large_and_covers_every_operation() -> None:
    assert len({case.identity for case in CORPUS}) == len(CORPUS)
    assert len(CORPUS) >= 2000
    for route in ROUTES:
        pattern = re.compile(re.sub(r"\\\[\w+\\\]", "[^/?]+", re.escape(route.path)).encode() + rb"(\?.*)?")
        hit = any(case.method == route.method and pattern.fullmatch(case.path) for case in CORPUS)
        plain = route.body is None and not good_requests.parameters(route)
        # every route gets a hostile request, except a GET without parameters, which can only have a wrong method
        assert hit or plain, route


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


# operations whose extra fields odd.py tests, or that answer with a new secret or id
ELSEWHERE = {"tokens.log_in", "credentials.redeem_code", *good_requests.NEW_EACH_TIME}
# ends of paths whose writes come last, because the other requests rely on what they change
LAST = ("/slots/take", "/slots/set", "/slots/move", "/name")
bodied = {handler: each for handler, each in BY_HANDLER.items() if each in odd.bodied and handler not in ELSEWHERE}
WRITES = sorted(
    (each for each in bodied.values() if each.route.access is WRITE),
    key=lambda each: [each.route.path.endswith(end) for end in reversed(LAST)],
)


@pytest.fixture
def twins(databases: Any, known_tokens: Mapping[str, str], loop: Any) -> Generator[tuple[World, World]]:
    """Open two test worlds on separate databases."""
    urls = databases.fresh(), databases.fresh()
    plain, other = (World(url, known_tokens, loop) for url in urls)
    for world in (plain, other):
        good_requests.furnish(world)
    yield plain, other
    for world, url in zip((plain, other), urls, strict=True):
        world.close()
        databases.drop(url)


def contents(world: World) -> dict[str, list[str]]:
    """Return the rows of every table, sorted, without columns that differ between runs."""

    async def read(tx: Reading) -> dict[str, list[str]]:
        watched = (table for table in state.tables() if table not in state.UNWATCHED)
        return {table: sorted(repr(tuple(row)) for row in await tx.all(_select_compared(table))) for table in watched}

    return world.run(world.keeper.store.read(read))


@cache
def _select_compared(table: str) -> Statement:
    names = [name for name in state.columns()[table] if name not in NOT_COMPARED.get(table, set())]
    return Statement(f"compared rows of {table}", {"": f"SELECT {', '.join(names)} FROM {table}"})  # noqa: S608 - names out of schema.sql


def smuggling(example: Example) -> Hostile:
    body = odd.whole(example, **odd.extra_fields_of(example))
    return Hostile("odd", example.name, example.route.method, example.path.encode(), (200,), body, JSON)


def test_extra_permission_fields_in_a_write_change_nothing(twins: tuple[World, World]) -> None:
    plain, other = twins
    for example in WRITES:
        wanted = hostile_runs.send(plain, replace(smuggling(example), body=odd.whole(example)))
        answer = hostile_runs.send(other, smuggling(example))
        assert (wanted.status, answer.status) == (200, 200), answer.raw
        ours, theirs = contents(plain), contents(other)
        assert [table for table in ours if ours[table] != theirs[table]] == []
    powers = "editor, ban, kick, mute, api, users_query, users_manage, game_link"
    assert not any(other.sql(f"SELECT {powers} FROM users WHERE fold = 'newcomer'")[0])  # noqa: S608 - ours


def test_extra_scope_does_not_widen_a_token(shared_world: World) -> None:
    body = {
        **json.loads(odd.whole(BY_HANDLER["tokens.log_in"])),
        "scope": "read",
        "read_only": False,
        "Roles": ["users.manage"],
    }
    token = shared_world.post("/api/oauth/token", body, by=None).json["access_token"]
    give = BY_HANDLER["items.give"]
    assert shared_world.post(give.path, give.body, token=token).code == "read_only_token"
    assert shared_world.post("/api/v1/users/Ann/manage/email/change", {"new": "e@x.test"}, token=token).status == 403
