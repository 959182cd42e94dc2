"""The document says what is true: its examples are sent, and every answer is held against what it says."""

import asyncio
import copy
import json
import re
from collections.abc import Generator, Iterator, Mapping
from typing import Any, NamedTuple
from urllib.parse import urlencode

import jsonschema
import openapi_spec_validator
import pytest

from gamekeeper import app, settings
from gamekeeper.demo import characters, filling
from gamekeeper.game import tokens
from gamekeeper.game.refusals import Refusal
from gamekeeper.http import asgi, errors, failures, openapi, samples
from gamekeeper.http.caller import POWERS
from gamekeeper.http.request import query_of
from gamekeeper.http.routes import NEVER, NOBODY, ROUTES, UNCODED, WRITE, Route
from gamekeeper.store import users
from gamekeeper.store.migrate import migrate
from world import Answer, World

PASSWORD = "correct horse battery staple"  # whose hash the examples have
SETTINGS = settings.Settings()
RAW = openapi.document(ROUTES, SETTINGS)
DOCUMENT: Any = json.loads(RAW)
VERBS = {"get", "post", "put", "delete"}
JSON, FORM = "application/json", "application/x-www-form-urlencoded"
FAR = 4_000_000_000_000
OTHER = "sunniva"  # an account that the examples leave alone
# of an address; of what only the console says that it has seen
OF_NO_OPERATION = {"method_not_allowed", "changed_meanwhile"}
IGNORED = "If-None-Match"  # when it makes no sense


class Operation(NamedTuple):
    route: Route
    about: Any  # its part of the document

    @property
    def name(self) -> str:
        return self.about["operationId"]

    def parameters(self, place: str) -> dict[str, Any]:
        return {each["name"]: each for each in self.about["parameters"] if each["in"] == place}

    def path(self, **other: str) -> str:
        """The path with its examples filled in."""
        filled = {name: each["example"] for name, each in self.parameters("path").items()} | other
        return re.sub(r"\[(\w+)\]", lambda found: filled[found[1]], self.route.path)

    def tried(self, **other: str) -> str:
        return self.path(**other) + ("?dryRun=true" if "dryRun" in self.parameters("query") else "")

    def bodies(self) -> dict[str, Any]:
        return {kind: each["example"] for kind, each in self.about.get("requestBody", {}).get("content", {}).items()}


def operations() -> Iterator[Operation]:
    for route in ROUTES:
        path = route.path.replace("[", "{").replace("]", "}")
        yield Operation(route, DOCUMENT["paths"][path][route.method.lower()])


OPERATIONS = list(operations())
each_operation = pytest.mark.parametrize("operation", OPERATIONS, ids=lambda each: each.name)


# --- holding answers against the document ----------------------------------------------------------------------------


def strict(components: Any) -> Any:
    """The components with nothing allowed that they do not name: a field nobody documented is noticed."""
    closed = copy.deepcopy(components)
    for schema in closed["schemas"].values():
        if "properties" in schema:
            schema["additionalProperties"] = False
    return closed


STRICT = strict(DOCUMENT["components"])
LIBRARY: Any = jsonschema


def faults(schema: Any, value: object) -> list[str]:
    formats = LIBRARY.FormatChecker(["uuid", "date-time", "email"])
    whole = {"allOf": [schema], "components": STRICT}
    return [
        f"{each.json_path}: {each.message[:300]}"
        for each in LIBRARY.Draft202012Validator(whole, format_checker=formats).iter_errors(value)
    ]


def response_of(operation: Operation, status: int) -> Any:
    described = operation.about["responses"].get(str(status))
    assert described, f"{operation.name} does not say that it answers {status}"
    name = described.get("$ref", "").rpartition("/")[2]
    return DOCUMENT["components"]["responses"][name] if name else described


def hold(operation: Operation, answer: Answer, status: int) -> None:
    """The answer has the status expected, and all that the document says of it."""
    assert answer.status == status, answer.raw
    described = response_of(operation, status)
    kind = answer.headers["content-type"].partition(";")[0]
    assert kind in described["content"]
    assert "x-request-id" in answer.headers
    promised = {each.lower() for each in described["headers"]} - {"idempotent-replay", "retry-after"}
    promised -= {"etag"} if operation.route.kept is UNCODED else set()  # whoever sees the codes keeps nothing
    assert promised <= answer.headers.keys()
    if kind == JSON:
        assert faults(described["content"][kind]["schema"], answer.json) == []


