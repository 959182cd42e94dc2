"""Every write of the API: dry runs, replays of an Idempotency-Key, and refusals with one."""

import re
from typing import Any

from good_requests import NEW_EACH_TIME, UNKNOWN_KEYS, Example, furnish, handler_of, path_of

import everything as operations
from expectations import everything, refused
from gamekeeper.http.contract.operation import WRITE
from loops import collecting
from world import Answer, World

APPROVES = {"approvals.approve"}  # a dry run answers that the change still waits
# stored answers of these lack what must not be stored: a secret, or the name of an erased account
STORED_OTHERWISE = {"api_keys.create_key", "api_keys.rotate_key", "accounts.delete_user"}
# times of an answer, which differ between two requests
MADE = re.compile(rb'"\w*At":"[^"]*"')


def timeless(answer: Answer) -> tuple[int, bytes]:
    """Return status and body of an answer without its times."""
    return answer.status, MADE.sub(b"", answer.raw)


def add(query: str, path: str) -> str:
    return f"{path}{'&' if '?' in path else '?'}{query}"


def read_rows(world: World) -> dict[str, list[str]]:
    return everything(world, without="known_callers")  # refused requests with a password add to it


def try_and_repeat(world: World, example: Example, path: str, body: Any) -> Answer:
    """Send a write as a dry run, with an Idempotency-Key, and again with it, also for another request."""
    method, name, key = example.route.method, handler_of(example.route), {"Idempotency-Key": example.route.name}
    before = read_rows(world)
    unknown = path_of(example.route, UNKNOWN_KEYS)
    if world.call(method, add("dryRun=true", unknown), body=body).status != 200:
        assert world.call(method, unknown, body=body, headers=key).status in {400, 404, 409}
    tried = world.call(method, add("dryRun=true", path), body=body, headers=key)
    assert tried.headers["x-dry-run"] == "true"
    assert read_rows(world) == before
    answer = world.call(method, path, body=body, headers=key).accepted()
    assert not {"x-dry-run", "idempotent-replay"} & answer.headers.keys()
    assert timeless(tried) == timeless(answer) or name in NEW_EACH_TIME | APPROVES
    after = read_rows(world)
    again = world.call(method, path, body=body, headers=key)
    assert again.raw == answer.raw or name in STORED_OTHERWISE
    assert again.headers["idempotent-replay"] == "true"
    assert again.headers["x-request-id"] != answer.headers["x-request-id"]
    tried = world.call(method, add("dryRun=true", path), body=body, headers=key)
    assert "idempotent-replay" not in tried.headers
    other = world.post("/api/v1/players/Zoe/level", {"level": 2}, headers=key)
    refused(other, 422, "idempotency_key_reused")
    assert read_rows(world) == after
    return answer


def test_every_write_can_be_tried_and_repeated(world: World) -> None:
    """A dry run answers what would happen, and changes nothing. A repeated request gets the stored answer."""
    furnish(world)
    world.compares = False
    with collecting() as failing:

        def ask(example: Example, path: str, body: Any) -> Answer:
            if example.route.is_repeatable:
                with failing(example.name):
                    return try_and_repeat(world, example, path, body)
            return operations.send(world, example, path, body)

        writes = [example for example, _ in operations.run_all(world, ask, "Newcomer") if example.route.access is WRITE]
    assert len(writes) > 80
