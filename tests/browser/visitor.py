"""A browser window. Script errors and requests to other hosts fail the test."""

import re
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from demo_server import DemoServer
from playwright.sync_api import Browser, ConsoleMessage, Locator, Request, Response, Route

WIDE, NARROW = (1440, 900), (390, 844)
COOKIE = "gamekeeper"
REFUSED = re.compile(r"Failed to load resource: .* status of (\d+)")
LOST = "Failed to load resource: net::ERR_"


class Visitor:
    """A browser window, signed in as `name` if given."""

    def __init__(
        self,
        browser: Browser,
        server: DemoServer,
        name: str,
        *,
        width: int = 1440,
        dark: bool = False,
        host: str = "127.0.0.1",
        others: tuple[str, ...] = (),  # addresses of other servers that the pages may lead to
        **more: Any,
    ) -> None:
        self.server = server
        self._url = server.url.replace("127.0.0.1", host)
        self._allowed = (f"{self._url}/", *others, "data:")
        self.expected: set[int] = set()  # HTTP statuses of refusals that the test expects
        self._cut = False
        self._wrong: list[str] = []
        looks: dict[str, Any] = {"timezone_id": "UTC", "reduced_motion": "reduce", "locale": "en-GB", **more}
        self._context = browser.new_context(
            base_url=self._url,
            viewport={"width": width, "height": 844 if width < WIDE[0] else WIDE[1]},
            color_scheme="dark" if dark else "light",
            **looks,
        )
        self._context.set_default_timeout(30_000)
        self._context.on("request", self._watch)  # the handler observes the browser's requests without delaying them
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

    @property
    def confirm_button(self) -> Locator:
        """Return the button that confirms a preview, in a dialog or on its own page; its text names the action."""
        return self.page.locator("form[data-confirm] .row button")

    def go(self, path: str) -> Response:
        answer = self.page.goto(path)
        assert answer
        return answer

    def sees(self, text: str) -> None:
        self.page.get_by_text(text).first.wait_for()

    def sees_done(self) -> None:
        """Wait for the notice of a finished action; other texts of a page end with "undone."."""
        self.page.locator("#done").get_by_text("Done.", exact=True).first.wait_for()

    @contextmanager
    def cut_off(self, address: str, *, answered: bool = False) -> Generator[None]:
        """Drop the browser's requests to the address, or with `answered` only the answers to them."""
        over = False

        def drop(route: Route) -> None:
            if over:
                route.fallback()
                return
            if answered:
                route.fetch()
            route.abort()

        self._cut = True  # errors of dropped requests are ignored from now on, because Chromium reports them later
        self.page.route(address, drop)  # the route stays installed: removing it could drop another request
        yield
        over = True

    def forget_cookies(self) -> None:
        self._context.clear_cookies()

    def close(self) -> None:
        self._context.close()
        self.check()

    def check(self) -> None:
        """Fail if there was a script error or a request to another host since the last check."""
        wrong, self._wrong = self._wrong, []
        assert not wrong, "\n".join(wrong)

    def _watch(self, request: Request) -> None:
        """Record requests to other hosts; Chromium cannot reach them, but they must not even be tried."""
        if not request.url.startswith(self._allowed):
            self._wrong.append(f"asked another host for {request.url}")

    def _hear(self, message: ConsoleMessage) -> None:
        if message.type != "error":
            return
        if self._cut and message.text.startswith(LOST):
            return
        refused = REFUSED.match(message.text)
        if refused is None or int(refused[1]) not in self.expected:
            self._wrong.append(f"{self.page.url}: {message.text}")
