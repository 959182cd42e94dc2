"""The console's health page: quick checks, facts, and the doctor in the background."""

import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
from keepers import Keeper, open_session
from markup import Page

import outbox
from game_server import heartbeat
from gamekeeper import __version__
from gamekeeper.console import health, monitor
from gamekeeper.console.doctor_run import DoctorRun, Progress
from gamekeeper.settings import Settings
from gamekeeper.store import migrate
from people import ANN
from world import World

EXAMINE = f"{health.PAGE}/examine"


@pytest.fixture
def asking(monkeypatch: pytest.MonkeyPatch, make_world: Callable[..., World]) -> World:
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


# --- checks on the health page -------------------------------------------------------------------------------------


def test_healthy_server_shows_no_problem(asking: World) -> None:
    heartbeat(asking)
    outbox.ask(asking)
    shown = read_text(asking, "Shop")
    assert "State: Good" in shown
    assert "Database Good Accepting writes" in shown


def test_stuck_mail_is_a_problem(asking: World) -> None:
    outbox.ask(asking)
    outbox.age(asking, 11)
    shown = read_text(asking)
    assert "State: Strained" in shown
    assert "Outbox Strained A mail has waited for more than 10 minutes." in shown


def test_lapsed_lease_is_a_problem(asking: World) -> None:
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


def test_page_shows_facts(world: World) -> None:
    newest, shown = migrate.load_migrations()[-1], read_text(world)
    kind = health.ENGINE_NAMES[world.keeper.store.engine]
    assert f"Version {__version__} Uptime" in shown
    assert f"Database {kind} Schema {newest.number:04} {newest.name}" in shown
    assert f"Newest change {world.ledger()[-1].seq}" in shown
    assert "Waiting mails 0" in shown


def test_page_shows_retention_times(make_world: Callable[..., World]) -> None:
    shown = read_text(make_world(key_days=5, token_days=1))
    for said in ("ledger_days forever", "key_days 5 days", "token_days 1 day"):
        assert said in shown


@pytest.mark.parametrize(
    ("seconds", "said"), [(0, "0 s"), (59, "59 s"), (61, "1 min 1 s"), (3_600, "1 h 0 min"), (90_061, "1 d 1 h")]
)
def test_duration_has_its_two_largest_units(seconds: int, said: str) -> None:
    assert health.format_duration(seconds) == said


# --- the doctor on the health page ---------------------------------------------------------------------------------


def test_doctor_runs_on_request(world: World, root: Keeper) -> None:
    live: Any = world.asgi.services.live
    assert "The doctor has not run since this process started." in root.page(health.PAGE).text
    world.sql("UPDATE slots SET quantity = quantity + 1 WHERE player_id = $1 AND place = 'bank'", ANN.id)
    answer = root.post(EXAMINE)
    assert answer.status == 303
    wait_for_end(live.doctor)
    shown = root.page(answer.headers["location"]).text
    assert "The doctor runs in another process." not in shown
    assert "error ledger The slots hold 1251 of item Gold Coin" in shown
    assert "Run the doctor again" in shown


def test_page_of_another_process_waits_for_the_doctor(
    world: World, root: Keeper, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each server process runs its own doctor; the page's script polls until the process that runs it answers."""
    live: Any = world.asgi.services.live
    asked = root.post(EXAMINE).headers["location"]
    wait_for_end(live.doctor)
    first = health.process_name()
    assert f"This page shows the doctor of process {first}" in root.page(asked).text
    assert "data-running" not in read_checkup(root.page(asked))
    monkeypatch.setattr(health, "process_name", lambda: "1@elsewhere")
    live.doctor.result = None
    page = root.page(asked)
    assert "The doctor runs in another process." in page.text
    assert "The doctor has not run" not in page.text
    found = read_checkup(page)
    assert (found["data-process"], found["data-asked"], "data-running" in found) == ("1@elsewhere", first, True)
    assert page.form(EXAMINE, "Run the doctor")
    assert "The doctor has not run since this process started." in root.page(health.PAGE).text


def read_checkup(page: Page) -> dict[str, str]:
    return next(attributes for _, attributes in page.tags if attributes.get("id") == "checkup")


def test_doctor_needs_users_manage(world: World, keeper: Callable[[str], Keeper]) -> None:
    live: Any = world.asgi.services.live
    for name in ("Shop", "Clerk"):
        somebody = keeper(name)
        assert "Doctor" not in somebody.page(health.PAGE).text
        assert somebody.post(EXAMINE).status == 403
    assert keeper("Root").post(EXAMINE, csrf="").status == 403
    assert not live.doctor.is_running
    assert live.doctor.result is None


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
    make_world: Callable[..., World], monkeypatch: pytest.MonkeyPatch
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


def test_failed_doctor_run_shows_its_error(make_world: Callable[..., World], monkeypatch: pytest.MonkeyPatch) -> None:
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
