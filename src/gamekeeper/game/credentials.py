"""Proving that one knows an account's password, or its reset code, with a limit on guesses."""

import hmac
import secrets

from gamekeeper.game import guesses, lookup
from gamekeeper.game.changes import Decision
from gamekeeper.game.effects import PasswordChanged, ResetRequested
from gamekeeper.game.keeper import Keeper
from gamekeeper.game.refusals import WrongCode, WrongPassword
from gamekeeper.store import resets
from gamekeeper.store.engine import Reading, Writing
from gamekeeper.store.users import User

CODE_BYTES = 24
CODE_LIFE_MS = 30 * 60 * 1000
CODE_TRIES = 5


async def prove(keeper: Keeper, user: User, sent: str, caller: str) -> str:
    """Returns the stored hash that the password matched, for the transaction to compare."""
    async with guesses.reserved(keeper.store, keeper.settings, user.id, caller) as guess:
        right = await keeper.passwords.right(sent, user.password)
    if not right:
        raise WrongPassword
    await guesses.give_back(keeper.store, guess)
    return user.password


async def request_reset(tx: Reading, key: str) -> Decision[User]:
    user = await lookup.locked_user(tx, key)
    code = secrets.token_urlsafe(CODE_BYTES)
    return Decision([ResetRequested(user, code, CODE_TRIES, CODE_LIFE_MS, lookup.new_guid())], user)


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
    return Decision([PasswordChanged(user, password)], user)
