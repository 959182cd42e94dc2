"""A server with the demo world and two accounts: one with all permissions, one with none."""

import asyncio
import sys
from collections.abc import Mapping
from functools import cache, cached_property

import httpx

import world as worlds
from databases import Postgres, Sqlite
from demo_databases import find_hour
from gamekeeper.demo import loader
from gamekeeper.demo.world import API_ACCOUNT, DRAUGHT, KEY
from gamekeeper.game.access.passwords import hash_for_wire
from gamekeeper.game.accounts import accounts
from gamekeeper.game.keeper import Keeper
from gamekeeper.store.access.roles import Powers
from gamekeeper.store.accounts import users
from server import Server

# additional players that the slowest expected machine loads per second; extends the wait for the start
LOADED_PER_SECOND = 500
PASSWORD = "moss and lanterns"
KEEPER = API_ACCOUNT
HELPER = "Helper"  # name of an account with the role `api` only
LATELY = (
    ("players/Aldwyn/items/give", {"itemid": DRAUGHT.id, "quantity": 5}, "Lost when the server went down, ticket 4711"),
    ("players/Halvard/level", {"level": 21}, "Levelled by a quest that paid twice"),
    ("players/Nestor/items/give", {"itemid": KEY.id, "quantity": 1}, "The gate closed behind him"),
    ("users/Quillon/admin/mute", {"duration": 3, "reason": "Sells lanterns in every chat"}, "Third time this week"),
    ("players/Aldwyn/items/take", {"itemid": DRAUGHT.id, "quantity": 2}, "Ticket 4711: it was three, not five"),
)


async def fill(keeper: Keeper) -> None:
    await loader.fill(keeper, PASSWORD)
    helper = await keeper.passwords.hash_password(hash_for_wire(PASSWORD))

    async def register(tx: worlds.Reading) -> accounts.Decision[users.User]:
        return await accounts.register(tx, HELPER, "helper@example.test", helper, Powers(api=True))

    await keeper.changes.apply(loader.DEMO_INTENT, register, lambda _: b"")


@cache
def fill_template(databases: Sqlite | Postgres, _hour: int) -> str:
    url = databases.empty()
    asyncio.run(worlds.at_work(url, fill))
    return url


def copy_demo(databases: Sqlite | Postgres) -> str:
    """Return a database with the demo world and the helper's account: a copy costs less than filling another one."""
    return databases.copy(fill_template(databases, find_hour()))


class DemoServer(Server):
    """Runs `gamekeeper demo`, which keeps some players online, with additional players if requested."""

    def __init__(self, database: str, players: int = 0, port: int | None = None, **settings: object) -> None:
        super().__init__(database, port, **{"secret_key_file": worlds.KEY_FILE, **settings})
        self.players = players

    def cookie(self, name: str) -> str:
        """Sign in to the console and return the cookie of a new session."""
        form = {"name": name, "password": PASSWORD}
        cookie = self._client.post("/console/sign-in", data=form).cookies["gamekeeper"]
        self._client.cookies.clear()
        return cookie

    def live(self) -> None:
        """Make some changes of players, so that the console's pages have something to show."""
        for path, body, reason in LATELY:
            self.do(path, body, reason)

    def do(self, path: str, body: Mapping[str, object] | None, reason: str, method: str = "POST") -> None:
        """Send a request to the API outside the browser."""
        headers = {"Authorization": f"Bearer {self._token}", "X-Reason": reason}
        self._client.request(method, f"/api/v1/{path}", json=body, headers=headers).raise_for_status()

    def give_role(self, name: str, role: str) -> None:
        headers, path = {"Authorization": f"Bearer {self._token}"}, f"/api/keeper/v1/users/{name}/roles"
        self._client.post(path, json={"give": [role]}, headers=headers).raise_for_status()

    @cached_property
    def _token(self) -> str:
        form = {"grant_type": "password", "username": KEEPER, "password": hash_for_wire(PASSWORD)}
        return self._client.post("/api/oauth/token", data=form).json()["access_token"]

    @cached_property
    def _client(self) -> httpx.Client:
        """Return a client without the trust store: loading that takes longer than most requests."""
        return httpx.Client(base_url=self.url, verify=False, headers={"Connection": "close"})  # noqa: S501 - loopback

    def sign_out(self, cookie: str) -> None:
        """End the session of this cookie with a request from outside the browser."""
        self._client.cookies = {"gamekeeper": cookie}
        page = self._client.get("/console/done/none").text
        csrf = page.partition('name="csrf" content="')[2].partition('"')[0]
        answer = self._client.post("/console/sign-out", data={"csrf": csrf})
        self._client.cookies.clear()
        assert answer.has_redirect_location, answer.text

    def _command(self) -> list[str]:
        where = ["--database", self.database, "--port", str(self.port)]
        more = ["--players", str(self.players)] if self.players else []
        return [sys.executable, "-m", "gamekeeper", "demo", *where, "--password", PASSWORD, *more]

    def _ready_seconds(self) -> float:
        return super()._ready_seconds() + self.players / LOADED_PER_SECOND
