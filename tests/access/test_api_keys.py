"""API keys: what they may do, who may create and change them, and what is stored of them."""

from typing import Any

import pytest

import people
import staff
from api_keys import KEYS, create, use
from gamekeeper.game.access import api_keys as rules
from gamekeeper.game.core import lookup
from gamekeeper.http.server import rate_limits
from gamekeeper.store.access import api_keys as key_rows
from gamekeeper.store.accounts import users as user_rows
from gamekeeper.store.core import idempotency_keys as stored_answers
from gamekeeper.store.engine.interface import Row, Value, Writing
from gamekeeper.store.engine.statements import Statement
from loops import over
from proof import refused
from world import Answer, World

GIVE = "/api/v1/players/Ann/items/give"
COINS = {"itemid": people.COIN.id, "quantity": 3}


# --- what a key may do ---------------------------------------------------------------------------------------------


def test_key_does_what_its_role_and_its_owner_allow_and_nothing_else(world: World) -> None:
    key = create(world, Role="shop")
    assert (key["Effective"], key["Active"], key["Note"]) == (["items.give", "players.read"], True, None)
    assert world.post(GIVE, COINS, token=key["Key"]).status == 200
    refused(world.get("/api/keeper/v1/changes", token=key["Key"]), 403, "permission_missing")

    wider = create(world, Permissions=["players.read", "users.query"])  # its owner lacks users.query
    assert wider["Effective"] == ["players.read"]
    refused(world.get("/api/v1/users/Ann", token=wider["Key"]), 403, "role_missing")
    changed = world.call("PUT", f"{KEYS}/{wider['Id']}", body={"Owner": "Clerk"}).json
    assert (changed["Owner"], changed["Effective"]) == ("Clerk", ["players.read", "users.query"])
    assert world.get("/api/v1/users/Ann", token=wider["Key"]).status == 200

    viewer = create(world, Role="viewer", Owner="Root")["Key"]
    assert world.get("/api/v1/users/Ann", token=viewer).status == 200
    body = {"username": "New", "password": "ab" * 32, "email": "new@example.test"}
    refused(world.post("/api/v1/users/register", body, token=viewer), 403, "read_only_token")


def test_key_manages_no_keys_no_staff_and_ends_no_tokens(world: World) -> None:
    text = create(world, Role="admin", Owner="Root")["Key"]
    other = create(world)["Id"]
    assert world.get(KEYS, token=text).status == 200
    refused(world.post(KEYS, {"Name": "child", "Role": "shop"}, token=text), 403, "key_manages_no_keys")
    refused(world.post(f"{KEYS}/{other}/rotate", {}, token=text), 403, "key_manages_no_keys")
    refused(world.call("PUT", f"{KEYS}/{other}", body={"Suspended": False}, token=text), 403, "key_manages_no_keys")
    assert world.call("DELETE", f"{KEYS}/{other}", token=text).status == 200
    refused(world.call("DELETE", "/api/oauth/tokens/Shop", token=create(world)["Key"]), 403, "role_missing")


def test_key_loses_what_its_owner_loses_and_the_change_lists_it(world: World) -> None:
    staff.add_account(world, "Seller", "shop", "viewer")
    key = create(world, Role="shop", Owner="Seller")
    create(world, Permissions=["players.read"], Owner="Seller")
    assert world.post(GIVE, COINS, token=key["Key"]).status == 200
    path = "/api/keeper/v1/users/Seller/roles"
    losing = [{"Id": key["Id"], "Name": "web shop", "Lost": ["items.give"]}]
    assert world.post(f"{path}?dryRun=true", {"take": ["shop"]}).json["WeakenedKeys"] == losing
    assert world.post(path, {"take": ["shop"]}).json["WeakenedKeys"] == losing
    refused(world.post(GIVE, COINS, token=key["Key"]), 403, "read_only_token")
    assert world.post(path, {"give": ["shop"]}).json["WeakenedKeys"] == []
    for act, status in (("suspend", 401), ("resume", 200)):
        assert world.post(f"/api/keeper/v1/users/Seller/{act}", {}).status == 200
        assert use(world, key["Key"]).status == status
    assert world.post("/api/v1/users/Seller/admin/ban", {"duration": 1}).status == 200
    refused(use(world, key["Key"]), 401, "denied")
    assert world.get(f"{KEYS}?owner=Seller").json["Keys"][0]["Effective"] == []

    key = create(world, Permissions=["users.query", "players.read"], Owner="Clerk")
    path, losing = "/api/keeper/v1/users/Clerk/powers", [{"Id": key["Id"], "Name": "web shop", "Lost": ["users.query"]}]
    for query, weakened in (("?dryRun=true", losing), ("", losing), ("", [])):
        assert world.post(path + query, {"usersquery": False}).json["WeakenedKeys"] == weakened


