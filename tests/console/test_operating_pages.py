"""The pages Health, Mail and Deliveries."""

import threading
import time
from typing import Any

import pytest
from keepers import ACT, Keeper, MakeWorld, OpenKeeper, open_session
from markup import Page

import game_server
import outbox
import people
from commanding import ack, acknowledge, read_feed, read_last
from game_server import heartbeat
from gamekeeper.console import health, monitor
from gamekeeper.console.doctor_run import DoctorRun, Progress
from gamekeeper.settings import Settings
from people import ANN
from proof import reset_code
from world import World

EXAMINE = f"{health.PAGE}/examine"


@pytest.fixture
def asking(monkeypatch: pytest.MonkeyPatch, make_world: MakeWorld) -> World:
    """A world whose health checks are never cached."""
    monkeypatch.setattr(monitor, "CHECKS_SECONDS", 0.0)
    return make_world()


def read_text(world: World, name: str = "Root") -> str:
    return open_session(world, name).page(health.PAGE).text


def wait_for_end(checkup: DoctorRun, seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while checkup.is_running:
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_health_page_names_each_problem(asking: World) -> None:
    heartbeat(asking)
    outbox.ask(asking)
    shown = read_text(asking, "Shop")
    assert "State: Good" in shown
    assert "Database Good Accepting writes" in shown
    outbox.ask(asking)
    outbox.age(asking, 11)
    shown = read_text(asking)
    assert "State: Strained" in shown
    assert "Outbox Strained A mail has waited for more than 10 minutes." in shown
    heartbeat(asking)
    asking.sql("UPDATE servers SET expires_at = 1")
    assert "Game servers Strained The lease of a game server has expired" in read_text(asking)


def test_read_only_database_is_a_problem(asking: World) -> None:
    root, clerk = open_session(asking, "Root"), open_session(asking, "Clerk")
    live: Any = asking.asgi.services.live
    if asking.keeper.store.engine == "sqlite":
        asking.sql("PRAGMA query_only = ON")
    else:
        name = asking.sql("SELECT CAST(current_database() AS text)")[0][0]
        asking.sql(f'ALTER DATABASE "{name}" SET default_transaction_read_only = on')
        asking.sql("SELECT set_config('default_transaction_read_only', 'on', false)")
    checks = asking.run(live.monitor.read_checks())
    assert [(each.subject, each.status) for each in checks] == [("Database", monitor.DOWN)]
    shown, cause = root.page(health.PAGE).text, " ".join(checks[0].cause.split())
    assert "State: Down" in shown
    assert cause
    assert cause in shown
    assert cause not in clerk.page(health.PAGE).text
    assert "Not accepting writes. The log has the reason." in clerk.page(health.PAGE).text
    assert "Health Down" in root.page("/console").text


def test_doctor_runs_on_request_of_those_who_manage_users(world: World, keeper: OpenKeeper, root: Keeper) -> None:
    live: Any = world.asgi.services.live
    for name in ("Shop", "Clerk"):
        somebody = keeper(name)
        assert "Doctor" not in somebody.page(health.PAGE).text
        assert somebody.post(EXAMINE).status == 403
    assert keeper("Root").post(EXAMINE, csrf="").status == 403
    assert not live.doctor.is_running
    assert live.doctor.result is None
    assert "The doctor has not run since this process started." in root.page(health.PAGE).text
    world.sql("UPDATE slots SET quantity = quantity + 1 WHERE player_id = $1 AND place = 'bank'", ANN.id)
    answer = root.post(EXAMINE)
    assert answer.status == 303
    wait_for_end(live.doctor)
    shown = root.page(answer.headers["location"]).text
    assert "The doctor runs in another process." not in shown
    assert "error ledger The slots hold 1251 of item Gold Coin" in shown
    assert "Run the doctor again" in shown


class Doctor:
    """A stand-in for the doctor that runs until the test releases it."""

    def __init__(self) -> None:
        self.begun, self.go = 0, threading.Event()

    def examine(self, progress: Progress) -> list[Any]:
        self.begun += 1
        progress("ledger", 500, 2_000)
        assert self.go.wait(60)
        progress("ledger", 2_000, 2_000)
        return []


def test_doctor_runs_once_at_a_time_without_blocking_pages(
    make_world: MakeWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    doctor = Doctor()

    def examined(_: Settings, progress: Progress) -> list[Any]:
        return doctor.examine(progress)

    monkeypatch.setattr("gamekeeper.app._run_doctor", examined)
    world = make_world()
    root = open_session(world, "Root")
    live: Any = world.asgi.services.live
    for _ in range(2):
        assert root.post(EXAMINE).status == 303
    while "ledger" not in live.doctor.steps:
        time.sleep(0.01)
    shown = root.page(health.PAGE)
    assert "Ledger: 500 of 2,000" in shown.text
    assert EXAMINE not in shown.html
    doctor.go.set()
    wait_for_end(live.doctor)
    assert doctor.begun == 1
    assert "No problems found." in root.page(health.PAGE).text


def test_failed_doctor_run_shows_its_error(make_world: MakeWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any) -> Any:
        raise RuntimeError("no")

    monkeypatch.setattr("gamekeeper.app._run_doctor", broken)
    world = make_world()
    root = open_session(world, "Root")
    live: Any = world.asgi.services.live
    root.post(EXAMINE)
    wait_for_end(live.doctor)
    assert "The doctor failed." in root.page(health.PAGE).text


def test_doctor_run_ends_at_shutdown() -> None:
    doctor = Doctor()
    checkup = DoctorRun(doctor.examine, doctor.go.is_set)
    checkup.start()
    doctor.go.set()
    wait_for_end(checkup)
    assert checkup.result is None


RETRY = "/api/keeper/v1/mails/{}/retry"
COLUMNS = "id, user_id, kind, address, queued_at, expires_at, tries"


def queue(world: World, number: int, queued_at: int) -> None:
    values = f"'{people.guid(0xB000 + number)}', id, 'password_reset', 'to{number}@example.test', {queued_at}, 2, 1"
    world.sql(f"INSERT INTO mails ({COLUMNS}) SELECT {values} FROM users WHERE name = 'Bob'")  # noqa: S608 - the test chooses the values


def test_list_shows_the_state_of_each_mail(world: World, root: Keeper) -> None:
    code = reset_code(world, "Ann")
    page = root.page("/console/mail")
    assert "queued Ann Retry ann@example.test 0 none none" in page.text
    assert page.links["Ann"] == f"/console/accounts/{people.USER_IDS['Ann']}"
    assert code not in page.html
    assert "password reset" in page.text
    world.sql("UPDATE mails SET tries = 3, last_error = $1", "550 <b>no</b> such user")
    page = root.page("/console/mail")
    page.assert_shown("550 <b>no</b> such user", " 3 ")
    world.sql("UPDATE mails SET next_try_at = NULL, failed_at = 1")
    assert "failed Ann" in root.page("/console/mail").text
    world.sql("UPDATE mails SET sent_at = 86400000, failed_at = NULL")
    assert "sent 1970-01-02 00:00:00 UTC Ann" in root.page("/console/mail").text


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


PLAYER = f"/console/players/{people.ZOE.id}?tab=history"
LIST = "/console/changes"


@pytest.fixture
def kick(world: World) -> int:
    """Return the number of a kick of Zoe, who is on server one."""
    game_server.heartbeat(world)
    game_server.join(world, people.ZOE.id)
    assert world.post("/api/v1/players/Zoe/admin/kick", {}).status == 200
    return read_last(world)


def require_text(root: Keeper, seq: int, text: str) -> None:
    """Require that the list, the player's page and the change's page show this text."""
    for path in (LIST, PLAYER, f"{LIST}/{seq}"):
        assert text in root.page(path).text, path


def test_open_pages_follow_the_states_of_a_command(world: World, root: Keeper, kick: int) -> None:
    require_text(root, kick, "waiting for one")
    read_feed(world, kick)
    require_text(root, kick, "sent to one")
    acknowledge(world, ack(kick, "unknown", "<b>crashed"))
    require_text(root, kick, "one does not know whether it was done: <b>crashed")
    acknowledge(world, ack(kick))
    world.sql("UPDATE deliveries SET queued_at = 1000, acked_at = 1400")
    require_text(root, kick, "applied by one after 0.4 s")


def test_ban_of_an_online_player_is_one_table_and_says_how_far_it_got(world: World, root: Keeper) -> None:
    game_server.heartbeat(world)
    game_server.join(world, people.ZOE.id)
    shown = root.preview("POST", f"/api/v1/players/{people.ZOE.id}/admin/ban", {"duration": 7, "reason": "rude"})
    table = Page(shown.raw.decode())
    assert "These changes will be made: Account Ann, Player Zoe Field" in table.text
    assert table.text.count("Ban reason") == 1
    done = "/console/done/" + root.confirm(shown, "rude").headers["location"].rpartition("done=")[2]
    page = root.page(done)
    page.assert_shown("account Ann", "player Zoe")
    assert page.text.count("Ban reason") == 1
    assert "waiting for one" in page.text
    assert "data-pending" in page.html
    acknowledge(world, ack(read_last(world)))
    world.sql("UPDATE deliveries SET queued_at = 1000, acked_at = 1300")
    page = root.page(done)
    assert "applied by one after 0.3 s" in page.text
    assert "data-pending" not in page.html
