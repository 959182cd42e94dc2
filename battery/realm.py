"""A small database for load tests: an account with all permissions, its players, and tokens of any lifetime."""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from gamekeeper import app
from gamekeeper.doctor.examination import examine as run_doctor
from gamekeeper.doctor.findings import ERROR
from gamekeeper.game.access import tokens
from gamekeeper.game.access.passwords import hash_for_wire
from gamekeeper.game.accounts import accounts
from gamekeeper.game.core import lookup
from gamekeeper.game.core.player import Player
from gamekeeper.game.core.writes import Decision, Intent
from gamekeeper.game.keeper import Keeper
from gamekeeper.game.players.changes import PlayerCreated, PlayerState
from gamekeeper.game.world import catalogue
from gamekeeper.ground import settings
from gamekeeper.store.access import credentials
from gamekeeper.store.access import tokens as token_rows
from gamekeeper.store.access.roles import Powers
from gamekeeper.store.engine.interface import Reading, Writing
from gamekeeper.store.engine.migrate import migrate
from gamekeeper.store.world.catalogue import CatalogueItem

T = TypeVar("T")
ROOT, PASSWORD = "Root", hash_for_wire("the battery's")
COIN = CatalogueItem("c0ffee00-0000-4000-8000-000000000001", "Coin", True, None, 0, None)
BAG = CatalogueItem("c0ffee00-0000-4000-8000-000000000002", "Bag", False, None, 4, None)
SWORD = CatalogueItem("c0ffee00-0000-4000-8000-000000000003", "Sword", False, None, 0, None)
PLAYERS = 4
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
        access, new = f"{tokens.ACCESS_PREFIX}{lookup.new_guid()}", lookup.new_guid()
        row = token_rows.NewToken(new, new, self.user_id, tokens.hash_token(access), None, False, life_ms, 0)
        write(self.database, lambda tx: token_rows.insert(tx, row))
        return access

    def short_code(self, life_ms: int) -> str:
        """Store a reset code for Root with this lifetime in milliseconds, and return it."""
        code = lookup.new_guid()
        write(self.database, lambda tx: credentials.save_reset(tx, self.user_id, code, 5, life_ms, lookup.ZERO_GUID))
        return code


def prepare(database: str, players: int = PLAYERS, others: Sequence[str] = ()) -> Realm:
    """Create the items, the account Root with its players, and the other accounts, all with one password."""
    return at_work(database, lambda keeper: _fill(keeper, database, players, others))


def at_work(database: str, work: Callable[[Keeper], Coroutine[Any, Any, T]]) -> T:
    """Migrate the database and run a function on it from this process, also while servers use it."""

    async def migrate_and_work(keeper: Keeper) -> T:
        await migrate(keeper.store)
        return await work(keeper)

    return asyncio.run(app.run_with_keeper(settings.load({}, database=database), migrate_and_work))


def write(database: str, change: Callable[[Writing], object]) -> None:
    """Change rows directly, beside the rules."""

    async def apply(tx: Writing) -> None:
        change(tx)

    at_work(database, lambda keeper: keeper.store.write(apply))


def forget_guesses(database: str) -> None:
    """Delete all recorded password guesses, as if their five minutes were over."""
    write(database, lambda tx: credentials.delete_old_guesses(tx, -1000, 10**6))  # a negative least age matches all


def list_errors(database: str) -> list[str]:
    """Run the doctor, which also checks that the audit log adds up to the items in all slots."""
    found = at_work(database, lambda keeper: run_doctor(keeper, lambda _what, _done, _total: None))
    return [each.message for each in found if each.level == ERROR]


async def _fill(keeper: Keeper, database: str, players: int, others: Sequence[str]) -> Realm:
    password = await keeper.passwords.hash_password(PASSWORD)
    ids = [lookup.new_guid() for _ in range(players)]

    async def create(tx: Reading) -> Decision[None]:
        root = await accounts.register(tx, ROOT, "root@example.test", password, Powers(*[True] * 8))
        named = [(each, f"{each}@example.test") for each in others]
        more = [await accounts.register(tx, *each, password, Powers(api=True)) for each in named]
        items = await catalogue.put(tx, "items", (COIN, BAG, SWORD))
        made = [Player(each, root.result.id, f"p{number}") for number, each in enumerate(ids)]
        changes = [change for each in (root, items, *more) for change in each.changes]
        return Decision([*changes, *(PlayerCreated(each, PlayerState()) for each in made)], None)

    await keeper.changes.apply(Intent("battery"), create, lambda _: b"null")
    user = await lookup.find_user(keeper.store, ROOT)
    pair = await tokens.issue_for_service(keeper, user, HOURS, read_only=False)
    return Realm(database, user.id, pair.access, ids)
