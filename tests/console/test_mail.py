"""The outbox as a page: how each mail fares, and never the code in it."""

from collections.abc import Callable

import pytest
from keepers import Keeper

import people
from gamekeeper.console import mail
from proof import reset_code
from world import World

COLUMNS = "id, user_id, kind, address, queued_at, expires_at, tries"


def queue(world: World, number: int, queued_at: int) -> None:
    values = f"'{people.guid(0xB000 + number)}', id, 'password_reset', 'to{number}@example.test', {queued_at}, 2, 1"
    world.sql(f"INSERT INTO mails ({COLUMNS}) SELECT {values} FROM users WHERE name = 'Bob'")  # noqa: S608 - the values are ours


def test_needs_users_manage(keeper: Callable[[str], Keeper]) -> None:
    for name in ("Shop", "Clerk", "Server"):
        assert keeper(name).get("/console/mail").status == 403


def test_nothing_yet(root: Keeper) -> None:
    page = root.page("/console/mail")
    assert "No mail yet." in page.text
    assert "GAMEKEEPER_SMTP_URL" in page.text
    assert root.get("/console/mail?before=x").status == 400


def test_how_a_mail_fares(world: World, root: Keeper) -> None:
    code = reset_code(world, "Ann")
    page = root.page("/console/mail")
    assert "queued Ann ann@example.test password reset" in page.text
    assert page.links["Ann"] == f"/console/accounts/{people.USER_IDS['Ann']}"
    assert code not in page.html
    world.sql("UPDATE mails SET tries = 3, last_error = $1", "550 <b>no</b> such user")
    page = root.page("/console/mail")
    assert "550 <b>no</b> such user" in page.text
    assert " 3 " in page.text
    world.sql("UPDATE mails SET next_try_at = NULL, failed_at = 1")
    assert "failed Ann" in root.page("/console/mail").text
    world.sql("UPDATE mails SET sent_at = 86400000, failed_at = NULL")
    assert "sent 1970-01-02 00:00:00 UTC Ann" in root.page("/console/mail").text
    assert "gamekeeper mail retry ID" in page.text


def test_where_mail_is_set_up(make_world: Callable[..., World], keeper: Callable[[str], Keeper]) -> None:
    cookie = keeper("Root").cookie
    there = make_world(smtp_url="smtp://localhost:2525", mail_from="game@example.test")
    reset_code(there, "Ann")
    page = Keeper(there, cookie).page("/console/mail")
    assert "Mail is not set up" not in page.text
    assert "none none" not in page.text  # there is a next try


def test_page_by_page(world: World, root: Keeper, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mail, "LIMIT", 2)
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
