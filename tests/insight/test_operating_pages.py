"""The pages Health and Mail, and the state of commands to game servers."""

from typing import Any

import game_server
from commanding import ack, acknowledge, read_feed, read_last
from gamekeeper.console.insight import health
from gamekeeper.console.insight.monitor import DoctorRun
from keepers import ACT, Keeper, OpenKeeper
from people import ANN, USER_IDS, ZOE
from proof import reset_code
from remote import wait_until
from world import World

EXAMINE = f"{health.PAGE}/examine"


def test_doctor_runs_on_request_of_those_who_manage_users(world: World, keeper: OpenKeeper, root: Keeper) -> None:
    shared: Any = world.asgi.services.live
    run = shared[DoctorRun]
    for name in ("Shop", "Clerk"):
        somebody = keeper(name)
        assert "Doctor" not in somebody.page(health.PAGE).text
        assert somebody.post(EXAMINE).status == 403
    assert not run.is_running
    assert run.result is None
    root.page(health.PAGE).assert_shown("State: Good", "Database Good Accepting writes")
    world.sql("UPDATE slots SET quantity = quantity + 1 WHERE player_id = $1 AND place = 'bank'", ANN.id)
    answer = root.post(EXAMINE)
    assert answer.status == 303
    wait_until(lambda: not run.is_running)
    assert "error ledger The slots hold 1251 of item Gold Coin" in root.page(answer.headers["location"]).text


def test_failed_mail_is_shown_and_retried(world: World, root: Keeper) -> None:
    code = reset_code(world, "Ann")
    page = root.page("/console/mail")
    assert "queued Ann Retry ann@example.test 0 none none" in page.text
    assert page.links["Ann"] == f"/console/accounts/{USER_IDS['Ann']}"
    assert code not in page.html
    error = "550 <b>no</b> such user"
    world.sql("UPDATE mails SET tries = 1, failed_at = 1, next_try_at = NULL, last_error = $1", error)
    page = root.page("/console/mail")
    page.assert_shown("failed Ann", error)
    form = page.form(ACT, "Retry")
    shown = root.post(ACT, form.fields, csrf=form.fields["csrf"])
    assert world.sql("SELECT failed_at FROM mails") == [(1,)]
    assert root.confirm(shown, "the mailbox was full").status == 303
    assert "queued Ann" in root.page("/console/mail").text
    assert (world.ledger()[-1].kind, world.ledger()[-1].reason) == ("mail_retried", "the mailbox was full")


def test_pages_follow_the_states_of_a_command(world: World, root: Keeper) -> None:
    game_server.heartbeat(world)
    game_server.join(world, ZOE.id)
    assert world.post("/api/v1/players/Zoe/admin/kick", {}).status == 200
    kick = read_last(world)

    def require_text(text: str) -> None:
        for path in ("/console/changes", f"/console/players/{ZOE.id}?tab=history", f"/console/changes/{kick}"):
            assert text in root.page(path).text, path

    require_text("waiting for one")
    read_feed(world, kick)
    require_text("sent to one")
    acknowledge(world, ack(kick, "unknown", "<b>crashed"))
    require_text("one does not know whether it was done: <b>crashed")
    acknowledge(world, ack(kick))
    world.sql("UPDATE deliveries SET queued_at = 1000, acked_at = 1400")
    require_text("applied by one after 0.4 s")
