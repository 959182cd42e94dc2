"""How often a password may be guessed. A guess is reserved before the check and given back when it was right."""

import hashlib
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from gamekeeper.game.lookup import new_guid
from gamekeeper.game.refusals import Overloaded, TooManyGuesses
from gamekeeper.settings import Settings
from gamekeeper.store import guesses
from gamekeeper.store.engine import ClaimTaken, Store, Writing

WINDOW_MS = 5 * 60 * 1000


@asynccontextmanager
async def reserved(store: Store, settings: Settings, account: str, caller: str) -> AsyncGenerator[str]:
    """Around the check; when there was no time to check anything, nothing was guessed."""
    guess = await _reserve(store, settings, account, caller)
    try:
        yield guess
    except Overloaded:
        await give_back(store, guess)
        raise


async def _reserve(store: Store, settings: Settings, account: str, caller: str) -> str:
    """In a transaction of its own, so that neither parallel requests nor a dry run get a free guess."""

    async def count_and_insert(tx: Writing) -> str:
        recent = await guesses.recent(tx, account, caller, WINDOW_MS)
        waits = [
            recent.oldest_of_caller_ms if recent.of_caller >= settings.guesses_per_caller else None,
            recent.oldest_of_account_ms if recent.of_account >= settings.guesses_per_account else None,
        ]
        over = [wait for wait in waits if wait is not None]
        if over:
            raise TooManyGuesses(max(1, -(-(WINDOW_MS + max(over)) // 1000)))
        guess_id = new_guid()
        guesses.insert(tx, guess_id, account, caller)
        return guess_id

    try:
        return await store.write(count_and_insert, claim(account))
    except ClaimTaken:
        raise Overloaded from None


async def give_back(store: Store, guess_id: str) -> None:
    async def delete(tx: Writing) -> None:
        guesses.delete(tx, guess_id)

    await store.write(delete)


def claim(account: str) -> int:
    return int.from_bytes(hashlib.blake2b(f"guesses\n{account}".encode(), digest_size=8).digest(), "big", signed=True)
