"""Imported password hashes: valid at once, and converted to argon2id as soon as possible.

That happens at the first log-in, or earlier by a background job. The password itself stays the same, so this is not a
change of the account: it is not in the audit log (an import would add a million entries) and revokes no token.
"""

import asyncio
import time

from gamekeeper.game import imported_hashes, lookup
from gamekeeper.game.keeper import Keeper
from gamekeeper.store import hash_upgrades, users
from gamekeeper.store.engine import Writing
from gamekeeper.store.users import User

POLL_SECONDS = 30.0
BATCH_ACCOUNTS = 16  # accounts with imported hashes read at a time; few, because another process may read the same ones
YIELD_SECONDS = 0.05  # poll interval of the hash-wrapping job while log-ins wait for the hashing threads
# pause after wrapping a hash, as a multiple of its duration: the job uses at most a quarter of one core
REST_FACTOR = 3


async def check_password(keeper: Keeper, user: User | None, sent: str) -> User | None:
    """Check a password. Return the account with its argon2id hash, which only a new password changes; None: wrong.

    If the background job or another log-in replaced the stored hash meanwhile, check against the new one.
    """
    while True:
        kept = await keeper.passwords.verify_and_upgrade(sent, user.password if user else None)
        if user is None or kept is None:
            return None
        if kept == user.password or await _replace(keeper, user.id, user.password, kept):
            return user._replace(password=kept)
        user = await users.find_by_id(keeper.store, user.id)


async def wrap_all(keeper: Keeper) -> None:
    """Wrap all imported password hashes in argon2id, one after the other; log-ins have priority."""
    while some := await _load_batch(keeper):
        for user_id, stored in some:
            while keeper.passwords.queue_length:  # noqa: ASYNC110 - polling keeps the log-in code simple
                await asyncio.sleep(YIELD_SECONDS)
            started = time.monotonic()
            await _wrap(keeper, user_id, stored)
            await asyncio.sleep(REST_FACTOR * (time.monotonic() - started))


async def measure_wraps_per_minute(keeper: Keeper) -> int:
    """Measure how many imported password hashes one process can wrap in argon2id per minute on this machine."""
    started = time.monotonic()
    await keeper.passwords.wrap_imported(imported_hashes.ImportedHash("", "", wrapped=False))
    return round(60 / (time.monotonic() - started) / (1 + REST_FACTOR))


async def _load_batch(keeper: Keeper) -> list[tuple[str, str]]:
    """Read some imported hashes from a random account id on, so that processes seldom work on the same accounts."""
    anywhere = await hash_upgrades.read_imported_hashes(keeper.store, lookup.new_guid(), BATCH_ACCOUNTS)
    return anywhere or await hash_upgrades.read_imported_hashes(keeper.store, lookup.ZERO_GUID, BATCH_ACCOUNTS)


async def _wrap(keeper: Keeper, user_id: str, stored: str) -> None:
    imported = imported_hashes.parse(stored)
    if imported:
        await _replace(keeper, user_id, stored, await keeper.passwords.wrap_imported(imported))


async def _replace(keeper: Keeper, user_id: str, old: str, new: str) -> bool:
    async def replace(tx: Writing) -> bool:
        return await hash_upgrades.replace(tx, user_id, old, new)

    return await keeper.store.write(replace)
