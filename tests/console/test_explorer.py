"""The API explorer's calls: run as the signed-in account, a write as a dry run first."""

import json
from collections.abc import Callable, Mapping

import pytest
from explorer import RUN, confirm, run
from keepers import Keeper, fail_writes

import people
from gamekeeper.console.differences import TIMES_SIGN
from gamekeeper.console.explorer import MAX_SHOWN_BYTES
from gamekeeper.game.passwords import hash_for_wire
from gamekeeper.game.permissions import API, BUILTIN_ROLES
from gamekeeper.game.refusals import IdempotencyInProgress
from gamekeeper.http.docs_files import VERSION
from gamekeeper.store.engine import CommitUnknown
from proof import reset_code
from world import World

EXPLORER = "/console/explorer"
GIVE = "/api/v1/players/Ann/items/give"
COINS = {"itemid": people.COIN.id, "quantity": 5}
MANAGE = "/api/v1/users/{}/manage/password/change"
REGISTER = "/api/v1/users/register"
NEWBIE = {"username": "Newbie", "email": "newbie@example.test", "password": "moss and lanterns"}
GOOD = "tr0ub4dor&3"


def test_page_is_the_explorer_of_the_api_with_the_callers_permissions(
    root: Keeper, keeper: Callable[[str], Keeper]
) -> None:
    def place(who: Keeper) -> Mapping[str, str]:
        return next(each for _, each in who.page(EXPLORER).tags if each.get("id") == "explorer")

    page = root.page(EXPLORER)
    assert ("link", {"rel": "stylesheet", "href": f"/api/docs/explorer.css?v={VERSION}"}) in page.tags
    assert set(place(root)["data-rights"].split()) >= {"users.query", "users.manage", "game.link", "moderation.ban"}
    assert place(root)["data-account"] == people.USER_IDS["Root"]
    assert set(place(keeper("Shop"))["data-rights"].split()) == BUILTIN_ROLES[API].permissions


def test_call_without_the_form_token_is_refused(world: World, root: Keeper) -> None:
    before = world.ledger()
    sent = {"method": "POST", "path": GIVE, "body": json.dumps(COINS), "reason": "forged"}
    sent |= {"confirmed": "yes", "key": "k", "seen": run(root, "POST", GIVE, COINS)["seen"]}
    for csrf in ("", "0" * 64):
        assert root.post(RUN, sent, csrf=csrf).status == 403
    assert root.post(RUN, sent, headers={"sec-fetch-site": "cross-site"}).status == 403
    assert world.ledger() == before
    assert root.post(RUN, sent).status == 200
    assert len(world.ledger()) == len(before) + 1


def test_call_without_a_session_is_refused(world: World) -> None:
    sent = {"method": "GET", "path": "/api/v1/players/Ann"}
    answer = Keeper(world).post(RUN, sent, headers={"accept": "application/json"}, csrf="")
    assert (answer.status, answer.code) == (401, "sign_in_first")


def test_read_answers_at_once(root: Keeper) -> None:
    found = run(root, "GET", "/api/v1/players/ann")
    assert (found["status"], found["answer"]["Level"], found["changes"]) == (200, 12, [])


def test_query_is_sent(root: Keeper) -> None:
    found = run(root, "GET", "/api/v1/players", query="pageSize=1&sortDirection=Descending")
    assert found["answer"]["PageSize"] == 1
    assert "Seq,At,Kind" in run(root, "GET", "/api/keeper/v1/changes", query="format=csv")["text"]


def test_refusal_has_the_operations_own_status(root: Keeper, keeper: Callable[[str], Keeper]) -> None:
    found = run(root, "GET", "/api/v1/players/Nobody")
    assert (found["status"], found["answer"]["Code"]) == (404, "no_such_player")
    shop = keeper("Shop")
    assert run(shop, "POST", MANAGE.format("Bob"), {"new": GOOD})["status"] == 403
    found = run(shop, "POST", "/api/v1/users/Bob/admin/ban", {"reason": "gold"})
    assert (found["status"], found["answer"]["Code"]) == (400, "power_missing")


@pytest.mark.parametrize("path", ["/console", "/api/v1/nothing", "api/v1/players"])
def test_path_that_is_no_operation_is_refused(root: Keeper, path: str) -> None:
    assert root.post(RUN, {"method": "GET", "path": path}).status == 404


def test_method_and_path_are_required(root: Keeper) -> None:
    assert root.post(RUN).status == 400


def test_log_in_is_not_run(root: Keeper) -> None:
    grant = {"grant_type": "password", "username": "Root", "password": people.PASSWORD}
    found = run(root, "POST", "/api/oauth/token", grant)
    assert (found["status"], found["answer"]["Code"]) == (404, "no_such_page")