# --- a world in which the examples make sense ------------------------------------------------------------------------


async def filled(url: str) -> str:
    """The demo world, and what the examples speak of besides; returns a token that may do everything."""
    keeper = app.build_keeper(settings.load({}, database=url, access_log=False))
    await keeper.store.open()
    await migrate(keeper.store)
    access = await filling.fill(keeper, PASSWORD)
    await keeper.store.close()
    keeper.passwords.close()
    return access.token


def furnish(world: World) -> None:
    world.call("PUT", f"/api/link/v1/servers/{samples.REALM}", body={"Lease": 3600})
    online = world.get(f"/api/v1/players/{samples.OTHERS['kick'][1]}").json["Id"]
    world.post(f"/api/link/v1/servers/{samples.REALM}/joined", {"Players": [online]})
    world.post(f"/api/v1/players/{samples.PLAYER}/items/give", {"itemid": samples.DRAUGHT, "quantity": 1})
    world.sql("UPDATE ledger SET seq = 4711 WHERE seq = (SELECT MAX(seq) FROM ledger)")
    reset = f"'{samples.USER_ID}', '{samples.CODE}', 1000000, {FAR}"
    world.sql(f"INSERT INTO resets (user_id, code, tries_left, expires_at) VALUES ({reset})")  # noqa: S608 - ours
    token = f"'{samples.TOKEN_ID}', '{samples.TOKEN_ID}', '{samples.USER_ID}', 'none', read_only, 0, {FAR}, 0"
    names = "id, family_id, user_id, access_hash, read_only, issued_at, access_expires, refresh_expires"
    world.sql(f"INSERT INTO tokens ({names}) SELECT {token} FROM tokens LIMIT 1")  # noqa: S608 - ours


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
def demo(request: pytest.FixtureRequest) -> Generator[World]:
    databases: Any = request.getfixturevalue(f"{request.param}_databases")
    url, loop = databases.empty(), asyncio.new_event_loop()
    world = World(url, {"Root": loop.run_until_complete(filled(url))}, loop)
    furnish(world)
    yield world
    world.close()
    loop.close()
    databases.drop(url)


@pytest.fixture(scope="module")
def powerless(demo: World) -> Mapping[bool, str]:
    """Tokens of an account without any role: one that may write, and one that may only read."""
    like = "SELECT api FROM users WHERE fold = $1"
    demo.sql(f"UPDATE users SET api = ({like}) WHERE fold = $2", samples.KEEPER, OTHER)  # noqa: S608 - ours
    user = demo.run(users.by_fold(demo.keeper.store, OTHER))
    assert user
    return {
        only: demo.run(tokens.issue_for_service(demo.keeper, user, 1, read_only=only)).access for only in (False, True)
    }


# --- the document itself ---------------------------------------------------------------------------------------------


def test_it_is_openapi_3_1() -> None:
    validator: Any = openapi_spec_validator
    validator.validate(DOCUMENT)
    assert DOCUMENT["openapi"] == "3.1.0"


def test_it_is_served_to_everybody_and_the_same(demo: World) -> None:
    answer = demo.get("/api/openapi.json", by=None)
    assert (answer.status, answer.headers["content-type"]) == (200, "application/json; charset=utf-8")
    assert answer.raw == RAW


def test_it_knows_the_servers_own_rules(make_world: Any) -> None:
    for changed in ({"game_name": "Harrowmere"}, {"name_pattern": "[a-z]{3}"}, {"max_level": 77}):
        world = make_world(**changed)
        known = world.get("/api/openapi.json", by=None).json
        assert known["info"]["title"] == f"{world.keeper.settings.game_name} API"
        shapes = known["components"]["schemas"]
        assert shapes["Register"]["properties"]["username"]["pattern"] == f"^(?:{world.keeper.settings.name_pattern})$"
        assert shapes["SetLevel"]["properties"]["level"]["maximum"] == world.keeper.settings.max_level


