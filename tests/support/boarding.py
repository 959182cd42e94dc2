"""Boards for tests: create them, count them, and read their standings."""

from typing import Any

from gamekeeper.ground.instants import format_instant
from people import KILLS
from world import Answer, World

BOARDS = "/api/keeper/v1/boards"


def create(world: World, name: str = "levels", ranks: str = "level", **more: Any) -> dict[str, Any]:
    world.wait_for_next_millisecond()
    return world.post(BOARDS, {"Name": name, "Title": name.title(), "Ranks": ranks, **more}).accepted().json


def catch_up(world: World) -> None:
    """Count everything, like the background job of a serving process."""
    world.run(world.keeper.boards.catch_up())


def read(world: World, name: str = "levels", query: str = "?pageSize=100") -> dict[str, Any]:
    return world.get(f"{BOARDS}/{name}/standings{query}").accepted().json


def standings(world: World, name: str = "levels", query: str = "?pageSize=100") -> list[tuple[str | None, int]]:
    return [(each["Name"], each["Value"]) for each in read(world, name, query)["Values"]]


def now(world: World, offset_ms: int = 0) -> str:
    return format_instant(world.now() + offset_ms)


def pass_time(world: World, milliseconds: int) -> None:
    """Move everything that boards know of into the past, as if time had passed."""
    world.sql("UPDATE seasons SET starts_at = starts_at - $1, ends_at = ends_at - $1 RETURNING id", milliseconds)
    world.sql("UPDATE ledger SET at = at - $1 RETURNING seq", milliseconds)
    world.sql("UPDATE bans SET started_at = started_at - $1, ends_at = ends_at - $1 RETURNING user_id", milliseconds)
    world.sql("UPDATE rollups SET position = position - $1 WHERE name = 'boards' RETURNING name", milliseconds)


def end_now(world: World, name: str = "levels", number: int = 1) -> None:
    world.wait_for_next_millisecond()
    assert world.call("PUT", f"{BOARDS}/{name}/seasons/{number}", body={"EndNow": True}).status == 200


def hide(world: World, user: str, *, hidden: bool = True) -> Answer:
    return world.post(f"/api/keeper/v1/users/{user}/boards", {"Hidden": hidden})


def set_kills(world: World, name: str, value: int) -> None:
    assert world.post(f"/api/v1/players/{name}/variables/{KILLS.id}", {"value": value}).status == 200


def put(world: World, path: str, body: dict[str, Any]) -> Answer:
    return world.call("PUT", f"{BOARDS}/{path}", body=body)
