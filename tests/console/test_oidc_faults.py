"""Sign-ins with OpenID Connect while the provider is slow, overloaded or sends unusual answers."""

import asyncio
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from queue import Queue

import pytest
from oidc_browser import START, Browser, MakeWorld, read, read_events, sign_in

from gamekeeper.oidc import configuration, fetching
from gamekeeper.oidc import provider as providers
from gamekeeper.oidc.fetching import Busy, Fetcher, Unreachable
from gamekeeper.oidc.provider import Provider
from gamekeeper.settings import Settings
from loops import over
from providers import PUBLIC_URL, ScriptedProvider, make_settings

DISCOVERY = "/.well-known/openid-configuration"
DEEP = b"[" * 100_000
ODD_KEY = {"kty": "EC", "crv": "brainpoolP256r1", "x": "AA", "y": "AA", "kid": "odd", "use": "sig"}
DRIPS, DRIP_SECONDS = 200, 0.05  # a slow answer takes ten seconds, with a byte every 50 ms


def test_requests_beyond_the_limit_are_refused_at_once(
    provider: ScriptedProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetching, "SECONDS", 300.0)

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


def test_too_many_sign_ins_are_explained_and_not_remembered(
    open_to: MakeWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    browser = Browser(open_to())
    with monkeypatch.context() as limited:
        limited.setattr(fetching, "MAX_WAITING", 0)
        refused = browser.get(START)
    assert refused.status == 503
    assert "too many people" in read(refused)
    assert browser.get(START).status == 303


def test_failed_discovery_is_remembered_for_a_while(
    open_to: MakeWorld, provider: ScriptedProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(providers, "FAILURE_SECONDS", 3600.0)
    provider.answers[DISCOVERY] = 500, {}
    browser = Browser(open_to())
    assert [browser.get(START).status for _ in range(3)] == [503] * 3
    assert provider.requests == [DISCOVERY]
    monkeypatch.setattr(providers, "FAILURE_SECONDS", 0.0)
    browser = Browser(open_to())
    assert browser.get(START).status == 503
    del provider.answers[DISCOVERY]
    assert browser.get(START).status == 303


def make_slow_server(ends: Queue[str]) -> ThreadingHTTPServer:
    """Return a server that sends its answer byte by byte, and puts into the queue who ended that."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("content-length", str(DRIPS))
            self.end_headers()
            try:
                for _ in range(DRIPS):
                    self.wfile.write(b" ")
                    time.sleep(DRIP_SECONDS)
            except OSError:
                ends.put("client")
            else:
                ends.put("server")

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - named so by the base class
            """Write no log."""

    return ThreadingHTTPServer(("127.0.0.1", 0), Handler)


def test_timeout_ends_the_connection_of_a_slow_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetching, "SECONDS", 1.0)
    ends = Queue[str]()

    async def fetch(address: str) -> None:
        fetcher = Fetcher()
        with pytest.raises(Unreachable):
            await fetcher.fetch(address)
        fetcher.close()

    with make_slow_server(ends) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        asyncio.run(fetch(f"http://127.0.0.1:{server.server_port}/"))
        assert ends.get(timeout=120) == "client"
        server.shutdown()


def test_closing_cancels_waiting_requests(provider: ScriptedProvider, tmp_path: Path) -> None:
    chosen = configuration.read(Settings(public_url=PUBLIC_URL, **make_settings(provider.issuer, tmp_path)))
    assert chosen

    async def close() -> None:
        closed = Provider(chosen)
        provider.open.clear()
        waiting = [asyncio.create_task(closed.discover()) for _ in range(16)]
        await asyncio.sleep(0)
        closed.close()
        provider.open.set()
        done = await asyncio.wait_for(asyncio.gather(*waiting, return_exceptions=True), 60)
        assert [type(each) for each in done].count(asyncio.CancelledError) == 12

    asyncio.run(close())


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
