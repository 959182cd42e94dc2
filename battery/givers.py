"""Clients that give items with keys, retry until they get an answer, and record every answer."""

import asyncio
import random
import time
from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import inf
from threading import Thread
from typing import NamedTuple

import httpx

from battery.cases import Figure
from crash_gives import COIN

BUSY = 503
PAUSE_SECONDS = 0.05
GIVES_SECONDS = 60
GIVE_UP_SECONDS = 90  # seconds of retries after the end of the test; then a key counts as unresolved
BROKEN = 0  # status that stands for a request without an answer
PATIENT = 40.0


class GiveAnswer(NamedTuple):
    asked: float
    came: float
    status: int

    @property
    def good(self) -> bool:
        return httpx.codes.is_success(self.status)


@dataclass
class Givers:
    """Clients that give items, and their records. Without keys (the seeded fault), a retry may give twice."""

    url: str
    token: str
    players: list[str]
    seed: int
    keyed: bool = True
    clients: int = 8
    patience: float = PATIENT  # seconds: timeout of a request
    give_up: float = GIVE_UP_SECONDS
    wanted: Counter[str] = field(default_factory=Counter[str])  # acknowledged quantity of items by player
    answers: list[GiveAnswer] = field(default_factory=list[GiveAnswer])
    unresolved: int = 0  # number of idempotency keys whose outcome is unknown
    _number: int = 0
    _over: float = 0.0

    def refusals(self, since: float) -> Counter[int]:
        return Counter(each.status for each in self.answers if each.came >= since and not each.good)

    def back_after(self, moment: float) -> float:
        """Return the seconds from `moment` to the first success of a request sent after it."""
        return min((each.came - moment for each in self.answers if each.asked >= moment and each.good), default=inf)

    def longest_gap(self, since: float) -> float:
        """Return the longest time in seconds without any successful request."""
        good = sorted(each.came for each in self.answers if each.good and each.came >= since)
        return max(after - before for before, after in zip([since, *good], [*good, time.monotonic()], strict=True))

    def wait_for_gives(self, count: int, since: float) -> None:
        """Wait until `count` gives sent after `since` have been acknowledged."""
        deadline = time.monotonic() + GIVES_SECONDS
        while sum(each.good and each.asked >= since for each in list(self.answers)) < count:
            if time.monotonic() > deadline:
                raise RuntimeError(f"fewer than {count} gives were acknowledged in {GIVES_SECONDS} seconds")
            time.sleep(PAUSE_SECONDS)

    def wrong(self) -> int:
        """Return by how many items the players' inventories differ from the acknowledged gives."""
        headers = {"Authorization": f"Bearer {self.token}"}
        with httpx.Client(base_url=self.url, headers=headers, timeout=self.patience) as client:
            return sum(abs(self._count_held(client, player) - self.wanted[player]) for player in self.players)

    def figures(self, what: str = "") -> list[Figure]:
        wrong, given = self.wrong(), sum(each.good for each in self.answers)
        return [
            Figure.none(f"{what}items lost or duplicated", wrong, f"{wrong} after {given} acknowledged gives"),
            Figure.none(f"{what}keys without an outcome", self.unresolved),
        ]

    def statuses(self, what: str = "") -> Figure:
        """Compare the statuses of all refusals with the one that is allowed during a failure."""
        refused = self.refusals(since=0)
        others = {status: count for status, count in refused.items() if status != BUSY}
        said = f"{others or 'none'}, beside {BUSY} {refused[BUSY]} times"
        return Figure(f"{what}statuses other than {BUSY}", said, "none", not others)

    @contextmanager
    def at_work(self) -> Generator[None]:
        """Run the giving clients in a thread; at the end each finishes its current give."""
        self._over = 0.0
        thread = Thread(target=lambda: asyncio.run(self._work()))
        thread.start()
        try:
            yield
        finally:
            self._over = time.monotonic()
            thread.join()

    def _count_held(self, client: httpx.Client, player: str) -> int:
        items = client.get(f"/api/v1/players/{player}/items").json()
        return sum(slot["Quantity"] for slot in items["inventory"] if slot["ItemId"] == COIN.id)

    async def _work(self) -> None:
        await asyncio.gather(*[self._client() for _ in range(self.clients)])

    async def _client(self) -> None:
        async with httpx.AsyncClient(base_url=self.url, timeout=self.patience) as client:
            while not self._over:
                self._number += 1
                await self._give(client, self._number)

    async def _give(self, client: httpx.AsyncClient, number: int) -> None:
        chance = random.Random(f"{self.seed}-{number}")
        player, quantity = chance.choice(self.players), chance.randint(1, 9)
        headers = {"Authorization": f"Bearer {self.token}"}
        if self.keyed:
            headers["Idempotency-Key"] = f"give-{self.seed}-{number}"
        self.unresolved += 1
        while not (await self._ask(client, player, quantity, headers)).good:
            if self._over and time.monotonic() - self._over > self.give_up:
                return
            await asyncio.sleep(PAUSE_SECONDS)
        self.unresolved -= 1
        self.wanted[player] += quantity

    async def _ask(self, client: httpx.AsyncClient, player: str, quantity: int, headers: dict[str, str]) -> GiveAnswer:
        body = {"itemid": COIN.id, "quantity": quantity}
        asked = time.monotonic()
        try:
            answer = await client.post(f"/api/v1/players/{player}/items/give", json=body, headers=headers)
            status = answer.status_code
        except httpx.TransportError:
            status = BROKEN
        self.answers.append(GiveAnswer(asked, time.monotonic(), status))
        return self.answers[-1]
