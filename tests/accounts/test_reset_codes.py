"""Reset codes: request and redeem them."""

import base64

import pytest

import people
from credentials import EMAIL, MANAGE_EMAIL, MANAGE_PASSWORD, PASSWORD, RESET, opens, post, redeem
from expectations import unchanged
from gamekeeper.game.access.passwords import hash_for_wire
from gamekeeper.ground import log
from proof import refused, reset_code, rows, spelt
from world import NEW, SENT, USERS, MakeWorld, World

SENT_MESSAGE = "Password reset email sent."
WARNING = "Mail is not set up on this server; the message waits in the outbox."


def test_reset_request_warns_without_smtp_only(make_world: MakeWorld, capsys: pytest.CaptureFixture[str]) -> None:
    answer = make_world().get(f"{USERS}/Ann/{RESET}", by="Clerk")
    assert (answer.status, answer.raw) == (200, spelt({"Message": SENT_MESSAGE, "Warning": WARNING}))
    log.flush()
    assert f'"problem": "{WARNING}"' in capsys.readouterr().err  # the server's log has the warning too
    world = make_world(smtp_url="smtp://mail.example.test:25", mail_from="game@example.test")
    assert world.get(f"{USERS}/Ann/{RESET}").raw == spelt({"Message": SENT_MESSAGE})


@pytest.mark.both_engines
def test_reset_code_and_mail_are_stored_in_one_transaction(world: World) -> None:
    codes = {name: reset_code(world, name) for name in people.USER_IDS}
    assert len({*codes.values()}) == len(people.USER_IDS)
    for code in codes.values():
        assert len(base64.urlsafe_b64decode(code + "==")) * 8 >= 128
    ann = people.USER_IDS["Ann"]
    mails = world.sql("SELECT user_id, kind, expires_at - queued_at FROM mails WHERE user_id = $1", ann)
    assert mails == [(ann, "password_reset", 30 * 60_000)]
    assert world.sql("SELECT user_id, code FROM resets WHERE user_id = $1", ann) == [(ann, codes["Ann"])]
    assert world.ledger()[-1].kind == "reset_requested"
    world.sql("ALTER TABLE mails RENAME TO away")
    with unchanged(world, without="mails"):
        assert world.get(f"{USERS}/Ann/{RESET}").status in {500, 503}


def test_newest_reset_code_works_once_and_for_its_own_account_only(world: World) -> None:
    old, code = reset_code(world, "Ann"), reset_code(world, "Ann")
    refused(redeem(world, old), 400, "wrong_code")
    refused(redeem(world, code, user="Bob"), 400, "wrong_code")
    assert opens(world, SENT, "Bob")
    answer = redeem(world, code, by="Clerk")
    assert (answer.status, answer.raw) == (200, spelt({"Message": "Password Updated"}))
    assert opens(world, NEW)
    assert not opens(world, SENT)
    refused(redeem(world, code), 400, "wrong_code")
    code = reset_code(world, "Ann")
    world.sql("UPDATE resets SET expires_at = expires_at - 30 * 60000")
    refused(redeem(world, code), 400, "wrong_code")


def test_reset_code_allows_five_attempts_or_dry_runs_and_a_new_one_five_more(world: World) -> None:
    for query, wrong, status in (("", 5, 400), ("", 4, 200), ("?dryRun=true", 5, 400)):
        code = reset_code(world, "Ann")
        for guess in ("", "guess", code[:-1], code + "x", code.swapcase())[:wrong]:
            refused(world.post(f"{USERS}/Ann/{RESET}{query}", {"code": guess, "new": NEW}), 400, "wrong_code")
        assert redeem(world, code).status == status


@pytest.mark.parametrize("operation", [PASSWORD, MANAGE_PASSWORD, EMAIL, MANAGE_EMAIL])
def test_change_of_password_or_email_invalidates_the_reset_code(world: World, operation: str) -> None:
    code = reset_code(world, "Ann")
    assert post(world, operation).status == 200
    refused(redeem(world, code, hash_for_wire("third")), 400, "wrong_code")
    assert rows(world, "resets") == []
