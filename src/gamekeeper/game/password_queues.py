"""Whoever tries a password at one account from one place waits for whoever does so already.

A site that logs in before every call comes fifty at a time with one password. Each of them for itself would be a guess
that nobody has answered yet, and ten of those are all that an account takes. So they go one after another, and what was
found for one holds for those who stood right behind with the same: as if each had been checked and given back at once.
Nobody jumps over somebody else's guess, so nothing can be learnt here without paying for it.
"""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from gamekeeper.game.refusals import Overloaded, TooManyGuesses
from gamekeeper.store.users import User


@dataclass(frozen=True, slots=True)
class CheckedPassword:
    fingerprint: bytes  # of the password and the hash it was held against
    user: User


@dataclass(slots=True)
class PasswordQueue:
    """All who are at one account from one place, as the one whose turn it is sees them."""

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    arrived: int = 0
    left: int = 0
    result: CheckedPassword | TooManyGuesses | None = None  # by the one before
    result_upto: int = 0  # those who had come by then

    def set_result(self, found: CheckedPassword | TooManyGuesses | None) -> None:
        self.result, self.result_upto = found, self.arrived


class PasswordQueues:
    def __init__(self, most: int) -> None:
        self._turns: dict[tuple[str, str], PasswordQueue] = {}
        self._most = most
        self.waiting = 0  # for whichever account and from wherever

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
