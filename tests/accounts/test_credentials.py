"""Operations 23 to 26, 29 and 30 and redeeming a reset code: check, change and reset passwords and emails."""

import people
from credentials import BODIES, EMAIL, MANAGE_EMAIL, MANAGE_PASSWORD, PASSWORD, RESET, VALIDATE, opens, post
from expectations import everything, unchanged
from loops import over
from proof import refused, reset_code, rows, spelt
from token_pairs import log_in
from world import NEW, SENT, USERS, WRONG, World

# By operation that checks the current password: name of the field that contains it
PROVING = {VALIDATE: "password", EMAIL: "authorization", PASSWORD: "authorization"}
KEY = {"Idempotency-Key": "once"}


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


def test_email_change_answers_the_changed_account(world: World) -> None:
    for operation, email in ((EMAIL, "ann@new.test"), (MANAGE_EMAIL, "anna@new.test")):
        with unchanged(world, without="known_callers"):
            for taken in ("bob@example.test", "BOB@example.test"):
                answer = post(world, operation, BODIES[operation] | {"new": taken})
                refused(answer, 409, "email_taken", f"Account already with email '{taken}'.")
        smuggled = {"Power": {"Api": True}, "api": True, "users_manage": True, "Name": "Eve", "Id": people.NOBODY_ID}
        answer = post(world, operation, BODIES[operation] | {"new": email} | smuggled).accepted()
        assert (answer.json["Name"], answer.json["Email"], answer.json["Power"]["Api"]) == ("Ann", email, False)
        written = world.ledger()[-1]
        assert (written.kind, written.user_id) == ("email_changed", people.USER_IDS["Ann"])
        with unchanged(world, without="known_callers"):
            answer = post(world, operation, BODIES[operation] | {"new": email})  # its own address changes nothing
            assert answer.status == 200
    assert post(world, MANAGE_EMAIL, {"new": "ANNA@new.test"}).json["Email"] == "ANNA@new.test"


# --- operations 25, 26 and 30: change the password -------------------------------------------------------------------


@over("operation, user, message", (PASSWORD, "Ann", "Password Updated"), (MANAGE_PASSWORD, "Bob", "Password Correct"))
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


def test_own_password_change_replays_under_a_new_token(world: World) -> None:
    """The change revoked its own token, and its answer was lost: the client logs in again and repeats the key."""
    first = world.post(f"{USERS}/Root/{PASSWORD}", BODIES[PASSWORD], headers=KEY)
    refused(world.post(f"{USERS}/Root/{PASSWORD}", BODIES[PASSWORD], headers=KEY), 401, "denied")
    token = log_in(world, "Root", password=NEW).json["access_token"]
    again = world.post(f"{USERS}/Root/{PASSWORD}", BODIES[PASSWORD], headers=KEY, token=token)
    assert (again.status, again.raw, again.headers["idempotent-replay"]) == (200, first.raw, "true")
