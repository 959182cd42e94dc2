"""Sign-ins with OpenID Connect while the provider is overloaded or sends unusual answers."""

import asyncio
import socket
import time

import pytest

from gamekeeper.http.access import oidc_requests
from gamekeeper.http.access.oidc_requests import Busy, Fetcher, Unreachable
from keepers import read_text
from listener import CHUNK, Listener
from loops import over
from oidc_browser import START, Browser, read_events, sign_in
from providers import ScriptedProvider
from world import MakeWorld

DISCOVERY = "/.well-known/openid-configuration"
DEEP = b"[" * 100_000
ODD_KEY = {"kty": "EC", "crv": "brainpoolP256r1", "x": "AA", "y": "AA", "kid": "odd", "use": "sig"}
OK = b"HTTP/1.1 200 OK\r\n"


def test_requests_beyond_the_limit_are_refused_at_once(
    provider: ScriptedProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(oidc_requests, "SECONDS", 300.0)

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


class Dripper(Listener):
    """Sends the start of an answer, and then a byte every 50 ms; if there is no start, a whole answer."""

    start: bytes | None = None

    def serve(self, caller: socket.socket) -> None:
        self._open.add(caller)
        caller.recv(CHUNK)
        start = self.start
        caller.sendall(OK + b"content-length: 0\r\n\r\n" if start is None else start)
        while start is not None:
            time.sleep(0.05)
            caller.sendall(b"1")


DRIPPING = [("http", b""), ("http", OK + b"X-A: "), ("http", OK + b"transfer-encoding: chunked\r\n\r\n1;")]


@over("scheme, start", *DRIPPING, ("http", OK + b"\r\n"), ("https", b"\x16\x03\x03\x40\x00"))
def test_timeout_and_shutdown_end_dripping_answers(monkeypatch: pytest.MonkeyPatch, scheme: str, start: bytes) -> None:
    async def fetch_slowly(dripper: Dripper) -> None:
        fetcher, dripper.start = Fetcher(), start
        slow, healthy = (f"{each}://127.0.0.1:{dripper.port}/" for each in (scheme, "http"))
        monkeypatch.setattr(oidc_requests, "SECONDS", 0.3)
        failed = await asyncio.gather(*(fetcher.fetch(slow) for _ in range(4)), return_exceptions=True)
        assert [type(each) for each in failed] == [Unreachable] * 4
        monkeypatch.setattr(oidc_requests, "SECONDS", 10.0)
        dripper.start = None
        assert (await fetcher.fetch(healthy)).status == 200
        dripper.start = start
        dripping = asyncio.create_task(fetcher.fetch(slow))
        await asyncio.sleep(0.2)
        fetcher.close()
        with pytest.raises(Unreachable):
            await asyncio.wait_for(dripping, 5)

    with Dripper() as dripper:
        asyncio.run(fetch_slowly(dripper))


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
    (DISCOVERY, (200, b'{"issuer": "\xff"}'), 503, "cannot be read"),
    (DISCOVERY, (200, b'{"more": ' + DEEP), 503, "cannot be read"),
    ("/token", (200, b'{"id_token": "\xff"}'), 503, "cannot be read"),
    ("/token", (400, b'{"error": "\xff"}'), 400, "400"),
    ("/token", (400, b'{"more": ' + DEEP), 400, "400"),
    ("/token", (302, b""), 503, "it answered 302 to the request for the ID token"),
    ("/token", (502, b'{"error": "invalid_grant"}'), 503, "it answered 502 to the request for the ID token"),
    ("/jwks", (200, b'{"keys": [{"more": ' + DEEP), 503, "cannot be read"),
    ("/jwks", (500, b'{"keys": []}'), 503, "it answered 500 to the request for its keys"),
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
    assert problem in read_text(refused)
