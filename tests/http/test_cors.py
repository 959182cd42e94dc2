"""CORS is off by default; when origins are configured, exactly those are allowed, without cookies."""

from collections.abc import Callable

import pytest

from gamekeeper import settings
from gamekeeper.http.cors import Cors
from gamekeeper.settings import BadSetting
from loops import over
from world import Answer, World

PORTAL = "https://portal.example.com"
GIVE = "/api/v1/players/Ann/items/give"
MAKES = Callable[..., World]


def preflight(world: World, origin: str, path: str = GIVE) -> Answer:
    return world.call("OPTIONS", path, by=None, headers={"Origin": origin, "Access-Control-Request-Method": "POST"})


def of_cors(answer: Answer) -> dict[str, str]:
    return {name: value for name, value in answer.headers.items() if name.startswith("access-control-")}


def test_cors_is_off_by_default(shared_world: World) -> None:
    refused = preflight(shared_world, PORTAL)
    assert (refused.status, refused.headers["allow"], of_cors(refused)) == (405, "POST", {})
    answer = shared_world.get("/api/v1/players/Ann", headers={"Origin": PORTAL})
    assert (answer.status, of_cors(answer), answer.headers["vary"]) == (200, {}, "authorization")


def test_allowed_origins_get_cors_headers_and_others_none(make_world: MAKES) -> None:
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


@over(
    "value, found",
    [
        ("HTTPS://Portal.Example.com", {b"https://portal.example.com"}),
        ("https://a.test:443,http://a.test:80", {b"https://a.test", b"http://a.test"}),
        ("http://a.test:443 , http://localhost:3000", {b"http://a.test:443", b"http://localhost:3000"}),
        ("http://[::1]:3000", {b"http://[::1]:3000"}),
        (" ", set[bytes]()),
    ],
)
def test_setting_accepts_origins_as_browsers_spell_them(value: str, found: set[bytes]) -> None:
    assert Cors(settings.load({}, cors_origins=value)).origins == found


@over("value", ["*", "portal.example.com", "https://a.test/", "https://a.test/x", "https://*.a.test"])
def test_malformed_origin_in_the_setting_is_refused(value: str) -> None:
    with pytest.raises(BadSetting, match=r"GAMEKEEPER_CORS_ORIGINS has '.*' in it; each must be a scheme and a host"):
        Cors(settings.load({}, cors_origins=f"https://good.test,{value}"))
