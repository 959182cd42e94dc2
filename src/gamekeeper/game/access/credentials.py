"""Checks of passwords and reset codes, with a limit on wrong guesses.

Imported password hashes are valid at once, and converted to argon2id at the first log-in, or earlier by a background
job. The password itself stays the same, so this is not a change of the account: it is not in the audit log (an import
would add a million entries) and revokes no token. A `Ticket` is encrypted state that a browser keeps between two steps
of a sign-in or of setting up a second factor. It is encrypted with the key file, so the second step can reach another
instance. It expires by the database's clock.
"""

import asyncio
import hmac
import secrets
import time
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any, TypeVar

import msgspec

from gamekeeper.game.access import guess_limits, passwords
from gamekeeper.game.access.changes import PasswordChanged, ResetRequested
from gamekeeper.game.access.console_refusals import TicketExpired
from gamekeeper.game.access.guess_limits import CheckedPassword, Guess, PasswordQueue, PasswordQueues
from gamekeeper.game.access.key_file import KeyFile
from gamekeeper.game.access.passwords import Passwords
from gamekeeper.game.access.security_log import FLUSH_SECONDS, FailedGuesses
from gamekeeper.game.core import lookup
from gamekeeper.game.core.background_jobs import Job
from gamekeeper.game.core.refusals import TooManyGuesses, TooManyMails, WrongCode, WrongPassword
from gamekeeper.game.core.writes import CoreKeeper, Decision
from gamekeeper.ground.settings import Settings
from gamekeeper.store.access import credentials
from gamekeeper.store.accounts import mails, users
from gamekeeper.store.accounts.users import User
from gamekeeper.store.engine import clock
from gamekeeper.store.engine.interface import Reading, Writing

POLL_SECONDS = 30.0
BATCH_ACCOUNTS = 16  # accounts with imported hashes read at a time; few, because another process may read the same ones
YIELD_SECONDS = 0.05  # poll interval of the hash-wrapping job while log-ins wait for the hashing threads
# pause after wrapping a hash, as a multiple of its duration: the job uses at most a quarter of one core
REST_FACTOR = 3


class AccessKeeper(CoreKeeper, frozen=True):
    """The objects that check passwords and other credentials."""

    passwords: Passwords
    password_queues: PasswordQueues
    failed_guesses: FailedGuesses
    key_file: KeyFile


async def check_imported_password(keeper: AccessKeeper, user: User | None, sent: str) -> User | None:
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


async def wrap_all(keeper: AccessKeeper) -> None:
    """Wrap all imported password hashes in argon2id, one after the other; log-ins have priority."""
    while some := await _load_batch(keeper):
        for user_id, stored in some:
            while keeper.passwords.queue_length:  # noqa: ASYNC110 - polling keeps the log-in code simple
                await asyncio.sleep(YIELD_SECONDS)
            started = time.monotonic()
            await _wrap(keeper, user_id, stored)
            await asyncio.sleep(REST_FACTOR * (time.monotonic() - started))


async def measure_wraps_per_minute(keeper: AccessKeeper) -> int:
    """Measure how many imported password hashes one process can wrap in argon2id per minute on this machine."""
    started = time.monotonic()
    await keeper.passwords.wrap_imported(passwords.ImportedHash("", "", wrapped=False))
    return round(60 / (time.monotonic() - started) / (1 + REST_FACTOR))


async def _load_batch(keeper: AccessKeeper) -> list[tuple[str, str]]:
    """Read some imported hashes from a random account id on, so that processes seldom work on the same accounts."""
    anywhere = await credentials.read_imported_hashes(keeper.store, lookup.new_guid(), BATCH_ACCOUNTS)
    return anywhere or await credentials.read_imported_hashes(keeper.store, lookup.ZERO_GUID, BATCH_ACCOUNTS)


async def _wrap(keeper: AccessKeeper, user_id: str, stored: str) -> None:
    imported = passwords.parse_imported_hash(stored)
    if imported:
        await _replace(keeper, user_id, stored, await keeper.passwords.wrap_imported(imported))


async def _replace(keeper: AccessKeeper, user_id: str, old: str, new: str) -> bool:
    async def replace(tx: Writing) -> bool:
        return bool(await tx.returning(credentials.SQL.replace_imported_hash, user_id, old, new))

    return await keeper.store.write(replace)


T = TypeVar("T")
OnRightPassword = Callable[[Writing, User], Coroutine[Any, Any, T]]
CODE_BYTES = 24  # random bytes of a password reset code
CODE_LIFE_MS = 30 * 60 * 1000
CODE_ATTEMPTS = 5
MAILS_WINDOW_MS = 60 * 60 * 1000


async def check_password(keeper: AccessKeeper, user: User, sent: str, caller: str, address: str) -> str:
    """Check a password. Return the stored hash that it matched; a later transaction refuses if the hash has changed."""

    async def note(_: Writing, proven: User) -> str:
        return proven.password

    matched = await run_if_password_right(
        keeper, guess_limits.make_caller_guess(user.id, caller, address), user, sent, note
    )
    if matched is None:
        raise WrongPassword
    return matched


async def run_if_password_right(
    keeper: AccessKeeper, guess: Guess, user: User | None, sent: str, then: OnRightPassword[T]
) -> T | None:
    """Check a password; if right, run `then` in the transaction that releases the reserved guess. None: it is wrong.

    A request that reuses the result of the request before it in the password queue has reserved no guess.
    """
    password_fingerprint = keeper.passwords.make_fingerprint(sent, user.password if user else "")
    async with keeper.password_queues.enter(guess.account, guess.caller) as turn:
        proven = _reuse_previous_check(turn, password_fingerprint)
        if proven is None:
            turn.set_result(None)
            proven = await _check_reserved_guess(keeper, turn, guess, user, sent)
            if proven is None:
                return None
            done = await keeper.store.write(partial(_release_guess_and_run, guess=guess, proven=proven, then=then))
            turn.set_result(CheckedPassword(password_fingerprint, proven))
            return done
    return await keeper.store.write(lambda tx: then(tx, proven))


