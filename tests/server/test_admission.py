"""Admission: requests above the limit are rejected at once; a finished request frees its place."""

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

import people
from game_server import until_they_wait
from proof import refused
from world import SENT, Answer, MakeWorld, World

VALIDATE = "/api/v1/users/Ann/password/validate"
# Accounts for concurrent log-ins: different ones, because password checks of one account are serialised
NAMES = ("Ann", "Bob", "Mona", "Shop", "Clerk")
GIVE = "/api/v1/players/Bob/items/give"
CHANGES = "/api/link/v1/changes"
COIN = {"itemid": people.COIN.id, "quantity": 1}


async def unread() -> MutableMapping[str, Any]:
    raise AssertionError("the body was asked for")


async def ask(world: World, path: str, receive: Callable[[], Awaitable[MutableMapping[str, Any]]]) -> int:
    """Send a POST whose body the function `receive` delivers, and return the status."""
    headers = [(b"authorization", f"Bearer {world.tokens['Root']}".encode())]
    scope = {"type": "http", "method": "POST", "raw_path": path.encode(), "query_string": b"", "headers": headers}
    sent: list[MutableMapping[str, Any]] = []

    async def send(message: MutableMapping[str, Any]) -> None:
        sent.append(message)

    await world.asgi(scope, receive, send)
    return sent[0]["status"]


def fill(world: World) -> None:
    """Occupy every place of the admission limit, as if other requests were running."""
    for _ in range(world.keeper.settings.requests_in_flight):
        world.asgi.services.admission.in_flight += 1


def empty(world: World) -> bool:
    return world.asgi.services.admission.in_flight == 0


def test_request_above_the_limit_is_rejected(make_world: MakeWorld) -> None:
    world = make_world(requests_in_flight=3)

    async def at_once() -> list[Answer]:
        asking = [world.send("POST", VALIDATE.replace("Ann", name), body={"password": SENT}) for name in NAMES]
        return await asyncio.gather(*asking)

    answers = world.run(at_once())
    assert [answer.status for answer in answers] == [200, 200, 200, 503, 503]
    for answer in answers[3:]:
        refused(answer, 503, "overloaded")
        assert answer.headers["retry-after"] == "1"
    assert empty(world)
    assert world.get("/nowhere").status == 404


def test_rejected_request_reads_no_body_and_no_database(make_world: MakeWorld) -> None:
    world = make_world(requests_in_flight=2, metrics_token="look")
    fill(world)
    assert world.run(ask(world, GIVE, unread)) == 503
    refused(world.get("/api/v1/players/Ann", token="gka_nobodys"), 503, "overloaded")
    refused(world.get("/nowhere"), 503, "overloaded")
    for path in ("/health/live", "/health/ready", "/metrics"):  # these take no place
        assert world.get(path, token="look").status == 200
    world.asgi.services.admission.in_flight -= 1
    refused(world.get("/nowhere"), 404, "no_such_route")


def test_body_that_arrives_when_all_places_are_taken_is_rejected(make_world: MakeWorld) -> None:
    world = make_world(requests_in_flight=2)

    async def receive() -> MutableMapping[str, Any]:
        fill(world)
        return {"type": "http.request", "body": b'{"itemid": "x"}', "more_body": False}

    with world.nothing_recorded():
        assert world.run(ask(world, GIVE, receive)) == 503
        assert world.asgi.services.admission.in_flight == 2


def test_place_is_freed_after_an_exception_and_a_cancellation(make_world: MakeWorld) -> None:
    world = make_world(requests_in_flight=1)

    async def raise_error() -> MutableMapping[str, Any]:
        raise RuntimeError("the connection broke in a way nobody thought of")

    assert world.run(ask(world, GIVE, raise_error)) == 500
    assert empty(world)

    async def cancel_request() -> None:
        asking = asyncio.ensure_future(world.send("POST", VALIDATE, body={"password": SENT}))
        await asyncio.sleep(0)
        assert world.asgi.services.admission.in_flight == 1
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)

    world.run(cancel_request())
    assert empty(world)


def test_long_poll_holds_no_place(make_world: MakeWorld) -> None:
    world = make_world(requests_in_flight=1)
    after = world.get(f"{CHANGES}?after=now", by="Server").json["Next"]

    async def wait() -> list[Answer]:
        polls: list[asyncio.Future[Answer]] = []
        for number in range(1, 4):
            asking = world.send("GET", f"{CHANGES}?after={after}&wait=60", by="Server")
            polls.append(asyncio.ensure_future(asking))
            await until_they_wait(world.keeper.feed, number)
        assert not any(poll.done() for poll in polls)
        given = await world.send("POST", GIVE, body=COIN)
        return [given, *await asyncio.gather(*polls)]

    given, *told = world.run(wait())
    assert given.status == 200
    assert [(answer.status, len(answer.json["Changes"])) for answer in told] == [(200, 1)] * 3
    assert empty(world)


def test_slow_upload_holds_no_place(make_world: MakeWorld) -> None:
    world = make_world(requests_in_flight=1)

    async def slowly() -> tuple[int, int]:
        asked, sent = asyncio.Event(), asyncio.Event()

        async def receive() -> MutableMapping[str, Any]:
            asked.set()
            await sent.wait()
            return {"type": "http.request", "body": b'{"password": "%b"}' % SENT.encode(), "more_body": False}

        slow = asyncio.ensure_future(ask(world, VALIDATE, receive))
        await asked.wait()
        other = await world.send("GET", "/api/v1/players/Ann")
        sent.set()
        return other.status, await slow

    assert world.run(slowly()) == (200, 200)
    assert empty(world)
