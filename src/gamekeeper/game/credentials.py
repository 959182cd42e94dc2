"""Checks of passwords and reset codes, with a limit on wrong guesses."""

import hmac
import secrets
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any, TypeVar

from gamekeeper.game import guesses, hash_upgrades, lookup
from gamekeeper.game.account_effects import PasswordChanged, ResetRequested
from gamekeeper.game.changes import Decision
from gamekeeper.game.guesses import Guess
from gamekeeper.game.keeper import Keeper
from gamekeeper.game.password_queues import CheckedPassword, PasswordQueue
from gamekeeper.game.refusals import TooManyGuesses, TooManyMails, WrongCode, WrongPassword
from gamekeeper.settings import Settings
from gamekeeper.store import mails, resets, users
from gamekeeper.store.engine import Reading, Writing
from gamekeeper.store.users import User

T = TypeVar("T")
OnRightPassword = Callable[[Writing, User], Coroutine[Any, Any, T]]
CODE_BYTES = 24  # random bytes of a password reset code
CODE_LIFE_MS = 30 * 60 * 1000
CODE_ATTEMPTS = 5
MAILS_WINDOW_MS = 60 * 60 * 1000


async def check_password(keeper: Keeper, user: User, sent: str, caller: str, address: str) -> str:
    """Check a password. Return the stored hash that it matched; a later transaction refuses if the hash has changed."""

    async def note(_: Writing, proven: User) -> str:
        return proven.password

    matched = await run_if_password_right(keeper, guesses.make_caller_guess(user.id, caller, address), user, sent, note)
    if matched is None:
        raise WrongPassword
    return matched


async def run_if_password_right(
    keeper: Keeper, guess: Guess, user: User | None, sent: str, then: OnRightPassword[T]
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
    keeper: Keeper, turn: PasswordQueue, guess: Guess, user: User | None, sent: str
) -> User | None:
    try:
        async with guesses.reserve_guess(keeper.store, keeper.settings, guess):
            proven = await hash_upgrades.check_password(keeper, user, sent)
    except TooManyGuesses as refusal:
        turn.set_result(refusal)
        keeper.failed_guesses.add("guess_refused", guess.user_id, guess.actor_id, guess.client)
        raise
    if proven is None:
        keeper.failed_guesses.add("guess_failed", guess.user_id, guess.actor_id, guess.client)
    return proven


async def _release_guess_and_run(tx: Writing, guess: Guess, proven: User, then: OnRightPassword[T]) -> T:
    guesses.release_right_guess(tx, guess)
    return await then(tx, proven)


async def request_reset(tx: Reading, key: str, caller: str, settings: Settings) -> Decision[User]:
    user = await _lock_user_and_caller(tx, key, caller)
    waits = (
        await mails.read_wait_of_user(tx, user.id, settings.resets_per_account, MAILS_WINDOW_MS),
        await mails.read_wait_of_caller(tx, caller, settings.resets_per_caller, MAILS_WINDOW_MS),
    )
    if max(waits):
        raise TooManyMails(-(-max(waits) // 1000))
    code = secrets.token_urlsafe(CODE_BYTES)
    return Decision([ResetRequested(user, code, CODE_ATTEMPTS, CODE_LIFE_MS, lookup.new_guid(), caller)], user)


async def check_reset_code(keeper: Keeper, key: str, sent: str, caller: str, address: str) -> str:
    """Check a password reset code. A wrong one uses up an attempt in its own transaction, so a dry run counts too."""

    async def compare(tx: Writing) -> tuple[str, str | None]:
        user = await lookup.lock_user(tx, key)
        code = await resets.find_live(tx, user.id)
        if code is None or hmac.compare_digest(code.encode(), sent.encode()):
            return user.id, code
        resets.spend_try(tx, user.id)
        return user.id, None

    user_id, code = await keeper.store.write(compare)
    if code is None:
        keeper.failed_guesses.add("guess_failed", user_id, caller, address)
        raise WrongCode
    return code


async def redeem_code(tx: Reading, key: str, code: str, password: str) -> Decision[User]:
    user = await lookup.lock_user(tx, key)
    if await resets.find_current(tx, user.id) != code:
        raise WrongCode  # the reset code was used or replaced since the check
    return Decision([PasswordChanged(user, password, is_proven=True), guesses.forget_known_callers(user.id)], user)


async def _lock_user_and_caller(tx: Reading, key: str, caller: str) -> User:
    """Lock the account and the caller's, so that no other mail for or by them is queued while mails are counted."""
    found = await lookup.find_user(tx, key)
    for each in sorted({found.id, caller}):
        await users.lock(tx, each)
    return await lookup.find_user(tx, found.id)
