"""API keys in the browser: a new key's secret is shown once, in the dialog, and is in no address."""

import re
from collections.abc import Callable

from accessibility import check_page
from demo_server import KEEPER, DemoServer
from playwright.sync_api import expect
from visitor import Visitor

Visit = Callable[..., Visitor]


def test_text_of_a_new_key_stays_until_it_is_stored(visit: Visit, sqlite_demo: DemoServer) -> None:
    me = visit(sqlite_demo, KEEPER)
    page, addresses = me.page, list[str]()
    page.on("request", lambda request: addresses.append(request.url))
    me.go("/console/keys")
    page.get_by_label("Name", exact=True).fill("web shop")
    page.locator("select[name='body.Role']").select_option("shop")
    page.get_by_label("Allowed addresses").fill("192.0.2.0/24\n198.51.100.7")
    page.get_by_role("button", name="Create the key").click()
    page.get_by_role("button", name="Create the API key web shop").click()
    secret = page.get_by_role("dialog").get_by_text(re.compile(r"^gkk_[\w-]{40,}$"))
    expect(page.get_by_role("dialog")).to_contain_text("It will not be shown again.")
    text = secret.inner_text()
    page.keyboard.press("Escape")
    expect(secret).to_be_visible()
    check_page(me)
    page.get_by_role("link", name="I have stored the key").click()
    page.get_by_role("heading", name="web shop active").wait_for()
    assert text not in page.content()
    assert not [each for each in addresses if text in each]
