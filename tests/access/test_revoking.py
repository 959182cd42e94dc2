"""Token revocation: one token or all, own or another account's, at once here and within seconds elsewhere."""

from types import SimpleNamespace
from typing import Any

import pytest

import api_keys
import people
import staff
from expectations import everything
from gamekeeper.http.server import admission, caller
from gamekeeper.store.access import tokens as stored
from gamekeeper.store.engine.interface import Reading
from proof import refused
from token_pairs import DENIED, exchange, log_in, require_oauth_error, works
from world import PLAYERS, TOKEN, Answer, MakeWorld, World

MISSING = "This needs the permission users.manage. Ask an administrator for a role that has it."
GIVE = {"itemid": people.COIN.id, "quantity": 1}


def id_of(world: World, pair: Answer) -> str:
    """Return the public id of a token pair, as the audit log shows it."""
    asked = world.run(caller.Callers(world.keeper.store).find_caller(f"Bearer {pair.json['access_token']}".encode()))
    return asked.token_id


def test_own_tokens_are_revoked_all_or_one(world: World) -> None:
    for route in (TOKEN, "/api/oauth/tokens"):
        for by_refresh_token in (True, False):
            pair, other = log_in(world), log_in(world)
            name: str = pair.json["refresh_token"] if by_refresh_token else id_of(world, pair)
            refused(world.call("DELETE", f"{TOKEN}/Clerk/{name}"), 404, "no_such_token")  # not under another account
            assert works(world, pair)
            answer = world.call("DELETE", f"{route}/Shop/{name}", token=other.json["access_token"])
            assert (answer.status, answer.raw) == (200, b'{"username":"Shop","tokenId":"%b"}' % name.encode())
            assert (works(world, pair), works(world, other)) == (False, True)
        answer = world.call("DELETE", f"{route}/{people.USER_IDS['Shop'].upper()}", token=other.json["access_token"])
        assert (answer.status, answer.raw) == (200, b'{"username":"Shop"}')
        assert not works(world, other)
        require_oauth_error(exchange(world, other.json["refresh_token"]), "invalid_grant")
    refused(world.get(PLAYERS, by="Shop"), 401, "denied")
    assert world.get(PLAYERS, by="Clerk").status == 200


def test_token_is_revoked_by_its_id_alone(world: World) -> None:
    foreign = log_in(world, "Clerk")
    for by_refresh_token in (True, False):
        pair, other = log_in(world), log_in(world)
        name = str(pair.json["refresh_token"]) if by_refresh_token else id_of(world, pair)
        key = {"Idempotency-Key": f"k{by_refresh_token}"}
        answers = [world.call("DELETE", f"/api/oauth/tokens/{name}", by="Shop", headers=key) for _ in range(2)]
        assert [each.json for each in answers] == [{"TokenId": name, "Username": None}] * 2
        assert answers[1].headers["idempotent-replay"] == "true"
        assert not by_refresh_token or name not in repr(everything(world))
        assert (works(world, pair), works(world, other)) == (False, True)
    for theirs in (people.NOBODY_ID, id_of(world, foreign)):  # both are refused alike
        refused(world.call("DELETE", f"/api/oauth/tokens/{theirs}", by="Shop"), 403, "role_missing", MISSING)
    assert works(world, foreign)
    assert world.call("DELETE", f"/api/oauth/tokens/{id_of(world, foreign)}", by="Root").status == 200
    assert not works(world, foreign)


def test_stored_answer_does_not_contain_the_refresh_token_and_is_erased_with_the_account(world: World) -> None:
    token: str = log_in(world).json["refresh_token"]
    path, key = f"{TOKEN}/Shop/{token}", {"Idempotency-Key": "k"}
    first, again = (world.call("DELETE", path, headers=key) for _ in range(2))
    assert again.headers["idempotent-replay"] == "true"
    assert first.raw == again.raw == b'{"username":"Shop","tokenId":"%b"}' % token.encode()
    assert token not in repr(everything(world))
    assert world.call("DELETE", "/api/v1/users/Shop").status == 200
    refused(world.call("DELETE", path, headers=key), 409, "answer_erased")


def test_name_that_looks_like_an_id_does_not_count_as_own(world: World) -> None:
    """An imported account may have a name that looks like an id; the path then addresses the account with that id."""
    world.sql("UPDATE users SET name = $1, fold = $1 WHERE name = 'Shop'", people.USER_IDS["Root"])
    refused(world.call("DELETE", f"{TOKEN}/{people.USER_IDS['Root']}", by="Shop"), 403, "role_missing")