@pytest.mark.long_only
def test_suspension_lists_all_working_keys_of_the_owner(world: World) -> None:
    """Not only the newest: 1,001 newer keys, which lose nothing, are in front of them."""
    staff.add_account(world, "Seller", "shop")
    made = [create(world, Name=name, Role="shop", Owner="Seller") for name in ("a", "b", "revoked")]
    world.call("DELETE", f"{KEYS}/{made[2]['Id']}")
    later = ((lookup.new_guid(), made[0]["OwnerId"]) for _ in range(1001))
    values = ", ".join(f"('{key}', '{owner}', '{key}', 'later', '[]', 4000000000000)" for key, owner in later)
    world.sql(f"INSERT INTO api_keys (id, user_id, scope_id, name, permissions, created_at) VALUES {values}")  # noqa: S608 - ours
    answer = world.post("/api/keeper/v1/users/Seller/suspend", {}).json
    listed = [(each["Id"], ["items.give", "players.read"]) for each in made[:2]]
    assert [(each["Id"], each["Lost"]) for each in answer["WeakenedKeys"]] == listed


# --- limits --------------------------------------------------------------------------------------------------------


def test_key_works_only_from_its_addresses_for_its_servers_and_until_it_expires(world: World) -> None:
    key = create(world, Addresses=["192.0.2.0/24", "2001:db8::7"], ExpiresAt="2999-01-01T00:00:00Z")
    text = key["Key"]
    for address in ("192.0.2.9", "::ffff:192.0.2.9", "2001:db8::7", "192.0.2.7"):
        assert use(world, text, address=address).status == 200
    refused(use(world, text, address="198.51.100.1"), 400, "address_not_allowed")
    callers = world.asgi.services.callers
    world.run(callers.note_use())
    listed = world.get(KEYS).json["Keys"][0]
    assert (listed["LastUsedFrom"], bool(listed["LastUsedAt"]), listed["Active"]) == ("192.0.2.7", True, True)
    world.sql("UPDATE api_keys SET expires_at = 1 RETURNING 1")
    callers.clear_cache()
    refused(use(world, text, address="192.0.2.9"), 401, "denied")
    assert world.get(KEYS).json["Keys"][0]["Active"] is False

    text = create(world, Role="game server", Owner="Root", Servers=["realm-1"])["Key"]
    link, lease = "/api/link/v1/servers", {"Lease": 60}
    assert world.call("PUT", f"{link}/realm-1", body=lease, token=text).status == 200
    refused(world.call("PUT", f"{link}/realm-2", body=lease, token=text), 403, "server_not_allowed")
    for act in ("joined", "left"):
        refused(world.post(f"{link}/realm-2/{act}", {"Players": []}, token=text), 403, "server_not_allowed")
    refused(world.call("DELETE", f"{link}/realm-2", token=text), 403, "server_not_allowed")