def test_write_is_a_dry_run_until_it_is_confirmed(world: World, root: Keeper) -> None:
    before = world.ledger()
    tried = run(root, "POST", GIVE, COINS)
    assert (tried["status"], tried["recorded"]) == (200, True)
    assert [[line["after"] for line in each] for each in tried["changes"]] == [[f"255 {TIMES_SIGN} {people.COIN.name}"]]
    assert world.ledger() == before
    assert confirm(root, tried, reason=" ")["answer"]["Code"] == "missing_field"
    done = confirm(root, tried, reason="it's a gift")
    [row] = world.ledger()[len(before) :]
    assert (row.reason, row.request_id) == ("it's a gift", done["request"])
    assert done["changes"] == tried["changes"]


@pytest.mark.parametrize(("path", "query"), [("", "dryRun=false"), ("", "dryrun=0"), ("?dryRun=false", "")])
def test_query_cannot_make_a_preview_real(world: World, root: Keeper, path: str, query: str) -> None:
    before = world.ledger()
    run(root, "POST", GIVE + path, COINS, query=query)
    assert world.ledger() == before


def test_write_that_is_not_recorded_needs_no_reason(world: World, root: Keeper) -> None:
    before = world.ledger()
    tried = run(root, "PUT", "/api/link/v1/servers/east", {"Lease": 60})
    assert tried["recorded"] is False
    done = confirm(root, tried, reason="")
    assert (done["status"], done["recorded"], done["replayed"]) == (200, False, False)
    assert world.ledger() == before


def test_confirmation_sent_twice_is_done_once(world: World, root: Keeper) -> None:
    tried = run(root, "POST", GIVE, COINS)
    assert confirm(root, tried)["replayed"] is False
    before = world.ledger()
    again = confirm(root, tried)
    assert (again["status"], again["replayed"]) == (200, True)
    assert world.ledger() == before


def test_confirmation_of_what_changed_meanwhile_is_refused(world: World, root: Keeper) -> None:
    tried = run(root, "POST", GIVE, COINS)
    world.post(GIVE, {"itemid": people.COIN.id, "quantity": 100})
    before = world.ledger()
    stale = confirm(root, tried)
    assert (stale["status"], stale["answer"]["Code"]) == (409, "changed_meanwhile")
    assert world.ledger() == before
    confirm(root, run(root, "POST", GIVE, COINS))
    assert len(world.ledger()) == len(before) + 1


@pytest.mark.parametrize("missing", ["key", "seen"])
def test_confirmation_without_its_preview_is_refused(world: World, root: Keeper, missing: str) -> None:
    tried, before = run(root, "POST", GIVE, COINS), world.ledger()
    assert confirm(root, tried, **{missing: ""})["answer"]["Code"] == "missing_field"
    assert world.ledger() == before


@pytest.mark.parametrize(
    ("failure", "code"),
    [(CommitUnknown("gone"), "outcome_unknown"), (IdempotencyInProgress(), "idempotency_in_progress")],
)
def test_unknown_outcome_is_told_and_can_be_sent_again(
    world: World, root: Keeper, monkeypatch: pytest.MonkeyPatch, failure: Exception, code: str
) -> None:
    tried, before = run(root, "POST", GIVE, COINS), len(world.ledger())
    fail_writes(monkeypatch, world, failure)
    unsure = confirm(root, tried)
    monkeypatch.undo()
    assert unsure["answer"]["Code"] == code
    assert confirm(root, tried)["replayed"] is True
    assert len(world.ledger()) == before + 1


def test_reset_code_is_masked(world: World, root: Keeper) -> None:
    code = reset_code(world, "Ann")
    found = run(root, "GET", "/api/v1/users/Ann")
    assert found["answer"]["PasswordResetCode"] == "…"
    assert code not in found["text"]


def test_typed_password_is_hashed(world: World, root: Keeper) -> None:
    for field in ("new", "NEW"):  # field names of a request body ignore case
        tried = run(root, "POST", MANAGE.format("Bob"), {field: GOOD + field})
        assert confirm(root, tried, reason="forgotten")["status"] == 200
        checked = world.post("/api/v1/users/Bob/password/validate", {"password": hash_for_wire(GOOD + field)})
        assert checked.status == 200


