"""The doctor's recount of the economy's flows and gifts from the audit log, some days at a time."""

from collections import Counter
from collections.abc import Collection, Sequence

from gamekeeper.doctor.findings import ERROR, PAGE_ROWS, Findings, Progress
from gamekeeper.game import flows
from gamekeeper.game.codec import Codec
from gamekeeper.game.flows import KEY, STAFF, find_day
from gamekeeper.store import economy, ledger
from gamekeeper.store.economy import CountedChange, EconomyState, Flow, GiftFlow
from gamekeeper.store.engine import Reading
from gamekeeper.store.history import NEVER

ECONOMY = "economy"
WINDOW_DAYS = 31  # days whose sums are in memory at a time
ADVICE = "Nothing counts it again; only reports of this day show it. Restore a backup if you need the right number."
KEY_OR_STAFF = f"{KEY} or {STAFF}"
Sums = Counter[tuple[int, str, str, str]]  # day, item, source or giver, name of the number


async def check(tx: Reading, found: Findings, codec: Codec, state: EconomyState, progress: Progress) -> None:
    """Count flows and gifts again, and compare them, unless the audit log was trimmed: then some changes are gone."""
    if await ledger.read_trimmed_number(tx):
        return
    counted = _Differences(codec, await economy.read_flow_items(tx), await economy.read_key_givers(tx))
    seq = start = newest = first = 0
    while page := await economy.read_changes(tx, seq, state.seq, PAGE_ROWS):
        counted.count(page)
        newest, first = max(newest, *(find_day(each.at) for each in page)), first or find_day(page[0].at)
        if newest - first >= WINDOW_DAYS:
            await counted.take_off(tx, start, newest)
            start = first = newest
        seq = page[-1].seq
        progress(ECONOMY, seq, state.seq)
    await counted.take_off(tx, start, NEVER)
    counted.report(found)


class _Differences:
    """Counted minus stored numbers. What is equal is not kept, so memory has only the days that are being counted."""

    def __init__(self, codec: Codec, items: Sequence[str], key_givers: Collection[str]) -> None:
        self._codec = codec
        self._items = items
        self._key_givers = key_givers
        self._owners: dict[str, str] = {}  # API key that is gone → its account
        self._flows: Sums = Counter()
        self._gifts: Sums = Counter()

    def count(self, changes: Sequence[CountedChange]) -> None:
        tally = flows.count(changes, self._codec, frozenset())
        self._add(tally.list_flows(), tally.list_gifts(), 1)
        for each in changes:
            if each.token_id in self._key_givers and not each.is_key and each.actor_id:
                self._owners[each.token_id or ""] = each.actor_id

    async def take_off(self, tx: Reading, first: int, end: int) -> None:
        """Take off the stored numbers of the days from `first` to the one before `end`."""
        stored = await economy.read_flows_between(tx, self._items, first, end)
        self._add(stored, await economy.read_gifts_between(tx, first, end), -1)
        self._flows = Counter({key: number for key, number in self._flows.items() if number})
        self._gifts = Counter({key: number for key, number in self._gifts.items() if number})

    def report(self, found: Findings) -> None:
        gifts: Sums = Counter()
        for (day, item, giver, name), number in self._gifts.items():
            # the keys of an erased account are gone: what is counted for them now is that account's
            gifts[day, item, f"giver {self._owners.get(giver, giver)}", name] += number
        for (day, item, whose, name), number in sorted([*self._flows.items(), *gifts.items()]):
            if not number:
                continue
            message = f"Item {item}, day {day}: {name} by {whose} is {-number:+} compared with the count"
            found.add(ERROR, ECONOMY, f"{message} by the audit log. {ADVICE}")

    def _add(self, some: Sequence[Flow], gifts: Sequence[GiftFlow], sign: int) -> None:
        for flow in some:
            # compared together: changes by a key that is gone count as staff's
            source = KEY_OR_STAFF if flow.source in (KEY, STAFF) else flow.source
            self._flows[flow.day, flow.item_id, source, "created"] += sign * flow.created
            self._flows[flow.day, flow.item_id, source, "destroyed"] += sign * flow.destroyed
        for gift in gifts:
            self._gifts[gift.day, gift.item_id, gift.giver_id, "given"] += sign * gift.given
            self._gifts[gift.day, gift.item_id, gift.giver_id, "taken"] += sign * gift.taken
