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
    for name in ("bag", "BAG", "b%61g", "", "rank"):
        path = f"/api/v1/players/{name}/items/give"
        refused(shared_world.post(path, {"itemid": COIN.id, "quantity": 1}), 404, "no_such_route")
    refused(shared_world.get("/API/V1/Players/nObOdY"), 404, "no_such_player", "No player with name 'nObOdY'.")
    answer = shared_world.call("OPTIONS", GIVE)
    assert (answer.status, answer.headers["allow"]) == (405, "POST")


def test_write_by_a_path_in_another_case_is_the_same_request(world: World) -> None:
    body, key = {"itemid": COIN.id, "quantity": 3}, {"Idempotency-Key": "once"}
    first = world.post(GIVE, body, headers=key)
    assert first.status == 200
    again = world.post("/api/v1/players/Bob/items/give", body, headers=key)
    assert (again.raw, again.headers["idempotent-replay"]) == (first.raw, "true")


def test_other_paths_are_case_sensitive(make_world: Callable[..., World]) -> None:
    world = make_world(metrics_token="scrape-me")
    for path in ("/Console", "/console/Changes", "/HEALTH/live", "/health/Live", "/Metrics"):
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
