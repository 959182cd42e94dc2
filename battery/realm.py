"""A small database for load tests: an account with all permissions, its players, and tokens of any lifetime."""

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any, TypeVar

from crash_gives import COIN
from gamekeeper import app
from gamekeeper.game.access import tokens
from gamekeeper.game.access.passwords import hash_for_wire
from gamekeeper.game.accounts import accounts
from gamekeeper.game.core import lookup
from gamekeeper.game.core.player import Player
from gamekeeper.game.core.writes import Decision, Intent
from gamekeeper.game.keeper import Keeper
from gamekeeper.game.players.changes import PlayerCreated, PlayerState
from gamekeeper.ground import settings
from gamekeeper.store.access import credentials
from gamekeeper.store.access import tokens as token_rows
from gamekeeper.store.access.roles import Powers
from gamekeeper.store.engine.interface import Reading, Writing
from gamekeeper.store.engine.migrate import migrate

T = TypeVar("T")
ROOT, PASSWORD = "Root", hash_for_wire("the battery's")
ITEM = COIN.id
HOURS = 24


@dataclass(frozen=True)
class Realm:
    database: str
    user_id: str
    token: str
    players: list[str]  # ids of the players of the account `user_id`

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}"}

    def short_token(self, life_ms: int) -> str:
        """Issue a token with this lifetime in milliseconds."""

        async def issue(keeper: Keeper) -> str:
            access, new = f"{tokens.ACCESS_PREFIX}{lookup.new_guid()}", lookup.new_guid()
            row = token_rows.NewToken(new, new, self.user_id, tokens.hash_token(access), None, False, life_ms, 0)

            async def insert(tx: Writing) -> None:
                token_rows.insert(tx, row)

            await keeper.store.write(insert)
            return access

        return at_work(self.database, issue)

    def short_code(self, life_ms: int) -> str:
        """Store a reset code for Root with this lifetime in milliseconds, and return it."""
        code = lookup.new_guid()

        async def save(tx: Writing) -> None:
            credentials.save_reset(tx, self.user_id, code, 5, life_ms, lookup.ZERO_GUID)

        at_work(self.database, lambda keeper: keeper.store.write(save))
        return code


def prepare(database: str, players: int) -> Realm:
    return at_work(database, lambda keeper: _fill(keeper, database, players))


def at_work(database: str, work: Callable[[Keeper], Coroutine[Any, Any, T]]) -> T:
    """Migrate the database and run a function on it from this process, also while servers use it."""

    async def migrate_and_work(keeper: Keeper) -> T:
        await migrate(keeper.store)
        return await work(keeper)

    return asyncio.run(app.run_with_keeper(settings.load({}, database=database), migrate_and_work))


async def forget_guesses(keeper: Keeper) -> None:
    """Delete all recorded password guesses, as if their five minutes were over."""

    async def forget(tx: Writing) -> None:
        credentials.delete_old_guesses(tx, -1000, 10**6)  # a negative least age (ms) matches all guesses

    await keeper.store.write(forget)


async def _fill(keeper: Keeper, database: str, players: int) -> Realm:
    password = await keeper.passwords.hash_password(PASSWORD)

    async def register(tx: Reading) -> Decision[None]:
        decision = await accounts.register(tx, ROOT, "root@example.test", password, Powers(*[True] * 8))
        return Decision(decision.changes, None)

    await _apply(keeper, register)
    user = await lookup.find_user(keeper.store, ROOT)
    ids = [lookup.new_guid() for _ in range(players)]

    async def create(_: Reading) -> Decision[None]:
        made = [PlayerCreated(Player(each, user.id, f"p{number}"), PlayerState()) for number, each in enumerate(ids)]
        return Decision(made, None)

    await _apply(keeper, create)
    pair = await tokens.issue_for_service(keeper, user, HOURS, read_only=False)
    return Realm(database, user.id, pair.access, ids)


async def _apply(keeper: Keeper, decide: Callable[[Reading], Coroutine[Any, Any, Decision[None]]]) -> None:
    await keeper.changes.apply(Intent("battery"), decide, lambda _: b"null")