@pytest.mark.parametrize(("weak", "problem"), [("tiny", "it needs at least 10"), ("Password123", "easy to guess")])
def test_weak_new_password_is_refused(world: World, root: Keeper, weak: str, problem: str) -> None:
    before = world.ledger()
    proof = {"authorization": people.PASSWORD}
    for path, body in (
        (REGISTER, {**NEWBIE, "password": weak}),
        (MANAGE.format("Bob"), {"new": weak}),
        (MANAGE.format("Bob"), {"New": weak}),
        ("/api/v1/users/Bob/password/change", {"new": weak, **proof}),
    ):
        found = run(root, "POST", path, body)
        assert (found["status"], found["answer"]["Code"]) == (400, "unusable_password"), path
        assert problem in found["answer"]["Message"]
    assert world.ledger() == before


def test_weak_new_password_is_refused_in_the_confirmation_too(world: World, root: Keeper) -> None:
    tried, before = run(root, "POST", MANAGE.format("Bob"), {"new": GOOD}), world.ledger()
    found = confirm(root, tried, body=json.dumps({"new": "tiny"}))
    assert found["answer"]["Code"] == "unusable_password"
    assert world.ledger() == before


def test_checked_password_keeps_no_rule_for_new_ones(root: Keeper) -> None:
    found = run(root, "POST", "/api/v1/users/Bob/password/validate", {"password": "tiny"})
    assert found["answer"]["Message"] == "Invalid credentials."
    found = run(root, "POST", "/api/v1/users/Bob/password/validate", {"password": people.PASSWORD})
    assert found["status"] == 200


def test_password_rule_tells_nobody_which_accounts_exist(keeper: Callable[[str], Keeper]) -> None:
    shop = keeper("Shop")
    for key in ("Bob", "Nobody"):
        assert run(shop, "POST", MANAGE.format(key), {"new": "tiny"})["status"] == 403


def test_registration_is_confirmed_as_it_was_previewed(world: World, root: Keeper) -> None:
    tried, before = run(root, "POST", REGISTER, NEWBIE), len(world.ledger())
    assert confirm(root, tried, reason="asked at the desk")["status"] == 200
    assert [row.kind for row in world.ledger()[before:]] == ["user_registered"]
    sent = {"password": hash_for_wire(NEWBIE["password"])}
    assert world.post("/api/v1/users/Newbie/password/validate", sent).status == 200


def test_registration_of_a_name_taken_meanwhile_is_refused(world: World, root: Keeper) -> None:
    tried = run(root, "POST", REGISTER, NEWBIE)
    other = {"username": "Newbie", "email": "other@example.test", "password": hash_for_wire("another one of theirs")}
    assert world.post(REGISTER, other).status == 200
    assert "Account already exists" in confirm(root, tried)["answer"]["Message"]
    assert world.get("/api/v1/users/Newbie").json["Email"] == "other@example.test"


@pytest.mark.parametrize("typed", ["", "Zoe"])
def test_erasure_without_the_accounts_name_is_refused(world: World, root: Keeper, typed: str) -> None:
    tried = run(root, "DELETE", "/api/v1/users/Ann")
    assert tried["erases"] == "Ann"
    before = world.ledger()
    refused = confirm(root, tried, reason="by request", typed=typed)
    assert (refused["status"], refused["answer"]["Code"]) == (400, "name_not_typed")
    assert world.ledger() == before
    assert confirm(root, tried, reason="by request", typed="Ann")["status"] == 200
    assert world.get("/api/v1/users/Ann").status == 404


@pytest.mark.parametrize("body", ["[nonsense", "[" * 10_000, '{"itemid": '])
def test_body_that_is_not_json_is_refused(root: Keeper, body: str) -> None:
    sent = {"method": "PUT", "path": "/api/link/v1/catalogue/maps", "body": body}
    found = root.post(RUN, sent)
    assert (found.status, json.loads(found.json["text"])["Code"]) == (200, "malformed_body")


def test_list_is_sent_as_a_body(root: Keeper) -> None:
    found = run(root, "PUT", "/api/link/v1/catalogue/maps", [{"Id": people.guid(99), "Name": "Marsh"}])
    assert found["answer"]["Count"] == 1


def test_number_of_64_bits_is_sent_exactly(root: Keeper) -> None:
    path = f"/api/v1/players/Ann/variables/{people.KILLS.id}"
    found = run(root, "POST", path, {"value": 2**63 - 1})
    assert str(2**63 - 1) in found["text"]


def test_long_answer_is_cut(root: Keeper) -> None:
    sent = {"method": "GET", "path": "/api/openapi.json"}
    long = root.post(RUN, sent, headers={"accept": "application/json"}).json
    assert (long["status"], long["cut"]) == (200, True)
    assert 0 < len(long["text"]) <= MAX_SHOWN_BYTES
    assert run(root, "GET", "/api/v1/players/Ann")["cut"] is False
