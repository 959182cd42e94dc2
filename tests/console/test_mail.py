"""The page of the outbox: the state of each mail, without its reset code, and the retry."""

from collections.abc import Callable

import pytest
from keepers import ACT, Keeper
from markup import Page

import people
from gamekeeper.console import mail
from proof import reset_code
from world import World

RETRY = "/api/keeper/v1/mails/{}/retry"
COLUMNS = "id, user_id, kind, address, queued_at, expires_at, tries"


def queue(world: World, number: int, queued_at: int) -> None:
    values = f"'{people.guid(0xB000 + number)}', id, 'password_reset', 'to{number}@example.test', {queued_at}, 2, 1"
    world.sql(f"INSERT INTO mails ({COLUMNS}) SELECT {values} FROM users WHERE name = 'Bob'")  # noqa: S608 - the test chooses the values


def test_needs_users_manage(keeper: Callable[[str], Keeper]) -> None:
    for name in ("Shop", "Clerk", "Server"):
        assert keeper(name).get("/console/mail").status == 403


def test_empty_outbox_shows_a_message(shared_root: Keeper) -> None:
    page = shared_root.page("/console/mail")
    assert "No mails yet." in page.text
    assert "GAMEKEEPER_SMTP_URL" in page.text
    assert shared_root.get("/console/mail?before=x").status == 400


def test_list_shows_the_state_of_each_mail(world: World, root: Keeper) -> None:
    code = reset_code(world, "Ann")
    page = root.page("/console/mail")
    assert "queued Ann Retry ann@example.test 0 none none" in page.text
    assert page.links["Ann"] == f"/console/accounts/{people.USER_IDS['Ann']}"
    assert code not in page.html
    assert "password reset" in page.text
    world.sql("UPDATE mails SET tries = 3, last_error = $1", "550 <b>no</b> such user")
    page = root.page("/console/mail")
    assert "550 <b>no</b> such user" in page.text
    assert " 3 " in page.text
    world.sql("UPDATE mails SET next_try_at = NULL, failed_at = 1")
    assert "failed Ann" in root.page("/console/mail").text
    world.sql("UPDATE mails SET sent_at = 86400000, failed_at = NULL")
    assert "sent 1970-01-02 00:00:00 UTC Ann" in root.page("/console/mail").text


def test_configured_mail_shows_no_warning(make_world: Callable[..., World], keeper: Callable[[str], Keeper]) -> None:
    cookie = keeper("Root").cookie
    there = make_world(smtp_url="smtp://localhost:2525", mail_from="game@example.test")
    reset_code(there, "Ann")
    page = Keeper(there, cookie).page("/console/mail")
    assert "Mail is not configured" not in page.text
    # the mail has no error but a next attempt, so these adjacent columns are not both "none"
    assert "none none" not in page.text


def test_list_has_pages(world: World, root: Keeper, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mail, "MAILS_PER_PAGE", 2)
    for number in range(5):
        queue(world, number, 1000 + number // 3)
    path, found = "/console/mail", list[str]()
    for _ in range(5):
        page = root.page(path)
        found += [word for word in page.text.split() if word.startswith("to") and word.endswith("@example.test")]
        if "Older" not in page.links:
            break
        path = page.links["Older"]
    assert found == [f"to{number}@example.test" for number in (4, 3, 2, 1, 0)]
    assert root.page(path).links["Newest"] == "/console/mail"


def make_failed_mail(world: World) -> str:
    """Make a mail to Ann that failed permanently; return its id."""
    reset_code(world, "Ann")
    world.sql("UPDATE mails SET tries = 1, failed_at = 1, next_try_at = NULL, last_error = '550 no'")
    return world.sql("SELECT id FROM mails")[0][0]


def list_buttons(page: Page) -> list[str]:
    return [each.fields["path"] for each in page.forms if "Retry" in each.buttons]


def test_retry_queues_the_mail_again(world: World, root: Keeper) -> None:
    mail_id = make_failed_mail(world)
    form = root.page("/console/mail").form(ACT, "Retry")
    assert form.fields["path"] == RETRY.format(mail_id)
    shown = root.post(ACT, form.fields, csrf=form.fields["csrf"])
    words = Page(shown.raw.decode()).text
    assert "Send the mail to Ann again To Ann" in words
    assert "To Ann, ann@example.test: password reset. Mail is not configured, so it stays in the outbox." in words
    assert "Mail state failed queued Next attempt \u2014 " in words
    assert world.sql("SELECT failed_at FROM mails") == [(1,)]
    answer = root.confirm(shown, "the mailbox was full")
    done, _, part = answer.headers["location"].partition("#")
    assert (done.startswith("/console/mail?done="), part) == (True, "outbox")
    assert "Mail queued again, account Ann" in root.page(f"/console/done/{done.partition('=')[2]}").text
    assert "queued Ann" in root.page("/console/mail").text
    assert (world.ledger()[-1].kind, world.ledger()[-1].reason) == ("mail_retried", "the mailbox was full")
    history = root.page(f"/console/accounts/{people.USER_IDS['Ann']}").text
    assert "Mail queued again Ann by Root" in history
    assert "the mailbox was full" in history


def test_retry_button_is_shown_only_where_possible(world: World, root: Keeper) -> None:
    mail_id = make_failed_mail(world)
    for fate, offered in (
        ("UPDATE mails SET failed_at = NULL", True),
        ("UPDATE mails SET taken_until = expires_at", False),
        ("UPDATE mails SET sent_at = 1", False),
        ("UPDATE mails SET taken_until = NULL, sent_at = NULL, failed_at = 1", True),
        ("DELETE FROM resets", False),
    ):
        world.sql(fate)
        assert list_buttons(root.page("/console/mail")) == [RETRY.format(mail_id)] * offered, fate


def test_retry_of_a_changed_mail_is_rejected(world: World, root: Keeper) -> None:
    mail_id = make_failed_mail(world)
    shown = root.preview("POST", RETRY.format(mail_id), back="/console/mail")
    world.sql("UPDATE mails SET failed_at = NULL, next_try_at = expires_at, tries = 2")
    answer = root.confirm(shown, "again")
    assert answer.status == 409
    assert "The state has changed since your preview. Nothing was changed" in Page(answer.raw.decode()).text
    world.sql("UPDATE mails SET sent_at = 1, next_try_at = NULL")
    answer = root.confirm(shown, "again")
    assert (answer.status, "it was sent; if it did not arrive" in answer.raw.decode()) == (409, True)
    assert world.ledger()[-1].kind == "reset_requested"


def test_filter_lists_mails_to_one_account(world: World, root: Keeper) -> None:
    for name in ("Ann", "Bob"):
        reset_code(world, name)
    link = root.page(f"/console/accounts/{people.USER_IDS['Ann']}").links["Mails to Ann"]
    page = root.page(link)
    assert "ann@example.test" in page.text
    assert "bob@example.test" not in page.text
    assert page.links["Mails of all accounts"] == "/console/mail"
    assert "bob@example.test" in root.page("/console/mail?account=BOB").text
    missing = root.get("/console/mail?account=Nobody")
    assert (missing.status, "No user with name 'Nobody'." in Page(missing.raw.decode()).text) == (404, True)
    assert "No mails yet" not in missing.raw.decode()