def test_key_sends_only_its_number_of_requests_per_minute(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    text, now = create(world, PerMinute=2)["Key"], [1000.0]
    monkeypatch.setattr(rate_limits.time, "monotonic", lambda: now[0])
    assert [use(world, text).status for _ in range(3)] == [200, 200, 429]
    now[0] += 20
    answer = use(world, text)
    refused(answer, 429, "too_many_key_requests")
    assert 39 <= int(answer.headers["retry-after"]) <= 41
    now[0] += 41
    assert use(world, text).status == 200
    # the fast look-up does not find this spelling, so the caller is found twice; the request with a body counts once
    unusual = {"Authorization": f"bearer {create(world, PerMinute=2)['Key']}"}
    answers = [world.post(GIVE, COINS, by=None, headers=unusual) for _ in range(3)]
    assert [each.status for each in answers] == [200, 200, 429]


# --- life of a key -------------------------------------------------------------------------------------------------


def test_key_is_suspended_rotated_and_revoked(world: World) -> None:
    key = create(world)
    path = f"{KEYS}/{key['Id']}"
    assert world.call("PUT", path, body={"Suspended": True}).json["Active"] is False
    assert use(world, key["Key"]).status == 401
    assert world.call("PUT", path, body={"Suspended": False, "Name": "shop 2"}).json["Name"] == "shop 2"
    assert use(world, key["Key"]).status == 200

    first = world.post(f"{path}/rotate", {"GraceMinutes": 60}).json
    assert (first["Id"], first["Key"] != key["Key"], bool(first["OldTextEndsAt"])) == (key["Id"], True, True)
    assert [use(world, text).status for text in (key["Key"], first["Key"])] == [200, 200]
    second = world.post(f"{path}/rotate", {}).json
    assert [use(world, text).status for text in (key["Key"], first["Key"], second["Key"])] == [401, 401, 200]
    found = world.post(f"{KEYS}/lookup", {"Key": key["Key"]}).json  # a leaked text is found by its hash
    assert (found["Id"], found["Name"], found["TextActive"], found["Active"]) == (key["Id"], "shop 2", False, True)
    refused(world.post(f"{KEYS}/lookup", {"Key": "gkk_unknown"}), 404, "no_such_key")

    assert world.call("DELETE", path).json["RevokedAt"]
    refused(use(world, second["Key"]), 401, "denied")
    assert world.call("DELETE", path).status == 200
    refused(world.post(f"{path}/rotate", {}), 409, "key_revoked")


class LockRecorder:
    """A transaction that records which accounts and keys it locks."""

    def __init__(self, tx: Any, locked: list[Any]) -> None:
        self._tx, self._locked = tx, locked

    async def one(self, statement: Statement, *values: Value) -> Row | None:
        if statement in {user_rows.SQL.lock, key_rows.SQL.lock}:
            self._locked += values
        return await self._tx.one(statement, *values)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._tx, name)


def test_change_of_owner_locks_accounts_in_order_and_then_the_key(world: World) -> None:
    """Otherwise two keys that change their owners crosswise would deadlock."""
    for owner, other in (("Shop", "Clerk"), ("Clerk", "Shop")):
        key_id, locked = create(world, Owner=owner)["Id"], list[Any]()
        wanted = rules.KeyEdit(owner=other)

        async def change(tx: Writing, key_id: str = key_id, wanted: Any = wanted, locked: Any = locked) -> None:
            recorder: Any = LockRecorder(tx, locked)
            await rules.edit(recorder, key_id, wanted, None)

        world.run(world.keeper.store.write(change))
        assert locked == [*sorted(people.USER_IDS[name] for name in (owner, other)), key_id]


def test_changes_of_a_key_have_its_id_and_name(world: World) -> None:
    key = create(world)
    assert world.post(GIVE, COINS, token=key["Key"]).status == 200
    newest = world.get("/api/keeper/v1/changes?limit=1").json["Changes"][0]
    assert (newest["KeyId"], newest["Key"], newest["By"]) == (key["Id"], "web shop", "Shop")
    hidden = world.get("/api/keeper/v1/changes?limit=1", token=staff.add_account(world, "Reader", "api")).json
    assert [hidden["Changes"][0][name] for name in ("KeyId", "Key", "By")] == [key["Id"], None, None]


# --- who may create, change and list keys --------------------------------------------------------------------------


def test_caller_creates_only_keys_with_permissions_it_has(world: World) -> None:
    manager = staff.add_account(world, "Manager", staff.save_role(world, "key manager", ["keys.manage", "items.give"]))
    body = {"Name": "k", "Permissions": ["items.give"]}
    assert world.post(KEYS, body, token=manager).json["Owner"] == "Manager"
    refused(world.post(KEYS, {"Name": "k", "Role": "shop"}, token=manager), 403, "key_out_of_reach")
    refused(world.post(KEYS, body | {"Owner": "Root"}, token=manager), 403, "outranked")
    roots = create(world, Owner="Shop")["Id"]
    refused(world.post(f"{KEYS}/{roots}/rotate", {}, token=manager), 403, "key_out_of_reach")
    refused(world.call("PUT", f"{KEYS}/{roots}", body={"Owner": "Manager"}, token=manager), 403, "key_out_of_reach")

    staff.save_role(world, "seller", ["items.give"])
    create(world, Role="seller")
    refused(world.call("DELETE", "/api/keeper/v1/roles/seller"), 409, "role_in_use")


