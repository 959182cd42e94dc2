"""Clients that give and take items with keys, retry until they get an answer, and record every answer."""

import asyncio
import random
import time
from collections import Counter
from collections.abc import Collection, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import inf
from typing import Any, NamedTuple

import httpx

from battery.cases import Figure, beside
from battery.realm import BAG, COIN, SWORD, Realm

BUSY = 503
PAUSE_SECONDS = 0.05
GIVES_SECONDS = 60
GIVE_UP_SECONDS = 90  # seconds of retries after the end of the test; then a key counts as unresolved
BROKEN = 0  # status that stands for a request without an answer
PATIENT, HASTY = 40.0, 0.003  # seconds: timeouts of a request; with the short one the client misses the answer
LOST_ANSWERS = 0.1  # share of gives of coins whose first answer a client misses, if changes are mixed
REFUSALS = ("not_enough_items", "inventory_full")
ASKED_AGAIN = 100
REPLAYED = "Idempotent-Replay"


class GiveAnswer(NamedTuple):
    asked: float
    came: float
    status: int
    body: bytes = b""
    is_final: bool = False  # whether the change was applied, or refused by its rule: it is not sent again

    @property
    def good(self) -> bool:
        return httpx.codes.is_success(self.status)


class WantedChange(NamedTuple):
    player: str
    verb: str  # operation of the API: "give" or "take"
    item_id: str
    quantity: int
    is_hasty: bool  # whether the client misses the first answer

    @property
    def adds(self) -> int:
        return self.quantity if self.verb == "give" else -self.quantity


