"""API keys for tests."""

from typing import Any

from gamekeeper.game.access.tokens import hash_token
from gamekeeper.http.contract import samples
from world import Answer, World

KEYS = "/api/keeper/v1/keys"


def create(world: World, **fields: Any) -> Any:
    """Create an API key as Root, and return the answer; the default is the role `api` and the owner Shop."""
    given: dict[str, Any] = {"Name": "web shop", "Owner": "Shop"} | fields
    if "Permissions" not in given:
        given.setdefault("Role", "api")
    return world.post(KEYS, given).accepted().json


def use(world: World, text: str, **more: Any) -> Answer:
    """Look up a player with an API key."""
    return world.get("/api/v1/players/Ann", token=text, **more)


def insert(world: World, key_id: str, user_id: str) -> None:
    """Insert an API key with the text of the documented examples, unless it is there."""
    values = f"'{key_id}', '{user_id}', '{key_id}', 'old shop', 'shop', '[]', 0"
    names = "id, user_id, scope_id, name, role, permissions, created_at"
    world.sql(f"INSERT INTO api_keys ({names}) VALUES ({values}) ON CONFLICT DO NOTHING")  # noqa: S608 - ours
    world.sql("UPDATE api_keys SET revoked_at = NULL WHERE id = $1", key_id)
    text = f"'{hash_token(samples.KEY_TEXT)}', '{key_id}'"
    world.sql(f"INSERT INTO api_key_texts (hash, key_id) VALUES ({text}) ON CONFLICT DO NOTHING")  # noqa: S608 - ours
