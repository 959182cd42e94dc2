"""Quillon, an account with a long history, for tests of erasure; WORDS lists all its personal data."""

from typing import Any

from expectations import everything
from game_server import LINK, heartbeat, join, leave, stack
from gamekeeper.game.accounts import erasures
from people import COIN, POUCH, SWORD, guid
from world import SENT, World

QUILLON, EMAIL = "/api/v1/users/Quillon", "quillon.tresk@example.test"
WORDS = ("quillon", "quillix", "tresk", "wrenfold", "wrenna", "tamsyn", "ossifer", "scurrilous")
WREN, TAMSYN, OSSIFER = guid(0x701), guid(0x702), guid(0x703)
KEYS = iter(range(1_000_000))


def key() -> dict[str, str]:
    return {"Idempotency-Key": f"k{next(KEYS)}"}


def find_words(world: World) -> list[str]:
    """Return all rows of all tables that contain a personal word of WORDS, in any case."""
    rows = [f"{table}: {row}" for table, found in everything(world).items() for row in found]
    return [row for row in rows if any(word in row.lower() for word in WORDS)]


def live(world: World) -> str:
    """Create the account and its history: renamed, muted, mailed, logged in, with players, one of them deleted."""
    body = {"username": "Quillix", "password": SENT, "email": "tresk@example.test"}
    assert world.post("/api/v1/users/register", body, headers=key()).status == 200
    renamed = world.post("/api/v1/users/Quillix/name", {"name": "Quillon"}, headers=key())
    assert world.post(f"{QUILLON}/manage/email/change", {"new": EMAIL}, headers=key()).status == 200
    user_id = renamed.json["Id"]
    world.sql("UPDATE users SET api = {true} WHERE id = $1", user_id)
    world.insert("mutes", user_id=user_id, reason="scurrilous Tamsyn", moderator="Root", started_at=1)
    log_in = {"grant_type": "password", "username": "quillon", "password": SENT}
    assert world.post("/api/oauth/token", log_in, by=None, address="192.0.2.7").status == 200
    assert world.post("/api/oauth/token", log_in | {"password": "00" * 32}, by=None).status == 400
    assert world.get(f"{QUILLON}/password/reset", headers=key()).status == 200
    for player_id, name in ((WREN, "Wrenna"), (TAMSYN, "Tamsyn"), (OSSIFER, "Ossifer")):
        born = {"Name": name, "UserId": user_id, "Items": [stack(0, COIN.id, 40), stack(1, POUCH.id)]}
        put = f"{LINK}/players/{player_id}"
        assert world.call("PUT", put, body=born, by="Server", headers=key()).status == 200
    play(world)
    return user_id


def play(world: World) -> None:
    because = {"X-Reason": "a gift of Tamsyn to Wrenfold"}
    assert world.post("/api/v1/players/Wrenna/name", {"name": "Wrenfold"}, headers=key() | because).status == 200
    assert world.post("/api/v1/players/Wrenfold/level", {"level": 3}, headers=key() | because).status == 200
    world.give("Tamsyn", 2, SWORD.id, by="Shop", headers=key() | because).accepted()
    heartbeat(world)
    join(world, WREN, TAMSYN)
    leave(world, WREN, TAMSYN)
    assert world.call("DELETE", "/api/v1/players/Ossifer", headers=key() | because).status == 200


def erase(world: World, **more: Any) -> Any:
    return world.call("DELETE", QUILLON, **more)


def finish(world: World) -> None:
    """Run the background job of account erasures to its end."""
    world.run(erasures.run_all_jobs(world.keeper.store))
