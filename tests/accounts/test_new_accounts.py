"""Operation 22: register an account."""

import pytest

import people
from account_records import REGISTER
from expectations import unchanged
from proof import refused, rows, spelt
from world import SENT, USERS, MakeWorld, World


def newcomer(**differing: object) -> dict[str, object]:
    return {"username": "Newbie", "password": SENT, "email": "newbie@example.test"} | differing


def test_register_has_the_exact_body_and_is_recorded(world: World) -> None:
    answer = world.post(REGISTER, newcomer(), by="Clerk")
    assert (answer.status, answer.raw) == (200, spelt({"Username": "Newbie", "Email": "newbie@example.test"}))
    assert world.post(f"{USERS}/Newbie/password/validate", {"password": SENT}).status == 200
    written = world.ledger()[-1]
    assert (written.kind, written.actor_id) == ("user_registered", people.USER_IDS["Clerk"])
    assert written.user_id == world.get(f"{USERS}/newbie").json["Id"]
    # The name of a player is free for an account
    assert world.post(REGISTER, newcomer(username="Zoe", email="zoe@new.test")).status == 200


def test_wide_name_pattern_still_refuses_confusing_names(make_world: MakeWorld) -> None:
    world = make_world(name_pattern=".{2,64}")
    guid = people.NOBODY_ID
    for name in (guid, guid.upper(), guid.replace("-", ""), f"{{{guid}}}", "a\x85b", "a\ufffdb", "Rank"):
        assert world.post(REGISTER, newcomer(username=name)).status == 400, name
    assert world.post(REGISTER, newcomer(username="Ånn of Öland")).status == 200
    assert world.get(f"{USERS}/%C3%85NN%20of%20%C3%B6land").json["Name"] == "Ånn of Öland"


def test_register_refuses_taken_names_and_emails(shared_world: World) -> None:
    with unchanged(shared_world):
        for differing, code, message in [
            ({"username": "aNN"}, "username_taken", "Account already exists with username 'aNN'."),
            ({"email": "ANN@example.test"}, "email_taken", "Account already with email 'ANN@example.test'."),
            ({"email": "ann@EXAMPLE.TEST"}, "email_taken", None),
            ({"username": "Ann", "email": "bob@example.test"}, "username_taken", None),
        ]:
            refused(shared_world.post(REGISTER, newcomer(**differing)), 409, code, message)


@pytest.mark.both_engines
def test_concurrent_registrations_create_one_account(make_world: MakeWorld) -> None:
    first, second = make_world(), make_world()
    users = len(rows(first, "users"))
    calls = [world.send("POST", REGISTER, body=newcomer()) for world in (first, second) * 3]
    answers = first.at_once(calls)
    assert sorted(answer.status for answer in answers) == [200, 409, 409, 409, 409, 409]
    assert {answer.code for answer in answers if answer.status == 409} == {"username_taken"}
    assert len(rows(first, "users")) == users + 1
