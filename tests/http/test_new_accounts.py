"""Operation 22: register an account."""

from collections.abc import Callable

import pytest

import people
from account_records import REGISTER, ROOTS_POWER, USERS, record
from expectations import everything
from proof import at_once, refused, registration_date, rows, spelt
from world import SENT, World


def newbie(world: World, user_id: str) -> dict[str, object]:
    known: dict[str, object] = {"Id": user_id, "Name": "Newbie", "Email": "newbie@example.test", "PlayTimeSeconds": 0}
    return record(world, "Ann", **known, RegistrationDate=registration_date(world, "Newbie"))


def newcomer(**differing: object) -> dict[str, object]:
    return {"username": "Newbie", "password": SENT, "email": "newbie@example.test"} | differing


def test_register_has_the_exact_body_and_is_recorded(world: World) -> None:
    answer = world.post(REGISTER, newcomer(), by="Clerk")
    assert (answer.status, answer.raw) == (200, spelt({"Username": "Newbie", "Email": "newbie@example.test"}))
    found = world.get(f"{USERS}/newbie").json
    assert found == newbie(world, found["Id"])
    assert world.post(f"{USERS}/Newbie/password/validate", {"password": SENT}).status == 200
    written = world.ledger()[-1]
    assert (written.kind, written.actor_id) == ("user_registered", people.USER_IDS["Clerk"])
    assert written.user_id == world.get(f"{USERS}/Newbie").json["Id"]
    assert world.post(REGISTER, newcomer(username="Zoe", email="zoe@new.test")).status == 200


def test_new_account_has_no_permissions_even_if_the_body_grants_them(world: World) -> None:
    powers = dict.fromkeys((*ROOTS_POWER, "ApiUserManagement", "users_manage", "users_query", "game_link"), True)
    smuggled = {"Power": ROOTS_POWER, "powers": powers, "roles": ["users.manage"], "Id": people.NOBODY_ID} | powers
    more = {"PasswordResetCode": "code", "IsMuted": True, "MuteReason": "smuggled"}
    assert world.post(REGISTER, newcomer(**smuggled, **more)).status == 200
    found = world.get(f"{USERS}/Newbie").json
    assert found["Id"] != people.NOBODY_ID
    assert found == newbie(world, found["Id"])
    columns = "editor, ban, kick, mute, api, users_query, users_manage, game_link"
    held = world.sql(f"SELECT {columns} FROM users WHERE name = 'Newbie'")[0]  # noqa: S608 - the columns above
    assert not any(held)


def test_register_refuses_missing_and_malformed_fields(shared_world: World) -> None:
    for field in ["username", "password", "email"]:
        body = newcomer()
        del body[field]
        refused(shared_world.post(REGISTER, body), 400, "missing_field", f"The field '{field}' is missing.")
    bad = ["", "A", "x" * 21, "an n", "ann!", "Ünal", "ａｎｎ", "ann\n", "a\x00b", " ann", "a/b", "..", "a" * 60_000]  # noqa: RUF001 - full-width letters on purpose
    before = everything(shared_world)
    for name in (*bad, 12345, None, True, ["Ann"], {"a": 1}):
        answer = shared_world.post(REGISTER, newcomer(username=name))
        refused(answer, 400, "bad_field")
        assert "'username'" in answer.message
        assert not set("[]{}\\^") & set(answer.message), "a regular expression"
    assert everything(shared_world) == before
    for name in ["rank", "Online", "BAG", "register"]:
        answer = shared_world.post(REGISTER, newcomer(username=name))
        refused(answer, 400, "reserved_name", f"The name '{name}' is reserved; choose another.")


