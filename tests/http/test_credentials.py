"""Operations 23 to 26, 29 and 30 and redeeming a reset code: check, change and reset passwords and emails."""

import pytest

import people
from credentials import (
    BODIES,
    EMAIL,
    MANAGE_EMAIL,
    MANAGE_PASSWORD,
    NEW,
    PASSWORD,
    RESET,
    USERS,
    VALIDATE,
    opens,
    post,
    redeem,
)
from expectations import everything
from gamekeeper.game.passwords import hash_for_wire
from proof import refused, registration_date, reset_code, rows, spelt
from world import SENT, World

WRONG = hash_for_wire("not it")
# By operation that checks the current password: name of the field that contains it
PROVING = {VALIDATE: "password", EMAIL: "authorization", PASSWORD: "authorization"}
HASHES = [
    (VALIDATE, "password"),
    (EMAIL, "authorization"),
    (PASSWORD, "new"),
    (PASSWORD, "authorization"),
    (MANAGE_PASSWORD, "new"),
    (RESET, "new"),
]
CHANGED_POWER = dict.fromkeys(("Editor", "Ban", "Kick", "Mute", "Api", "ApiPersonalInformation"), False)
ANNS_RECORD: dict[str, object] = {
    "Id": people.USER_IDS["Ann"],
    "Name": "Ann",
    "Email": "ann@new.test",
    "Power": CHANGED_POWER | {"ApiUserManagement": False},
    "PasswordResetCode": None,
    "IsMuted": False,
    "MuteReason": None,
    "IsBanned": False,
}


def anns_record(world: World) -> dict[str, object]:
    return ANNS_RECORD | {
        "RegistrationDate": registration_date(world, "Ann"),
        "PlayTimeSeconds": people.ANN.play_time_seconds,
    }


# --- permissions ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("operation", BODIES)
def test_operation_needs_a_token_and_the_role(world: World, operation: str) -> None:
    before = everything(world)
    path = f"{USERS}/Ann/{operation}"
    role = "users.manage" if operation.startswith("manage") else "users.query"
    refused(world.post(path, BODIES[operation], by=None), 401, "denied")
    refused(
        world.post(path, BODIES[operation], by="Shop"),
        403,
        "role_missing",
        f"This needs the permission {role}. Ask an administrator for a role that has it.",
    )
    assert everything(world) == before


def test_reset_request_needs_a_token_and_the_role(world: World) -> None:
    before = everything(world)
    refused(world.get(f"{USERS}/Ann/{RESET}", by=None), 401, "denied")
    refused(world.get(f"{USERS}/Ann/{RESET}", by="Shop"), 403, "role_missing")
    assert everything(world) == before


@pytest.mark.parametrize("operation", [MANAGE_EMAIL, MANAGE_PASSWORD])
def test_manage_operation_needs_the_manage_role(world: World, operation: str) -> None:
    refused(
        post(world, operation, by="Clerk"),
        403,
        "role_missing",
        "This needs the permission users.manage. Ask an administrator for a role that has it.",
    )
    assert post(world, operation, by="Root").status == 200


@pytest.mark.parametrize("operation", BODIES)
def test_unknown_user_is_a_404(world: World, operation: str) -> None:
    refused(post(world, operation, user="Nobody"), 404, "no_such_user", "No user with name 'Nobody'.")
    missing = f"No user with id '{people.NOBODY_ID}'."
    refused(post(world, operation, user=people.NOBODY_ID), 404, "no_such_user", missing)


def test_reset_request_for_an_unknown_user_is_a_404(world: World) -> None:
    refused(world.get(f"{USERS}/Nobody/{RESET}"), 404, "no_such_user", "No user with name 'Nobody'.")


@pytest.mark.parametrize("operation", BODIES)
def test_missing_field_is_refused(world: World, operation: str) -> None:
    for field in BODIES[operation]:
        body = {name: value for name, value in BODIES[operation].items() if name != field}
        refused(post(world, operation, body), 400, "missing_field", f"The field '{field}' is missing.")


@pytest.mark.parametrize(("operation", "field"), HASHES)
def test_malformed_password_hash_is_refused(world: World, operation: str, field: str) -> None:
    before = everything(world)
    for bad in ("", "secret", "a" * 63, "a" * 65, "g" * 64, "ａ" * 64, f" {SENT[1:]}", f"{SENT}\n", None, 7, [SENT]):  # noqa: RUF001 - full-width letters on purpose
        answer = post(world, operation, BODIES[operation] | {field: bad})
        refused(answer, 400, "bad_password", "Did not receive a valid password.")
    assert everything(world) == before