def test_it_has_the_rows_of_the_table_and_no_others() -> None:
    described = {(verb.upper(), path) for path, item in DOCUMENT["paths"].items() for verb in item if verb in VERBS}
    assert described == {(each.method, each.path.replace("[", "{").replace("]", "}")) for each in ROUTES}
    assert len(OPERATIONS) == len(ROUTES) == len(described)


def test_every_operation_has_a_name_of_its_own_and_a_group() -> None:
    names = [each.name for each in OPERATIONS]
    assert len(set(names)) == len(names)
    assert {tag for each in OPERATIONS for tag in each.about["tags"]} == {each["name"] for each in DOCUMENT["tags"]}


@each_operation
def test_every_operation_says_what_it_does_and_who_may(operation: Operation) -> None:
    about, route = operation.about, operation.route
    assert re.fullmatch(r"[A-Z][^\n]{10,90}\.", about["summary"])
    assert sorted([*about["x-roles"], *about["x-powers"]]) == sorted(route.needs or ())
    assert set(about["x-powers"]) <= POWERS
    assert all(f"`{role}`" in about["description"] for role in route.needs or ())
    assert about["security"] == ([] if route.needs is NOBODY else [{"bearer": []}])
    assert about.get("deprecated", False) == bool(route.successor)
    assert ("Deprecation" in about["responses"]["200"]["headers"]) == bool(route.successor)
    assert ("read-only token is refused" in about["description"]) == (route.does is WRITE and route.needs is not NOBODY)


@each_operation
def test_every_write_but_the_log_in_takes_key_reason_and_dry_run(operation: Operation) -> None:
    writes = operation.route.does is WRITE and operation.name != "tokens_log_in"
    assert ({"Idempotency-Key", "X-Reason"} == operation.parameters("header").keys()) == writes
    assert ("dryRun" in operation.parameters("query")) == writes


@each_operation
def test_examples_fit_their_own_schemas(operation: Operation) -> None:
    content = operation.about.get("requestBody", {}).get("content", {})
    for part in content.values():
        assert faults(part["schema"], part["example"]) == []
    for each in operation.about["parameters"]:
        assert "example" not in each or faults(each["schema"], each["example"]) == []
    for status in operation.about["responses"]:
        for part in response_of(operation, int(status)).get("content", {}).values():
            values = [each["value"] for each in part.get("examples", {}).values()]
            values += [part["example"]] if "example" in part else []
            assert values or "string" in part["schema"].values()
            assert [faults(part["schema"], value) for value in values if faults(part["schema"], value)] == []


def test_examples_are_of_the_demo() -> None:
    sample = characters.sample()
    assert (sample.player.name, sample.player.id) == (samples.PLAYER, samples.PLAYER_ID)
    assert (sample.account, sample.player.user_id) == (samples.USER, samples.USER_ID)
    assert (sample.item.id, sample.spell.id, sample.variable.id, sample.bag_id) == (
        *(samples.DRAUGHT, samples.EMBER_LANCE, samples.DRAGONS),
        samples.PACK_ID,
    )


def test_no_secret_is_in_it() -> None:
    text = RAW.decode()
    assert "$argon2" not in text
    assert set(re.findall(r"gka_[\w-]*", text)) == {samples.ACCESS}
    assert set(re.findall(r"\b[0-9a-f]{64}\b", text)) == {samples.HASH}


# --- errors ----------------------------------------------------------------------------------------------------------


def kinds(kind: type[Refusal]) -> Iterator[type[Refusal]]:
    """Those of the API: the console's own are said to people, on pages."""
    found = [each for each in kind.__subclasses__() if each.__module__.startswith("gamekeeper.")]
    below = [each for each in found if not each.__module__.startswith("gamekeeper.console.")]
    for each in below:
        yield from kinds(each)
    if not below:
        yield kind


def test_every_code_there_is_is_documented_and_no_other() -> None:
    documented = set(re.findall(r'"Code":"(\w+)"', RAW.decode()))
    assert documented == {each.__new__(each).code for each in kinds(Refusal)} - OF_NO_OPERATION


@each_operation
def test_statuses_are_those_of_the_refusals(operation: Operation) -> None:
    for status, some in failures.of(operation.route).items():
        described = response_of(operation, status)
        codes = described["content"][JSON]["examples"].keys()
        assert codes == {each.__new__(each).code for each in some}
        assert {errors.status(each) for each in some} == {status}
        assert ("Retry-After" in described["headers"]) == (status in {429, 503} or "idempotency_in_progress" in codes)


