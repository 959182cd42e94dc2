"""Sign-ins with OpenID Connect: the flow, and bad answers of a provider."""

import time
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest

from gamekeeper.http.access import oidc_requests
from keepers import Keeper, read_text
from loops import over
from markup import Page
from oidc_browser import SIGN_IN, START, Browser, find_user, read_events, sign_in
from providers import CALLBACK, ScriptedProvider, make_key
from world import MakeWorld


def test_sign_in_is_recorded_and_prompts_again(open_to: MakeWorld, provider: ScriptedProvider) -> None:
    world = open_to()
    browser, answer = sign_in(world, provider, groups=["support"])
    assert (answer.status, answer.headers["location"]) == (303, "/console")
    assert browser.get("/console/characters").status == 200
    event = read_events(world, "sign_in")[0]
    assert (event["User"], event["Address"], event["Browser"]) == ("Dora", "127.0.0.1", "Firefox")
    assert event["Details"]["By"] == provider.issuer
    kinds = [(each.kind, each.reason, each.actor_id) for each in world.ledger()[-2:]]
    me = find_user(world, "ann-at-work")
    assert kinds == [(kind, "OpenID Connect sign-in", me) for kind in ("user_registered", "identities_changed")]
    assert provider.issuer in str(world.ledger()[-1].after)
    assert "ann-at-work" not in "".join(str(each) for each in world.ledger())
    browser = Browser(open_to())
    address = browser.start()
    assert "prompt" not in dict(parse_qsl(urlsplit(address).query))
    assert browser.finish(provider.sign_in(address, groups=["ops"])).status == 303
    assert dict(parse_qsl(urlsplit(browser.start()).query))["prompt"] == "login"


def test_state_is_refused_when_wrong_or_expired(
    open_to: MakeWorld, provider: ScriptedProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = open_to()
    browser = Browser(world)
    callback = provider.sign_in(browser.start(), groups=["ops"])
    wrong = callback.replace("state=", "state=0")
    for refused in (browser.finish(wrong), Browser(world).finish(callback)):
        assert refused.status == 400
        assert "did not start in this browser" in read_text(refused)
    assert "/token" not in provider.requests
    world.sql("DELETE FROM security_events")
    other = Browser(world)
    other.start()
    assert other.finish(callback).status == 400  # the cookie of another sign-in
    assert browser.finish(callback).status == 303
    (event,) = read_events(world, "oidc_refused")
    assert (event["Address"], event["Details"]["Count"]) == ("127.0.0.1", 3)
    browser = Browser(open_to())
    callback = provider.sign_in(browser.start(), groups=["ops"])
    monkeypatch.setattr("gamekeeper.game.access.credentials.LIFE_MINUTES", -1)
    assert browser.finish(callback).status == 400


WRONG_CLAIMS: tuple[tuple[dict[str, Any], str], ...] = (
    ({"nonce": "of another sign-in"}, "nonce"),
    ({"nonce": None}, "nonce"),
    ({"aud": "another-client"}, "aud"),
    ({"aud": ["gamekeeper", "another-client"]}, "another client"),
    ({"azp": "another-client"}, "another client"),
    ({"iss": "https://id.example"}, "iss"),
    ({"exp": int(time.time()) - 120}, "expired"),
    ({"exp": None}, "exp"),
    ({"iat": int(time.time()) + 100_000}, "issued in the future"),
    ({"sub": ""}, "sub"),
    ({"sub": "ann\0"}, "sub"),
    ({"sub": "änn"}, "sub"),
    ({"sub": "a" * 256}, "sub"),
)


def test_id_token_with_a_wrong_claim_is_refused(open_to: MakeWorld, provider: ScriptedProvider) -> None:
    world = open_to()
    for claims, problem in WRONG_CLAIMS:
        browser = Browser(world)
        callback = provider.sign_in(browser.start(), groups=["ops"])
        provider.claims |= claims
        refused = browser.finish(callback)
        assert refused.status == 400, claims
        assert problem in read_text(refused)
        assert browser.get("/console/characters").status == 303, claims
    assert world.sql("SELECT COUNT(*) FROM identities") == [(0,)]


@over("algorithm", "none", "HS256")
def test_id_token_without_an_asymmetric_signature_is_refused(
    open_to: MakeWorld, provider: ScriptedProvider, algorithm: str
) -> None:
    provider.algorithm = algorithm
    _, refused = sign_in(open_to(), provider, groups=["ops"])
    assert refused.status == 400
    assert "ID token is not valid" in read_text(refused)


def test_id_token_of_an_unknown_key_is_refused_and_a_new_key_works(
    open_to: MakeWorld, provider: ScriptedProvider
) -> None:
    world = open_to()
    assert sign_in(world, provider, groups=["ops"])[1].status == 303
    provider.key = make_key("two")
    assert sign_in(world, provider, groups=["ops"])[1].status == 400
    provider.published.append(provider.key)
    assert sign_in(world, provider, groups=["ops"])[1].status == 303


def test_callback_works_once_over_two_instances(open_to: MakeWorld, provider: ScriptedProvider) -> None:
    one, two = open_to(), open_to()
    browser = Browser(one)
    callback = provider.sign_in(browser.start(), groups=["ops"])
    provider.accepts_codes_twice = True
    assert browser.finish(callback, two).status == 303  # it began at the other instance
    for world in (one, two):
        refused = browser.finish(callback, world)
        assert refused.status == 400
        assert "used already" in read_text(refused)
    provider.accepts_codes_twice = False
    assert "invalid_grant" not in read_text(browser.finish(callback, one))
    assert "invalid_grant" in read_text(browser.finish(callback, one))


def test_refusals_of_the_provider_are_shown(open_to: MakeWorld) -> None:
    world = open_to()
    browser = Browser(world)
    state = dict(parse_qsl(urlsplit(browser.start()).query))["state"]
    denied = browser.finish(f"{CALLBACK}?error=access_denied&state={state}")
    assert denied.status == 400
    assert "access_denied" in read_text(denied)
    assert browser.finish(f"{CALLBACK}?state={state}").status == 400
    assert browser.finish(f"{CALLBACK}?code=x&iss=https://id.example&state={state}").status == 400
    assert "invalid_grant" in read_text(browser.finish(f"{CALLBACK}?code=never-issued&state={state}"))
    world = open_to(oidc_issuer="http://127.0.0.1:9")  # the port `discard`, where no server listens
    refused = Browser(world).get(START)
    assert refused.status == 503
    assert "sign in with your password" in read_text(refused)
    assert SIGN_IN in [each.action for each in Page(refused.raw.decode()).forms]
    assert Keeper(world).sign_in("Shop").status == 303


def test_too_large_answer_is_refused(open_to: MakeWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(oidc_requests, "MAX_BYTES", 100)
    assert "too large" in read_text(Browser(open_to()).get(START))