@dataclass
class Givers:
    """Clients that change items, and their records. Without keys (the seeded fault), a retry may give twice."""

    urls: Sequence[str]  # of one server or of several, which the clients use at random
    realm: Realm
    seed: int
    keyed: bool = True
    mixed: bool = False  # whether they take items too, and fill bags and banks; otherwise they only give coins
    clients: int = 8
    patience: float = PATIENT
    give_up: float = GIVE_UP_SECONDS
    applied: dict[int, tuple[WantedChange, bytes]] = field(default_factory=dict[int, tuple[WantedChange, bytes]])
    answers: list[GiveAnswer] = field(default_factory=list[GiveAnswer])
    unresolved: int = 0  # number of idempotency keys whose outcome is unknown
    number: int = 0  # of the last change that was sent
    _over: float = 0.0

    def refusals(self, since: float) -> Counter[int]:
        return Counter(each.status for each in self.answers if each.came >= since and not each.is_final)

    def back_after(self, moment: float) -> float:
        """Return the seconds from `moment` to the first success of a request sent after it."""
        return min((each.came - moment for each in self.answers if each.asked >= moment and each.good), default=inf)

    def wait_for_gives(self, count: int, since: float) -> None:
        """Wait until `count` changes sent after `since` have been acknowledged."""
        deadline = time.monotonic() + GIVES_SECONDS
        while sum(each.good and each.asked >= since for each in list(self.answers)) < count:
            if time.monotonic() > deadline:
                raise RuntimeError(f"fewer than {count} changes were acknowledged in {GIVES_SECONDS} seconds")
            time.sleep(PAUSE_SECONDS)

    def key(self, number: int) -> str:
        return f"give-{self.seed}-{number}"

    def wish(self, number: int) -> WantedChange:
        """Choose a change at random: coins, or mixed with some bags, and swords that fill inventory and bank."""
        chance = random.Random(f"{self.seed}-{number}")
        player, quantity = chance.choice(self.realm.players), chance.randint(1, 9)
        if not self.mixed:
            return WantedChange(player, "give", COIN.id, quantity, is_hasty=False)
        item = chance.choices((COIN, BAG, SWORD), (70, 15, 15))[0]
        verb = "give" if chance.random() < 0.65 else "take"
        # Only gives of coins time out early, because they are never refused. The first attempt of another change could
        # still be applied after a rule has refused its retry: then the expected quantity would be wrong.
        hasty = verb == "give" and item is COIN and chance.random() < LOST_ANSWERS
        return WantedChange(player, verb, item.id, quantity if item is COIN else 1, hasty)

    def sums(self, numbers: Collection[int]) -> Counter[str]:
        """Return how many items each player has after these changes."""
        sums: Counter[str] = Counter()
        for wanted in map(self.wish, numbers):
            sums[wanted.player] += wanted.adds
        return sums

    def wrong(self) -> int:
        """Return by how many items the players' slots differ from the acknowledged changes."""
        sums: Counter[tuple[str, str]] = Counter()
        for wanted, _ in self.applied.values():
            sums[wanted.player, wanted.item_id] -= wanted.adds
        with httpx.Client(base_url=self.urls[0], headers=self.realm.headers, timeout=self.patience) as client:
            for player in self.realm.players:
                items = client.get(f"/api/v1/players/{player}/items").json()
                for slot in [*items["inventory"], *items["bank"]]:
                    sums[player, slot["ItemId"]] += slot["Quantity"]
        return sum(map(abs, sums.values()))

    def count_other_answers(self) -> int:
        """Repeat some of the answered changes with their keys: each must replay its answer, also after crashes."""
        chance, found = random.Random(self.seed), 0
        with httpx.Client(base_url=self.urls[0], headers=self.realm.headers, timeout=PATIENT) as client:
            for number in chance.sample(sorted(self.applied), min(ASKED_AGAIN, len(self.applied))):
                wanted, first = self.applied[number]
                again = client.post(**self._request(number, wanted))
                found += (again.content, again.headers.get(REPLAYED)) != (first, "true")
        return found

    def figures(self, what: str = "") -> list[Figure]:
        wrong, given = self.wrong(), len(self.applied)
        return [
            Figure.none(f"{what}items lost or duplicated", wrong, f"{wrong} after {given} acknowledged changes"),
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
        """Run the clients in a thread; at the end each finishes its current change."""
        self._over = 0.0
        with beside(lambda _: asyncio.run(self._work())):
            try:
                yield
            finally:
                self._over = time.monotonic()

    async def send(self, client: httpx.AsyncClient, number: int, patience: float) -> GiveAnswer:
        """Send a change once, and record the answer."""
        wanted, asked = self.wish(number), time.monotonic()
        try:
            answer = await client.post(**self._request(number, wanted), timeout=patience)
        except httpx.TransportError:
            found = GiveAnswer(asked, time.monotonic(), BROKEN)
        else:
            is_final = answer.is_success or any(each in answer.text for each in REFUSALS)
            found = GiveAnswer(asked, time.monotonic(), answer.status_code, answer.content, is_final)
        self.answers.append(found)
        if found.good:
            self.applied[number] = wanted, found.body
        return found

    def _request(self, number: int, wanted: WantedChange) -> dict[str, Any]:
        body: dict[str, object] = {"itemid": wanted.item_id, "quantity": wanted.quantity}
        if wanted.verb == "give":
            body["bankoverflow"] = wanted.item_id == SWORD.id
        key = {"Idempotency-Key": self.key(number)} if self.keyed else {}
        return {"url": f"/api/v1/players/{wanted.player}/items/{wanted.verb}", "json": body, "headers": key}

    async def _work(self) -> None:
        await asyncio.gather(*[self._client() for _ in range(self.clients)])

    async def _client(self) -> None:
        several = [httpx.AsyncClient(base_url=each, headers=self.realm.headers) for each in self.urls]
        while not self._over:
            self.number += 1
            await self._change(several, self.number)
        await asyncio.gather(*[each.aclose() for each in several])

    async def _change(self, clients: Sequence[httpx.AsyncClient], number: int) -> None:
        """Send a change until it is answered."""
        chance, hasty = random.Random(number), self.wish(number).is_hasty
        self.unresolved += 1
        while True:
            answer = await self.send(chance.choice(clients), number, HASTY if hasty else self.patience)
            if answer.is_final and not hasty:
                break
            hasty = False
            if self._over and time.monotonic() - self._over > self.give_up:
                return
            await asyncio.sleep(PAUSE_SECONDS)
        self.unresolved -= 1
