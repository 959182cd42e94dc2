"""Pages of other sites cannot act through the browser of a signed-in person.

The engine makes no difference; SQLite is enough.
"""

from collections.abc import Callable
from urllib.parse import quote

import pytest
from demo_server import KEEPER, DemoServer
from playwright.sync_api import expect
from tour import sign_in
from visitor import Visitor

Visit = Callable[..., Visitor]


def open_elsewhere(visitor: Visitor, html: str) -> None:
    """Open a page with an opaque origin: for the browser, our server is another site than this page."""
    visitor.page.goto(f"data:text/html,{quote(html)}")


@pytest.mark.smoke
def test_form_on_another_site_arrives_without_the_session(visit: Visit, sqlite_demo: DemoServer) -> None:
    me = visit(sqlite_demo)
    me.go("/console")
    sign_in(me, KEEPER)
    open_elsewhere(me, f"<form method=post action='{sqlite_demo.url}/console/act'><button>Win</button></form>")
    me.page.get_by_role("button", name="Win").click()
    expect(me.page.get_by_role("heading", name="Sign in", level=1)).to_be_visible()
