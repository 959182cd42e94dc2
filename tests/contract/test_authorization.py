"""Authorization: every operation with every kind of caller, on both engines."""

from collections.abc import Mapping
from typing import NamedTuple

import good_requests
import pytest
import state
from bad_values import wide
from good_requests import EXAMPLES, Example

import people
from gamekeeper.game import tokens
from gamekeeper.http.caller import POWERS
from gamekeeper.http.operation import NO_TOKEN, WRITE
from gamekeeper.store import users
from world import Answer, World

DENIED = "Authorization has been denied for this request."
LACKING = {  # by role or permission: accounts that have a valid token but lack this role or permission
    "users.query": ["Shop", "Server"],
    "users.manage": ["Shop", "Server", "Clerk"],
    "game.link": ["Shop", "Clerk"],
    **{power: ["Shop", "Server", "Clerk"] for power in POWERS},
}


class Case(NamedTuple):
    name: str
    authorization: str | None  # Authorization header with placeholders for tokens, such as {good}; None: no header
    by: str | None = None  # account that sends its own token, and lacks a role or permission; None: see `authorization`


MALFORMED = [
    Case("empty", ""),
    Case("scheme alone", "Bearer"),
    Case("scheme and spaces", "Bearer   "),
    Case("wrong scheme", "Basic {good}"),
    Case("token without its scheme", "{good}"),
    Case("no prefix", "Bearer {bare}"),
    Case("unknown", "Bearer gka_0123456789012345678901234567890123456789012"),
    Case("prefix alone", "Bearer gka_"),
    Case("300 characters", "Bearer gka_" + "a" * 296),
    Case("good one and 300 more", "Bearer {good}" + "a" * 300),
    Case("not ASCII", "Bearer gka_ключ"),
    Case("full-width prefix", f"Bearer {wide('gka')}_0123456789"),
    Case("two tokens", "Bearer {good} {good}"),
    Case("two credentials", "Bearer {good}, Bearer {good}"),
    Case("in quotes", 'Bearer "{good}"'),
    Case("tab for a space", "Bearer\t{good}"),
    Case("upper case", "Bearer {upper}"),
    Case("refresh token", "Bearer {refresh}"),
    Case("its hash", "Bearer {hash}"),
]
REFUSED = [Case("no token", None), *MALFORMED, Case("expired", "Bearer {expired}"), Case("revoked", "Bearer {revoked}")]
GOOD = Case("right role", "Bearer {good}")
ANY_CASE_OF_SCHEME = Case("right role, scheme in another case", "bEARER {good}")
READ_ONLY = Case("read-only", "Bearer {read_only}")

guarded = [each for each in EXAMPLES if each.route.permissions is not NO_TOKEN]
unguarded = [each for each in EXAMPLES if each.route.permissions is NO_TOKEN]
with_role = [each for each in EXAMPLES if each.route.permissions]


@pytest.fixture(scope="module")
def sent_tokens(shared_world: World) -> Mapping[str, str]:
    """Return tokens by placeholder of `Case.authorization`: valid, read-only, expired, revoked or altered."""
    world = shared_world
    good = world.tokens["Root"]
    expired, revoked, read_only = (_issue(world, read_only=only) for only in (False, False, True))
    world.sql("UPDATE tokens SET access_expires = 1 WHERE id = $1", expired.id)
    assert world.call("DELETE", f"/api/oauth/token/Root/{revoked.id}").status == 200
    logged_in = world.post("/api/oauth/token", good_requests.BY_HANDLER["tokens.log_in"].body, by=None).json
    return {
        "good": good,
        "bare": good.removeprefix("gka_"),
        "upper": good.upper(),
        "expired": expired.access,
        "revoked": revoked.access,
        "read_only": read_only.access,
        "refresh": logged_in["refresh_token"],
        "hash": tokens.hash_token(good),
    }


def _issue(world: World, *, read_only: bool) -> tokens.TokenPair:
    user = world.run(users.find_by_fold(world.keeper.store, "root"))
    assert user
    return world.run(tokens.issue_for_service(world.keeper, user, 1, read_only=read_only))


def ask(world: World, example: Example, case: Case, known: Mapping[str, str], path: str | None = None) -> Answer:
    headers = {} if case.authorization is None else {"authorization": case.authorization.format(**known)}
    path = good_requests.dry_run_path(example) if path is None else path
    return world.call(example.route.method, path, by=None, body=example.body, headers=headers)


def drop_request_id(answer: Answer) -> dict[str, str]:
    """Return the body of a refusal without the request id."""
    return {name: value for name, value in answer.json.items() if name != "RequestId"}


def assert_denied(answer: Answer) -> None:
    assert answer.status == 401
    assert drop_request_id(answer) == {"Message": DENIED, "Code": "denied"}
    assert answer.headers["www-authenticate"] == "Bearer"


def assert_forbidden(answer: Answer, code: str, status: int = 403) -> None:
    assert answer.status == status
    assert answer.code == code
    assert "www-authenticate" not in answer.headers


def cases_of(example: Example) -> list[Case]:
    lacking = [
        Case(f"{who} lacks {role}", None, who) for role in example.route.permissions or () for who in LACKING[role]
    ]
    return [*REFUSED, READ_ONLY, *lacking, GOOD, ANY_CASE_OF_SCHEME]


def expected(example: Example, case: Case) -> str:
    if case in REFUSED:
        return "denied"
    if case.by is not None:
        return missing(example)
    if case is READ_ONLY and example.route.access is WRITE:
        return "read_only_token"
    return "answered"


def missing(example: Example) -> str:
    """Return the error code that a caller without the permission or role must get; permissions are checked first."""
    return "power_missing" if (example.route.permissions or POWERS) & POWERS else "role_missing"


