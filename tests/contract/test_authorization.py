"""Authorization: every operation with every kind of caller, on both engines."""

from collections.abc import Mapping
from typing import NamedTuple

import good_requests
import pytest
import state
from bad_values import wide
from good_requests import EXAMPLES, Example

import people
import staff
from gamekeeper.game import tokens
from gamekeeper.game.permissions import ALL, API, BUILTIN_ROLES, find_effective
from gamekeeper.http.caller import POWERS, ROLES
from gamekeeper.http.operation import NO_TOKEN, WRITE
from gamekeeper.store import users
from gamekeeper.store.users import Grants
from loops import over
from world import Answer, World

API_GRANTS = Grants(by_roles=BUILTIN_ROLES[API].permissions)

DENIED = "Authorization has been denied for this request."
IDLE = "Idle"  # account with a role without permissions
# accounts that have a valid token, and their permissions
HELD = {
    IDLE: frozenset[str](),
    **{who: find_effective(people.ACCOUNTS[who], API_GRANTS) for who in ("Shop", "Server", "Clerk")},
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
        **{who: world.tokens[who] for who in HELD if who != IDLE},
        IDLE: staff.add_account(world, IDLE, staff.save_role(world, "idle", [])),
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
    assert answer.headers["www-authenticate"].partition(" ")[0] == "Bearer"


def assert_forbidden(answer: Answer, code: str, status: int = 403) -> None:
    assert answer.status == status
    assert answer.code == code
    assert "www-authenticate" not in answer.headers


def cases_of(example: Example) -> list[Case]:
    lacking = [Case(f"{who} lacks a permission", f"Bearer {{{who}}}", who) for who in list_lacking(example)]
    return [*REFUSED, READ_ONLY, *lacking, GOOD, ANY_CASE_OF_SCHEME]


def expected(example: Example, case: Case) -> str:
    if case in REFUSED:
        return "denied"
    if case.by is not None:
        return missing(example, case.by)
    if case is READ_ONLY and example.route.access is WRITE:
        return "read_only_token"
    return "answered"


def list_lacking(example: Example) -> list[str]:
    """Return the accounts that lack a permission which the operation needs."""
    return [who for who, held in HELD.items() if not (example.route.permissions or frozenset()) <= held]


def missing(example: Example, who: str) -> str:
    """Return the error code that an account without the permission must get; powers are checked first, then roles."""
    lacked = (example.route.permissions or frozenset()) - HELD[who]
    return "power_missing" if lacked & POWERS else "role_missing" if lacked & ROLES else "permission_missing"


def check(example: Example, case: Case, answer: Answer) -> None:
    wanted = expected(example, case)
    if wanted == "denied":
        assert_denied(answer)
    elif wanted == "answered":
        assert answer.status == 200, answer.raw
    else:
        assert_forbidden(answer, wanted, status_of(example, wanted))


def status_of(example: Example, code: str) -> int:
    """Return the expected status; real clients retry the log-in for ever on a 403, so only old refusals are a 403."""
    if "/admin/" in example.route.path and code != "read_only_token":
        return 400
    return 400 if code == "permission_missing" and example.route.path.startswith("/api/v1/") else 403


@over("example", guarded)
def test_every_operation_checks_every_kind_of_caller(
    shared_world: World, sent_tokens: Mapping[str, str], example: Example
) -> None:
    """Send requests that must be refused as they are, others as dry runs; neither may change the database."""
    before = state.totals(shared_world)
    for case in cases_of(example):
        earnest = expected(example, case) != "answered"
        answer = ask(shared_world, example, case, sent_tokens, example.path if earnest else None)
        try:
            check(example, case, answer)
        except AssertionError as problem:
            raise AssertionError(f"{example.name}, {case.name}: {problem}") from problem
    assert drop_attempts(state.totals(shared_world)) == drop_attempts(before)


def drop_attempts(totals: tuple[int, ...]) -> tuple[int, ...]:
    """Return `state.totals` without the last one, the tries left for reset codes: dry runs use up tries too."""
    return totals[:-1]


@over("example", guarded)
def test_caller_without_a_token_learns_nothing_of_existence(
    shared_world: World, sent_tokens: Mapping[str, str], example: Example
) -> None:
    unknown = good_requests.path_of(example.route, good_requests.UNKNOWN_KEYS)
    for case in (REFUSED[0], REFUSED[-1]):
        known = [
            drop_request_id(ask(shared_world, example, case, sent_tokens, path)) for path in (example.path, unknown)
        ]
        assert known[0] == known[1]


@over("example", with_role)
def test_caller_without_the_permission_learns_nothing_of_existence_or_format(
    shared_world: World, sent_tokens: Mapping[str, str], example: Example
) -> None:
    for who in list_lacking(example):
        existing, unknown, malformed = (
            shared_world.call(example.route.method, path, token=sent_tokens[who], body=body)
            for path, body in (
                (example.path, example.body),
                (good_requests.path_of(example.route, good_requests.UNKNOWN_KEYS), example.body),
                (f"{example.path}?page=x&dryRun=x", "no object"),
            )
        )
        assert_forbidden(existing, missing(example, who), status_of(example, missing(example, who)))
        assert drop_request_id(existing) == drop_request_id(unknown) == drop_request_id(malformed)


@over("example", with_role)
def test_refusal_names_the_missing_permission(
    shared_world: World, sent_tokens: Mapping[str, str], example: Example
) -> None:
    needed = example.route.permissions or frozenset()
    answer = shared_world.call(example.route.method, example.path, token=sent_tokens[IDLE], body=example.body)
    if needed & POWERS:
        named, advice = f"permission {min(needed & POWERS).partition('.')[2].title()}", "to grant it"
    else:
        named, advice = f"permission {min(needed & ROLES or needed)}", "for a role that has it"
    assert answer.message == f"This needs the {named}. Ask an administrator {advice}."


@over("example", unguarded)
def test_open_operations_ignore_a_token(shared_world: World, sent_tokens: Mapping[str, str], example: Example) -> None:
    for case in [*REFUSED, READ_ONLY, GOOD]:
        answer = ask(shared_world, example, case, sent_tokens, example.path)
        assert answer.status == 200, (case.name, answer.raw)


@over("path", ["/api/oauth/token/{}", "/api/oauth/tokens/{}", "/api/oauth/token/{}/" + people.NOBODY_ID])
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


def test_accounts_with_api_access_lack_what_they_always_lacked() -> None:
    """What every token could do before there were roles needs no other permission than those of the role `api`."""
    assert HELD["Shop"] == ALL - {
        *("users.query", "users.manage", "game.link", "game.editor", *POWERS),
        *(
            "people.export",
            "people.erase",
            "keys.manage",
            "staff.manage",
            "approvals.decide",
            "notes.write",
            "boards.write",
            "signals.write",
        ),
    }
