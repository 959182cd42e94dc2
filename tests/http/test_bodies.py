"""Request bodies: JSON and forms, keys in any case, strings for numbers and booleans; other bodies are refused."""

import json
from collections.abc import Callable, Mapping
from typing import Any

import people
from loops import over
from proof import refused
from world import Answer, World

USERS = "/api/v1/users"
EMAIL = f"{USERS}/Ann/manage/email/change"  # operation whose body has one string
GIVE = "/api/v1/players/Bob/items/give"  # operation whose body has a guid, an integer and a boolean
JSON, FORM = "application/json", "application/x-www-form-urlencoded"
LIMIT = 65_536
OK = b'{"new":"ann@new.test"}'
BOM = b"\xef\xbb\xbf"
COINS: Mapping[str, object] = {"itemid": people.COIN.id, "quantity": 1}


def send(world: World, raw: bytes, content_type: str | None = JSON, length: str | None = None) -> Answer:
    given = {"Content-Type": content_type, "Content-Length": length}
    headers = {name: value for name, value in given.items() if value is not None}
    return world.call("POST", EMAIL, raw=raw, headers=headers)


def pad_body(size: int) -> bytes:
    """Return a valid request body of exactly `size` bytes."""
    return OK[:-1] + b',"pad":"' + b"x" * (size - len(OK) - 9) + b'"}'


# --- JSON or form bodies -------------------------------------------------------------------------------------------


@over(
    "raw, content_type",
    [
        (OK, JSON),
        (OK, "Application/JSON; charset=utf-8"),
        (OK, FORM),  # `curl -d` sends this content type
        (OK, None),
        (BOM + OK, JSON),
        (BOM + b"new=ann%40new.test", FORM),
        (b"new=ann%40new.test", FORM),
        (b"NEW=ann%40new.test&other=1", f"{FORM}; charset=UTF-8"),
        (b'{"New":"ann@new.test","more":{"a":[1,null,1.5]}}', JSON),
    ],
)
def test_json_and_form_bodies_are_equivalent(world: World, raw: bytes, content_type: str | None) -> None:
    answer = send(world, raw, content_type)
    assert (answer.status, answer.json.get("Email")) == (200, "ann@new.test"), answer.raw


@over(
    "raw, content_type",
    [
        (OK, "text/plain"),
        (OK, "multipart/form-data; boundary=x"),
        (b"new=ann%40new.test", None),
    ],
)
def test_other_media_types_are_refused(shared_world: World, raw: bytes, content_type: str | None) -> None:
    message = "Send the body as application/json or application/x-www-form-urlencoded."
    refused(send(shared_world, raw, content_type), 415, "unsupported_media_type", message)


# --- malformed bodies ----------------------------------------------------------------------------------------------


def test_malformed_json_is_refused(shared_world: World) -> None:
    for raw in (
        b"{",
        b'{"new":"a",}',
        b'{"new":NaN}',
        b"[" * 60_000,
        b'{"new":"\xff"}',
        b'{"new":"a\nb"}',
    ):
        refused(send(shared_world, raw), 400, "malformed_body")
    for raw in (b"null", b"7", b'[{"new":"a@b.test"}]'):
        refused(send(shared_world, raw), 400, "malformed_body", "The body must be a JSON object.")
    for raw, content_type in (
        (b'{"new":"a@new.test","new":"b@new.test"}', JSON),
        (b'{"new":"a@new.test","other":{"x":1,"X":1}}', JSON),
        (b'{"\\ud800": 1, "\\ud800": 2}', JSON),  # a lone surrogate in a name
        (b"new=a%40new.test&New=b%40new.test", FORM),
    ):
        refused(send(shared_world, raw, content_type), 400, "repeated_field")


def test_form_must_be_utf_8_and_keeps_every_letter(world: World) -> None:
    for raw in (
        b"new=j%F6rg%40new.test",
        b"new=ann%40new.test&gr%F6%DFe=1",
        b"new=ann%40new.test&other=\xff",
    ):
        refused(send(world, raw, FORM), 400, "malformed_body")
    headers = {"Content-Type": FORM}
    for raw in (b"reason=gr%C3%B6%C3%9Fe", b"reason=gr\xc3\xb6\xc3\x9fe", BOM + b"reason=gr%C3%B6%C3%9Fe"):
        assert world.call("POST", f"{USERS}/Ann/admin/mute", raw=raw, headers=headers).status == 200
        assert world.get(f"{USERS}/Ann").json["MuteReason"] == "größe"
        assert world.post(f"{USERS}/Ann/admin/unmute", {}).status == 200


