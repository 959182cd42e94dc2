"""Proving that one knows an account's password, or its reset code, with a limit on guesses."""

import hmac
import secrets

from gamekeeper.game import guesses, lookup
from gamekeeper.game.changes import Decision
from gamekeeper.game.effects import PasswordChanged, ResetRequested
from gamekeeper.game.keeper import Keeper
from gamekeeper.game.refusals import TooManyMails, WrongCode, WrongPassword
from gamekeeper.settings import Settings
from gamekeeper.store import mails, resets, users
from gamekeeper.store.engine import Reading, Writing
from gamekeeper.store.users import User

CODE_BYTES = 24
CODE_LIFE_MS = 30 * 60 * 1000
CODE_TRIES = 5
MAILS_WINDOW_MS = 60 * 60 * 1000


async def prove(keeper: Keeper, user: User, sent: str, caller: str) -> str:
    """Returns the stored hash that the password matched, for the transaction to compare."""
    guess = guesses.by_caller(user.id, caller)
    async with guesses.reserved(keeper.store, keeper.settings, guess):
        right = await keeper.passwords.right(sent, user.password)
    if not right:
        raise WrongPassword

    async def note(tx: Writing) -> None:
        guesses.was_right(tx, guess)

    await keeper.store.write(note)
    return user.password


async def request_reset(tx: Reading, key: str, caller: str, settings: Settings) -> Decision[User]:
    user = await _locked_with(tx, key, caller)
    waits = (
        await mails.wait_of_user(tx, user.id, settings.resets_per_account, MAILS_WINDOW_MS),
        await mails.wait_of_caller(tx, caller, settings.resets_per_caller, MAILS_WINDOW_MS),
    )
    if max(waits):
        raise TooManyMails(-(-max(waits) // 1000))
    code = secrets.token_urlsafe(CODE_BYTES)
    return Decision([ResetRequested(user, code, CODE_TRIES, CODE_LIFE_MS, lookup.new_guid(), caller)], user)


async def prove_code(keeper: Keeper, key: str, sent: str) -> str:
    """A wrong one spends one of the code's tries, in a transaction of its own: a dry run's counts too."""

    async def compare(tx: Writing) -> str | None:
        user = await lookup.locked_user(tx, key)
        code = await resets.live(tx, user.id)
        if code is None or hmac.compare_digest(code.encode(), sent.encode()):
            return code
        resets.spend_try(tx, user.id)
        return None

    code = await keeper.store.write(compare)
    if code is None:
        raise WrongCode
    return code


async def redeem(tx: Reading, key: str, code: str, password: str) -> Decision[User]:
    user = await lookup.locked_user(tx, key)
    if await resets.current(tx, user.id) != code:
        raise WrongCode  # used, or replaced by a newer one, since it was looked at
    return Decision([PasswordChanged(user, password), guesses.strangers(user.id)], user)


async def _locked_with(tx: Reading, key: str, caller: str) -> User:
    """The account with its caller's: nobody else queues a mail for the one, or by the other, while they are counted."""
    found = await lookup.user(tx, key)
    for each in sorted({found.id, caller}):
        await users.lock(tx, each)
    return await lookup.user(tx, found.id)
