"""A passkey in a real browser: Chromium's virtual authenticator is the passkey."""

from collections.abc import Callable
from typing import Any

from accessibility import check_page
from demo_server import PASSWORD, DemoServer
from playwright.sync_api import expect
from visitor import Visitor

from gamekeeper.game.access.passwords import hash_for_wire

Visit = Callable[..., Visitor]
HOME = "/console/me/second-factor"


def register(server: DemoServer, name: str) -> None:
    body = {"username": name, "password": hash_for_wire(PASSWORD), "email": f"{name.lower()}@example.test"}
    server.do("users/register", body, "a test")
    server.give_role(name, "api")


def sign_in(me: Visitor, name: str, to: str = "/console") -> None:
    """Send the name and the password."""
    me.go(f"/console/sign-in?next={to}")
    me.page.get_by_label("Name").fill(name)
    me.page.get_by_label("Password").fill(PASSWORD)
    me.page.get_by_role("button", name="Sign in").click()


def test_passkey_signs_in_and_is_removed(visit: Visit, demo: DemoServer) -> None:
    register(demo, "Petra")
    me = visit(demo, "", host="localhost")
    add_authenticator(me)
    sign_in(me, "Petra", HOME)
    me.page.get_by_label("Name of the passkey").fill("Laptop")
    me.page.get_by_role("button", name="Add a passkey").click()
    expect(me.page.get_by_role("heading", name="Recovery codes")).to_be_visible()
    assert len(me.page.locator(".recovery code").all_inner_texts()) == 10
    check_page(me)

    me.forget_cookies()
    sign_in(me, "Petra", HOME)
    me.page.get_by_role("button", name="Use a passkey").wait_for()
    check_page(me)
    me.page.get_by_role("button", name="Use a passkey").click()
    me.sees("Laptop")
    expect(me.page.locator(".factors time")).to_have_count(2)  # when it was added, and when it was last used
    me.page.get_by_text("Remove", exact=True).click()
    check_page(me)
    me.page.get_by_role("button", name="Use a passkey and remove").click()
    me.sees("You have no second factor")


def add_authenticator(me: Visitor) -> None:
    """Give the browser window a virtual authenticator, which confirms everything at once."""
    options: dict[str, Any] = {
        "protocol": "ctap2",
        "transport": "internal",
        "hasResidentKey": True,
        "hasUserVerification": True,
        "isUserVerified": True,
        "automaticPresenceSimulation": True,
    }
    session: Any = me.page.context.new_cdp_session(me.page)
    session.send("WebAuthn.enable")
    session.send("WebAuthn.addVirtualAuthenticator", {"options": options})
