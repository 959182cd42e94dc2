"""Request bodies: JSON and forms, keys in any case, strings for numbers and booleans; other bodies are refused."""

import json
from collections.abc import Callable, Mapping
from typing import Any

import pytest

import people
from proof import refused
from world import World

USERS = "/api/v1/users"
EMAIL = f"{USERS}/Ann/manage/email/change"  # operation whose body has one string
GIVE = "/api/v1/players/Bob/items/give"  # operation whose body has a guid, an integer and a boolean
JSON, FORM = "application/json", "application/x-www-form-urlencoded"
LIMIT = 65_536
OK = b'{"new":"ann@new.test"}'
BOM = b"\xef\xbb\xbf"
COINS: Mapping[str, object] = {"itemid": people.COIN.id, "quantity": 1}


def content_type_header(content_type: str) -> dict[str, str]:
    return {"Content-Type": content_type}


def pad_body(size: int) -> bytes:
    """Return a valid request body of exactly `size` bytes."""
    return OK[:-1] + b',"pad":"' + b"x" * (size - len(OK) - 9) + b'"}'


# --- JSON or form bodies -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("raw", "headers"),
    [
        (OK, content_type_header(JSON)),
        (OK, content_type_header("Application/JSON; charset=utf-8")),
        (OK, content_type_header("application/json;charset=iso-8859-1")),
        (OK, content_type_header(FORM)),  # `curl -d` sends this content type
        (b" \r\n\t" + OK, content_type_header(FORM)),
        (OK, {}),
        (BOM + OK, content_type_header(JSON)),
        (BOM + OK, content_type_header(FORM)),
        (BOM + b" \n" + OK, {}),
        (BOM + b"new=ann%40new.test", content_type_header(FORM)),
        (b"new=ann%40new.test", content_type_header(FORM)),
        (b"NEW=ann%40new.test&other=1", content_type_header(f"{FORM}; charset=UTF-8")),
        (b'{"NEW":"ann@new.test"}', content_type_header(JSON)),
        (b'{"New":"ann@new.test","more":{"a":[1,null,1.5]}}', content_type_header(JSON)),
        (b'{"new":"\\u0061nn@new.test"}', content_type_header(JSON)),
    ],
)
def test_json_and_form_bodies_are_equivalent(shared_world: World, raw: bytes, headers: Mapping[str, str]) -> None:
    answer = shared_world.call("POST", f"{EMAIL}?dryRun=true", raw=raw, headers=headers)
    assert (answer.status, answer.json.get("Email")) == (200, "ann@new.test"), answer.raw


def test_empty_array_counts_as_empty_object(shared_world: World) -> None:
    for headers in (content_type_header(JSON), content_type_header(FORM), {}):
        assert shared_world.call("POST", USERS, raw=b"[]", headers=headers).json["count"] == 5
        answer = shared_world.call("POST", EMAIL, raw=b"[]", headers=headers)
        refused(answer, 400, "missing_field", "The field 'new' is missing.")


@pytest.mark.parametrize(
    "headers", [content_type_header(JSON), content_type_header(FORM), content_type_header("text/plain"), {}]
)
def test_missing_body_counts_as_empty_object(shared_world: World, headers: Mapping[str, str]) -> None:
    for raw in (b"", b"  \r\n"):
        assert shared_world.call("POST", USERS, raw=raw, headers=headers).status == 200
        refused(shared_world.call("POST", EMAIL, raw=raw, headers=headers), 400, "missing_field")


@pytest.mark.parametrize(
    ("raw", "headers"),
    [
        (OK, content_type_header("text/plain")),
        (OK, content_type_header("application/xml")),
        (OK, content_type_header("multipart/form-data; boundary=x")),
        (OK, content_type_header("application/jsonp")),
        (OK, content_type_header("nonsense")),
        (b"new=ann%40new.test", {}),
        (b'"text"', {}),
    ],
)
def test_other_media_types_are_refused(shared_world: World, raw: bytes, headers: Mapping[str, str]) -> None:
    answer = shared_world.call("POST", EMAIL, raw=raw, headers=headers)
    message = "Send the body as application/json or application/x-www-form-urlencoded."
    refused(answer, 415, "unsupported_media_type", message)


