"""API paths match in any case, like those of the engine; other paths and path parameters keep their case."""

from collections.abc import Callable
from typing import Any

import pytest

from gamekeeper import log
from people import COIN
from proof import refused
from world import World

PORTAL = "https://portal.example.com"
GIVE = "/API/v1/Players/Bob/Items/GIVE"


def test_literal_segment_in_any_case_wins_over_a_name(shared_world: World) -> None:
    for path in ("rank", "online/count", f"bag/{COIN.id}"):
        plain = shared_world.get(f"/api/v1/players/{path}")
        other = shared_world.get(f"/Api/V1/PLAYERS/{path.upper()}")
        encoded = shared_world.get(f"/%41pi/v1/players/{path.replace('a', '%41').replace('n', '%4E')}")
        assert (other.status, encoded.status) == (plain.status, plain.status)
        if plain.status == 200:
            assert (other.raw, encoded.raw) == (plain.raw, plain.raw)


@pytest.mark.parametrize("name", ["bag", "BAG", "b%61g", "", "rank"])
def test_literal_segment_inside_a_path_wins_over_a_name(shared_world: World, name: str) -> None:
    path = f"/api/v1/players/{name}/items/give"
    refused(shared_world.post(path, {"itemid": COIN.id, "quantity": 1}), 404, "no_such_route")


def test_name_inside_a_path_may_be_percent_encoded(world: World) -> None:
    body = {"itemid": COIN.id, "quantity": 1}
    for name in ("Bob", "B%6Fb"):
        assert world.post(f"/api/v1/players/{name}/items/give", body).status == 200
    refused(world.post("/api/v1/players/A%2Fb/items/give", body), 404, "no_such_player", "No player with name 'A/b'.")


def test_path_parameter_keeps_its_case(shared_world: World) -> None:
    refused(shared_world.get("/API/V1/Players/nObOdY"), 404, "no_such_player", "No player with name 'nObOdY'.")
    refused(shared_world.get("/API/V1/Users/GhOsT"), 404, "no_such_user", "No user with name 'GhOsT'.")


def test_write_by_a_path_in_another_case_is_the_same_request(world: World) -> None:
    body, key = {"itemid": COIN.id, "quantity": 3}, {"Idempotency-Key": "once"}
    first = world.post(GIVE, body, headers=key)
    assert first.status == 200
    again = world.post("/api/v1/players/Bob/items/give", body, headers=key)
    assert (again.raw, again.headers["idempotent-replay"]) == (first.raw, "true")


def test_refusals_are_the_same_in_any_case(shared_world: World) -> None:
    answer = shared_world.call("DELETE", "/API/v1/Users")
    assert (answer.status, answer.headers["allow"]) == (405, "GET, POST")
    answer = shared_world.call("OPTIONS", GIVE)
    assert (answer.status, answer.headers["allow"]) == (405, "POST")
    refused(shared_world.get("/API/v1/Nonsense"), 404, "no_such_route")
    refused(shared_world.get("/API/v1/Players", by=None), 401, "denied")
    log_in = shared_world.call("POST", "/API/OAuth/Token", by=None, body={})
    assert (log_in.status, log_in.json["error"]) == (400, "invalid_request")


def test_preflight_is_answered_in_any_case(make_world: Callable[..., World]) -> None:
    world = make_world(cors_origins=PORTAL)
    asks = {"Origin": PORTAL, "Access-Control-Request-Method": "POST"}
    answer = world.call("OPTIONS", GIVE, by=None, headers=asks)
    assert (answer.status, answer.headers["access-control-allow-methods"]) == (204, "POST")


@pytest.mark.parametrize("path", ["/Console", "/console/Changes", "/HEALTH/live", "/health/Live", "/Metrics"])
def test_other_paths_are_case_sensitive(make_world: Callable[..., World], path: str) -> None:
    world = make_world(metrics_token="scrape-me")
    assert world.get(path.lower(), token="scrape-me").status != 404
    assert world.get(path, token="scrape-me").status == 404


def test_metrics_and_log_name_the_declared_path(
    make_world: Callable[..., World], monkeypatch: pytest.MonkeyPatch
) -> None:
    lines: list[Any] = []

    def access(*line: object) -> None:
        lines.append(line)

    monkeypatch.setattr(log, "access", access)
    world = make_world(metrics_token="scrape-me", access_log=True)
    assert world.get("/API/V1/Players/BOB").status == 200
    named = "GET /api/v1/players/[lookupKey]"
    assert [line[2] for line in lines] == [named]
    figures = world.get("/metrics", token="scrape-me").raw.decode()
    assert f'route="{named}"' in figures
    assert "API" not in figures.replace("# HELP", "")


def test_router_finds_literal_before_parameter_in_any_case(world: World) -> None:
    find = world.asgi.services.router.find
    route, params = find("GET", b"/Api/v1/Players/RANK")
    assert (route.path, params) == ("/api/v1/players/rank", ())
    route, params = find("GET", b"/Api/v1/Players/Bob")
    assert (route.path, params) == ("/api/v1/players/[lookupKey]", ("Bob",))
