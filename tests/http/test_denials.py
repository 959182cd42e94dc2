"""Why a 401 denies the caller: the header WWW-Authenticate, with the codes of RFC 6750."""

import pytest

from api_keys import KEYS, create
from gamekeeper.game.tokens import hash_token
from proof import refused
from token_pairs import DENIED, PLAYERS, log_in
from world import World

MISSING = "Bearer"  # RFC 6750: a request without a token gets no error code
PROBLEMS = {
    "malformed": "Malformed: send 'Authorization: Bearer' and the access token or API key as you got it",
    "unknown": "Unknown: the token was changed on its way, or expired long ago",
    "expired": "Expired: log in again, or refresh the token",
    "revoked": "Revoked: log in again, unless the account was banned",
    "barred": "The account is suspended or has no role, so its tokens and API keys do not work",
    "key expired": "Expired: create another API key",
    "key rotated": "Expired: the API key was rotated and has a new text",
    "key revoked": "Revoked: create another API key",
    "key suspended": "Suspended: an administrator can let the API key work again",
    "owner banned": "The owner of the API key is banned or suspended, or has no role",
}


def read_reason(world: World, authorization: str) -> str:
    answer = world.get(PLAYERS, by=None, headers={"Authorization": authorization} if authorization else {})
    refused(answer, 401, "denied", DENIED)
    challenge = answer.headers["www-authenticate"]
    if challenge == MISSING:
        return "missing"
    found = [
        name
        for name, each in PROBLEMS.items()
        if challenge == f'Bearer error="invalid_token", error_description="{each}"'
    ]
    return found[0] if found else challenge


@pytest.mark.both_engines
def test_401_tells_why_a_token_does_not_work(world: World) -> None:
    texts = {name: log_in(world).json["access_token"] for name in ("expired", "idle", "revoked", "of round", "barred")}
    text = texts["expired"]
    world.sql("UPDATE tokens SET access_expires = 1 WHERE access_hash = $1", hash_token(text))
    world.sql("UPDATE tokens SET idle_ms = 1, last_used = 1 WHERE access_hash = $1", hash_token(texts["idle"]))
    world.sql(
        "UPDATE tokens SET revoked_at = 1, access_expires = 1 WHERE access_hash = $1", hash_token(texts["revoked"])
    )
    world.sql("UPDATE tokens SET round = -1 WHERE access_hash = $1", hash_token(texts["of round"]))
    world.sql("UPDATE users SET suspended = $1 WHERE name = 'Shop'", True)
    sent = {name: f"Bearer {each}" for name, each in texts.items()}
    sent |= {
        "missing": "",
        "malformed": f"Basic {text}",
        "no prefix": f"Bearer {text[4:]}",
        "unknown": f"Bearer {text}x",
    }
    assert {name: read_reason(world, each) for name, each in sent.items()} == {
        "missing": "missing",
        "malformed": "malformed",
        "no prefix": "malformed",
        "unknown": "unknown",
        "expired": "expired",
        "idle": "expired",
        "revoked": "revoked",
        "of round": "revoked",
        "barred": "barred",
    }


@pytest.mark.both_engines
def test_401_tells_why_an_api_key_does_not_work(world: World) -> None:
    names = ("expired", "rotated", "revoked", "suspended", "barred")
    keys = {name: create(world, Name=name, Owner="Shop") for name in names}
    world.sql("UPDATE api_keys SET expires_at = 1 WHERE name = 'expired'")
    assert world.post(f"{KEYS}/{keys['rotated']['Id']}/rotate", {}).status == 200
    assert world.call("DELETE", f"{KEYS}/{keys['revoked']['Id']}").status == 200
    assert world.call("PUT", f"{KEYS}/{keys['suspended']['Id']}", body={"Suspended": True}).status == 200
    world.sql("UPDATE users SET suspended = $1 WHERE name = 'Shop'", True)
    sent = {name: f"Bearer {each['Key']}" for name, each in keys.items()} | {"unknown": "Bearer gkk_unknown"}
    assert {name: read_reason(world, each) for name, each in sent.items()} == {
        "expired": "key expired",
        "rotated": "key rotated",
        "revoked": "key revoked",
        "suspended": "key suspended",
        "barred": "owner banned",
        "unknown": "unknown",
    }
