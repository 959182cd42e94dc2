"""Request bodies: JSON and forms, keys in any case, strings for numbers and booleans; other bodies are refused."""

import people
from loops import over
from proof import refused
from world import Answer, World

USERS = "/api/v1/users"
EMAIL = f"{USERS}/Ann/manage/email/change"  # operation whose body has one string
JSON, FORM = "application/json", "application/x-www-form-urlencoded"
OK = b'{"new":"ann@new.test"}'
BOM = b"\xef\xbb\xbf"


def send(world: World, raw: bytes, content_type: str | None = JSON) -> Answer:
    return world.call("POST", EMAIL, raw=raw, headers={"Content-Type": content_type} if content_type else {})


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


def test_repeated_field_is_refused(shared_world: World) -> None:
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