@over(
    "fields, code, named",
    ({"Role": "shop", "Addresses": ["192.0.2.0/33"]}, "bad_address_range", "192.0.2.0/33"),
    ({"Role": "shop", "Permissions": ["items.give"]}, "bad_field", "Permissions"),
    ({}, "bad_field", "Permissions"),
    ({"Role": "shop", "ExpiresAt": "2020-01-01T00:00:00Z"}, "bad_field", "ExpiresAt"),
    ({"Role": "shop", "Replaces": "nobody"}, "bad_field", "Replaces"),
)
def test_malformed_key_is_refused_by_name(shared_world: World, fields: dict[str, Any], code: str, named: str) -> None:
    answer = shared_world.post(KEYS, {"Name": "k"} | fields)
    refused(answer, 400, code)
    assert named in answer.message


# --- what is stored ------------------------------------------------------------------------------------------------


def test_stored_answer_and_database_have_no_secret(world: World) -> None:
    headers = {"Idempotency-Key": "new-key"}
    body = {"Name": "k", "Role": "shop", "Owner": "Shop"}
    first = world.post(KEYS, body, headers=headers).json
    again = world.post(KEYS, body, headers=headers).json
    assert again["Key"] is None
    assert "rotate" in again["Note"]
    assert {**first, "Key": None, "Note": again["Note"]} == again
    kept = world.run(stored_answers.find(world.keeper.store, people.USER_IDS["Root"], "new-key"))
    assert kept is not None
    assert first["Key"].encode() not in kept.answer
    hashes = [row[0] for row in world.sql("SELECT hash FROM api_key_texts")]
    assert hashes == [rules.hash_token(first["Key"])]


# --- Idempotency-Keys ----------------------------------------------------------------------------------------------


def give(world: World, text: str, order: str = "order-7") -> Answer:
    return world.post(GIVE, COINS, token=text, headers={"Idempotency-Key": order})


def test_scope_of_a_key_is_its_own_and_survives_rotation(world: World) -> None:
    one, two = create(world), create(world)
    assert "idempotent-replay" not in give(world, one["Key"]).headers
    assert "idempotent-replay" not in give(world, two["Key"]).headers
    rotated = world.post(f"{KEYS}/{one['Id']}/rotate", {}).json["Key"]
    assert give(world, rotated).headers["idempotent-replay"] == "true"


def test_shop_that_changes_to_a_key_in_the_middle_of_a_retry_gives_once(world: World) -> None:
    old, account = create(world), world.tokens["Shop"]
    replaced = (("shop", account), (people.USER_IDS["Shop"], account), (old["Id"], old["Key"]))
    for order, (named, text) in zip("abc", replaced, strict=True):
        first = give(world, text, order).accepted()
        again = give(world, create(world, Role="shop", Replaces=named)["Key"], order)
        assert (again.raw, again.headers["idempotent-replay"]) == (first.raw, "true")
        third = give(world, create(world, Replaces=named)["Key"], order)
        assert third.headers["idempotent-replay"] == "true"
    assert sum(each.kind == "items_given" for each in world.ledger()) == 3


def test_erasure_of_the_owner_erases_answers_and_keys(world: World) -> None:
    staff.add_account(world, "Seller", "shop")
    key = create(world, Role="shop", Owner="Seller")
    assert give(world, key["Key"]).status == 200
    assert world.call("DELETE", "/api/v1/users/Seller").status == 200
    kept = world.run(stored_answers.find(world.keeper.store, key["Id"], "order-7"))
    assert kept is not None
    assert kept.answer == stored_answers.ERASED_ANSWER
    assert world.sql("SELECT COUNT(*) FROM api_keys") == [(0,)]
    refused(use(world, key["Key"]), 401, "denied")
