"""How often a password may be guessed. A guess is reserved before the check and given back when it was right."""

import hashlib
import ipaddress
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from gamekeeper.game.effects import Unlogged
from gamekeeper.game.lookup import new_guid
from gamekeeper.game.refusals import Overloaded, TooManyGuesses
from gamekeeper.settings import Settings
from gamekeeper.store import guesses, known_callers
from gamekeeper.store.engine import ClaimTaken, Store, Writing

WINDOW_MS = 5 * 60 * 1000
KNOWN_CALLER_MS = 30 * 24 * 60 * 60 * 1000
NETWORK_BITS = 64  # of an IPv6 address: whoever has one has all that begin alike


@dataclass(frozen=True, slots=True)
class Guess:
    """A password that is about to be tried."""

    id: str
    user_id: str | None  # None: nobody has this name
    account: str
    caller: str
    address: str | None  # counted over all accounts; None for callers with a token: one address may serve many people


def make_caller_guess(user_id: str, caller_id: str, address: str) -> Guess:
    """With a token: counted per calling account and client address, which tells the visitors of one site apart.

    The address is the visitor's where the site forwards it and is one of `trusted_proxies`. Only a digest of both is
    stored: it says nothing of either once the calling account is erased.
    """
    digest = hashlib.sha256(f"{caller_id}\n{find_network(address)}".encode()).hexdigest()
    return Guess(new_guid(), user_id, user_id, f"caller:{digest}", None)


def make_address_guess(user_id: str | None, name: str, address: str) -> Guess:
    """Without a token, where anybody may try. Nobody's name is kept in clear: it may be somebody's password."""
    account = user_id or "name:" + hashlib.sha256(name.encode()).hexdigest()
    place = find_network(address)
    return Guess(new_guid(), user_id, account, place, place)


def find_network(address: str) -> str:
    """The part of an address that one cannot change at will."""
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return address
    if isinstance(found, ipaddress.IPv4Address):
        return str(found)
    if found.ipv4_mapped:
        return str(found.ipv4_mapped)
    return str(ipaddress.ip_network((int(found), NETWORK_BITS), strict=False))


@asynccontextmanager
async def reserve_guess(store: Store, settings: Settings, guess: Guess) -> AsyncGenerator[None]:
    """Around the check; when there was no time to check anything, nothing was guessed."""
    await _reserve(store, settings, guess)
    try:
        yield
    except Overloaded:
        await _release(store, guess)
        raise


def release_right_guess(tx: Writing, guess: Guess) -> None:
    """It is given back, and this caller is known: whatever others guess does not shut them out."""
    guesses.delete(tx, guess.id)
    if guess.user_id:
        known_callers.save(tx, guess.user_id, guess.caller)


def forget_known_callers(user_id: str) -> Unlogged:
    """With a new password: who knew the old one is known no longer."""

    async def forget(tx: Writing) -> None:
        known_callers.delete(tx, user_id)

    return Unlogged(forget)


def claim_number(counted: str) -> int:
    """One at a time, of those who count the guesses of this account, or from this address."""
    return int.from_bytes(hashlib.blake2b(f"guesses\n{counted}".encode(), digest_size=8).digest(), "big", signed=True)


async def _reserve(store: Store, settings: Settings, guess: Guess) -> None:
    """In a transaction of its own, so that neither parallel requests nor a dry run get a free guess."""

    async def count_and_insert(tx: Writing) -> None:
        if guess.address:
            await guesses.lock_claim(
                tx, claim_number(guess.address)
            )  # always after the account: nobody waits in a circle
        wait = await _find_wait_ms(tx, settings, guess)
        if wait:
            raise TooManyGuesses(-(-wait // 1000))
        guesses.insert(tx, guess.id, guess.account, guess.caller)

    try:
        await store.write(count_and_insert, claim_number(guess.account))
    except ClaimTaken:
        raise Overloaded from None


async def _find_wait_ms(tx: Writing, settings: Settings, guess: Guess) -> int:
    """Who has lately given the right password is held to their own guesses alone, not to those of everybody."""
    waits = await guesses.read_waits(
        tx,
        guess.account,
        guess.caller,
        guess.address,
        WINDOW_MS,
        (settings.guesses_per_caller, settings.guesses_per_account, settings.guesses_per_address),
    )
    others = max(waits.of_account, waits.of_address)
    if others <= waits.of_caller or await known_callers.is_known(tx, guess.user_id, guess.caller, KNOWN_CALLER_MS):
        return waits.of_caller
    return others


async def _release(store: Store, guess: Guess) -> None:
    async def delete(tx: Writing) -> None:
        guesses.delete(tx, guess.id)

    await store.write(delete)