def test_content_type_without_body_is_ignored(shared_world: World) -> None:
    assert shared_world.get(USERS, headers=content_type_header("text/plain")).status == 200


# --- malformed bodies ----------------------------------------------------------------------------------------------


def test_malformed_json_is_refused(shared_world: World) -> None:
    broken = [
        b"{",
        b"{}{}",
        b'{"new":}',
        b"{'new':'a'}",
        b'{"new":"a",}',
        b"nonsense",
        b'{"new":NaN}',
        b'{"a":Infinity}',
    ]
    odd = [
        OK.decode().encode("utf-16"),
        OK.decode().encode("utf-32"),
        b'{"new":"\xff"}',
        b'{"new":"a\nb"}',
        b"\x00" + OK,
    ]
    for raw in (*broken, *odd, b'{"a":01}', b'{"a":+1}', b"[" * 60_000):
        refused(shared_world.call("POST", EMAIL, raw=raw, headers=content_type_header(JSON)), 400, "malformed_body")


@pytest.mark.parametrize(
    "raw",
    [
        b"new=j%F6rg%40new.test",
        b"new=j\xf6rg%40new.test",
        b"new=j%ED%A0%80rg%40new.test",
        b"new=ann%40new.test&gr%F6%DFe=1",
        b"new=ann%40new.test&other=\xff",
    ],
)
@pytest.mark.parametrize("charset", ["", "; charset=iso-8859-1"])
def test_form_that_is_not_utf_8_is_refused(shared_world: World, raw: bytes, charset: str) -> None:
    answer = shared_world.call("POST", EMAIL, raw=raw, headers=content_type_header(FORM + charset))
    refused(answer, 400, "malformed_body", "The form is not UTF-8. Encode its text as UTF-8 and send it again.")


def test_form_in_utf_8_keeps_every_letter(world: World) -> None:
    for raw in (b"reason=gr%C3%B6%C3%9Fe", b"reason=gr\xc3\xb6\xc3\x9fe", BOM + b"reason=gr%C3%B6%C3%9Fe"):
        assert world.call("POST", f"{USERS}/Ann/admin/mute", raw=raw, headers=content_type_header(FORM)).status == 200
        assert world.get(f"{USERS}/Ann").json["MuteReason"] == "größe"
        assert world.post(f"{USERS}/Ann/admin/unmute", {}).status == 200


@pytest.mark.parametrize("raw", [b"null", b"true", b"7", b'"text"', b"[1]", b"[[]]", b'[{"new":"a@b.test"}]'])
def test_json_that_is_not_an_object_is_refused(shared_world: World, raw: bytes) -> None:
    answer = shared_world.call("POST", EMAIL, raw=raw, headers=content_type_header(JSON))
    refused(answer, 400, "malformed_body", "The body must be a JSON object.")


@pytest.mark.parametrize(
    ("raw", "content_type"),
    [
        (b'{"new":"a@new.test","new":"b@new.test"}', JSON),
        (b'{"new":"a@new.test","NEW":"a@new.test"}', JSON),
        (b'{"new":"a@new.test","other":{"x":1,"X":1}}', JSON),
        (b"new=a%40new.test&New=b%40new.test", FORM),
    ],
)
def test_repeated_field_in_any_case_is_refused(shared_world: World, raw: bytes, content_type: str) -> None:
    refused(shared_world.call("POST", EMAIL, raw=raw, headers=content_type_header(content_type)), 400, "repeated_field")


def nest_body(levels: int, opening: str, closing: str) -> bytes:
    """Return a JSON body with this many levels of nesting, of which the body itself is the first."""
    return (OK[:-1].decode() + ',"deep":' + opening * (levels - 1) + "1" + closing * (levels - 1) + "}").encode()


