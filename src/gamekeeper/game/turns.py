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
class Proven:
    seal: bytes  # of the password and the hash it was held against
    user: User


@dataclass(slots=True)
class Turn:
    """All who are at one account from one place, as the one whose turn it is sees them."""

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    come: int = 0
    gone: int = 0
    found: Proven | TooManyGuesses | None = None  # by the one before
    found_for: int = 0  # those who had come by then

    def find(self, found: Proven | TooManyGuesses | None) -> None:
        self.found, self.found_for = found, self.come


class Turns:
    def __init__(self, most: int) -> None:
        self._turns: dict[tuple[str, str], Turn] = {}
        self._most = most
        self.waiting = 0  # for whichever account and from wherever

    @asynccontextmanager
    async def turn(self, account: str, caller: str) -> AsyncGenerator[Turn]:
        turn = self._turns.setdefault((account, caller), Turn())
        if turn.lock.locked():
            self._require_room()
        turn.come += 1
        number = turn.come
        try:
            await self._wait(turn)
            try:
                if number > turn.found_for:
                    turn.found = None
                yield turn
            finally:
                turn.lock.release()
        finally:
            turn.gone += 1
            if turn.gone == turn.come:
                del self._turns[account, caller]

    def _require_room(self) -> None:
        if self.waiting >= self._most:
            raise Overloaded

    async def _wait(self, turn: Turn) -> None:
        self.waiting += 1
        try:
            await turn.lock.acquire()
        finally:
            self.waiting -= 1
