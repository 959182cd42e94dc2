"""Reset codes: request and redeem them."""

import base64
from collections.abc import Callable

import pytest

import people
from credentials import (
    EMAIL,
    MANAGE_EMAIL,
    MANAGE_PASSWORD,
    NEW,
    PASSWORD,
    RESET,
    USERS,
    opens,
    post,
    redeem,
)
from expectations import everything
from gamekeeper import log
from gamekeeper.game.passwords import hash_for_wire
from proof import refused, reset_code, rows, spelt
from world import SENT, World

SENT_MESSAGE = "Password reset email sent."
WARNING = "Mail is not set up on this server; the message waits in the outbox."
WRONG_CODE = "The reset code is wrong, was used, or has expired; request a new one."


# --- operation 26: request a reset code ----------------------------------------------------------------------------


def test_reset_request_without_smtp_warns(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    answer = world.get(f"{USERS}/Ann/{RESET}", by="Clerk")
    assert (answer.status, answer.raw) == (200, spelt({"Message": SENT_MESSAGE, "Warning": WARNING}))
    log.flush()
    assert f'"problem": "{WARNING}"' in capsys.readouterr().err  # the server's log has the warning too


def test_reset_request_with_smtp_has_the_specs_answer(make_world: Callable[..., World]) -> None:
    world = make_world(smtp_url="smtp://mail.example.test:25", mail_from="game@example.test")
    answer = world.get(f"{USERS}/Ann/{RESET}")
    assert (answer.status, answer.raw) == (200, spelt({"Message": SENT_MESSAGE}))
    assert answer.headers["cache-control"] == "no-store"


def test_reset_code_and_mail_are_stored_in_one_transaction(world: World) -> None:
    code = reset_code(world, "Ann")
    mails = world.sql("SELECT user_id, kind, expires_at - queued_at FROM mails")
    assert mails == [(people.USER_IDS["Ann"], "password_reset", 30 * 60_000)]
    assert world.sql("SELECT user_id, code FROM resets") == [(people.USER_IDS["Ann"], code)]
    assert world.ledger()[-1].kind == "reset_requested"


def test_reset_code_is_not_stored_when_its_mail_cannot_be_queued(world: World) -> None:
    world.sql("ALTER TABLE mails RENAME TO away")
    before = everything(world, without="mails")
    assert world.get(f"{USERS}/Ann/{RESET}").status in {500, 503}
    assert everything(world, without="mails") == before


def test_reset_codes_are_random_and_long(world: World) -> None:
    codes = {reset_code(world, name) for name in people.USER_IDS}
    assert len(codes) == len(people.USER_IDS)
    for code in codes:
        assert len(base64.urlsafe_b64decode(code + "==")) * 8 >= 128


# --- redeem a reset code -------------------------------------------------------------------------------------------


def test_redeem_has_the_exact_body(world: World) -> None:
    answer = redeem(world, reset_code(world, "Ann"), by="Clerk")
    assert (answer.status, answer.raw) == (200, spelt({"Message": "Password Updated"}))
    assert opens(world, NEW)
    assert not opens(world, SENT)


def test_reset_code_works_once(world: World) -> None:
    code = reset_code(world, "Ann")
    assert redeem(world, code).status == 200
    refused(redeem(world, code), 400, "wrong_code", WRONG_CODE)


def test_reset_code_works_for_its_own_account_only(world: World) -> None:
    code = reset_code(world, "Ann")
    refused(redeem(world, code, user="Bob"), 400, "wrong_code")
    assert opens(world, SENT, "Bob")
    assert redeem(world, code).status == 200


def test_newest_reset_code_replaces_older_ones(world: World) -> None:
    old, new = reset_code(world, "Ann"), reset_code(world, "Ann")
    refused(redeem(world, old), 400, "wrong_code")
    assert redeem(world, new).status == 200


@pytest.mark.parametrize(("wrong", "status"), [(4, 200), (5, 400)])
def test_reset_code_allows_five_attempts(world: World, wrong: int, status: int) -> None:
    code = reset_code(world, "Ann")
    for guess in ("", "guess", code[:-1], code + "x", code.swapcase())[:wrong]:
        refused(redeem(world, guess), 400, "wrong_code")
    assert redeem(world, code).status == status


def test_dry_run_counts_as_an_attempt_at_a_code(world: World) -> None:
    code = reset_code(world, "Ann")
    for _ in range(5):
        refused(world.post(f"{USERS}/Ann/{RESET}?dryRun=true", {"code": "guess", "new": NEW}), 400, "wrong_code")
    refused(redeem(world, code), 400, "wrong_code")
    assert world.get(f"{USERS}/Ann").json["PasswordResetCode"] is None


def test_new_reset_code_allows_five_new_attempts(world: World) -> None:
    reset_code(world, "Ann")
    for _ in range(5):
        redeem(world, "guess")
    assert redeem(world, reset_code(world, "Ann")).status == 200


@pytest.mark.parametrize("operation", [PASSWORD, MANAGE_PASSWORD, EMAIL, MANAGE_EMAIL])
def test_change_of_password_or_email_invalidates_the_reset_code(world: World, operation: str) -> None:
    code = reset_code(world, "Ann")
    assert post(world, operation).status == 200
    refused(redeem(world, code, hash_for_wire("third")), 400, "wrong_code")
    assert rows(world, "resets") == []


def test_reset_code_expires(world: World) -> None:
    code = reset_code(world, "Ann")
    world.sql("UPDATE resets SET expires_at = expires_at - 30 * 60000")
    refused(redeem(world, code), 400, "wrong_code", WRONG_CODE)


def test_malformed_reset_code_is_refused(world: World) -> None:
    reset_code(world, "Ann")
    before = everything(world)
    for bad in (None, 7, "x" * 256, "a\x00b", ["code"], {"a": 1}):
        answer = post(world, RESET, {"code": bad, "new": NEW})
        refused(answer, 400, "bad_field")
        assert "'code'" in answer.message
    assert everything(world) == before