@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ('{"a":', "}"), ('[{"a":', "}]")])
def test_body_may_nest_thirty_two_levels(world: World, opening: str, closing: str) -> None:
    step = opening.count("[") + opening.count("{")
    deepest = nest_body(1 + 31 // step, opening, closing)
    assert world.call("POST", EMAIL, raw=deepest, headers=content_type_header(JSON)).status == 200
    for levels in (1 + 32 // step, 5_000):
        answer = world.call("POST", EMAIL, raw=nest_body(levels, opening, closing), headers=content_type_header(JSON))
        refused(answer, 400, "malformed_body")
        assert "32 levels" in answer.message


# --- values of fields ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("field", "value"),
    [("quantity", "1"), ("bankoverflow", "true"), ("bankoverflow", "False"), ("bankoverflow", True)],
)
def test_strings_are_read_as_numbers_and_booleans(world: World, field: str, value: object) -> None:
    assert world.post(GIVE, {**COINS, field: value}).json["quantity"]["total"] == 1


def test_form_strings_are_read_as_numbers_and_booleans(world: World) -> None:
    form = {"ItemId": people.COIN.id.upper(), "Quantity": "2", "BankOverflow": "TRUE"}
    assert world.call("POST", GIVE, form=form).json["quantity"]["total"] == 2


@pytest.mark.parametrize(("sent", "held"), [("1", True), ("on", True), ("ON", True), ("0", False), ("Off", False)])
def test_form_boolean_may_be_a_digit_or_on_and_off(world: World, sent: str, *, held: bool) -> None:
    path = "/api/keeper/v1/users/Ann/powers"
    assert world.post(path, {"ban": not held}).status == 200
    answer = world.call("POST", path, form={"ban": sent, "users.query": sent})
    assert (answer.status, answer.json["Ban"], answer.json["UsersQuery"]) == (200, held, held)
    for same in (sent, int(held)):
        refused(world.post(path, {"ban": same}), 400, "bad_field", "The field 'ban' must be true or false.")
    refused(world.call("POST", path, form={"ban": "yes"}), 400, "bad_field")


@pytest.mark.parametrize(("sent", "value"), [("1", True), ("on", True), ("0", False), ("off", False)])
def test_form_sets_a_boolean_variable(world: World, sent: str, *, value: bool) -> None:
    path = f"/api/v1/players/Ann/variables/{people.TUTORIAL.id}"
    answer = world.call("POST", path, form={"value": sent})
    assert (answer.status, answer.json["Value"]) == (200, value)
    refused(world.call("POST", path, form={"value": "2"}), 400, "wrong_variable_type")
    refused(world.post(path, {"value": int(value)}), 400, "wrong_variable_type")
    number = world.call("POST", f"/api/v1/players/Ann/variables/{people.KILLS.id}", form={"value": "1"})
    assert number.json["Value"] == 1
    assert number.json["Value"] is not True


def test_null_counts_as_missing_for_optional_fields(world: World) -> None:
    answer = world.post(GIVE, {**COINS, "bankoverflow": None, "more": None})
    assert (answer.status, answer.json["quantity"]) == (200, {"total": 1, "bank": 0, "inventory": 1})
    for path in (USERS, "/api/v1/players", "/api/v1/players/online"):
        plain = world.post(path, {}).raw
        assert world.post(path, {"page": None, "Count": None}).raw == plain
        assert world.call("POST", path, form={"page": "", "Count": ""}).raw == plain
        refused(world.post(path, {"count": ""}), 400, "bad_field")
    refused(world.call("POST", GIVE, form={"itemid": people.COIN.id, "quantity": ""}), 400, "bad_field")


def test_of_two_names_of_a_field_the_one_with_a_value_counts(world: World) -> None:
    answer = world.post("/api/keeper/v1/users/Ann/powers", {"usersQuery": None, "users.query": True, "ban": None})
    assert (answer.status, answer.json["UsersQuery"], answer.json["Ban"]) == (200, True, False)


WRONG_VALUES: Mapping[str, list[Any]] = {
    "quantity": [
        0,
        -1,
        2**31,
        2**63,
        1.0,
        1.5,
        1e3,
        "1.0",
        "1e3",
        "+1",
        " 1",
        "1_0",
        "0x1",
        "١",  # noqa: RUF001 - an Arabic digit on purpose
        "five",
        "",
        True,
        None,
    ],
    "bankoverflow": [1, 0, "1", "yes", "", 1.0, [True]],
    "itemid": [7, "", "nonsense", None, "0" * 31, "urn:uuid:" + people.COIN.id, "０" * 32, [people.COIN.id], True],  # noqa: RUF001 - full-width digits on purpose
}


@pytest.mark.parametrize("field", WRONG_VALUES)
def test_value_of_a_wrong_type_is_refused(shared_world: World, field: str) -> None:
    for value in WRONG_VALUES[field]:
        answer = shared_world.post(GIVE, {**COINS, field: value})
        refused(answer, 400, "bad_field")
        assert f"'{field}'" in answer.message


@pytest.mark.parametrize("number", ["9" * 5000, "-" + "9" * 5000, "1e99999", "9" * 20])
def test_huge_number_is_refused(shared_world: World, number: str) -> None:
    raw = f'{{"itemid":"{people.COIN.id}","quantity":{number}}}'.encode()
    refused(shared_world.call("POST", GIVE, raw=raw, headers=content_type_header(JSON)), 400, "bad_field")


def test_text_that_cannot_be_stored_is_refused(shared_world: World) -> None:
    for raw in (
        b'{"new":"a\\u0000@new.test"}',
        b'{"new":"\\ud800@new.test"}',
        b'{"new":"a\\u007f@new.test"}',
        b'{"new":"\\u009b@new.test"}',
    ):
        answer = shared_world.call("POST", EMAIL, raw=raw, headers=content_type_header(JSON))
        refused(answer, 400, "bad_field", "The field 'new' has characters that cannot be stored.")


# --- size of bodies ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("headers", [{}, {"Content-Length": "10"}])
def test_body_of_the_largest_size_is_accepted(world: World, headers: Mapping[str, str]) -> None:
    """The size limit applies to the bytes received, not to the Content-Length."""
    assert len(pad_body(LIMIT)) == LIMIT
    sent = {**content_type_header(JSON), **headers}
    assert world.call("POST", EMAIL, raw=pad_body(LIMIT), headers=sent).status == 200
    answer = world.call("POST", EMAIL, raw=pad_body(LIMIT + 1), headers=sent)
    refused(answer, 413, "body_too_large", "The body is larger than 65536 bytes.")


@pytest.mark.parametrize("announced", [str(LIMIT + 1), "9" * 5000])
def test_content_length_above_the_limit_is_refused(shared_world: World, announced: str) -> None:
    refused(shared_world.call("POST", EMAIL, raw=OK, headers={"Content-Length": announced}), 413, "body_too_large")


def test_malformed_content_length_is_ignored(world: World) -> None:
    for announced in ("", "-1", "ten", "１"):  # noqa: RUF001 - a full-width digit on purpose
        assert world.call("POST", EMAIL, raw=OK, headers={"Content-Length": announced}).status == 200, announced


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


def test_chunked_body_is_joined_and_limited(world: World) -> None:
    pieces = [pad_body(LIMIT)[start : start + 1000] for start in range(0, LIMIT, 1000)]
    assert send_chunks(world, *pieces)[0] == 200
    status, body = send_chunks(world, *pieces, b" ")
    assert (status, body["Code"]) == (413, "body_too_large")


def test_truncated_body_changes_nothing(shared_world: World) -> None:
    status, body = send_chunks(shared_world, OK, cut=True)
    assert (status, body["Message"]) == (400, "The body ended before it was complete.")


def test_body_limit_is_a_setting(make_world: Callable[..., World]) -> None:
    world = make_world(body_limit=1024)
    assert world.call("POST", EMAIL, raw=pad_body(1024)).status == 200
    refused(world.call("POST", EMAIL, raw=pad_body(1025)), 413, "body_too_large")


def test_lone_surrogate_in_a_field_name_is_a_400(shared_world: World) -> None:
    sent = b'{"\\ud800": 1, "\\ud800": 2}'
    answer = shared_world.call(
        "POST", "/api/oauth/token", by=None, raw=sent, headers={"content-type": "application/json"}
    )
    assert (answer.status, answer.code) == (400, "repeated_field")
