"""Serialises password checks per account and client address.

A site that logs in before every call may send fifty requests with the same password at once. In parallel, each would
reserve a guess, and an account allows only ten. So requests queue up, and a request reuses the result of the one
directly before it if both have the same password. A different password in between ends the reuse, so that no request
learns anything without using a guess.
"""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from gamekeeper.game.refusals import Overloaded, TooManyGuesses
from gamekeeper.store.users import User


@dataclass(frozen=True, slots=True)
class CheckedPassword:
    password_fingerprint: bytes  # HMAC of a right password and the account's stored hash
    user: User


@dataclass(slots=True)
class PasswordQueue:
    """Queue of requests that check the password of one account from one client address, one at a time."""

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
