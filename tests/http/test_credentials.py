"""Operations 23 to 26, 29 and 30 and redeeming a reset code: check, change and reset passwords and emails."""

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
from loops import over
from proof import refused, registration_date, reset_code, rows, spelt
from token_pairs import log_in
from world import SENT, World

WRONG = hash_for_wire("not it")
# By operation that checks the current password: name of the field that contains it
PROVING = {VALIDATE: "password", EMAIL: "authorization", PASSWORD: "authorization"}
HASHES = [*PROVING.items(), (PASSWORD, "new"), (MANAGE_PASSWORD, "new"), (RESET, "new")]
ODD_HASHES = ("", "secret", "a" * 63, "a" * 65, "g" * 64, "ａ" * 64, f" {SENT[1:]}", f"{SENT}\n", None, 7, [SENT])  # noqa: RUF001 - full-width letters on purpose
ODD_EMAILS = ("", "ann", "ann@", "ann@example.com\r\nBcc: eve@example.com", "a b@example.com", None, 7, True)
NO_POWER = dict.fromkeys(("Editor", "Ban", "Kick", "Mute", "Api", "ApiPersonalInformation", "ApiUserManagement"), False)
KEY = {"Idempotency-Key": "once"}


def make_record(world: World, email: str) -> dict[str, object]:
    return {
        "Id": people.USER_IDS["Ann"],
        "Name": "Ann",
        "Email": email,
        "Power": NO_POWER,
        "PasswordResetCode": None,
        "IsMuted": False,
        "MuteReason": None,
        "IsBanned": False,
        "RegistrationDate": registration_date(world, "Ann"),
        "PlayTimeSeconds": people.ANN.play_time_seconds,
    }


# --- refusals ------------------------------------------------------------------------------------------------------


@over("operation", [*BODIES])
def test_role_user_and_fields_are_checked(shared_world: World, operation: str) -> None:
    role, message = "users.manage" if operation.startswith("manage") else "users.query", None
    for by in ("Shop", "Clerk") if role == "users.manage" else ("Shop",):
        message = f"This needs the permission {role}. Ask an administrator for a role that has it."
        refused(post(shared_world, operation, by=by), 403, "role_missing", message)
    nobody, missing = people.NOBODY_ID, "No user with name 'Nobody'."
    refused(post(shared_world, operation, user="Nobody"), 404, "no_such_user", missing)
    refused(post(shared_world, operation, user=nobody), 404, "no_such_user", f"No user with id '{nobody}'.")
    for field in BODIES[operation]:
        body = {name: value for name, value in BODIES[operation].items() if name != field}
        refused(post(shared_world, operation, body), 400, "missing_field", f"The field '{field}' is missing.")
        for bad in ODD_HASHES if (operation, field) in HASHES else ():
            answer = post(shared_world, operation, BODIES[operation] | {field: bad})
            refused(answer, 400, "bad_password", "Did not receive a valid password.")
        for bad in ODD_EMAILS if operation.endswith(EMAIL) and field == "new" else ():
            answer = post(shared_world, operation, BODIES[operation] | {field: bad})
            refused(answer, 400, "bad_field")
            assert "'new'" in answer.message


def test_wrong_password_is_a_400_that_changes_nothing_and_counts(world: World) -> None:
    for number, (operation, field) in enumerate(PROVING.items(), start=1):
        before = everything(world)
        answer = post(world, operation, BODIES[operation] | {field: WRONG})
        refused(answer, 400, "wrong_password", "Invalid credentials.")
        after = everything(world)
        assert len(after.pop("guesses")) == len(before.pop("guesses")) + 1 == number
        assert after == before
    for number, operation in enumerate((EMAIL, PASSWORD), start=4):  # in dry runs, too
        body = BODIES[operation] | {"authorization": WRONG}
        refused(world.post(f"{USERS}/Mona/{operation}?dryRun=true", body), 400, "wrong_password")
        assert len(rows(world, "guesses")) == number


# --- operation 23: validate a password; 24 and 29: change the email --------------------------------------------------


def test_validate_has_the_exact_body_and_changes_nothing(world: World) -> None:
    before = everything(world, without="known_callers")
    for sent in (SENT, SENT.upper()):
        answer = post(world, VALIDATE, {"password": sent}, by="Clerk", user=people.USER_IDS["Ann"].upper())
        assert (answer.status, answer.raw) == (200, spelt({"Message": "Password Correct"}))
    assert everything(world, without="known_callers") == before


