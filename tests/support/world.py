"""The whole application in process on either engine, with the test data of people.py."""

import asyncio
import json
from collections.abc import Callable, Coroutine, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlencode

from argon2 import PasswordHasher

import people
import records
from gamekeeper import app
from gamekeeper.game.access import tokens
from gamekeeper.game.access.changes import UserRegistered
from gamekeeper.game.access.passwords import hash_for_wire
from gamekeeper.game.accounts import moderation
from gamekeeper.game.accounts.moderation import ModerationRequest
from gamekeeper.game.core.change import Change, Unlogged
from gamekeeper.game.core.writes import Decide, Decision, Intent
from gamekeeper.game.keeper import Keeper
from gamekeeper.game.players.changes import PlayerCreated
from gamekeeper.game.world import catalogue
from gamekeeper.game.world.loads import load_variables
from gamekeeper.ground import log, settings
from gamekeeper.store.accounts import users
from gamekeeper.store.core import ledger as stored_ledger
from gamekeeper.store.engine import clock, postgres
from gamekeeper.store.engine.interface import Reading
from gamekeeper.store.engine.migrate import migrate
from gamekeeper.store.engine.statements import Statement

T = TypeVar("T")
CLI = Intent(request_id="test")
OK = 200
KEY_FILE = str(Path(__file__).parent / "secret_key_of_tests.txt")
Path(KEY_FILE).chmod(0o600)  # as the doctor wants it; git does not store this mode
PUBLIC_URL = "https://keeper.example.test"  # invitations need an address
PLAYERS, USERS, TOKEN = "/api/v1/players", "/api/v1/users", "/api/oauth/token"
SENT = hash_for_wire(people.PASSWORD)
WRONG, NEW = hash_for_wire("not it"), hash_for_wire("battery staple")  # a wrong password, and a new one
KEEP_TOKEN = Statement("keep", {"": "UPDATE tokens SET access_hash = $1 WHERE access_hash = $2"})
QUICK = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)  # argon2 at the lowest cost, to make tests fast


@dataclass(frozen=True)
class Answer:
    status: int
    headers: Mapping[str, str]
    raw: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.raw)

    @property
    def code(self) -> str:
        return self.json["Code"]

    @property
    def message(self) -> str:
        return self.json["Message"]

    def accepted(self) -> "Answer":
        """Require that the request succeeded; return its answer."""
        assert self.status == OK, self.raw
        return self


