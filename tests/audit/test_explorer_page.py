"""The API explorer's calls: run as the signed-in account, a write as a dry run first."""

import json

import pytest

import people
from explorer import RUN, confirm, run
from gamekeeper.console.audit.explorer import MAX_SHOWN_BYTES
from gamekeeper.console.frame.differences import TIMES_SIGN
from gamekeeper.game.access.passwords import hash_for_wire
from keepers import JSON, Keeper
from proof import reset_code
from world import World

GIVE = "/api/v1/players/Ann/items/give"
COINS = {"itemid": people.COIN.id, "quantity": 5}
MANAGE = "/api/v1/users/{}/manage/password/change"
GOOD = "tr0ub4dor&3"


def test_read_answers_and_log_in_is_not_run(root: Keeper) -> None:
    found = run(root, "GET", "/api/v1/players/ann")
    assert (found["status"], found["answer"]["Level"], found["changes"], found["cut"]) == (200, 12, [], False)
    grant = {"grant_type": "password", "username": "Root", "password": people.PASSWORD}
    found = run(root, "POST", "/api/oauth/token", grant)
    assert (found["status"], found["answer"]["Code"]) == (404, "no_such_page")
    found = run(root, "POST", f"/api/v1/players/Ann/variables/{people.KILLS.id}", {"value": 2**63 - 1})
    assert str(2**63 - 1) in found["text"]
    found = root.post(RUN, {"method": "GET", "path": "/api/openapi.json"}, headers=JSON).json
    assert (found["status"], found["cut"]) == (200, True)
    assert 0 < len(found["text"]) <= MAX_SHOWN_BYTES


def test_write_is_a_dry_run_until_it_is_confirmed(world: World, root: Keeper) -> None:
    before = world.ledger()
    tried = run(root, "POST", GIVE, COINS)
    assert (tried["status"], tried["recorded"]) == (200, True)
    assert [[line["after"] for line in each] for each in tried["changes"]] == [[f"255 {TIMES_SIGN} {people.COIN.name}"]]
    for path, query in (("", "dryRun=false"), ("", "dryrun=0"), ("?dryRun=false", "")):
        run(root, "POST", GIVE + path, COINS, query=query)
    for fields in ({"reason": " "}, {"key": ""}, {"seen": ""}):
        assert confirm(root, tried, **fields)["answer"]["Code"] == "missing_field"
    assert world.ledger() == before
    done = confirm(root, tried, reason="it's a gift")
    [row] = world.ledger()[len(before) :]
    assert (row.reason, row.request_id) == ("it's a gift", done["request"])
    assert done["changes"] == tried["changes"]


def test_stale_or_repeated_confirmation_is_done_once(world: World, root: Keeper) -> None:
    tried = run(root, "POST", GIVE, COINS)
    assert confirm(root, tried)["replayed"] is False
    with world.nothing_recorded():
        again = confirm(root, tried)
        assert (again["status"], again["replayed"]) == (200, True)
    tried = run(root, "POST", GIVE, COINS)
    world.post(GIVE, {"itemid": people.COIN.id, "quantity": 100})
    with world.nothing_recorded():
        stale = confirm(root, tried)
        assert (stale["status"], stale["answer"]["Code"]) == (409, "changed_meanwhile")


def test_passwords_are_hashed_and_reset_codes_masked(world: World, root: Keeper) -> None:
    for field in ("new", "NEW"):  # field names of a request body ignore case
        tried = run(root, "POST", MANAGE.format("Bob"), {field: GOOD + field})
        assert confirm(root, tried, reason="forgotten")["status"] == 200
        world.post("/api/v1/users/Bob/password/validate", {"password": hash_for_wire(GOOD + field)}).accepted()
    code = reset_code(world, "Ann")
    found = run(root, "GET", "/api/v1/users/Ann")
    assert found["answer"]["PasswordResetCode"] == "…"
    assert code not in found["text"]
    tried, before = run(root, "POST", MANAGE.format("Bob"), {"new": GOOD}), world.ledger()
    found = confirm(root, tried, body=json.dumps({"new": "tiny"}))
    assert found["answer"]["Code"] == "unusable_password"
    assert world.ledger() == before


@pytest.mark.parametrize("typed", ["", "Zoe"])
def test_erasure_without_the_accounts_name_is_refused(world: World, root: Keeper, typed: str) -> None:
    tried = run(root, "DELETE", "/api/v1/users/Ann")
    assert tried["erases"] == "Ann"
    with world.nothing_recorded():
        refused = confirm(root, tried, reason="by request", typed=typed)
        assert (refused["status"], refused["answer"]["Code"]) == (400, "name_not_typed")
    assert confirm(root, tried, reason="by request", typed="Ann")["status"] == 200
    assert world.get("/api/v1/users/Ann").status == 404
