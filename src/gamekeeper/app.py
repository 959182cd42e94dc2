"""The composition root: settings → store → keeper → app."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from gamekeeper import log
from gamekeeper.game import guesses, presence
from gamekeeper.game.changes import Changes
from gamekeeper.game.keeper import Keeper
from gamekeeper.game.passwords import Passwords
from gamekeeper.game.spelling import Spelling
from gamekeeper.http import spelling
from gamekeeper.http.asgi import Asgi
from gamekeeper.settings import BadSetting, Settings
from gamekeeper.store import guesses as guess_rows
from gamekeeper.store import keys, tokens
from gamekeeper.store.engine import Away, Store, Writing
from gamekeeper.store.migrate import migrate
from gamekeeper.store.postgres import PostgresStore
from gamekeeper.store.sqlite import SqliteStore

SQLITE, POSTGRES = "sqlite:///", ("postgresql://", "postgres://")
TIDY_SECONDS = 60.0
DAY_MS = 24 * 60 * 60 * 1000
SPELLING: Spelling = spelling
Job = tuple[float, Callable[[], Awaitable[object]]]  # every so many seconds, this


def open_store(settings: Settings) -> Store:
    url = settings.database
    if url.startswith(SQLITE) and len(url) > len(SQLITE):
        return SqliteStore(Path(url.removeprefix(SQLITE)))
    if url.startswith(POSTGRES):
        return PostgresStore(url, settings.connections)
    raise BadSetting(f"The database '{url}' is neither sqlite:///path/to/file.db nor postgresql://user@host/name.")


def database_file(settings: Settings) -> Path | None:
    """The file that the data is in; None when the database is a server."""
    store = open_store(settings)
    return store.path if isinstance(store, SqliteStore) else None


def build_keeper(settings: Settings) -> Keeper:
    store = open_store(settings)
    return Keeper(settings, store, Changes(store, SPELLING), Passwords(settings.hash_queue))


def build(keeper: Keeper, jobs: Sequence[Job] = ()) -> Asgi:
    """`jobs` are done besides the usual upkeep."""
    upkeep = Upkeep(keeper, jobs)
    return Asgi(keeper, upkeep.start, upkeep.stop)


class Upkeep:
    """What a serving process does besides answering: takes lapsed players offline, throws old rows away."""

    def __init__(self, keeper: Keeper, jobs: Sequence[Job]) -> None:
        self._keeper = keeper
        self._jobs: list[Job] = [
            (presence.REAP_SECONDS, lambda: presence.reap(keeper.store)),
            (TIDY_SECONDS, lambda: tidy(keeper)),
            *jobs,
        ]
        self._tasks: list[asyncio.Task[None]] = []

    async def start(self) -> None:
        await self._keeper.store.open()
        await migrate(self._keeper.store)
        self._tasks = [asyncio.create_task(_every(seconds, work)) for seconds, work in self._jobs]

    async def stop(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._keeper.store.close()
        self._keeper.passwords.close()


async def tidy(keeper: Keeper) -> None:
    async def delete_old(tx: Writing) -> None:
        keys.delete_old(tx, keeper.settings.key_days * DAY_MS)
        guess_rows.delete_old(tx, guesses.WINDOW_MS)
        tokens.delete_old(tx, DAY_MS)

    await keeper.store.write(delete_old)


async def _every(seconds: float, work: Callable[[], Awaitable[object]]) -> None:
    while True:
        await asyncio.sleep(seconds)
        try:
            await work()
        except Away as away:
            log.problem("upkeep", f"the database is away: {away}")
        except Exception:  # noqa: BLE001 - the next round may go better; this one is in the log
            log.failure("upkeep")