class World:
    """Calls the application synchronously: each call runs the event loop until it is answered."""

    compares = True  # after a write, compare players' columns with their JSON documents; False if a test breaks them

    def __init__(
        self,
        url: str,
        known_tokens: Mapping[str, str],
        loop: asyncio.AbstractEventLoop,
        kept: dict[str, Any] | None = None,
        **changed: object,
    ) -> None:
        """Open a world. `kept` has open PostgreSQL connections by database URL: it takes its own, if there is one."""
        self.url = url
        self.tokens = known_tokens
        self.loop = loop
        given: dict[str, Any] = {"access_log": False, "secret_key_file": KEY_FILE, "public_url": PUBLIC_URL, **changed}
        self.keeper: Keeper = app.build_keeper(settings.load({}, database=url, **given))
        self.asgi = app.build(self.keeper)
        if kept and url in kept:
            self._list_idle_connections().append(kept.pop(url))
        self.run(self.keeper.store.open())

    def close_and_keep(self, kept: dict[str, Any]) -> None:
        """Close the world, except a PostgreSQL connection for the next world on the same database."""
        idle = self._list_idle_connections()
        store = vars(self.keeper.store)
        if idle and self.url not in kept and store["_session"] is postgres.SESSION:
            kept[self.url] = idle.pop(0)
        self.close()

    def _list_idle_connections(self) -> list[Any]:
        store: Any = self.keeper.store
        return store._pool._free  # noqa: SLF001 - only the tests keep connections

    def close(self) -> None:
        self.run(self.keeper.feed.close())
        self.run(self.keeper.store.close())
        self.keeper.passwords.close()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        try:
            return self.loop.run_until_complete(work)
        finally:
            log.flush()  # flush the log, so that a test finds it complete on standard error

    def call(self, method: str, path: str, **more: Any) -> Answer:
        """Send a request; after a write, require that the database columns of all players equal their documents."""
        answer = self.run(self.send(method, path, **more))
        if self.compares and method != "GET" and answer.status == OK:
            wrong = self.run(records.mismatches(self.keeper.store))
            assert not wrong, wrong
        return answer

    async def send(
        self,
        method: str,
        path: str,
        *,
        by: str | None = "Root",
        token: str | None = None,
        body: object = None,
        form: Mapping[str, str] | None = None,
        raw: bytes | None = None,
        headers: Mapping[str, str] | None = None,
        added: Sequence[tuple[str, str]] = (),
        address: str = "127.0.0.1",
        meanwhile: Callable[[], Coroutine[Any, Any, object]] | None = None,
    ) -> Answer:
        """Send with the token of account `by`, with the text `token`, or without Authorization.

        `added` are additional headers, possibly of the same name.
        `meanwhile` runs after the head was read and before the body arrives.
        """
        sent: dict[str, str] = {}
        if token is not None or by is not None:
            sent["authorization"] = f"Bearer {token if token is not None else self.tokens[by or '']}"
        content = raw if raw is not None else b""
        if body is not None:
            content, sent["content-type"] = json.dumps(body).encode(), "application/json"
        if form is not None:
            content, sent["content-type"] = urlencode(form).encode(), "application/x-www-form-urlencoded"
        sent |= {name.lower(): value for name, value in (headers or {}).items()}
        pairs = [*sent.items(), *((name.lower(), value) for name, value in added)]
        return await self._send(method, path, pairs, content, address, meanwhile)

    def get(self, path: str, **more: Any) -> Answer:
        return self.call("GET", path, **more)

    def post(self, path: str, body: object = None, **more: Any) -> Answer:
        return self.call("POST", path, body=body, **more)

    def give(
        self, name: str, quantity: int = 1, item_id: str = people.COIN.id, *, act: str = "give", **more: Any
    ) -> Answer:
        """Give items to a player, into the bank too, or take them."""
        body = {"itemid": item_id, "quantity": quantity, "bankoverflow": True}
        return self.post(f"/api/v1/players/{name}/items/{act}", body, **more)

    def take(self, name: str, quantity: int = 1, item_id: str = people.COIN.id, **more: Any) -> Answer:
        return self.give(name, quantity, item_id, act="take", **more)

    def count_coins(self, name: str = "Bob") -> int:
        """Return the number of coins in a player's inventory and bank."""
        held = self.get(f"/api/v1/players/{name}/items").json
        return sum(each["Quantity"] for place in held.values() for each in place if each["ItemId"] == people.COIN.id)

    def ledger(self) -> list[stored_ledger.LedgerRow]:
        return self.run(stored_ledger.read_after(self.keeper.store, 0, 10_000))

    def at_once(self, calls: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
        """Run all calls concurrently; they may belong to several worlds that share an event loop."""

        async def gather() -> list[T]:
            return await asyncio.gather(*calls)

        return self.run(gather())

    def try_at_once(self, calls: Iterable[Coroutine[Any, Any, T]]) -> list[T | BaseException]:
        """Run all calls concurrently, and return an exception for each that fails."""

        async def gather() -> list[T | BaseException]:
            return await asyncio.gather(*calls, return_exceptions=True)

        return self.run(gather())

    def apply(self, decide: Decide[Any], intent: Intent = CLI) -> None:
        """Make the changes that a rule decides, as the command line does."""
        self.run(self.keeper.changes.apply(intent, decide, lambda _: b"null"))

    def make(self, *changes: Change | Unlogged) -> None:
        """Make changes that no rule decides."""

        async def decide(_: Reading) -> Decision[None]:
            return Decision(list(changes), None)

        self.apply(decide)

    def now(self) -> int:
        """Return the time of the database's clock, in milliseconds since 1970."""
        return self.run(clock.now(self.keeper.store))

    def wait_for_next_millisecond(self) -> None:
        """Wait until what follows has a later time than what was done: a fast machine does several in one."""
        before = self.now()
        while self.now() == before:
            pass

    @contextmanager
    def nothing_recorded(self) -> Generator[None]:
        """Require that what is done meanwhile changes nothing in the audit log."""
        before = self.ledger()
        yield
        assert self.ledger() == before

    def sql(self, text: str, *values: Any) -> list[Any]:
        """Run SQL directly on the database; parameters are written as $1."""

        async def execute(tx: Any) -> list[Any]:
            return [tuple(row) for row in await tx.returning(Statement("test", {"": text}), *values)]

        return self.run(self.keeper.store.write(execute))

    def insert(self, table: str, /, **columns: Any) -> None:
        """Insert a row directly."""
        self.sql(_insert_into(table, columns), *columns.values())

    def ensure(self, table: str, /, **columns: Any) -> None:
        """Insert a row directly, unless there is one with its key."""
        self.sql(f"{_insert_into(table, columns)} ON CONFLICT DO NOTHING", *columns.values())

    def read_tables(self, names: Iterable[str]) -> dict[str, list[str]]:
        """Return the rows of the tables as sorted texts, read in one transaction: one per table takes far longer."""

        async def read(tx: Reading) -> dict[str, list[str]]:
            return {name: sorted(repr(tuple(row)) for row in await tx.all(_select_all(name))) for name in names}

        return self.run(self.keeper.store.write(read))

    async def _send(
        self,
        method: str,
        path: str,
        headers: Sequence[tuple[str, str]],
        body: bytes,
        address: str,
        meanwhile: Callable[[], Coroutine[Any, Any, object]] | None,
    ) -> Answer:
        target, _, query = path.partition("?")
        scope: dict[str, Any] = {
            "type": "http",
            "method": method,
            "raw_path": target.encode("utf-8"),
            "path": target,
            "query_string": query.encode("utf-8"),
            "headers": [(name.encode(), value.encode("utf-8")) for name, value in headers],
            "client": (address, 4711),
        }
        incoming = [{"type": "http.request", "body": body, "more_body": False}]
        sent: list[Any] = []

        async def receive() -> Any:
            if incoming and meanwhile is not None:
                await meanwhile()
            # when the whole body was received, wait forever, like a client that stays connected and sends nothing
            return incoming.pop(0) if incoming else await asyncio.Event().wait()

        async def send(message: Any) -> None:
            sent.append(message)

        await self.asgi(scope, receive, send)
        start, *pieces = sent
        found = {name.decode(): value.decode() for name, value in start["headers"]}
        return Answer(start["status"], found, b"".join(each["body"] for each in pieces))


MakeWorld = Callable[..., World]  # of the fixture `make_world`
OpenWorld = Callable[[str], World]  # of the fixture `opened`


def _insert_into(table: str, columns: Iterable[str]) -> str:
    names = list(columns)
    values = ", ".join(f"${number}" for number, _ in enumerate(names, 1))
    return f"INSERT INTO {table} ({', '.join(names)}) VALUES ({values})"  # noqa: S608 - names of the tests


@cache
def _select_all(table: str) -> Statement:
    return Statement(f"all rows of {table}", {"": f"SELECT * FROM {table}"})  # noqa: S608 - names out of the schema


@contextmanager
def open_world(url: str, known_tokens: Mapping[str, str], **given: Any) -> Generator[World]:
    """Open a test world on its own event loop."""
    world = World(url, known_tokens, asyncio.new_event_loop(), **given)
    try:
        yield world
    finally:
        world.close()
        world.loop.close()


async def populate(keeper: Keeper) -> dict[str, str]:
    """Create the people of people.py through the write path; return a token for each account with API access."""
    for kind, entries in people.CATALOGUE.items():
        await _apply(keeper, catalogue.put(keeper.store, kind, entries))
    await _apply(keeper, _return_decision(Decision([load_variables("servervariables", people.SERVER_VARIABLES)], None)))
    password = QUICK.hash(SENT)
    for name, powers in people.ACCOUNTS.items():
        user = users.User(people.USER_IDS[name], name, f"{name.lower()}@example.test", password, powers, 0, None, None)
        await _apply(keeper, _return_decision(Decision([UserRegistered(user)], user)))
    for name, reason in people.MUTED.items():
        await _apply(keeper, moderation.mute(keeper.store, ModerationRequest(name, reason=reason)))
    for player, belongings in people.CHARACTERS:
        await _apply(keeper, _return_decision(Decision([PlayerCreated(player, belongings)], None)))
    return {name: (await _token(keeper, name)).access for name, powers in people.ACCOUNTS.items() if powers.api}


async def at_work(url: str, work: Callable[[Keeper], Coroutine[Any, Any, T]]) -> T:
    """Run a function on a migrated database, without serving it."""

    async def migrate_and_work(keeper: Keeper) -> T:
        await migrate(keeper.store)
        return await work(keeper)

    return await app.run_with_keeper(settings.load({}, database=url, access_log=False), migrate_and_work)


async def prepare(url: str, known_tokens: Mapping[str, str] | None = None) -> dict[str, str]:
    """Migrate the database and create the accounts and players of people.py; return their tokens, the known ones."""

    async def fill(keeper: Keeper) -> dict[str, str]:
        made = await populate(keeper)
        for name, text in (known_tokens or {}).items():
            hashes = [tokens.hash_token(each) for each in (text, made[name])]
            await keeper.store.write(lambda tx, hashes=hashes: tx.returning(KEEP_TOKEN, *hashes))
        await keeper.lists.rebuild()
        return made | dict(known_tokens or {})

    return await at_work(url, fill)


async def _token(keeper: Keeper, name: str) -> tokens.TokenPair:
    user = await users.find_by_fold(keeper.store, name.lower())
    assert user
    return await tokens.issue_for_service(keeper, user, 1000, read_only=False)


async def _return_decision(decision: Decision[T]) -> Decision[T]:
    return decision


async def _apply(keeper: Keeper, deciding: Coroutine[Any, Any, Decision[Any]]) -> None:
    decision = await deciding

    async def decide(_: Reading) -> Decision[Any]:
        return decision

    await keeper.changes.apply(CLI, decide, lambda _: b"null")
