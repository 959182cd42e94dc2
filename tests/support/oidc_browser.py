"""Sign-ins with OpenID Connect in a browser session without a browser, and what they leave behind."""

from typing import Any

from keepers import Keeper, open_session
from providers import ScriptedProvider
from world import Answer, World

SIGN_IN, HOME = "/console/sign-in", "/console/me/sign-ins"
START, SECOND = f"{SIGN_IN}/oidc", f"{SIGN_IN}/second"
ROLES = "ops=admin,support=moderator"


class Browser(Keeper):
    """A browser that keeps the cookie of a sign-in with OpenID Connect between its two steps."""

    flow_cookie = ""

    def start(self, path: str = START) -> str:
        """Start a sign-in; return the provider's address to which the browser is sent."""
        answer = self.get(path)
        assert answer.status == 303, answer.raw
        self.flow_cookie = answer.headers["set-cookie"].partition(";")[0]
        return answer.headers["location"]

    def finish(self, callback: str, world: World | None = None) -> Answer:
        """Load the callback, perhaps at another instance; keep the session that it opens."""
        session = f"gamekeeper={self.cookie}; " if self.cookie else ""
        headers = {"cookie": session + self.flow_cookie, "user-agent": "Firefox"}
        answer = (world or self.world).call("GET", callback, by=None, headers=headers)
        name, _, value = answer.headers.get("set-cookie", "").partition(";")[0].partition("=")
        if name == "gamekeeper":
            self.cookie = value
        return answer


def sign_in(
    world: World, provider: ScriptedProvider, subject: str = "ann-at-work", **claims: Any
) -> tuple[Browser, Answer]:
    browser = Browser(world)
    world.wait_for_next_millisecond()
    return browser, browser.finish(provider.sign_in(browser.start(), subject, **claims))


def link(world: World, provider: ScriptedProvider, name: str, subject: str) -> Answer:
    """Link an identity to an account, as its owner does."""
    browser = Browser(world, open_session(world, name).cookie)
    return browser.finish(provider.sign_in(browser.start(find_link(browser)), subject))


def find_link(browser: Keeper) -> str:
    return next(
        each["href"] for tag, each in browser.page(HOME).tags if tag == "a" and f"{HOME}/link" in each.get("href", "")
    )


def find_user(world: World, subject: str) -> str:
    ((found,),) = world.sql("SELECT user_id FROM identities WHERE subject = $1", subject)
    return str(found)


def list_roles(world: World, name: str) -> list[str]:
    return world.get(f"/api/keeper/v1/users/{name}/roles").json["Roles"]


def read_events(world: World, kind: str) -> list[dict[str, Any]]:
    world.run(world.keeper.failed_guesses.flush())
    return world.get(f"/api/keeper/v1/security?kind={kind}").json["Events"]
