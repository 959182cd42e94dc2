"""Why a 401 denies the caller: the header WWW-Authenticate, with the codes of RFC 6750."""

import pytest

from api_keys import KEYS, create
from gamekeeper.game.tokens import hash_token
from proof import refused
from token_pairs import DENIED, PLAYERS, log_in
from world import World


def read_reason(world: World, authorization: str) -> str:
    answer = world.get(PLAYERS, by=None, headers={"Authorization": authorization} if authorization else {})
    refused(answer, 401, "denied", DENIED)
    return answer.headers["www-authenticate"].partition('error_description="')[2].rstrip('"')


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
    reasons = {name: read_reason(world, each) for name, each in sent.items()}
    assert reasons.pop("missing") == ""  # RFC 6750: a request without a token gets no error code
    assert reasons.pop("barred").startswith("The account is suspended")
    assert {name: reason.partition(":")[0] for name, reason in reasons.items()} == {
        **dict.fromkeys(("malformed", "no prefix"), "Malformed"),
        **dict.fromkeys(("expired", "idle"), "Expired"),
        **dict.fromkeys(("revoked", "of round"), "Revoked"),
        "unknown": "Unknown",
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
    reasons = {name: read_reason(world, each) for name, each in sent.items()}
    assert {name: reasons[name].partition(":")[0] for name in ("expired", "revoked", "suspended", "unknown")} == {
        name: name.title() for name in ("expired", "revoked", "suspended", "unknown")
    }
    assert "rotated" in reasons["rotated"]
    assert reasons["barred"].startswith("The owner of the API key is banned")