def check(example: Example, case: Case, answer: Answer) -> None:
    wanted = expected(example, case)
    if wanted == "denied":
        assert_denied(answer)
    elif wanted == "answered":
        assert answer.status == 200, answer.raw
    else:
        assert_forbidden(answer, wanted, status_of(example, wanted))


def status_of(example: Example, code: str) -> int:
    """Return the expected status; moderation uses 400, because real clients retry the log-in for ever on a 403."""
    return 400 if "/admin/" in example.route.path and code != "read_only_token" else 403


@pytest.mark.parametrize("example", guarded, ids=lambda each: each.name)
def test_every_operation_checks_every_kind_of_caller(
    shared_world: World, sent_tokens: Mapping[str, str], example: Example
) -> None:
    """Send requests that must be refused as they are, others as dry runs; neither may change the database."""
    for case in cases_of(example):
        before = state.totals(shared_world)
        known = sent_tokens if case.by is None else {"own": shared_world.tokens[case.by]}
        sent = case if case.by is None else case._replace(authorization="Bearer {own}")
        earnest = expected(example, case) != "answered"
        answer = ask(shared_world, example, sent, known, example.path if earnest else None)
        try:
            check(example, case, answer)
            assert drop_attempts(state.totals(shared_world)) == drop_attempts(before)
        except AssertionError as problem:
            raise AssertionError(f"{example.name}, {case.name}: {problem}") from problem


def drop_attempts(totals: tuple[int, ...]) -> tuple[int, ...]:
    """Return `state.totals` without the last one, the tries left for reset codes: dry runs use up tries too."""
    return totals[:-1]


@pytest.mark.parametrize("example", guarded, ids=lambda each: each.name)
def test_caller_without_a_token_learns_nothing_of_existence(
    shared_world: World, sent_tokens: Mapping[str, str], example: Example
) -> None:
    unknown = good_requests.path_of(example.route, good_requests.UNKNOWN_KEYS)
    for case in (REFUSED[0], REFUSED[-1]):
        known = [
            drop_request_id(ask(shared_world, example, case, sent_tokens, path)) for path in (example.path, unknown)
        ]
        assert known[0] == known[1]


@pytest.mark.parametrize("example", with_role, ids=lambda each: each.name)
def test_caller_without_the_role_learns_nothing_of_existence_or_format(shared_world: World, example: Example) -> None:
    for who in LACKING[min(example.route.permissions or ())]:
        existing, unknown, malformed = (
            shared_world.call(example.route.method, path, by=who, body=body)
            for path, body in (
                (example.path, example.body),
                (good_requests.path_of(example.route, good_requests.UNKNOWN_KEYS), example.body),
                (f"{example.path}?page=x&dryRun=x", "no object"),
            )
        )
        assert_forbidden(existing, missing(example), status_of(example, missing(example)))
        assert drop_request_id(existing) == drop_request_id(unknown) == drop_request_id(malformed)


@pytest.mark.parametrize("role", sorted(LACKING))
def test_refusal_names_the_missing_role(shared_world: World, role: str) -> None:
    example = next(each for each in with_role if min(each.route.permissions or ()) == role)
    for who in LACKING[role]:
        answer = shared_world.call(example.route.method, example.path, by=who, body=example.body)
        what = f"permission {role.title()}" if role in POWERS else f"role {role}"
        assert answer.message == f"This needs the {what}. Ask an administrator to grant it."


@pytest.mark.parametrize("example", unguarded, ids=lambda each: each.name)
def test_open_operations_ignore_a_token(shared_world: World, sent_tokens: Mapping[str, str], example: Example) -> None:
    for case in [*REFUSED, READ_ONLY, GOOD]:
        answer = ask(shared_world, example, case, sent_tokens, example.path)
        assert answer.status == 200, (case.name, answer.raw)


@pytest.mark.parametrize(
    "path", ["/api/oauth/token/{}", "/api/oauth/tokens/{}", "/api/oauth/token/{}/" + people.NOBODY_ID]
)
def test_tokens_of_other_accounts_need_users_manage(shared_world: World, path: str) -> None:
    before = state.totals(shared_world)
    for who in ("Shop", "Server", "Clerk"):
        answers = [shared_world.call("DELETE", path.format(name), by=who) for name in ("Root", "Nobody")]
        assert_forbidden(answers[0], "role_missing")
        assert drop_request_id(answers[0]) == drop_request_id(answers[1])
    assert state.totals(shared_world) == before


def test_route_is_checked_before_token(shared_world: World) -> None:
    assert shared_world.call("GET", "/api/v1/nothing", by=None).status == 404
    assert shared_world.call("PATCH", "/api/v1/players", by=None).status == 405


def test_token_and_role_are_checked_before_size_and_type(shared_world: World) -> None:
    large, plain = b"{" + b" " * 70_000, {"content-type": "text/plain"}
    path = "/api/v1/users/register"
    assert shared_world.call("POST", path, by=None, raw=large, headers=plain).status == 401
    assert shared_world.call("POST", path, by="Shop", raw=large, headers=plain).status == 403
    assert shared_world.call("POST", path, by="Root", raw=large, headers=plain).status == 413
    assert shared_world.call("POST", path, by="Root", raw=b"x", headers=plain).status == 415


def test_table_of_callers_covers_every_role() -> None:
    assert {role for each in EXAMPLES for role in each.route.permissions or ()} == set(LACKING)
    for role, lacking in LACKING.items():
        assert not any(getattr(people.ACCOUNTS[who], role.lower().replace(".", "_")) for who in lacking)
