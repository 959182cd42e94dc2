"""Authorization: every operation with every kind of credential. `permissions.txt` has who may do what."""

from collections.abc import Mapping
from typing import NamedTuple

import pytest
import state
from bad_values import wide
from good_requests import BY_HANDLER, EXAMPLES, UNKNOWN_KEYS, Example, dry_run_path, path_of

import people
import staff
from gamekeeper.game.access import tokens
from gamekeeper.http.contract.operation import NO_TOKEN, WRITE
from gamekeeper.http.routes import ROUTES
from gamekeeper.store.accounts import users
from loops import over
from world import Answer, World


class Case(NamedTuple):
    name: str
    authorization: str | None  # Authorization header with placeholders for tokens, such as {good}; None: no header


MALFORMED = [
    Case("empty", ""),
    Case("scheme and spaces", "Bearer   "),
    Case("wrong scheme", "Basic {good}"),
    Case("token without its scheme", "{good}"),
    Case("no prefix", "Bearer {bare}"),
    Case("prefix alone", "Bearer gka_"),
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
NONE = Case("no token", None)
REVOKED = Case("revoked", "Bearer {revoked}")
UNKNOWN = Case("unknown", "Bearer gka_0123456789012345678901234567890123456789012")
REFUSED = [NONE, Case("scheme alone", "Bearer"), UNKNOWN, Case("expired", "Bearer {expired}"), REVOKED]
IDLE = Case("role without permissions", "Bearer {idle}")
READ_ONLY = Case("read-only", "Bearer {read_only}")
GOOD = Case("right role, scheme in another case", "bEARER {good}")

# operations that do not read with GET or write with another method: by hand, because access follows from the method
UNLIKE_THEIR_METHOD = {
    *("list_players_legacy", "list_online_players_legacy", "list_users_legacy", "list_guilds_legacy", "look_up_key"),
    *("list_game_objects_legacy", "list_game_object_names_legacy", "list_server_variables_legacy"),
    *("validate_password", "request_password_reset"),
}
guarded = [each for each in EXAMPLES if each.route.permissions is not NO_TOKEN]
unguarded = [each for each in EXAMPLES if each.route.permissions is NO_TOKEN]
with_role = [each for each in EXAMPLES if each.route.permissions]


def test_access_follows_from_the_method_with_few_exceptions() -> None:
    unlike = {each.name for each in ROUTES if (each.access is WRITE) is (each.method == "GET")}
    assert unlike == UNLIKE_THEIR_METHOD


@pytest.fixture(scope="module")
def sent_tokens(shared_world: World) -> Mapping[str, str]:
    """Return tokens by placeholder of `Case.authorization`: valid, read-only, expired, revoked or altered."""
    world = shared_world
    good = world.tokens["Root"]
    expired, revoked, read_only = (_issue(world, read_only=only) for only in (False, False, True))
    world.sql("UPDATE tokens SET access_expires = 1 WHERE id = $1", expired.id)
    assert world.call("DELETE", f"/api/oauth/token/Root/{revoked.id}").status == 200
    logged_in = world.post("/api/oauth/token", BY_HANDLER["tokens.issue_token"].body, by=None).json
    return {
        "good": good,
        "bare": good.removeprefix("gka_"),
        "upper": good.upper(),
        "expired": expired.access,
        "revoked": revoked.access,
        "read_only": read_only.access,
        "refresh": logged_in["refresh_token"],
        "hash": tokens.hash_token(good),
        "idle": staff.add_account(world, "Idle", staff.save_role(world, "idle", [])),
    }


def _issue(world: World, *, read_only: bool) -> tokens.TokenPair:
    user = world.run(users.find_by_fold(world.keeper.store, "root"))
    assert user
    return world.run(tokens.issue_for_service(world.keeper, user, 1, read_only=read_only))


def ask(world: World, example: Example, case: Case, known: Mapping[str, str], path: str | None = None) -> Answer:
    """Send the example request, also in earnest: a request that is refused may not change the database."""
    headers = {} if case.authorization is None else {"authorization": case.authorization.format(**known)}
    return world.call(example.route.method, path or example.path, by=None, body=example.body, headers=headers)


def drop_request_id(answer: Answer) -> dict[str, str]:
    """Return the body of a refusal without the request id."""
    return {name: value for name, value in answer.json.items() if name != "RequestId"}


def assert_denied(answer: Answer, case: Case) -> None:
    assert answer.status == 401, case.name
    message = "Authorization has been denied for this request."
    assert drop_request_id(answer) == {"Message": message, "Code": "denied"}, case.name
    assert answer.headers["www-authenticate"].partition(" ")[0] == "Bearer"


def assert_forbidden(answer: Answer, code: str) -> None:
    """Check the refusal of a valid token. permissions.txt has the statuses."""
    assert answer.status in {400, 403}, answer.raw
    assert answer.code.endswith(code)
    assert "www-authenticate" not in answer.headers


@over("example", *guarded)
def test_every_operation_checks_every_kind_of_caller(
    shared_world: World, sent_tokens: Mapping[str, str], example: Example
) -> None:
    before = state.totals(shared_world)
    for case in REFUSED:
        assert_denied(ask(shared_world, example, case, sent_tokens), case)
    if example.route.access is WRITE:
        assert_forbidden(ask(shared_world, example, READ_ONLY, sent_tokens), "read_only_token")
    assert state.totals(shared_world) == before
    dry_run = dry_run_path(example)
    for case in [GOOD] if example.route.access is WRITE else [GOOD, READ_ONLY]:
        ask(shared_world, example, case, sent_tokens, dry_run).accepted()
    # without the tries left for reset codes, which dry runs use up too
    assert state.totals(shared_world)[:-1] == before[:-1]


@over("handler", "players.get_player", "items.give_item", "accounts.list_users", "link.put_player")
def test_malformed_credentials_are_denied(shared_world: World, sent_tokens: Mapping[str, str], handler: str) -> None:
    before = state.totals(shared_world)
    for case in MALFORMED:
        assert_denied(ask(shared_world, BY_HANDLER[handler], case, sent_tokens), case)
    assert state.totals(shared_world) == before


@over("example", *guarded)
def test_caller_without_a_token_learns_nothing_of_existence(
    shared_world: World, sent_tokens: Mapping[str, str], example: Example
) -> None:
    unknown = path_of(example.route, UNKNOWN_KEYS)
    for case in (NONE, REVOKED):
        assert_denied(ask(shared_world, example, case, sent_tokens, unknown), case)


@over("example", *with_role)
def test_caller_without_the_permission_learns_nothing_of_existence_or_format(
    shared_world: World, sent_tokens: Mapping[str, str], example: Example
) -> None:
    before = state.totals(shared_world)
    existing, unknown, malformed = (
        ask(shared_world, example._replace(body=body), IDLE, sent_tokens, path)
        for path, body in (
            (example.path, example.body),
            (path_of(example.route, UNKNOWN_KEYS), example.body),
            (f"{example.path}?page=x&dryRun=x", "no object"),
        )
    )
    assert_forbidden(existing, "_missing")
    assert drop_request_id(existing) == drop_request_id(unknown) == drop_request_id(malformed)
    assert state.totals(shared_world) == before


@over("example", *unguarded)
def test_open_operations_ignore_a_token(shared_world: World, sent_tokens: Mapping[str, str], example: Example) -> None:
    for case in [*REFUSED, *MALFORMED, READ_ONLY, GOOD]:
        answer = ask(shared_world, example, case, sent_tokens)
        assert answer.status == 200, (case.name, answer.raw)


@over("path", "/api/oauth/token/{}", "/api/oauth/tokens/{}", "/api/oauth/token/{}/" + people.NOBODY_ID)
def test_tokens_of_other_accounts_need_users_manage(shared_world: World, path: str) -> None:
    before = state.totals(shared_world)
    for who in ("Shop", "Server", "Clerk"):
        answers = [shared_world.call("DELETE", path.format(name), by=who) for name in ("Root", "Nobody")]
        assert_forbidden(answers[0], "role_missing")
        assert drop_request_id(answers[0]) == drop_request_id(answers[1])
    assert state.totals(shared_world) == before
