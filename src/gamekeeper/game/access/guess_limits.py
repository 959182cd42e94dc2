"""Limits on password guesses, and queues that serialise password checks per account and client address.

A guess is reserved before the check, and released if the password was right.
"""

import asyncio
import hashlib
import ipaddress
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from msgspec import Struct, field

from gamekeeper.game.core.change import unlogged
from gamekeeper.game.core.lookup import new_guid
from gamekeeper.game.core.refusals import Overloaded, TooManyGuesses
from gamekeeper.ground.settings import Settings
from gamekeeper.store.access import credentials
from gamekeeper.store.accounts.users import User
from gamekeeper.store.engine.interface import ClaimTaken, Store, Writing

WINDOW_MS = 5 * 60 * 1000  # milliseconds: password guesses older than this are not counted
# milliseconds: a right password makes its caller a known caller for this long
KNOWN_CALLER_MS = 30 * 24 * 60 * 60 * 1000
# guesses are counted per IPv6 prefix of this length: one subscriber has all addresses with this prefix
NETWORK_BITS = 64


class Guess(Struct, frozen=True):
    """One attempt to check a password, and the keys under which it is counted."""

    id: str
    user_id: str | None  # the account whose password is guessed; None: no account has this name
    account: str
    caller: str
    # client address, whose guesses at all accounts count together; None for callers with a token: many people use those
    address: str | None
    # for the security log: the calling account, if the request has a token, and the whole address
    actor_id: str | None
    client: str


def make_caller_guess(user_id: str, caller_id: str, address: str) -> Guess:
    """Make a password guess of a caller with a token. It is counted per calling account and client address.

    The address is the site visitor's if the site forwards it and is one of `trusted_proxies`. Only a hash of both is
    stored, so nothing of them remains once the calling account is erased.
    """
    digest = hashlib.sha256(f"{caller_id}\n{find_network(address)}".encode()).hexdigest()
    return Guess(new_guid(), user_id, user_id, f"caller:{digest}", None, caller_id, address)


def make_address_guess(user_id: str | None, name: str, address: str) -> Guess:
    """Make a password guess of a caller without a token. Unknown names are hashed: some are mistyped passwords."""
    account = user_id or "name:" + hashlib.sha256(name.encode()).hexdigest()
    place = find_network(address)
    return Guess(new_guid(), user_id, account, place, place, None, address)


def find_network(address: str) -> str:
    """Return the part of an IP address that a client cannot easily change: IPv4 whole, IPv6 its /64 network."""
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
    """Reserve a password guess around a password check; release it if the server was too busy to check."""
    await _reserve(store, settings, guess)
    try:
        yield
    except Overloaded:
        await _release(store, guess)
        raise


def release_right_guess(tx: Writing, guess: Guess, *, second_factor: bool = False) -> None:
    """Release a right guess and mark the caller as known: guesses of others no longer lock this caller out.

    An account with a second factor knows only callers that sent a right code too. Otherwise a stolen password would
    lift the limit over all callers for guesses at the code.
    """
    credentials.delete_guess(tx, guess.id)
    if guess.user_id:
        tx.defer(credentials.SQL.save_known_caller, guess.user_id, guess.caller, second_factor)


@unlogged
async def forget_known_callers(tx: Writing, user_id: str) -> None:
    """Forget an account's known callers: they knew its old password, not the new one."""
    credentials.delete_known_callers(tx, user_id)


def claim_number(counted: str) -> int:
    """Return the advisory lock number that serialises counting the password guesses of an account or an address."""
    return int.from_bytes(hashlib.blake2b(f"guesses\n{counted}".encode(), digest_size=8).digest(), "big", signed=True)


async def _reserve(store: Store, settings: Settings, guess: Guess) -> None:
    """Count and store a password guess in its own transaction: parallel requests and dry runs are counted too."""

    async def count_and_insert(tx: Writing) -> None:
        if guess.address:
            # lock the address always after the account, so that no deadlock is possible
            await tx.one(credentials.SQL.hold_claim, claim_number(guess.address))
        wait = await _find_wait_ms(tx, settings, guess)
        if wait:
            raise TooManyGuesses(-(-wait // 1000))
        credentials.insert_guess(tx, guess.id, guess.account, guess.caller)

    try:
        await store.write(count_and_insert, claim_number(guess.account))
    except ClaimTaken:
        raise Overloaded from None


async def _find_wait_ms(tx: Writing, settings: Settings, guess: Guess) -> int:
    """Return the milliseconds until the next password guess. For known callers only their own guesses count."""
    waits = await credentials.read_guess_waits(
        tx,
        guess.account,
        guess.caller,
        guess.address,
        WINDOW_MS,
        (settings.guesses_per_caller, settings.guesses_per_account, settings.guesses_per_address),
    )
    others = max(waits.of_account, waits.of_address)
    if others <= waits.of_caller:
        return waits.of_caller
    is_known = await tx.one(credentials.SQL.known_caller, guess.user_id, guess.caller, KNOWN_CALLER_MS)
    return waits.of_caller if is_known else others


async def _release(store: Store, guess: Guess) -> None:
    async def delete(tx: Writing) -> None:
        credentials.delete_guess(tx, guess.id)

    await store.write(delete)


class CheckedPassword(Struct, frozen=True):
    password_fingerprint: bytes  # HMAC of a right password and the account's stored hash
    user: User


class PasswordQueue(Struct):
    """Queue of requests that check the password of one account from one client address, one at a time.

    A waiting request with the same password may use the result of the check just before it. After another check in
    between it may not: otherwise a caller could guess without a limit, by mixing guesses with the right password.
    """

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    arrived: int = 0  # requests that have entered this password queue so far
    left: int = 0  # requests that have left this password queue so far
    result: CheckedPassword | TooManyGuesses | None = None  # result of the last password check in this queue
    result_upto: int = 0  # the last password check's result is valid for requests that had arrived up to this number

    def set_result(self, found: CheckedPassword | TooManyGuesses | None) -> None:
        self.result, self.result_upto = found, self.arrived


class PasswordQueues:
    def __init__(self, most: int) -> None:
        self._turns: dict[tuple[str, str], PasswordQueue] = {}
        self._most = most
        self.waiting = 0  # requests waiting in all password queues together

    @asynccontextmanager
    async def enter(self, account: str, caller: str) -> AsyncGenerator[PasswordQueue]:
        turn = self._turns.setdefault((account, caller), PasswordQueue())
        if turn.lock.locked():
            self._require_room()
        turn.arrived += 1
        number = turn.arrived
        try:
            await self._acquire(turn)
            try:
                if number > turn.result_upto:
                    turn.result = None
                yield turn
            finally:
                turn.lock.release()
        finally:
            turn.left += 1
            if turn.left == turn.arrived:
                del self._turns[account, caller]

    def _require_room(self) -> None:
        if self.waiting >= self._most:
            raise Overloaded

    async def _acquire(self, turn: PasswordQueue) -> None:
        self.waiting += 1
        try:
            await turn.lock.acquire()
        finally:
            self.waiting -= 1
