"""The OpenAPI document is true: its examples are sent, and each answer is validated against its schema."""

import asyncio
import json
from collections.abc import Generator, Iterator, Mapping
from itertools import product
from typing import Any, cast
from urllib.parse import urlencode

import good_requests
import pytest

import api_keys
import bulking
import held_gifts
import invitations
import staff
from described import FORM, IGNORED, JSON, RAW, SETTINGS, TOLERANT_RAW, Operation, each_operation, hold
from gamekeeper.demo import loader
from gamekeeper.game.access import tokens
from gamekeeper.http.contract import examples
from gamekeeper.http.contract.operation import NO_TOKEN, WRITE
from gamekeeper.store.accounts import users
from gamekeeper.store.engine import copies
from signalling import insert_signal
from world import World, at_work, open_world

PASSWORD = "correct horse battery staple"  # password of the demo account; the documented examples contain its hash
OTHER = "sunniva"  # name of an account that no documented example changes


async def fill_world(url: str) -> str:
    """Fill the demo world plus data that the examples need, and return a token with all permissions."""
    return (await at_work(url, lambda keeper: loader.fill(keeper, PASSWORD))).token


def drop_each_field(value: object) -> Iterator[object]:
    """Copy a body without one of its fields, for each field of each object in it."""
    if isinstance(value, dict):
        fields = cast("dict[str, object]", value)
        for name, part in fields.items():
            yield {other: each for other, each in fields.items() if other != name}
            yield from ({**fields, name: lacking} for lacking in drop_each_field(part))
    elif isinstance(value, list):
        parts = cast("list[object]", value)
        for at, part in enumerate(parts):
            yield from ([*parts[:at], lacking, *parts[at + 1 :]] for lacking in drop_each_field(part))


def furnish(world: World) -> None:
    staff.save_role(world, examples.ROLE, ["moderation.mute", "players.read"])
    api_keys.insert(world, examples.KEY_ID, examples.USER_ID)
    invitations.insert(world, examples.USER_ID)
    world.call("PUT", f"/api/link/v1/servers/{examples.REALM}", body={"Lease": 3600})
    online = world.get(f"/api/v1/players/{'Halvard'}").json["Id"]
    world.post(f"/api/link/v1/servers/{examples.REALM}/joined", {"Players": [online]})
    world.post(f"/api/v1/players/{examples.PLAYER}/items/give", {"itemid": examples.DRAUGHT, "quantity": 1})
    world.sql("UPDATE ledger SET seq = 4711 WHERE seq = (SELECT MAX(seq) FROM ledger)")
    # without it, PostgreSQL's sequence stays behind, and each report waits for changes up to 4711 until its time is up
    world.run(world.keeper.store.write(copies.continue_ledger))
    [(keeper,)] = world.sql("SELECT id FROM users WHERE fold = $1", examples.KEEPER.lower())
    bulking.insert_job(world, keeper, examples.DRAUGHT, (examples.PLAYER_ID, 4711), online, examples.BULK_JOB_ID)
    world.insert("notes", id=examples.MAIL_ID, user_id=examples.USER_ID, at=0, text="Polite.", warning=False)
    good_requests.insert_delivery(world, examples.REALM)
    good_requests.insert_reset(world, examples.USER_ID, examples.MAIL_ID, examples.CODE, "marlow@example.test")
    good_requests.insert_token(world, examples.TOKEN_ID, examples.USER_ID)
    named = (OTHER, examples.USER.lower(), examples.KEEPER.lower())
    [(requester,)] = world.sql("SELECT id FROM users WHERE fold NOT IN ($1, $2, $3) ORDER BY fold LIMIT 1", *named)
    world.sql("UPDATE users SET api = {true} WHERE id = $1", requester)
    held_gifts.hold(world, examples.MAIL_ID, requester, examples.PLAYER, examples.DRAUGHT)
    insert_signal(world, examples.MAIL_ID)


@pytest.fixture(scope="module")
def demo(engine: str, request: pytest.FixtureRequest) -> Generator[World]:
    databases: Any = request.getfixturevalue(f"{engine}_databases")
    url = databases.empty()
    with open_world(url, {"Root": asyncio.run(fill_world(url))}) as world:
        furnish(world)
        yield world
    databases.drop(url)


