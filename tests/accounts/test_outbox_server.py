"""The outbox of a serving process: kill -9 and shutdown."""

import json
import time

import httpx
import pytest

from outbox import FROM, ask, make_due, only, send, sending_to
from remote import wait_until
from server import Server
from smtp_sink import HERE, Rude, Sink
from world import USERS, MakeWorld


def test_kill_9_between_queueing_and_sending(
    database: str, make_world: MakeWorld, capfd: pytest.CaptureFixture[str]
) -> None:
    """The SMTP server is down at first and up after the restart: the mail arrives once."""
    sink, world = Sink(), make_world()
    server = Server(database, smtp_url=f"smtp://{HERE}:{sink.port}", mail_from=FROM, smtp_timeout=30)
    server.start()
    try:
        headers = {"Authorization": f"Bearer {world.tokens['Root']}"}
        assert httpx.get(f"{server.url}{USERS}/Ann/password/reset", headers=headers).status_code == 200
        server.kill()
        assert only(world).state in {"queued", "sending"}
        make_due(world)
        with sink.running():
            server.start()
            wait_until(lambda: only(world).state == "sent")
            time.sleep(1.5)
            assert server.stop() == 0
            assert len(sink.received) == 1
    finally:
        server.kill()
    assert only(world).state == "sent"
    for line in capfd.readouterr().err.splitlines():
        assert "ann@example.test" not in line
        assert json.loads(line)["problem"].startswith("mail ")


@pytest.mark.both_engines
@pytest.mark.long_only
def test_kill_9_during_delivery(database: str, make_world: MakeWorld) -> None:
    world = make_world()
    with Rude({"DATA": "hang"}).running() as rude:
        server = Server(database, smtp_url=f"smtp://{HERE}:{rude.port}", mail_from=FROM)
        server.start()
        ask(world)
        assert rude.asked.wait(60)
        server.kill()
        assert only(world).state == "sending"
        with Sink().running() as sink:
            successor = sending_to(make_world, sink.port)
            send(successor)
            assert sink.received == []  # nothing is sent: the killed sender's lease has not expired
            make_due(successor)
            send(successor)
            assert [mail.recipients for mail in sink.received] == [["ann@example.test"]]
    assert (only(world).state, only(world).tries) == ("sent", 2)
