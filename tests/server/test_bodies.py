"""Request bodies: JSON and forms mean the same, and a repeated field is refused."""

from loops import over
from proof import refused
from world import USERS, Answer, World

EMAIL = f"{USERS}/Ann/manage/email/change"  # operation whose body has one string
JSON, FORM = "application/json", "application/x-www-form-urlencoded"
OK = b'{"new":"ann@new.test"}'
BOM = b"\xef\xbb\xbf"


def send(world: World, raw: bytes, content_type: str | None = JSON) -> Answer:
    return world.call("POST", EMAIL, raw=raw, headers={"Content-Type": content_type} if content_type else {})


@over(
    "raw, content_type",
    (OK, JSON),
    (OK, "Application/JSON; charset=utf-8"),
    (OK, FORM),  # `curl -d` sends this content type
    (OK, None),
    (BOM + OK, JSON),
    (BOM + b"new=ann%40new.test", FORM),
    (b"new=ann%40new.test", FORM),
    (b"NEW=ann%40new.test&other=1", f"{FORM}; charset=UTF-8"),
    (b'{"New":"ann@new.test","more":{"a":[1,null,1.5]}}', JSON),
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