@pytest.mark.both_engines
def test_revoked_token_and_lost_permission_end_at_once_here_and_within_five_seconds_elsewhere(
    make_world: MakeWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = SimpleNamespace(monotonic=lambda: 1000.0)
    monkeypatch.setattr(caller, "time", clock)
    here, elsewhere = make_world(), make_world()

    def mute(world: World, token: str) -> int:
        return world.post("/api/v1/players/Bob/admin/mute?dryRun=true", {}, token=token).status

    pair = log_in(here)
    assert works(here, pair) is works(elsewhere, pair) is True
    assert here.call("DELETE", f"{TOKEN}/Shop", by="Root").status == 200
    assert not works(here, pair)
    clock.monotonic = lambda: 1005.0
    assert not works(elsewhere, pair)
    assert caller.CACHE_SECONDS < 5
    for name, method, path, body, status in (
        ("Taken", "POST", "/api/keeper/v1/users/Taken/roles", {"take": ["taken"]}, 400),
        ("Edited", "PUT", "/api/keeper/v1/roles/edited", {"permissions": list[str]()}, 400),
        ("Stopped", "POST", "/api/keeper/v1/users/Stopped/suspend", {}, 401),
    ):
        token = staff.add_account(here, name, "api", staff.save_role(here, name.lower(), ["moderation.mute"]))
        key = api_keys.create(here, Name=name, Permissions=["moderation.mute"], Owner=name)["Key"]
        assert [mute(world, each) for world in (here, elsewhere) for each in (token, key)] == [200] * 4
        assert here.call(method, path, body=body).status == 200
        assert [mute(here, each) for each in (token, key)] == [status] * 2
        now = clock.monotonic() + 5
        clock.monotonic = lambda now=now: now
        assert [mute(elsewhere, each) for each in (token, key)] == [status] * 2


def test_token_revoked_during_its_lookup_is_not_cached_as_active(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """The token is revoked after the database answered that it is active, but before that answer is cached."""
    pair, real = log_in(world), stored.find_caller
    assert world.get(PLAYERS, by="Root").status == 200

    async def overtaken(tx: Reading, access_hash: str) -> stored.CallerRow | None:
        row = await real(tx, access_hash)
        assert (await world.send("DELETE", f"{TOKEN}/Shop", by="Root")).status == 200
        return row

    with monkeypatch.context() as patched:
        patched.setattr(stored, "find_caller", overtaken)
        assert works(world, pair)
    assert not works(world, pair)


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("DELETE", f"{TOKEN}/Shop", None),
        ("POST", "/api/keeper/v1/users/Shop/powers", {"api": False}),
        ("DELETE", "/api/v1/users/Shop", None),
    ],
)
def test_token_revoked_while_body_arrives_writes_nothing(world: World, method: str, path: str, body: object) -> None:
    async def revoke() -> None:
        assert (await world.send(method, path, body=body)).status == 200

    answer = world.post(f"{PLAYERS}/Bob/items/give", GIVE, by="Shop", meanwhile=revoke)
    refused(answer, 401, "denied", DENIED)
    assert "items_given" not in [each.kind for each in world.ledger()]


def test_permission_removed_while_a_large_body_waits_for_its_turn_is_missing(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The large body waits in the gate after it has arrived, and permissions are read after that wait."""
    real = admission.Gate.run
    role = staff.save_role(world, "reporter", ["game.link"])
    token = staff.add_account(world, "Reporter", role)

    async def wait(self: admission.Gate, account: str, work: Any, **more: Any) -> Any:
        (await world.send("PUT", f"/api/keeper/v1/roles/{role}", body={"permissions": ["players.read"]})).accepted()
        return await real(self, account, work, **more)

    monkeypatch.setattr(admission.Gate, "run", wait)
    raw = b'{"X":7' + b" " * admission.LARGE_BYTES + b"}"
    answer = world.call("PUT", f"/api/link/v1/players/{people.BOB.id}", token=token, raw=raw)
    refused(answer, 403, "role_missing")
    assert world.get(f"{PLAYERS}/Bob").json["X"] != 7


def test_token_revoked_elsewhere_while_a_slow_body_arrives_writes_nothing(
    make_world: MakeWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = SimpleNamespace(monotonic=lambda: 1000.0)
    monkeypatch.setattr(caller, "time", clock)
    here, elsewhere = make_world(), make_world()

    async def revoke_and_wait() -> None:
        assert (await elsewhere.send("DELETE", f"{TOKEN}/Shop")).status == 200
        clock.monotonic = lambda: 1005.0

    answer = here.post(f"{PLAYERS}/Bob/items/give", GIVE, by="Shop", meanwhile=revoke_and_wait)
    refused(answer, 401, "denied", DENIED)
    assert "items_given" not in [each.kind for each in here.ledger()]