# --- sent in earnest -------------------------------------------------------------------------------------------------


@each_operation
def test_the_example_works_and_the_answer_is_as_described(demo: World, operation: Operation) -> None:
    method, path, bodies = operation.route.method, operation.tried(), operation.bodies()
    for kind, body in bodies.items():
        raw = (urlencode(body) if kind == FORM else json.dumps(body)).encode()
        hold(operation, demo.call(method, path, raw=raw, headers={"content-type": kind}), 200)
    if not bodies:
        hold(operation, demo.call(method, path), 200)


@each_operation
def test_every_parameter_that_is_read_is_documented_and_the_reverse(
    demo: World, operation: Operation, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: set[str] = set()

    class Recorded(dict[str, str]):
        def get(self, key: str, default: Any = None) -> Any:
            asked.add(key)
            return super().get(key, default)

    def recorded(raw: bytes) -> Recorded:
        return Recorded(query_of(raw))

    monkeypatch.setattr(asgi, "query_of", recorded)
    body = operation.bodies().get(JSON)
    demo.call(operation.route.method, operation.tried(), body=body)
    assert asked == {name.lower() for name in operation.parameters("query")}


@each_operation
def test_a_bad_value_of_each_parameter_is_refused_as_described(demo: World, operation: Operation) -> None:
    body = operation.bodies().get(JSON)
    for name in operation.parameters("query"):
        answer = demo.call(operation.route.method, f"{operation.path()}?{name}=%00", body=body)
        hold(operation, answer, 400)
        assert name in answer.message
    hold(operation, demo.call(operation.route.method, f"{operation.path()}?a=1&A=2", body=body), 400)
    for name in operation.parameters("header").keys() - {IGNORED}:
        answer = demo.call(operation.route.method, operation.tried(), body=body, headers={name: "a\x01b"})
        hold(operation, answer, 400)


@each_operation
def test_callers_who_may_not_are_refused_as_described(
    demo: World, powerless: Mapping[bool, str], operation: Operation
) -> None:
    method, path, body = operation.route.method, operation.path(), operation.bodies().get(JSON)
    if operation.route.needs is NOBODY:
        assert not {"401", "403"} & operation.about["responses"].keys()
        return
    hold(operation, demo.call(method, path, by=None, body=body), 401)
    if operation.route.needs:
        hold(operation, demo.call(method, path, token=powerless[False], body=body), 403)
    if operation.route.does is WRITE:
        hold(operation, demo.call(method, path, token=powerless[True], body=body), 403)


@each_operation
def test_what_is_not_there_is_refused_as_described(demo: World, operation: Operation) -> None:
    body = operation.bodies().get(JSON)
    for name, each in operation.parameters("path").items():
        other = samples.EPOCH if each["schema"].get("format") == "uuid" else "nothing"
        answer = demo.call(operation.route.method, operation.tried(**{name: other}), body=body)
        if operation.name == "link_heartbeat":
            continue  # any name of a server will do
        assert answer.status in {400, 404}, (name, answer.raw)
        hold(operation, answer, answer.status)
        if each["schema"].get("format") == "uuid":
            hold(operation, demo.call(operation.route.method, operation.tried(**{name: "x"}), body=body), 400)


@each_operation
def test_bodies_that_will_not_do_are_refused_as_described(demo: World, operation: Operation) -> None:
    if operation.route.takes is None:
        assert not {"413", "415"} & operation.about["responses"].keys()
        return
    method, path = operation.route.method, operation.tried()
    limit = SETTINGS.link_body_limit if operation.route.over_link else SETTINGS.body_limit
    for raw, status in ((b"{", 400), (b'"text"', 400), (b'{"a": 1, "A": 2}', 400), (b" " * (limit + 1), 413)):
        hold(operation, demo.call(method, path, raw=raw, headers={"content-type": JSON}), status)
    hold(operation, demo.call(method, path, raw=b"x", headers={"content-type": "text/plain"}), 415)
    required = operation.about["requestBody"]["required"]
    empty = demo.call(method, path, raw=b"{}", headers={"content-type": JSON})
    assert (empty.status == 400) == required, empty.raw
    hold(operation, empty, empty.status)


def test_a_key_used_for_something_else_is_refused_as_described(demo: World) -> None:
    give = next(each for each in OPERATIONS if each.name == "items_give")
    key = {name: each["example"] for name, each in give.parameters("header").items()}
    body = give.bodies()[JSON]
    hold(give, demo.post(give.path(), body, headers=key), 200)
    replayed = demo.post(give.path(), body, headers=key)
    hold(give, replayed, 200)
    assert replayed.headers["idempotent-replay"] == "true"
    hold(give, demo.post(give.path(), {**body, "quantity": 1}, headers=key), 422)


@pytest.mark.parametrize(
    ("name", "body", "status"),
    [
        ("items_take", {"itemid": samples.COIN, "quantity": 999_999}, 409),
        ("items_give", {"itemid": samples.PACK, "quantity": 99}, 409),
        ("spells_teach", {"spellid": samples.STONE_SKIN}, 409),
        ("spells_forget", {"spellid": samples.EMBER_LANCE}, 409),
        ("spells_forget", {"spellid": samples.EPOCH}, 404),
        ("variables_assign", {"value": True}, 400),
        ("users_register", {"username": samples.USER, "password": samples.HASH, "email": "x@example.org"}, 409),
        ("users_register", {"username": "rank", "password": samples.HASH, "email": "x@example.org"}, 400),
        ("credentials_validate_password", {"password": "0" * 64}, 400),
        ("credentials_validate_password", {"password": "0"}, 400),
        ("credentials_redeem_code", {"code": "x", "new": samples.HASH}, 400),
        ("credentials_manage_email", {"new": "keeper@example.test"}, 409),
        ("tokens_log_in", {"grant_type": "password", "username": "keeper", "password": "0" * 64}, 400),
        ("tokens_log_in", {"grant_type": "password", "username": "keeper", "password": "0"}, 400),
        ("tokens_log_in", {"grant_type": "password", "username": samples.USER, "password": samples.HASH}, 400),
        ("tokens_log_in", {"grant_type": "magic"}, 400),
        ("tokens_log_in", {"grant_type": 1}, 400),
        ("link_put_player", {"AppliedSeq": 0}, 409),
        ("link_put_player", {"Name": "Brisela"}, 409),
        ("link_put_player", {"Items": [{"Slot": 999}]}, 409),
        ("link_put_catalogue", [{"Id": samples.COIN, "Name": "x"}], 400),
        ("link_joined", {"Players": [samples.EPOCH]}, 404),
    ],
)
def test_rules_refuse_as_described(demo: World, name: str, body: object, status: int) -> None:
    operation = next(each for each in OPERATIONS if each.name == name)
    answer = demo.call(operation.route.method, operation.tried(), body=body)
    hold(operation, answer, status)


@pytest.mark.parametrize("query", ["after=999999999", f"epoch={samples.EPOCH}"])
def test_the_feed_refuses_as_described(demo: World, query: str) -> None:
    operation = next(each for each in OPERATIONS if each.name == "feed_changes")
    hold(operation, demo.get(f"{operation.path()}?{query}"), 409)


def test_the_checks_can_fail(demo: World) -> None:
    show, count = OPERATIONS[4], OPERATIONS[3]
    answer = demo.get(show.path())
    with pytest.raises(AssertionError):
        hold(count, answer, 200)
    with pytest.raises(AssertionError):
        hold(show, answer, 404)
    more = Answer(answer.status, answer.headers, answer.raw[:-1] + b',"Undocumented":1}')
    with pytest.raises(AssertionError):
        hold(show, more, 200)


@each_operation
def test_a_read_that_may_be_kept_is_described_as_one(demo: World, operation: Operation) -> None:
    kept = operation.route.kept is not NEVER
    assert (IGNORED in operation.parameters("header")) == ("304" in operation.about["responses"]) == kept
    assert ("ETag" in operation.about["responses"]["200"]["headers"]) == kept
    if operation.route.method == "GET":
        answer = demo.get(operation.path(), headers={IGNORED: "*"})
        assert answer.status == (304 if kept and operation.route.kept is not UNCODED else 200)
