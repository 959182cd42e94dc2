"""Sign-ins with OpenID Connect while the provider is overloaded or sends unusual answers."""

import asyncio

import pytest

from gamekeeper.http.access import oidc_provider
from gamekeeper.http.access.oidc_provider import Busy, Fetcher
from loops import over
from oidc_browser import START, Browser, MakeWorld, read, read_events, sign_in
from providers import ScriptedProvider

DISCOVERY = "/.well-known/openid-configuration"
DEEP = b"[" * 100_000
ODD_KEY = {"kty": "EC", "crv": "brainpoolP256r1", "x": "AA", "y": "AA", "kid": "odd", "use": "sig"}
DRIPS, DRIP_SECONDS = 200, 0.05  # a slow answer takes ten seconds, with a byte every 50 ms


def test_requests_beyond_the_limit_are_refused_at_once(
    provider: ScriptedProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(oidc_provider, "SECONDS", 300.0)

    async def fetch_many() -> None:
        fetcher = Fetcher()
        provider.open.clear()
        waiting = [asyncio.create_task(fetcher.fetch(provider.issuer + DISCOVERY)) for _ in range(16)]
        await asyncio.sleep(0)
        try:
            with pytest.raises(Busy):
                await asyncio.wait_for(fetcher.fetch(provider.issuer + DISCOVERY), 60)
        finally:
            provider.open.set()
        assert [each.status for each in await asyncio.gather(*waiting)] == [200] * 16
        assert (await fetcher.fetch(provider.issuer + DISCOVERY)).status == 200
        fetcher.close()

    asyncio.run(fetch_many())


def test_odd_key_and_outage_do_not_stop_sign_ins(open_to: MakeWorld, provider: ScriptedProvider) -> None:
    provider.answers["/jwks"] = 200, {"keys": [ODD_KEY, provider.key.as_dict(private=False)]}
    assert sign_in(open_to(), provider, groups=["ops"])[1].status == 303
    provider.answers["/jwks"] = 200, {"keys": [ODD_KEY]}
    assert sign_in(open_to(), provider, groups=["ops"])[1].status == 400
    world = open_to()
    provider.answers["/jwks"] = 500, {}
    assert sign_in(world, provider, groups=["ops"])[1].status == 503
    assert read_events(world, "oidc_refused") == []


@over(
    "path, answer, status, problem",
    [
        (DISCOVERY, (200, b'{"issuer": "\xff"}'), 503, "cannot be read"),
        (DISCOVERY, (200, b'{"more": ' + DEEP), 503, "cannot be read"),
        ("/token", (200, b'{"id_token": "\xff"}'), 503, "cannot be read"),
        ("/token", (400, b'{"error": "\xff"}'), 400, "400"),
        ("/token", (400, b'{"more": ' + DEEP), 400, "400"),
        ("/jwks", (200, b'{"keys": [{"more": ' + DEEP), 503, "cannot be read"),
        ("/jwks", (500, b'{"keys": []}'), 503, "it answered 500 to the request for its keys"),
    ],
)
def test_unreadable_answer_is_refused(
    open_to: MakeWorld, provider: ScriptedProvider, path: str, answer: tuple[int, bytes], status: int, problem: str
) -> None:
    provider.answers.clear()
    browser = Browser(open_to())
    provider.answers[path] = answer
    refused = browser.get(START)
    if path != DISCOVERY:
        refused = browser.finish(provider.sign_in(browser.start(), groups=["ops"]))
    assert refused.status == status
    assert problem in read(refused)
