"""Somebody in front of a browser window. Nothing may go wrong in it unseen, and nothing may come from elsewhere."""

import re
from typing import Any

from demo_server import DemoServer
from playwright.sync_api import Browser, ConsoleMessage, Locator, Response, Route

WIDE, NARROW = (1440, 900), (390, 844)
COOKIE = "gamekeeper"
REFUSED = re.compile(r"Failed to load resource: .* status of (\d+)")


class Visitor:
    """`name` is signed in already; without one nobody is."""

    def __init__(
        self, browser: Browser, server: DemoServer, name: str, *, width: int = 1440, dark: bool = False, **more: Any
    ) -> None:
        self.server = server
        self.expected: set[int] = set()  # refusals that the test is about
        self._wrong: list[str] = []
        looks: dict[str, Any] = {"timezone_id": "UTC", "reduced_motion": "reduce", **more}
        self._context = browser.new_context(
            base_url=server.url,
            viewport={"width": width, "height": 844 if width < WIDE[0] else WIDE[1]},
            color_scheme="dark" if dark else "light",
            locale="en-GB",
            **looks,
        )
        self._context.set_default_timeout(30_000)
        self._context.route("**/*", self._guard)
        if name:
            value = server.cookie(name)
            self._context.add_cookies([{"name": COOKIE, "value": value, "domain": "127.0.0.1", "path": "/console"}])
        self.page = self._context.new_page()
        self.page.on("console", self._hear)
        self.page.on("pageerror", lambda error: self._wrong.append(f"{self.page.url}: {error}"))

    @property
    def cookie(self) -> str:
        return next(each.get("value", "") for each in self._context.cookies() if each.get("name") == COOKIE)

    @property
    def dialog(self) -> Locator:
        return self.page.locator("#dialog")

    def go(self, path: str) -> Response:
        answer = self.page.goto(path)
        assert answer
        return answer

    def sees(self, text: str) -> None:
        self.page.get_by_text(text).first.wait_for()

    def close(self) -> None:
        self._context.close()
        assert not self._wrong, "\n".join(self._wrong)

    def _guard(self, route: Route) -> None:
        url = route.request.url
        if url.startswith((f"{self.server.url}/", "data:")):
            route.continue_()
            return
        self._wrong.append(f"asked another host for {url}")
        route.abort()

    def _hear(self, message: ConsoleMessage) -> None:
        if message.type != "error":
            return
        refused = REFUSED.match(message.text)
        if refused is None or int(refused[1]) not in self.expected:
            self._wrong.append(f"{self.page.url}: {message.text}")