def test_email_change_has_the_exact_body(world: World) -> None:
    for operation, email in ((EMAIL, "ann@new.test"), (MANAGE_EMAIL, "anna@new.test")):
        before = everything(world, without="known_callers")
        for taken in ("bob@example.test", "BOB@example.test"):
            answer = post(world, operation, BODIES[operation] | {"new": taken})
            refused(answer, 409, "email_taken", f"Account already with email '{taken}'.")
        assert everything(world, without="known_callers") == before
        smuggled = {"Power": {"Api": True}, "api": True, "users_manage": True, "Name": "Eve", "Id": people.NOBODY_ID}
        answer = post(world, operation, BODIES[operation] | {"new": email} | smuggled)
        assert (answer.status, answer.raw) == (200, spelt(make_record(world, email)))
        assert world.get(f"{USERS}/Ann").json["Email"] == email
        written = world.ledger()[-1]
        assert (written.kind, written.user_id) == ("email_changed", people.USER_IDS["Ann"])
        before = everything(world, without="known_callers")
        answer = post(world, operation, BODIES[operation] | {"new": email})  # its own address changes nothing
        assert (answer.status, answer.json) == (200, make_record(world, email))
        assert everything(world, without="known_callers") == before
    assert post(world, MANAGE_EMAIL, {"new": "ANNA@new.test"}).json["Email"] == "ANNA@new.test"
    log_in_of_ann = {"grant_type": "password", "username": "Ann", "password": SENT}
    refused(world.post("/api/oauth/token", log_in_of_ann), 400, "unauthorized_client")


def test_email_change_answers_permissions_and_a_mute(world: World) -> None:
    root, clerk, mona = (
        post(world, MANAGE_EMAIL, {"new": f"{name}@new.test"}, user=name).json for name in ("Root", "Clerk", "Mona")
    )
    assert list(root["Power"]) == [*NO_POWER]
    assert all(root["Power"].values())
    assert clerk["Power"] == NO_POWER | {"Api": True, "ApiPersonalInformation": True}
    assert (mona["IsMuted"], mona["MuteReason"]) == (True, "spamming")


# --- operations 25, 26 and 30: change the password -------------------------------------------------------------------


@over("operation, user, message", [(PASSWORD, "Ann", "Password Updated"), (MANAGE_PASSWORD, "Bob", "Password Correct")])
def test_password_change_has_the_exact_body(world: World, operation: str, user: str, message: str) -> None:
    spelling = {name: str(value).upper() for name, value in BODIES[operation].items()}  # the same password
    answer = post(world, operation, spelling, user=user)
    assert (answer.status, answer.raw) == (200, spelt({"Message": message}))
    assert (opens(world, NEW, user), opens(world, SENT, user)) == (True, False)
    written = next(entry for entry in reversed(world.ledger()) if entry.user_id == people.USER_IDS[user])
    assert (written.kind, written.before) == ("password_changed", None)


def test_password_change_revokes_the_accounts_tokens_at_once(world: World) -> None:
    sent = SENT
    for how in (PASSWORD, MANAGE_PASSWORD, RESET):
        token = log_in(world, "Clerk", password=sent).json["access_token"]
        assert world.get("/api/v1/players", token=token).status == 200
        body = {**BODIES[how], "new": sent[::-1]} | ({"authorization": sent} if how == PASSWORD else {})
        if how == RESET:
            body["code"] = reset_code(world, "Clerk")
        assert post(world, how, body, user="Clerk").status == 200
        sent = sent[::-1]
        refused(world.get("/api/v1/players", token=token), 401, "denied")
        assert world.get("/api/v1/players", by="Shop").status == 200


def test_repeated_key_replays_what_needed_a_password_or_a_code(world: World) -> None:
    wrong = BODIES[PASSWORD] | {"authorization": WRONG}
    refused(world.post(f"{USERS}/Ann/{PASSWORD}", wrong, headers=KEY), 400, "wrong_password")  # is not replayed
    guesses = rows(world, "guesses")
    first, again = (world.post(f"{USERS}/Ann/{PASSWORD}", BODIES[PASSWORD], headers=KEY) for _ in range(2))
    assert (again.status, again.raw, again.headers["idempotent-replay"]) == (200, first.raw, "true")
    assert len(rows(world, "guesses")) <= len(guesses)
    refused(post(world, PASSWORD), 400, "wrong_password")
    body, key = {"code": reset_code(world, "Bob"), "new": NEW}, {"Idempotency-Key": "code"}
    first, again = (world.post(f"{USERS}/Bob/{RESET}", body, headers=key) for _ in range(2))
    assert (again.status, again.raw, again.headers["idempotent-replay"]) == (200, first.raw, "true")
    refused(redeem(world, str(body["code"])), 400, "wrong_code")


def test_own_password_change_replays_under_a_new_token(world: World) -> None:
    """The change revoked its own token, and its answer was lost: the client logs in again and repeats the key."""
    first = world.post(f"{USERS}/Root/{PASSWORD}", BODIES[PASSWORD], headers=KEY)
    refused(world.post(f"{USERS}/Root/{PASSWORD}", BODIES[PASSWORD], headers=KEY), 401, "denied")
    token = log_in(world, "Root", password=NEW).json["access_token"]
    again = world.post(f"{USERS}/Root/{PASSWORD}", BODIES[PASSWORD], headers=KEY, token=token)
    assert (again.status, again.raw, again.headers["idempotent-replay"]) == (200, first.raw, "true")