@pytest.fixture(scope="module")
def powerless(demo: World) -> Mapping[bool, str]:
    """Return two tokens of an account whose role has no permissions, by whether the token is read-only."""
    idle = staff.save_role(demo, "idle", [])
    given = "INSERT INTO user_roles (user_id, role, given_at) SELECT id, $1, 0 FROM users WHERE fold = $2"
    demo.sql(given, idle, OTHER)
    user = demo.run(users.find_by_fold(demo.keeper.store, OTHER))
    assert user
    return {
        only: demo.run(tokens.issue_for_service(demo.keeper, user, 1, read_only=only)).access for only in (False, True)
    }


def test_document_is_served_without_a_token(demo: World) -> None:
    tags = set[str]()
    for query, document in (("", RAW), ("?tolerant=false", RAW), ("?tolerant=true", TOLERANT_RAW)):
        answer = demo.get(f"/api/openapi.json{query}", by=None)
        assert (answer.status, answer.headers["content-type"]) == (200, "application/json; charset=utf-8")
        assert answer.raw == document
        tags.add(answer.headers["etag"])
        assert demo.get(f"/api/openapi.json{query}", headers={"If-None-Match": answer.headers["etag"]}).status == 304
    assert len(tags) == 2


@pytest.mark.both_engines
@each_operation
def test_example_succeeds_and_its_answer_fits_the_schema(demo: World, operation: Operation) -> None:
    method, path, bodies = operation.route.method, operation.dry_run_path(), operation.bodies()
    for kind, body in bodies.items():
        raw = (urlencode(body) if kind == FORM else json.dumps(body)).encode()
        hold(operation, demo.call(method, path, raw=raw, headers={"content-type": kind}), 200)
    if not bodies:
        hold(operation, demo.call(method, path), 200)


@each_operation
def test_every_refusal_is_described(demo: World, powerless: Mapping[bool, str], operation: Operation) -> None:
    """tests/contract checks the statuses of these refusals; here, the documents must describe them."""
    method, path, body = operation.route.method, operation.path(), operation.bodies().get(JSON)
    refused = [demo.call(method, f"{path}?a=1&A=2", body=body)]
    refused += [demo.call(method, f"{path}?{name}=%00", body=body) for name in operation.parameters("query")]
    for name in operation.parameters("header").keys() - {IGNORED}:
        refused.append(demo.call(method, operation.dry_run_path(), body=body, headers={name: "a\x01b"}))
    if operation.route.permissions is NO_TOKEN:
        assert not {"401", "403"} & operation.about["responses"].keys()
    else:
        refused.append(demo.call(method, path, by=None, body=body))
    if operation.route.permissions:
        refused.append(demo.call(method, path, token=powerless[False], body=body))
    if operation.route.access is WRITE and operation.route.permissions is not NO_TOKEN:
        refused.append(demo.call(method, path, token=powerless[True], body=body))
    if operation.bodies():
        usual = SETTINGS.link_body_limit if operation.route.over_link else SETTINGS.body_limit
        large = b" " * (max(usual, operation.route.body_limit) + 1)
        for raw, kind in ((b"{", JSON), (large, JSON), (b"x", "text/plain")):
            headers = {"content-type": kind}
            refused.append(demo.call(method, operation.dry_run_path(), raw=raw, headers=headers))
    for lacking in drop_each_field(body):
        refused.append(demo.call(method, operation.dry_run_path(), body=lacking))
        if refused[-1].status < 400:
            refused.pop()
    for answer in refused:
        assert answer.status >= 400, answer.raw
        hold(operation, answer, answer.status)


@each_operation
def test_answer_about_an_unknown_key_is_described(demo: World, operation: Operation) -> None:
    body = operation.bodies().get(JSON)
    for name, other in product(operation.parameters("path"), (examples.EPOCH, "nothing")):
        answer = demo.call(operation.route.method, operation.dry_run_path(**{name: other}), body=body)
        hold(operation, answer, answer.status)
