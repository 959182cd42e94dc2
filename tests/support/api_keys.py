"""API keys for tests."""

from typing import Any

from gamekeeper.game.access.tokens import hash_token
from gamekeeper.http.contract import examples
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
    may = {"role": "shop", "permissions": "[]"}
    world.ensure("api_keys", id=key_id, user_id=user_id, scope_id=key_id, name="old shop", created_at=0, **may)
    world.sql("UPDATE api_keys SET revoked_at = NULL WHERE id = $1", key_id)
    world.ensure("api_key_texts", hash=hash_token(examples.KEY_TEXT), key_id=key_id)
