"""GET info: information about the server, which sites and tools request first."""

import itertools
import time
from dataclasses import fields
from types import SimpleNamespace
from typing import Any

import pytest

from expectations import refused
from game_server import heartbeat, join, lapse, online
from gamekeeper.http import request_rates
from gamekeeper.settings import Settings
from people import ANN, BOB
from world import World

INFO = "/api/v1/info"
PATHS = [INFO, f"{INFO}/authorized", f"{INFO}/stats", f"{INFO}/config", f"{INFO}/config/stats"]
SECRETS = [each.name for each in fields(Settings) if each.metadata["secret"]]


@pytest.mark.parametrize("path", PATHS)
def test_any_token_is_enough_and_none_is_401(world: World, path: str) -> None:
    refused(world.get(path, by=None), 401, "denied")
    refused(world.get(path, token="gka_unknown"), 401, "denied")
    assert world.get(path, by="Shop").status == 200


def test_version_list_needs_no_token(world: World) -> None:
    answer = world.get("/api/info", by=None)
    assert (answer.status, answer.json) == (200, {"versions": ["v1"]})


def test_version_list_is_a_bare_array(world: World) -> None:
    answer = world.get("/api/info/versions", by=None)
    assert (answer.status, answer.json) == (200, ["v1"])


def test_info_has_name_and_port(make_world: Any) -> None:
    world = make_world(game_name="Harrowmere", port=5401)
    assert world.get(INFO).json == {"name": "Harrowmere", "port": 5401}


def test_active_token_is_authorized(world: World) -> None:
    assert world.get(f"{INFO}/authorized").json == {"authorized": True}


def test_config_has_the_limits_from_the_settings(make_world: Any) -> None:
    limits = {"max_characters": 3, "inventory_slots": 36, "bank_slots": 101, "spell_slots": 37, "max_level": 99}
    world = make_world(game_name="Harrowmere", port=5401, **limits)
    assert world.get(f"{INFO}/config").json == {
        "GameName": "Harrowmere",
        "ServerPort": 5401,
        "Player": {
            "MaxCharacters": 3,
            "MaxInventory": 36,
            "MaxBank": 101,
            "MaxSpells": 37,
            "MaxLevel": 99,
            "MaxStat": 255,
            "InitialBankslots": 101,
        },
    }


def test_info_contains_no_secret(make_world: Any) -> None:
    hidden = {name: f"smtp://hidden-{name}" for name in SECRETS if name != "database"}
    world = make_world(mail_from="keeper@example.test", **hidden)
    assert {"smtp_url", "metrics_token"} < set(SECRETS)
    for path in PATHS:
        told = world.get(path).raw.decode()
        assert "hidden-" not in told
        assert world.url not in told


def test_stat_names_are_listed(world: World) -> None:
    names = ["Attack", "AbilityPower", "Defense", "MagicResist", "Speed"]
    assert world.get(f"{INFO}/config/stats").json == names


def test_uptime_grows_and_is_not_cached(world: World) -> None:
    first = world.get(f"{INFO}/stats")
    time.sleep(0.02)
    second = world.get(f"{INFO}/stats")
    assert 0 <= first.json["uptime"] <= second.json["uptime"] - 20
    assert list(first.json) == ["uptime", "cps", "connectedClients", "onlineCount"]
    assert (first.headers["cache-control"], "etag" in first.headers) == ("no-store", False)


def test_cps_counts_requests_answered_in_the_last_second(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    seconds = itertools.count(time.monotonic_ns() + 10**10, 10**9)
    now = next(seconds)
    monkeypatch.setattr(request_rates, "time", SimpleNamespace(monotonic_ns=lambda: now))
    for path, by in ((INFO, "Shop"), (INFO, None), ("/nowhere", None), ("/health/live", None)):
        world.get(path, by=by)
    now = next(seconds)
    assert [world.get(f"{INFO}/stats").json["cps"] for _ in range(2)] == [4, 4]
    now = next(seconds)
    assert world.get(f"{INFO}/stats").json["cps"] == 2


def test_stats_count_game_servers_and_online_players(world: World) -> None:
    def read_counts() -> tuple[int, int]:
        stats = world.get(f"{INFO}/stats").json
        assert stats["onlineCount"] == len(online(world))
        return stats["connectedClients"], stats["onlineCount"]

    assert read_counts() == (0, 0)
    heartbeat(world, "one")
    heartbeat(world, "two")
    join(world, ANN.id, BOB.id, server="one")
    assert read_counts() == (2, 2)
    lapse(world, "one")
    assert read_counts() == (1, 0)