# --- operation 23: validate a password -----------------------------------------------------------------------------


@pytest.mark.parametrize("sent", [SENT, SENT.upper()])
def test_validate_has_the_exact_body(world: World, sent: str) -> None:
    answer = post(world, VALIDATE, {"password": sent}, by="Clerk")
    assert (answer.status, answer.raw) == (200, spelt({"Message": "Password Correct"}))


def test_validate_by_id(world: World) -> None:
    assert post(world, VALIDATE, user=people.USER_IDS["Ann"].upper()).status == 200


def test_validate_changes_nothing(world: World) -> None:
    before = everything(world, without="known_callers")
    assert opens(world, SENT)
    assert everything(world, without="known_callers") == before


@pytest.mark.parametrize(("operation", "field"), PROVING.items())
def test_wrong_password_is_a_400_and_changes_nothing(world: World, operation: str, field: str) -> None:
    before = everything(world)
    answer = post(world, operation, BODIES[operation] | {field: WRONG})
    refused(answer, 400, "wrong_password", "Invalid credentials.")
    after = everything(world)
    assert len(after.pop("guesses")) == len(before.pop("guesses")) + 1
    assert after == before


# --- operations 24 and 29: change the email ------------------------------------------------------------------------


@pytest.mark.parametrize("operation", [EMAIL, MANAGE_EMAIL])
def test_email_change_has_the_exact_body(world: World, operation: str) -> None:
    answer = post(world, operation)
    assert (answer.status, answer.raw) == (200, spelt(anns_record(world)))
    assert world.get(f"{USERS}/Ann").json["Email"] == "ann@new.test"
    written = world.ledger()[-1]
    assert (written.kind, written.user_id) == ("email_changed", people.USER_IDS["Ann"])


def test_email_change_answers_the_permissions_as_the_spec_has_them(world: World) -> None:
    powers = {
        name: post(world, MANAGE_EMAIL, {"new": f"{name}@new.test"}, user=name).json["Power"]
        for name in ("Root", "Clerk")
    }
    assert list(powers["Root"]) == [*CHANGED_POWER, "ApiUserManagement"]
    assert all(powers["Root"].values())
    held = {"Api": True, "ApiPersonalInformation": True, "ApiUserManagement": False}
    assert powers["Clerk"] == CHANGED_POWER | held


def test_email_change_shows_a_mute(world: World) -> None:
    answer = post(world, MANAGE_EMAIL, user="Mona")
    assert (answer.json["IsMuted"], answer.json["MuteReason"]) == (True, "spamming")


@pytest.mark.parametrize("operation", [EMAIL, MANAGE_EMAIL])
@pytest.mark.parametrize("taken", ["bob@example.test", "BOB@example.test"])
def test_taken_email_is_refused(world: World, operation: str, taken: str) -> None:
    before = everything(world, without="known_callers")
    answer = post(world, operation, BODIES[operation] | {"new": taken})
    refused(answer, 409, "email_taken", f"Account already with email '{taken}'.")
    assert everything(world, without="known_callers") == before


@pytest.mark.parametrize("operation", [EMAIL, MANAGE_EMAIL])
def test_own_email_again_changes_nothing(world: World, operation: str) -> None:
    before = everything(world, without="known_callers")
    answer = post(world, operation, BODIES[operation] | {"new": "ann@example.test"})
    assert (answer.status, answer.json) == (200, anns_record(world) | {"Email": "ann@example.test"})
    assert everything(world, without="known_callers") == before


def test_own_email_in_another_case_is_accepted(world: World) -> None:
    answer = post(world, MANAGE_EMAIL, {"new": "ANN@example.test"})
    assert (answer.status, answer.json["Email"]) == (200, "ANN@example.test")
    assert world.get(f"{USERS}/Ann").json["Email"] == "ANN@example.test"


@pytest.mark.parametrize("operation", [EMAIL, MANAGE_EMAIL])
def test_malformed_email_is_refused(world: World, operation: str) -> None:
    before = everything(world)
    for bad in ("", "ann", "ann@", "ann@example.com\r\nBcc: eve@example.com", "a b@example.com", None, 7, True):
        answer = post(world, operation, BODIES[operation] | {"new": bad})
        refused(answer, 400, "bad_field")
        assert "'new'" in answer.message
    assert everything(world) == before


