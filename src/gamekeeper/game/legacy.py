"""Passwords that were imported: good at once, and kept under argon2id as soon as may be.

With the first right password, and by and by in the background. The password stays what it is, so this is no change of
the account: no row of the ledger tells of it, of which an import would bring a million, and no token ends.
"""

import asyncio
import time

from gamekeeper.game import imported_hashes, lookup
from gamekeeper.game.keeper import Keeper
from gamekeeper.store import legacy, users
from gamekeeper.store.engine import Writing
from gamekeeper.store.users import User

POLL_SECONDS = 30.0
BATCH_ACCOUNTS = 16  # read at a time; few, since another process may read the same ones
YIELD_SECONDS = 0.05
REST_FACTOR = 3  # times as long as the work took: a quarter of one core at most


async def check_password(keeper: Keeper, user: User | None, sent: str) -> User | None:
    """The account as it is kept from now on, if this is its password: none but a new password changes that hash.

    When somebody was first, the wrapping or another log-in, the password is held against what they wrote.
    """
    while True:
        kept = await keeper.passwords.verify_and_upgrade(sent, user.password if user else None)
        if user is None or kept is None:
            return None
        if kept == user.password or await _replace(keeper, user.id, user.password, kept):
            return user._replace(password=kept)
        user = await users.find_by_id(keeper.store, user.id)


async def wrap_all(keeper: Keeper) -> None:
    """All that wait for it, one after the other; whoever logs in goes first."""
    while some := await _load_batch(keeper):
        for user_id, stored in some:
            while keeper.passwords.queue_length:  # noqa: ASYNC110 - a look now and then; nobody who logs in has to tell us
                await asyncio.sleep(YIELD_SECONDS)
            started = time.monotonic()
            await _wrap(keeper, user_id, stored)
            await asyncio.sleep(REST_FACTOR * (time.monotonic() - started))


async def measure_wraps_per_minute(keeper: Keeper) -> int:
    """How many one process wraps on a machine like this, by trying it."""
    started = time.monotonic()
    await keeper.passwords.wrap_imported(imported_hashes.ImportedHash("", "", wrapped=False))
    return round(60 / (time.monotonic() - started) / (1 + REST_FACTOR))


async def _load_batch(keeper: Keeper) -> list[tuple[str, str]]:
    """From anywhere: several processes seldom meet, and it does no harm when they do."""
    anywhere = await legacy.read_imported_hashes(keeper.store, lookup.new_guid(), BATCH_ACCOUNTS)
    return anywhere or await legacy.read_imported_hashes(keeper.store, lookup.ZERO_GUID, BATCH_ACCOUNTS)


async def _wrap(keeper: Keeper, user_id: str, stored: str) -> None:
    imported = imported_hashes.parse(stored)
    if imported:
        await _replace(keeper, user_id, stored, await keeper.passwords.wrap_imported(imported))


async def _replace(keeper: Keeper, user_id: str, old: str, new: str) -> bool:
    async def replace(tx: Writing) -> bool:
        return await legacy.replace(tx, user_id, old, new)

    return await keeper.store.write(replace)
