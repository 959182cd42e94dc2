"""Headers of answers: the complete set of each kind, codings with their ETags, and CORS."""

import gzip
from typing import Any

import pytest

from gamekeeper.console.frame import static_files as console_static_files
from gamekeeper.ground import settings
from gamekeeper.ground.settings import BadSetting
from gamekeeper.http import openapi
from gamekeeper.http.server import static_files
from gamekeeper.http.server.response_headers import Cors
from loops import over
from world import Answer, MakeWorld, World

SAFE = {"x-content-type-options": "nosniff", "referrer-policy": "no-referrer"}
API = {**SAFE, "content-security-policy": "default-src 'none'; frame-ancestors 'none'"}
PAGE = {**SAFE, "content-security-policy": openapi.POLICY.decode()}
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


@over("name", *CASES)
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


def test_hsts_header_is_sent_over_tls_only(make_world: MakeWorld) -> None:
    world = make_world(tls_cert="cert.pem", tls_key="key.pem")
    assert world.get("/health/live").headers["strict-transport-security"] == "max-age=31536000"


PATHS = (
    "/api/openapi.json",
    "/api/docs",
    f"/api/docs/docs.js?v={static_files.VERSION}",
    f"/console/static/{console_static_files.VERSION}/console.css",
)


def fetch(world: World, path: str, **headers: str) -> Answer:
    return world.get(path, by=None, headers={name.replace("_", "-"): text for name, text in headers.items()})


@over("path", *PATHS)
def test_unchanging_answer_has_a_form_and_an_etag_per_coding(shared_world: World, path: str) -> None:
    plain, packed = fetch(shared_world, path), fetch(shared_world, path, accept_encoding="br, gzip")
    assert (plain.status, packed.status) == (200, 200)
    assert gzip.decompress(packed.raw) == plain.raw
    assert len(packed.raw) < len(plain.raw) / 1.5
    assert (plain.headers.get("content-encoding"), packed.headers.get("content-encoding")) == (None, "gzip")
    assert [each.headers["content-length"] for each in (plain, packed)] == [str(len(plain.raw)), str(len(packed.raw))]
    assert [each.headers["vary"] for each in (plain, packed)] == ["accept-encoding"] * 2
    assert packed.headers["cache-control"] == plain.headers["cache-control"]
    tags = {"": plain.headers["etag"], "gzip": packed.headers["etag"]}
    assert tags[""] != tags["gzip"]
    for coding, wanted in tags.items():
        for cached, tag in tags.items():
            again = fetch(shared_world, path, accept_encoding=coding, if_none_match=tag)
            known = coding == cached
            assert (again.status, again.headers["etag"]) == (304 if known else 200, wanted), (coding, cached)
            assert again.headers["vary"] == "accept-encoding"
            assert again.headers.get("content-encoding") == (None if known else coding or None)
            assert (again.raw == b"") == known


PORTAL = "https://portal.example.com"
GIVE = "/api/v1/players/Ann/items/give"


def preflight(world: World, origin: str, path: str = GIVE) -> Answer:
    return world.call("OPTIONS", path, by=None, headers={"Origin": origin, "Access-Control-Request-Method": "POST"})


def of_cors(answer: Answer) -> dict[str, str]:
    return {name: value for name, value in answer.headers.items() if name.startswith("access-control-")}


def test_allowed_origins_get_cors_headers_and_others_none(make_world: MakeWorld) -> None:
    world = make_world(cors_origins=f"https://other.example.com, {PORTAL}")
    answer = preflight(world, PORTAL)
    assert (answer.status, answer.raw) == (204, b"")
    assert of_cors(answer) == {
        "access-control-allow-origin": PORTAL,
        "access-control-allow-methods": "POST",
        "access-control-allow-headers": "authorization, content-type, idempotency-key, if-none-match, x-reason",
        "access-control-max-age": "600",
        "access-control-expose-headers": answer.headers["access-control-expose-headers"],
    }
    assert answer.headers["vary"] == "origin"
    assert preflight(world, PORTAL, "/api/v1/players").headers["access-control-allow-methods"] == "GET, POST"
    for path, status, vary in (("Ann", 200, "authorization, origin"), ("Nobody", 404, "origin")):
        answer = world.get(f"/api/v1/players/{path}", headers={"Origin": PORTAL})
        assert (answer.status, answer.headers["vary"]) == (status, vary)
        assert answer.headers["access-control-allow-origin"] == PORTAL
        assert "access-control-allow-credentials" not in answer.headers
    # without the headers of a preflight, OPTIONS is an ordinary request
    assert world.call("OPTIONS", GIVE, headers={"Origin": PORTAL}).status == 405
    for origin in ("https://evil.example.com", "null", "*", f"{PORTAL}.evil.example.com", f"{PORTAL}:8443"):
        refused = preflight(world, origin)
        assert (refused.status, of_cors(refused), refused.headers["vary"]) == (405, {}, "origin")
        answer = world.get("/api/v1/players/Ann", headers={"Origin": origin})
        assert (answer.status, of_cors(answer)) == (200, {})


@over("value", "*", "portal.example.com", "https://a.test/", "https://a.test/x", "https://*.a.test")
def test_malformed_origin_in_the_setting_is_refused(value: str) -> None:
    with pytest.raises(BadSetting, match=r"GAMEKEEPER_CORS_ORIGINS has '.*' in it; each must be a scheme and a host"):
        Cors(settings.load({}, cors_origins=f"https://good.test,{value}"))