def test_extra_power_fields_change_nothing(world: World) -> None:
    smuggled = {"Power": {"Api": True}, "api": True, "users_manage": True, "Name": "Eve", "Id": people.NOBODY_ID}
    assert post(world, MANAGE_EMAIL, BODIES[MANAGE_EMAIL] | smuggled).json == anns_record(world)
    refused(
        world.post("/api/oauth/token", {"grant_type": "password", "username": "Ann", "password": SENT}),
        400,
        "unauthorized_client",
    )


# --- operations 25 and 30: change the password ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("operation", "message"), [(PASSWORD, "Password Updated"), (MANAGE_PASSWORD, "Password Correct")]
)
def test_password_change_has_the_exact_body(world: World, operation: str, message: str) -> None:
    answer = post(world, operation)
    assert (answer.status, answer.raw) == (200, spelt({"Message": message}))
    assert opens(world, NEW)
    assert not opens(world, SENT)
    written = next(entry for entry in reversed(world.ledger()) if entry.user_id == people.USER_IDS["Ann"])
    assert (written.kind, written.before) == ("password_changed", None)


def test_upper_case_hash_is_the_same_password(world: World) -> None:
    assert post(world, PASSWORD, {"new": NEW.upper(), "authorization": SENT.upper()}).status == 200
    assert opens(world, NEW)


@pytest.mark.parametrize("how", [PASSWORD, MANAGE_PASSWORD, RESET])
def test_password_change_revokes_the_accounts_tokens_at_once(world: World, how: str) -> None:
    assert world.get("/api/v1/players", by="Clerk").status == world.get("/api/v1/players", by="Shop").status == 200
    code = reset_code(world, "Clerk")
    body = {"code": code, "new": NEW} if how == RESET else BODIES[how]
    assert post(world, how, body, user="Clerk").status == 200
    refused(world.get("/api/v1/players", by="Clerk"), 401, "denied")
    assert world.get("/api/v1/players", by="Shop").status == 200


# --- replays and dry runs of operations that need a password or code -----------------------------------------------


def test_replayed_password_change_needs_no_valid_old_password(world: World) -> None:
    key = {"Idempotency-Key": "once"}
    first, again = (world.post(f"{USERS}/Ann/{PASSWORD}", BODIES[PASSWORD], headers=key) for _ in range(2))
    assert (again.status, again.raw, again.headers["idempotent-replay"]) == (200, first.raw, "true")
    assert not rows(world, "guesses")
    refused(post(world, PASSWORD), 400, "wrong_password")


def test_repeated_key_replays_a_redeemed_code(world: World) -> None:
    body, key = {"code": reset_code(world, "Ann"), "new": NEW}, {"Idempotency-Key": "once"}
    first, again = (world.post(f"{USERS}/Ann/{RESET}", body, headers=key) for _ in range(2))
    assert (again.status, again.raw, again.headers["idempotent-replay"]) == (200, first.raw, "true")
    refused(redeem(world, str(body["code"])), 400, "wrong_code")


def test_own_password_change_replays_under_a_new_token(world: World) -> None:
    """The change revoked its own token, and its answer was lost: the client logs in again and repeats the key."""
    key = {"Idempotency-Key": "once"}
    first = world.post(f"{USERS}/Root/{PASSWORD}", BODIES[PASSWORD], headers=key)
    refused(world.post(f"{USERS}/Root/{PASSWORD}", BODIES[PASSWORD], headers=key), 401, "denied")
    log_in = world.post("/api/oauth/token", {"grant_type": "password", "username": "Root", "password": NEW}, by=None)
    token = log_in.json["access_token"]
    again = world.post(f"{USERS}/Root/{PASSWORD}", BODIES[PASSWORD], headers=key, token=token)
    assert (again.status, again.raw, again.headers["idempotent-replay"]) == (200, first.raw, "true")


def test_refusal_is_not_replayed(world: World) -> None:
    key = {"Idempotency-Key": "once"}
    wrong = BODIES[PASSWORD] | {"authorization": WRONG}
    refused(world.post(f"{USERS}/Ann/{PASSWORD}", wrong, headers=key), 400, "wrong_password")
    assert world.post(f"{USERS}/Ann/{PASSWORD}", BODIES[PASSWORD], headers=key).status == 200


@pytest.mark.parametrize("operation", [EMAIL, PASSWORD])
def test_a_dry_run_with_a_wrong_password_is_refused_and_counts(world: World, operation: str) -> None:
    body = BODIES[operation] | {"authorization": WRONG}
    refused(world.post(f"{USERS}/Ann/{operation}?dryRun=true", body), 400, "wrong_password")
    assert len(rows(world, "guesses")) == 1