def test_register_accepts_valid_emails(world: World) -> None:
    for name in ("ab", "x" * 20, "0042", "Rank1"):
        assert world.post(REGISTER, newcomer(username=name, email=f"{name}@new.test")).json["Username"] == name
    emails = [
        "a+tag@example.test",
        "ann@host.local",
        "ann@shop.museum",
        f"ann@{'l' * 60}.{'m' * 60}.example.com",
        f"{'x' * 64}@example.com",
        "o'brien@example.com",
        "ünï@example.com",
        "ann@bücher.example",
        "Ann.Upper@example.test",
    ]
    for number, email in enumerate(emails):
        answer = world.post(REGISTER, newcomer(username=f"Newbie{number}", email=email))
        assert (answer.status, answer.json["Email"]) == (200, email)
        assert world.get(f"{USERS}/Newbie{number}").json["Email"] == email
        refused(world.post(REGISTER, newcomer(username="Another", email=email.swapcase())), 409, "email_taken")


def test_wide_name_pattern_still_refuses_confusing_names(
    make_world: Callable[..., World],
) -> None:
    world = make_world(name_pattern=".{2,64}")
    guid = people.NOBODY_ID
    for name in (guid, guid.upper(), guid.replace("-", ""), f"{{{guid}}}", "a\x85b", "a\ufffdb", "Rank"):
        assert world.post(REGISTER, newcomer(username=name)).status == 400, name
    assert world.post(REGISTER, newcomer(username="Ånn of Öland")).status == 200
    assert world.get(f"{USERS}/%C3%85NN%20of%20%C3%B6land").json["Name"] == "Ånn of Öland"


def test_register_refuses_invalid_emails(shared_world: World) -> None:
    bad = ["", "ann", "ann@", "@example.com", "a b@example.com", "a@b@example.com", "ann@example..com", ".a@b.com"]
    lines = ["ann@example.com\n", "ann@example.com\r\nBcc: eve@b.com", "a\x00nn@example.com", "ann\x1b@example.com"]
    long = ["x" * 255 + "@example.com", "ann@" + "l" * 64 + ".com", "a" * 60_000 + "@example.com", "a@" * 30_000]
    before = everything(shared_world)
    for email in (*bad, *lines, *long, "ann@exa\u2028mple.com", 7, None, ["ann@example.com"]):
        answer = shared_world.post(REGISTER, newcomer(email=email))
        refused(answer, 400, "bad_field")
        assert "'email'" in answer.message
    assert everything(shared_world) == before


def test_register_refuses_malformed_passwords_and_taken_names(shared_world: World) -> None:
    before = everything(shared_world)
    for password in ("", "secret", "a" * 63, "a" * 65, "g" * 64, "１" * 64, " " + "a" * 63, None, 7, ["a" * 64]):  # noqa: RUF001 - full-width digits on purpose
        answer = shared_world.post(REGISTER, newcomer(password=password))
        refused(answer, 400, "bad_password", "Did not receive a valid password.")
    assert everything(shared_world) == before
    for differing, code, message in [
        ({"username": "Ann"}, "username_taken", "Account already exists with username 'Ann'."),
        ({"username": "aNN"}, "username_taken", "Account already exists with username 'aNN'."),
        ({"email": "ann@example.test"}, "email_taken", "Account already with email 'ann@example.test'."),
        ({"email": "ANN@example.test"}, "email_taken", "Account already with email 'ANN@example.test'."),
        ({"email": "ann@EXAMPLE.TEST"}, "email_taken", None),
        ({"username": "Ann", "email": "bob@example.test"}, "username_taken", None),
    ]:
        before = everything(shared_world)
        refused(shared_world.post(REGISTER, newcomer(**differing)), 409, code, message)
        assert everything(shared_world) == before


@pytest.mark.both_engines
def test_concurrent_registrations_create_one_account(make_world: Callable[..., World]) -> None:
    first, second = make_world(), make_world()
    users = len(rows(first, "users"))
    calls = [world.send("POST", REGISTER, body=newcomer()) for world in (first, second) * 3]
    answers = at_once(first, calls)
    assert sorted(answer.status for answer in answers) == [200, 409, 409, 409, 409, 409]
    assert {answer.code for answer in answers if answer.status == 409} == {"username_taken"}
    assert len(rows(first, "users")) == users + 1
