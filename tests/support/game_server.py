"""Acts as a game server: sends reports over the link, and reads the online players from every operation."""

import asyncio
from collections.abc import Mapping

import people
from gamekeeper.game.players import presence
from gamekeeper.game.world.feed import Feed
from world import Answer, World

LINK = "/api/link/v1"


def put_player(world: World, player_id: str, body: object, **more: str) -> Answer:
    return world.call("PUT", f"{LINK}/players/{player_id}", body=body, by="Server", **more)


def put_catalogue(world: World, kind: str, entries: object) -> Answer:
    return world.call("PUT", f"{LINK}/catalogue/{kind}", body=entries, by="Server")


def heartbeat(world: World, server: str = "one", lease: int = 60, **receipt: object) -> Answer:
    """Renew the lease; `AppliedSeq` may be given."""
    return world.call("PUT", f"{LINK}/servers/{server}", body={"Lease": lease, **receipt}, by="Server")


def join(world: World, *ids: str, server: str = "one") -> Answer:
    return world.call("POST", f"{LINK}/servers/{server}/joined", body={"Players": ids}, by="Server")


def leave(world: World, *ids: str, server: str = "one") -> Answer:
    return world.call("POST", f"{LINK}/servers/{server}/left", body={"Players": ids}, by="Server")


def lapse(world: World, server: str = "one") -> int:
    """Let the game server's lease expire, and run the cleanup."""
    world.sql("UPDATE servers SET expires_at = 1 WHERE name = $1", server)
    return world.run(presence.expire_leases(world.keeper.store))


async def until_they_wait(feed: Feed, count: int = 1) -> None:
    """Wait until `count` long polls are waiting for changes."""
    async with asyncio.timeout(60):
        while vars(feed)["_waiters"] < count:  # noqa: ASYNC110 - nobody tells when
            await asyncio.sleep(0.001)


def online(world: World) -> list[str]:
    """Return the online players' names; require that list, legacy list, count and player records agree."""
    listed = world.get("/api/v1/players/online?pageSize=100").json
    legacy = world.post("/api/v1/players/online", {"count": 100}).json
    names: list[str] = [record["Name"] for record in listed["Values"]]
    everybody = world.get("/api/v1/players?pageSize=100").json["Values"]
    assert listed["Total"] == len(names) == legacy["total"]
    assert legacy["entries"] == listed["Values"]
    assert world.get("/api/v1/players/online/count").json == {"onlineCount": len(names)}
    assert [record["Name"] for record in everybody if record["Online"]] == names
    assert all(world.get(f"/api/v1/players/{name}").json["Online"] for name in names)
    return names


def stack(slot: int, item_id: str, quantity: int = 1, **more: object) -> Mapping[str, object]:
    return {"Slot": slot, "ItemId": item_id, "Quantity": quantity, **more}


def newcomer(number: int, **fields: object) -> tuple[str, dict[str, object]]:
    """Return id and request body of a new player for Bob's account."""
    return people.guid(0x1000 + number), {"Name": f"New{number}", "UserId": people.USER_IDS["Bob"], **fields}
