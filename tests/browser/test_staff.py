"""An invitation to the staff in the browser: its mail, through a real SMTP server, and the account that it makes."""

import re
import time
from collections.abc import Callable, Generator
from typing import Any

import pytest
from accessibility import check_page
from demo_server import KEEPER, DemoServer, copy_demo
from tour import confirm
from visitor import Visitor

from databases import Sqlite
from server import free_port
from smtp_sink import Sink

Visit = Callable[..., Visitor]
NEW = "ninety brown teapots"


@pytest.fixture(scope="module")
def sink() -> Generator[Sink]:
    with Sink().running() as running:
        yield running


@pytest.fixture(scope="module")
def server(sqlite_databases: Sqlite, sink: Sink) -> Generator[DemoServer]:
    """Run a server for the tests of this file: the demo of the other tests sends no mail."""
    url, port = copy_demo(sqlite_databases), free_port()
    settings: dict[str, Any] = {"smtp_url": f"smtp://127.0.0.1:{sink.port}", "mail_from": "keeper@example.test"}
    with DemoServer(url, port=port, public_url=f"http://127.0.0.1:{port}", **settings) as running:
        yield running
    sqlite_databases.drop(url)


def test_invited_person_joins_by_the_link_of_the_mail(visit: Visit, server: DemoServer, sink: Sink) -> None:
    me = visit(server, KEEPER)
    me.go("/console/staff")
    invitations = me.page.get_by_role("region", name="Invitations").first
    invitations.get_by_role("textbox", name="Email", exact=True).fill("torhild@example.test")
    me.page.get_by_label("viewer", exact=True).check()
    me.page.get_by_role("button", name="Send the invitation").click()
    confirm(me, "helps at night")
    guest = visit(server)
    guest.go(find_link(sink))
    check_page(guest)
    guest.page.get_by_label("Name", exact=True).fill("Torhild")
    guest.page.get_by_label("New password", exact=True).fill(NEW)
    guest.page.get_by_label("New password again").fill(NEW)
    guest.page.get_by_role("button", name="Create my account").click()
    guest.sees("Your account is ready.")
    guest.page.get_by_label("Name").fill("Torhild")
    guest.page.get_by_label("Password").fill(NEW)
    guest.page.get_by_role("button", name="Sign in").click()
    guest.page.get_by_text("Torhild").first.wait_for()
    me.go("/console/staff")
    me.sees("torhild@example.test")
    check_page(me)


def find_link(sink: Sink) -> str:
    for _ in range(300):
        if sink.received:
            break
        time.sleep(0.1)
    [mail] = sink.received
    text = mail.message.get_body(("plain",))
    assert text
    found = re.search(r"http\S+", text.get_content())
    assert found
    return found[0]
