"""The complete HTTP headers of every kind of answer."""

from collections.abc import Callable
from typing import Any

from gamekeeper.http import pages
from loops import over
from world import World

SAFE = {"x-content-type-options": "nosniff", "referrer-policy": "no-referrer"}
API = {**SAFE, "content-security-policy": "default-src 'none'; frame-ancestors 'none'"}
PAGE = {**SAFE, "content-security-policy": pages.POLICY.decode()}
JSON = {"content-type": "application/json; charset=utf-8"}
UNKEPT = {"cache-control": "no-store"}
KEPT = {"cache-control": "private, no-cache", "vary": "authorization"}
ENCODED = {"cache-control": "private, no-cache", "vary": "accept-encoding"}
DIFFERING = {"x-request-id", "content-length", "etag"}

CASES: dict[str, tuple[dict[str, Any], dict[str, str], set[str]]] = {
    "a read": ({"path": "/api/v1/players/Ann"}, API | JSON | KEPT, {"etag"}),
    "a refusal": ({"path": "/api/v1/players/Nobody"}, API | JSON | UNKEPT, set()),
    "no route": ({"path": "/nowhere"}, API | JSON | UNKEPT, set()),
    "a write": ({"path": "/api/v1/players/Bob/items/give", "method": "POST"}, API | JSON | UNKEPT, set()),
    "health": ({"path": "/health/live"}, API | JSON | UNKEPT, set()),
    "the document": ({"path": "/api/openapi.json"}, API | JSON | ENCODED, {"etag"}),
    "its script": (
        {"path": "/api/docs/docs.js"},
        PAGE | ENCODED | {"content-type": "text/javascript; charset=utf-8"},
        {"etag"},
    ),
}


@over("name", CASES)
def test_answer_has_exactly_these_headers(shared_world: World, name: str) -> None:
    asked, wanted, more = CASES[name]
    answer = shared_world.call(asked.get("method", "GET"), **{key: asked[key] for key in asked if key != "method"})
    assert answer.headers.keys() & DIFFERING == {"x-request-id", "content-length", *more}
    assert {key: value for key, value in answer.headers.items() if key not in DIFFERING} == wanted


def test_not_modified_answer_has_exactly_these_headers(shared_world: World) -> None:
    tag = shared_world.get("/api/v1/players/Ann").headers["etag"]
    answer = shared_world.get("/api/v1/players/Ann", headers={"If-None-Match": tag})
    assert answer.status == 304
    assert answer.headers == API | KEPT | {"etag": tag, "x-request-id": answer.headers["x-request-id"]}


def test_hsts_header_is_sent_over_tls_only(make_world: Callable[..., World]) -> None:
    world = make_world(tls_cert="cert.pem", tls_key="key.pem")
    assert world.get("/health/live").headers["strict-transport-security"] == "max-age=31536000"


def test_no_header_is_repeated(make_world: Callable[..., World]) -> None:
    """The raw list is compared, because the mapping `Answer.headers` hides duplicates."""
    origin = "https://portal.example.com"
    world = make_world(cors_origins=origin, receive_seconds=1)
    sent = [(b"connection", b"close"), (b"origin", origin.encode()), (b"authorization", b"Bearer nothing")]
    for method, path in (("GET", b"/api/v1/players"), ("POST", b"/api/oauth/token"), ("OPTIONS", b"/api/docs")):
        names = [name for name, _ in world.run(_headers(world, method, path, sent))]
        assert len(names) == len(set(names))
        assert names.count(b"connection") == 1


async def _headers(
    world: World, method: str, path: bytes, sent: list[tuple[bytes, bytes]]
) -> list[tuple[bytes, bytes]]:
    """Return the headers of the answer to a request whose body never arrives."""
    scope = {"type": "http", "method": method, "raw_path": path, "query_string": b"", "headers": sent}
    found: list[Any] = []

    async def receive() -> Any:
        await world.loop.create_future()

    async def send(message: Any) -> None:
        found.append(message)

    await world.asgi(scope, receive, send)
    return found[0]["headers"]