@over("opening, closing", [("[", "]"), ('{"a":', "}"), ('[{"a":', "}]")])
def test_body_may_nest_thirty_two_levels(world: World, opening: str, closing: str) -> None:
    def nest(levels: int) -> bytes:  # the body itself is the first level
        return (OK[:-1].decode() + ',"deep":' + opening * (levels - 1) + "1" + closing * (levels - 1) + "}").encode()

    step = opening.count("[") + opening.count("{")
    assert send(world, nest(1 + 31 // step)).status == 200
    for levels in (1 + 32 // step, 5_000):
        answer = send(world, nest(levels))
        refused(answer, 400, "malformed_body")
        assert "32 levels" in answer.message


# --- values of fields ----------------------------------------------------------------------------------------------


def test_strings_and_null_are_read_as_the_type_of_the_field(world: World) -> None:
    given = [("quantity", "1"), *(("bankoverflow", each) for each in ("true", "False", True, None))]
    for total, (field, value) in enumerate(given, start=1):
        assert world.post(GIVE, {**COINS, field: value, "more": None}).json["quantity"]["total"] == total
    form = {"ItemId": people.COIN.id.upper(), "Quantity": "2", "BankOverflow": "TRUE"}
    assert world.call("POST", GIVE, form=form).json["quantity"]["total"] == 7
    refused(world.call("POST", GIVE, form={"itemid": people.COIN.id, "quantity": ""}), 400, "bad_field")


@over("sent, value", [("1", True), ("ON", True), ("Off", False)])
def test_form_boolean_may_be_a_digit_or_on_and_off(world: World, sent: str, *, value: bool) -> None:
    path = "/api/keeper/v1/users/Ann/powers"
    assert world.post(path, {"ban": not value}).status == 200
    answer = world.call("POST", path, form={"ban": sent, "users.query": sent})
    assert (answer.status, answer.json["Ban"], answer.json["UsersQuery"]) == (200, value, value)
    for same in (sent, int(value)):
        refused(world.post(path, {"ban": same}), 400, "bad_field", "The field 'ban' must be true or false.")
    refused(world.call("POST", path, form={"ban": "yes"}), 400, "bad_field")

    path = f"/api/v1/players/Ann/variables/{people.TUTORIAL.id}"
    answer = world.call("POST", path, form={"value": sent})
    assert (answer.status, answer.json["Value"]) == (200, value)
    refused(world.call("POST", path, form={"value": "2"}), 400, "wrong_variable_type")
    refused(world.post(path, {"value": int(value)}), 400, "wrong_variable_type")


# --- size of bodies ------------------------------------------------------------------------------------------------


def test_body_is_limited_by_the_bytes_received_and_the_content_length(make_world: Callable[..., World]) -> None:
    world = make_world()
    assert len(pad_body(LIMIT)) == LIMIT
    for length in (None, "10"):
        assert send(world, pad_body(LIMIT), length=length).status == 200
        answer = send(world, pad_body(LIMIT + 1), length=length)
        refused(answer, 413, "body_too_large", "The body is larger than 65536 bytes.")
    for announced in (str(LIMIT + 1), "9" * 5000):
        refused(send(world, OK, length=announced), 413, "body_too_large")
    for announced in ("", "-1", "ten", "１"):  # noqa: RUF001 - a full-width digit on purpose
        assert send(world, OK, length=announced).status == 200, announced


def send_chunks(world: World, *chunks: bytes, cut: bool = False) -> tuple[int, dict[str, Any]]:
    """Send a request body in chunks; with `cut`, the client disconnects before the last chunk."""
    incoming = [{"type": "http.request", "body": chunk, "more_body": True} for chunk in chunks]
    incoming.append({"type": "http.disconnect"} if cut else {"type": "http.request", "body": b"", "more_body": False})
    sent: list[Any] = []

    async def receive() -> Any:
        return incoming.pop(0)

    async def send(message: Any) -> None:
        sent.append(message)

    headers = [(b"authorization", f"Bearer {world.tokens['Root']}".encode()), (b"content-type", JSON.encode())]
    scope = {"type": "http", "method": "POST", "raw_path": EMAIL.encode(), "path": EMAIL, "query_string": b""}
    world.run(world.asgi({**scope, "headers": headers, "client": None}, receive, send))
    return sent[0]["status"], json.loads(sent[1]["body"])


def test_chunked_body_is_joined_limited_and_must_be_complete(world: World) -> None:
    pieces = [pad_body(LIMIT)[start : start + 1000] for start in range(0, LIMIT, 1000)]
    assert send_chunks(world, *pieces)[0] == 200
    status, body = send_chunks(world, *pieces, b" ")
    assert (status, body["Code"]) == (413, "body_too_large")
    before = world.ledger()
    status, body = send_chunks(world, OK, cut=True)
    assert (status, body["Message"]) == (400, "The body ended before it was complete.")
    assert world.ledger() == before
