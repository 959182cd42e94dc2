"""A browser session at the console, without a browser: sends the same requests in process and reads the pages."""

from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import quote, urlencode

import pytest

import people
import staff
from gamekeeper.console.frame import sessions
from gamekeeper.game.access import tokens
from gamekeeper.game.core.lookup import new_guid
from gamekeeper.http.contract.operation import Route
from gamekeeper.http.server.caller import Callers
from gamekeeper.store.access import tokens as stored
from gamekeeper.store.engine.interface import Writing
from markup import Page
from world import Answer, World

ACT = "/console/act"
FORM = "application/x-www-form-urlencoded"
JSON = {"accept": "application/json"}
SIGN_IN, SIGN_OUT = "/console/sign-in", "/console/sign-out"
SOMEBODY = "/console/done/none"  # path of a console page that always exists


class Keeper:
    """A console session. `cookie` is the value of the session cookie; empty: not signed in."""

    def __init__(self, world: World, cookie: str = "") -> None:
        self.world = world
        self.cookie = cookie
        self._csrf: dict[str, str] = {}  # session cookie → CSRF token that a page of the console has

    @property
    def csrf(self) -> str:
        """Return the CSRF token of this session, read once from a page of the console."""
        if self.cookie not in self._csrf:
            self._csrf[self.cookie] = next(
                attributes["content"]
                for tag, attributes in Page(self.get("/console/done/none").raw.decode()).tags
                if tag == "meta" and attributes.get("name") == "csrf"
            )
        return self._csrf[self.cookie]

    def sign_in(self, name: str, password: str = people.PASSWORD, **more: Any) -> Answer:
        """Sign in with the form. This is slow, because the password is hashed."""
        answer = self.post("/console/sign-in", {"name": name, "password": password}, csrf="", **more)
        if "set-cookie" in answer.headers:
            self.cookie = answer.headers["set-cookie"].partition(";")[0].partition("=")[2]
        return answer

    def get(self, path: str, headers: Mapping[str, str] | None = None, **more: Any) -> Answer:
        return self.world.call("GET", path, by=None, headers=self._headers(headers), **more)

    def page(self, path: str) -> Page:
        """Load a page of the console, which must exist."""
        answer = self.get(path)
        assert answer.status == 200, (path, answer.status, answer.raw)
        return Page(answer.raw.decode())

    def post(
        self,
        path: str,
        fields: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
        csrf: str | None = None,
        **more: Any,
    ) -> Answer:
        """Send a form with the CSRF token of this session, or with the given `csrf`; empty `csrf`: without a token."""
        token = self.csrf if csrf is None else csrf
        sent = {**({"csrf": token} if token else {}), **(fields or {})}
        given = {"content-type": FORM, **(headers or {})}
        raw = urlencode(sent).encode()
        return self.world.call("POST", path, by=None, raw=raw, headers=self._headers(given), **more)

    def preview(self, method: str, path: str, body: Mapping[str, object] | None = None, **fields: str) -> Answer:
        """Send the first step of an action: the form that opens the preview dialog."""
        sent = {f"body.{name}": str(value) for name, value in (body or {}).items()}
        return self.post(ACT, {"method": method, "path": quote(path), **sent, **fields})

    def confirm(self, preview: Answer, reason: str, **fields: str) -> Answer:
        """Send the second step of an action: the form of the preview, with a reason."""
        shown = Page(preview.raw.decode()).confirmation()
        return self.post(ACT, {**shown.fields, "reason": reason, **fields}, csrf=shown.fields["csrf"])

    def act(
        self, method: str, path: str, body: Mapping[str, object] | None = None, reason: str = "a test", **fields: str
    ) -> Answer:
        """Send both steps of an action. The answer redirects to the form's page, with the request id in `done=`."""
        shown = self.preview(method, path, body, **fields)
        assert shown.status == 200, (shown.status, shown.raw)
        return self.confirm(shown, reason)

    def _headers(self, given: Mapping[str, str] | None) -> dict[str, str]:
        cookie = {"cookie": f"{sessions.PLAIN_COOKIE}={self.cookie}"} if self.cookie else {}
        return {**cookie, **(given or {})}


OpenKeeper = Callable[[str], Keeper]  # of the fixture `keeper`


def open_session(world: World, name: str, user_id: str = "") -> Keeper:
    """Open a console session without a password, because hashing passwords is slow. `user_id`: of another account."""
    access = tokens.ACCESS_PREFIX + new_guid()
    row = stored.NewToken(
        id=new_guid(),
        family_id=new_guid(),
        user_id=user_id or people.USER_IDS[name],
        access_hash=tokens.hash_token(access),
        refresh_hash=None,
        read_only=False,
        access_ms=world.keeper.settings.console_hours * 60 * tokens.MINUTE_MS,
        refresh_ms=0,
        idle_ms=world.keeper.settings.console_idle_minutes * tokens.MINUTE_MS,
    )

    async def open_(tx: Writing) -> None:
        stored.insert(tx, row)

    world.run(world.keeper.store.write(open_))
    return Keeper(world, access)


def open_staff(world: World, role: str | list[str], name: str = "Staff") -> Keeper:
    """Open a session of a new account with a role: one that exists, or a new one with these permissions."""
    given = role if isinstance(role, str) else staff.save_role(world, f"role of {name.lower()}", role)
    staff.add_account(world, name, given)
    return open_session(world, name, world.get(f"/api/v1/users/{name}").json["Id"])


def is_sent_to_sign_in(answer: Answer) -> bool:
    assert answer.status in {200, 303}, answer.raw
    return answer.status == 303 and answer.headers["location"].startswith(SIGN_IN)


def get_callers(world: World) -> Callers:
    return world.asgi.services.callers


def read_text(answer: Answer) -> str:
    """Return the visible text of a page."""
    return Page(answer.raw.decode()).text


def fail_writes(monkeypatch: pytest.MonkeyPatch, world: World, failure: Exception, *, done: bool = True) -> None:
    """Make every later write raise `failure`; with `done`, only after the write was committed."""
    store = type(world.keeper.store)
    write: Any = store.write

    async def broken(*work: Any, **more: Any) -> None:
        if done:
            await write(*work, **more)
        raise failure

    monkeypatch.setattr(store, "write", broken)


def fill_path(route: Route) -> str:
    """Return a page's path with Ann's id in place of its path parameters."""
    return "/".join(people.ANN.id if step.startswith("[") else step for step in route.path.split("/"))
