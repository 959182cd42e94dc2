"""GET info: information about the server, which sites and tools request first."""

from dataclasses import fields
from typing import Any

from game_server import heartbeat, join, lapse, online
from gamekeeper.ground.settings import Settings
from people import ANN, BOB
from world import World

INFO = "/api/v1/info"
PATHS = [INFO, f"{INFO}/authorized", f"{INFO}/stats", f"{INFO}/metrics", f"{INFO}/config", f"{INFO}/config/stats"]
SECRETS = [each.name for each in fields(Settings) if each.metadata["secret"]]


def test_bare_lists_and_the_active_token_are_answered(shared_world: World) -> None:
    answer = shared_world.get("/api/info", by=None)
    assert (answer.status, answer.json) == (200, {"versions": ["v1"]})
    answer = shared_world.get("/api/info/versions", by=None)
    assert (answer.status, answer.json) == (200, ["v1"])
    assert shared_world.get(f"{INFO}/authorized").json == {"authorized": True}
    answer = shared_world.get(f"{INFO}/stats")
    assert list(answer.json) == ["uptime", "cps", "connectedClients", "onlineCount"]
    assert (answer.headers["cache-control"], "etag" in answer.headers) == ("no-store", False)


def test_info_and_config_have_the_limits_from_the_settings(make_world: Any) -> None:
    world = make_world(game_name="Harrowmere", port=5401)
    assert world.get(INFO).json == {"name": "Harrowmere", "port": 5401}
    limits = {"max_characters": 3, "inventory_slots": 36, "bank_slots": 101, "spell_slots": 37, "max_level": 99}
    world = make_world(game_name="Harrowmere", port=5401, **limits)
    answer = world.get(f"{INFO}/config")
    # some clients read the first fields by position
    assert answer.raw.startswith(
        b'{"GameName":"Harrowmere","ServerPort":5401,"Player":{"MaxCharacters":3,"MaxInventory":36,"MaxBank":101,'
        b'"MaxSpells":37,"MaxLevel":99,"MaxStat":255,"InitialBankslots":101,'
    )
    assert answer.json["Bank"] == {"MaxSlots": 101}


def test_metrics_and_stats_count_game_servers_and_online_players(world: World) -> None:
    assert read_counts(world) == (0, 0)
    heartbeat(world, "one")
    heartbeat(world, "two")
    join(world, ANN.id, BOB.id, server="one")
    assert read_counts(world) == (2, 2)
    answer = world.get(f"{INFO}/metrics")
    assert (answer.headers["cache-control"], list(answer.json)) == ("no-store", ["uptime", "datetime", "metrics"])
    sections: dict[str, dict[str, Any]] = answer.json["metrics"]
    assert list(sections) == ["Application", "Game", "Network", "Threading"]
    for section in sections.values():
        measures = [each for name, each in section.items() if not name.startswith("Most")]
        assert {tuple(each) for each in measures} == {("Min", "Max", "Count", "Sum", "Mean")}
    assert sections["Game"]["Players"] == {"Min": 2, "Max": 2, "Count": 1, "Sum": 2, "Mean": 2.0}
    assert sections["Network"]["Clients"]["Sum"] == 2
    lapse(world, "one")
    assert read_counts(world) == (1, 0)


def read_counts(world: World) -> tuple[int, int]:
    """Return the numbers of game servers and of online players."""
    stats = world.get(f"{INFO}/stats").json
    assert stats["onlineCount"] == len(online(world))
    return stats["connectedClients"], stats["onlineCount"]


def test_info_contains_no_secret(make_world: Any) -> None:
    hidden = {name: f"smtp://hidden-{name}" for name in SECRETS if name != "database"}
    world = make_world(mail_from="keeper@example.test", **hidden)
    assert {"smtp_url", "metrics_token"} < set(SECRETS)
    for path in PATHS:
        told = world.get(path).raw.decode()
        assert "hidden-" not in told
        assert world.url not in told
