"""Acts as a game server that reads commands in the change feed and acknowledges them."""

from typing import Any

from game_server import LINK
from gamekeeper.store.core import ledger
from world import Answer, World

CHANGES = f"{LINK}/changes"


def acknowledge(world: World, *acks: object, server: str = "one", **more: Any) -> Answer:
    return world.call("POST", f"{LINK}/servers/{server}/acks", body={"Acks": acks}, by="Server", **more)


def ack(seq: int, state: str = "applied", reason: str | None = None) -> dict[str, object]:
    return {"Seq": seq, "State": state, "Reason": reason}


def read_feed(world: World, after: int, server: str = "one") -> list[Any]:
    return world.get(f"{CHANGES}?after={after}&server={server}", by="Server").json["Changes"]


def read_last(world: World) -> int:
    return world.run(ledger.read_state(world.keeper.store)).last


def stored(world: World) -> list[tuple[object, ...]]:
    return [tuple(row) for row in world.sql("SELECT server, state, reason FROM deliveries ORDER BY seq, server")]