def _reuse_previous_check(turn: PasswordQueue, password_fingerprint: bytes) -> User | None:
    if isinstance(turn.result, TooManyGuesses):
        raise turn.result.with_traceback(None)
    return (
        turn.result.user
        if turn.result and hmac.compare_digest(turn.result.password_fingerprint, password_fingerprint)
        else None
    )


async def _check_reserved_guess(
    keeper: AccessKeeper, turn: PasswordQueue, guess: Guess, user: User | None, sent: str
) -> User | None:
    try:
        async with guess_limits.reserve_guess(keeper.store, keeper.settings, guess):
            proven = await check_imported_password(keeper, user, sent)
    except TooManyGuesses as refusal:
        turn.set_result(refusal)
        keeper.failed_guesses.add("guess_refused", guess.user_id, guess.actor_id, guess.client)
        raise
    if proven is None:
        keeper.failed_guesses.add("guess_failed", guess.user_id, guess.actor_id, guess.client)
    return proven


async def _release_guess_and_run(tx: Writing, guess: Guess, proven: User, then: OnRightPassword[T]) -> T:
    guess_limits.release_right_guess(tx, guess)
    return await then(tx, proven)


async def request_reset(tx: Reading, key: str, caller: str, settings: Settings) -> Decision[User]:
    # so that no other mail for or by them is queued while mails are counted
    user = await lookup.find_user(tx, await lookup.lock_user_id(tx, key, caller))
    waits = (
        await tx.value(mails.SQL.wait_of_user, user.id, settings.resets_per_account, MAILS_WINDOW_MS) or 0,
        await tx.value(mails.SQL.wait_of_caller, caller, settings.resets_per_caller, MAILS_WINDOW_MS) or 0,
    )
    if max(waits):
        raise TooManyMails(-(-max(waits) // 1000))
    code = secrets.token_urlsafe(CODE_BYTES)
    return Decision([ResetRequested(user, code, CODE_ATTEMPTS, CODE_LIFE_MS, lookup.new_guid(), caller)], user)


async def check_reset_code(keeper: AccessKeeper, key: str, sent: str, caller: str, address: str) -> str:
    """Check a password reset code. A wrong one uses up an attempt in its own transaction, so a dry run counts too."""

    async def compare(tx: Writing) -> tuple[str, str | None]:
        user = await lookup.lock_user(tx, key)
        code = await tx.value(credentials.SQL.live_reset_code, user.id)
        if code is None or hmac.compare_digest(code.encode(), sent.encode()):
            return user.id, code
        tx.defer(credentials.SQL.spend_reset_try, user.id)
        return user.id, None

    user_id, code = await keeper.store.write(compare)
    if code is None:
        keeper.failed_guesses.add("guess_failed", user_id, caller, address)
        raise WrongCode
    return code


async def redeem_code(tx: Reading, key: str, code: str, password: str) -> Decision[User]:
    user = await lookup.lock_user(tx, key)
    if await tx.value(credentials.SQL.current_reset_code, user.id) != code:
        raise WrongCode  # the reset code was used or replaced since the check
    return Decision([PasswordChanged(user, password, is_proven=True), guess_limits.forget_known_callers(user.id)], user)


LIFE_MINUTES = 10
CHALLENGE_BYTES = 32
SIGN_IN, TOTP_SET_UP, PASSKEY_SET_UP, PASSKEY_CHECK = "sign-in", "totp set-up", "passkey set-up", "passkey check"
OIDC_SIGN_IN, OIDC_LINK = "oidc sign-in", "oidc link"


class Ticket(msgspec.Struct, frozen=True):
    user_id: str
    id: str  # id of the second factor that a set-up adds
    made_at: int  # milliseconds since 1970
    value: str  # sign-in: digest of the password's hash; TOTP: the secret; OpenID Connect: the page to show next
    challenge: str  # WebAuthn: the random text that the passkey signs; OpenID Connect: the PKCE code verifier
    by: str = ""  # sign-in: issuer that proved the first step; empty: the password did


async def make_ticket(
    keeper: AccessKeeper, purpose: str, user_id: str, value: str = "", by: str = ""
) -> tuple[Ticket, str]:
    """Make a ticket, and its encrypted text for a form."""
    now, challenge = await clock.now(keeper.store), secrets.token_urlsafe(CHALLENGE_BYTES)
    ticket = Ticket(user_id, lookup.new_guid(), now, value, challenge, by)
    return ticket, keeper.key_file.seal(msgspec.json.encode(ticket), purpose)


async def read_ticket(keeper: AccessKeeper, purpose: str, sealed: str) -> Ticket:
    """Decrypt a ticket. It is refused if it was changed, was made for another purpose, or has expired."""
    content = keeper.key_file.unseal(sealed, purpose)
    ticket = msgspec.json.decode(content, type=Ticket) if content else None
    if ticket is None or await clock.now(keeper.store) - ticket.made_at > LIFE_MINUTES * 60_000:
        raise TicketExpired(minutes=LIFE_MINUTES)
    return ticket


JOBS = (
    Job[AccessKeeper]("imported passwords", POLL_SECONDS, lambda keeper: partial(wrap_all, keeper)),
    Job[AccessKeeper]("failed guesses", FLUSH_SECONDS, lambda keeper: keeper.failed_guesses.flush, at_stop=True),
)
