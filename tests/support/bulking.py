"""Bulk jobs for tests: create one, start it, and let the runner work."""

from typing import Any

from gamekeeper.http.audit.bulk_runner import BulkRunner
from people import BOB, COIN, USER_IDS, ZOE, guid
from world import Answer, World

ROOT = "/api/keeper/v1/bulk"
JOB_ID = "00000000-0000-4000-8000-00000000eeee"
GIVE = {"Act": "give_item", "ItemId": COIN.id, "Quantity": 5}


def create(world: World, *players: str, by: str = "Root", reason: str = "prize", **fields: Any) -> dict[str, Any]:
    """Create a job; by default it gives five coins."""
    body = (fields if "Act" in fields else GIVE | fields) | {"Players": list(players)}
    return world.post(ROOT, body, by=by, headers={"X-Reason": reason}).accepted().json


def act(world: World, job: str, what: str, by: str = "Root", **more: Any) -> Answer:
    return world.post(f"{ROOT}/{job}/{what}", by=by, **more)


def start(world: World, job: str, by: str = "Root") -> None:
    act(world, job, "start", by).accepted()


def work(world: World) -> None:
    """Let the runner of this instance work until it has nothing to do."""
    world.run(BulkRunner(world.asgi.services).run())


def run(world: World, *players: str, by: str = "Root", **fields: Any) -> dict[str, Any]:
    """Create a job, start it, and return it when the runner is done with it."""
    job = create(world, *players, by=by, **fields)["Id"]
    start(world, job, by)
    work(world)
    return get(world, job)


def get(world: World, job: str) -> dict[str, Any]:
    return world.get(f"{ROOT}/{job}").json


def list_targets(world: World, job: str, query: str = "") -> list[dict[str, Any]]:
    return world.get(f"{ROOT}/{job}/targets?{query}").json["Targets"]


def list_results(world: World, job: str) -> list[tuple[str | None, str, str | None]]:
    """Return name, state and code of each player of a job."""
    return [(each["Player"] or each["Given"], each["State"], each["Code"]) for each in list_targets(world, job)]


def insert(world: World) -> None:
    """Insert a paused job of Root's with a known id: one change was made (Zoe was created), and Bob waits."""
    world.sql("DELETE FROM bulk_targets")
    world.sql("DELETE FROM bulk_jobs")
    insert_job(world, USER_IDS["Root"], COIN.id, (ZOE.id, 16), BOB.id)


def insert_job(world: World, creator: str, item: str, done: tuple[str, int], waiting: str, job: str = JOB_ID) -> None:
    """Insert a paused job with a known id. `done`: the player whom it has changed, and the number of that change."""
    details = f'{{"item_id": "{item}", "quantity": 2}}'
    counts = {"players": 2, "done": 1, "refused": 0, "held": 0, "not_found": 0, "repeated": 0}
    times = {"created_at": 1000, "started_at": 2000}
    about: dict[str, Any] = {"act": "give_item", "details": details, "creator_id": creator, "approved": False}
    world.insert("bulk_jobs", id=job, state="paused", **about, **counts, **times)
    world.insert("bulk_targets", job_id=job, number=1, state="done", player_id=done[0], seq=done[1])
    world.insert("bulk_targets", job_id=job, number=2, state="waiting", player_id=waiting)


def add_players(world: World, count: int) -> list[str]:
    """Insert players of Bob's account by the link; return their ids."""
    ids = [guid(0x5000 + number) for number in range(count)]
    for number, each in enumerate(ids):
        body = {"Name": f"Extra{number}", "UserId": USER_IDS["Bob"]}
        assert world.call("PUT", f"/api/link/v1/players/{each}", body=body).status == 200
    return ids
