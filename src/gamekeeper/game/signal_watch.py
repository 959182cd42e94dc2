"""Rules of signals over changes of the audit log, in the transaction that counts them for the economy.

They are evaluated after each change, in order and by the times of the changes. So it makes no difference how many
changes a transaction counts. Sums over the last hour are kept by ten minutes, in two small tables. Their rows also have
the largest changes, which are evidence of a signal: reading them from the audit log would take long for a busy game.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Generic, NamedTuple, TypeVar

from gamekeeper.game.bulk_jobs import read_details
from gamekeeper.game.flows import GAME, IMPORT, KEY, STAFF, UNDO, Move
from gamekeeper.game.player_effects import PlayerCreated
from gamekeeper.game.signal_evidence import (
    NO_CHANGES,
    ChangeList,
    Evidence,
    EvidenceChange,
    decode_changes,
    encode_changes,
    join_changes,
)
from gamekeeper.game.signal_rules import CONSERVATION, GAIN, GIFT, SUPPLY, Limits
from gamekeeper.game.signals import QUIET_MS, Finding
from gamekeeper.store import bulk_jobs, signal_sums
from gamekeeper.store.engine import Reading, Writing
from gamekeeper.store.holdings import Holding
from gamekeeper.store.signal_sums import GainKey, Slots, StoredSums

Key = TypeVar("Key", str, GainKey)
SLOT_MS = 10 * 60 * 1000
WINDOW_SLOTS = 6  # an hour
# A smaller supply counts as this quantity: the first finds of a new item are not a duplication.
LEAST_SUPPLY = 100
# Changes below this part of the limit of one player are not added up: most changes then cost nothing.
SMALL_PART = 100
# A change below a thousandth of an item's supply is not kept as evidence of its growth, so most changes cost nothing.
KEPT_PART = 1000
# A player must also get more than this part of all that is in circulation: limits fit large economies too.
SUPPLY_PART = 100


class _Gift(NamedTuple):
    move: Move
    quantity: int  # of a bulk job: to all players together
    job_id: str | None


async def watch(tx: Writing, limits: Limits, moves: Sequence[Move], *, is_complete: bool) -> list[Finding]:
    """Return what the rules find in a batch of changes, before it is added to the totals of the items.

    `is_complete`: the totals of items are known. While players are swept, what depends on them is not found.
    """
    if not moves:
        return []
    hour = _Hour(limits, await signal_sums.read_quantities(tx, _list_items(moves)) if is_complete else None)
    if limits.supply:
        hour.growth = _Sums(await signal_sums.read_growth(tx, _list_items(moves)))
    if limits.gain and (keys := {key for each in moves if (key := hour.find_gain_key(each))}):
        hour.gains = _Sums(await signal_sums.read_gains(tx, sorted(keys)))
    findings: list[Finding] = []
    for each in moves:
        hour.add(each, findings)
    oldest = max(each.at for each in moves) // SLOT_MS - WINDOW_SLOTS
    if hour.growth.changed:
        await signal_sums.save_growth(tx, hour.growth.changed, hour.growth.encode_changes(), oldest)
    if hour.gains.changed:
        await signal_sums.save_gains(tx, hour.gains.changed, hour.gains.encode_changes(), oldest)
    return findings + [each for gift in await _list_gifts(tx, limits, moves) for each in _judge_gift(limits, gift)]


def make_contradiction(holding: Holding, quantity: int, seq: int, at: int) -> Finding:
    """Make the finding that a change took more of an item from a player than it had."""
    evidence = Evidence(quantity=quantity, changes=(EvidenceChange(seq, quantity),))
    subject = f"{holding.player_id} {holding.thing_id}"
    return Finding(CONSERVATION, subject, at, evidence, item_id=holding.thing_id, player_id=holding.player_id)


class _Sums(Generic[Key]):
    """Sums of the last hour by ten minutes, with the largest changes. Most of those are never decoded."""

    def __init__(self, stored: StoredSums[Key]) -> None:
        self._slots = stored.sums
        self._stored = stored.changes
        self._lists: dict[tuple[Key, int], ChangeList] = {}  # decoded
        self.changed: dict[tuple[Key, int], int] = {}

    def add(self, key: Key, slot: int, gain: int) -> Slots:
        """Add a gain to the sum of a slot; return the sums of all slots."""
        slots = self._slots.setdefault(key, {})
        slots[slot] = self.changed[key, slot] = slots.get(slot, 0) + gain
        return slots

    def keep(self, key: Key, move: Move) -> None:
        """Keep a change if it is one of the largest of its slot."""
        place = key, move.at // SLOT_MS
        self._lists[place] = self._find_list(place).add(EvidenceChange(move.seq, move.gain))

    def join_hour(self, key: Key, last: int) -> ChangeList:
        """Return the largest changes of the hour up to a slot."""
        return join_changes(self._find_list((key, slot)) for slot in range(last - WINDOW_SLOTS + 1, last + 1))

    def encode_changes(self) -> Mapping[tuple[Key, int], str]:
        """Return the largest changes of the slots as they are stored."""
        return self._stored | {place: encode_changes(each) for place, each in self._lists.items() if each.changes}

    def _find_list(self, place: tuple[Key, int]) -> ChangeList:
        if place not in self._lists:
            stored = self._stored.get(place)
            self._lists[place] = decode_changes(stored) if stored else NO_CHANGES
        return self._lists[place]


class _Hour:
    """Sums of the last hour while the changes of a batch are added, one by one."""

    def __init__(self, limits: Limits, totals: dict[str, int] | None) -> None:
        self._limits = limits
        self._totals = totals  # None: not known
        self.growth = _Sums[str](StoredSums({}, {}))
        self.gains = _Sums[GainKey](StoredSums({}, {}))
        self._grown: dict[str, tuple[int, int]] = {}  # last slot of an item, and its growth in the hour up to that slot
        self._found: dict[tuple[str, str], int] = {}  # rule and subject → time when it was last found

    def find_gain_key(self, move: Move) -> GainKey | None:
        """Return player and item of a change that counts for the rule about one player."""
        counts = move.source == GAME and move.kind != PlayerCreated.kind and self._limits.gain
        if not counts or not move.player_id or abs(move.gain) * SMALL_PART < counts:
            return None
        return GainKey(move.player_id, move.item_id)

    def add(self, move: Move, findings: list[Finding]) -> None:
        """Add a change to the sums, and what the rules find in it to `findings`."""
        slot, item_id, gain = move.at // SLOT_MS, move.item_id, move.gain
        if self._totals is not None:
            self._totals[item_id] = self._totals.get(item_id, 0) + gain
        # Imports, undos and new players are no growth. A loss always counts, because the total becomes less.
        if self._limits.supply and (gain < 0 or _is_growth(move)):
            grown = self._grow(item_id, slot, gain)
            if gain > 0:
                findings.extend(self._judge_supply(move, grown))
                if self._totals is not None and gain * KEPT_PART >= self._totals[item_id]:
                    self.growth.keep(item_id, move)
        if key := self.find_gain_key(move):
            slots = self.gains.add(key, slot, gain)
            if gain > 0:
                findings.extend(self._judge_gain(move, key, _sum_window(slots, slot)))
            self.gains.keep(key, move)

    def _grow(self, item_id: str, slot: int, gain: int) -> int:
        """Add a gain to the growth of an item; return the growth of the last hour."""
        slots = self.growth.add(item_id, slot, gain)
        last, grown = self._grown.get(item_id, (None, 0))
        grown = grown + gain if last == slot else _sum_window(slots, slot)  # neighbours are mostly of the same slot
        self._grown[item_id] = slot, grown
        return grown

    def _judge_supply(self, move: Move, grown: int) -> Iterable[Finding]:
        factor, totals = self._limits.supply, self._totals
        if factor is None or totals is None:
            return
        after = totals[move.item_id]
        before = after - grown
        if after > factor * max(before, LEAST_SUPPLY):
            change = EvidenceChange(move.seq, move.gain)
            evidence = Evidence(limit=factor, quantity=grown, before=before, after=after, changes=(change,))
            is_first = self._note(SUPPLY, move.item_id, move.at)
            lead = self.growth.join_hour(move.item_id, move.at // SLOT_MS) if is_first else NO_CHANGES
            yield Finding(SUPPLY, move.item_id, move.at, evidence, item_id=move.item_id, lead=lead)

    def _judge_gain(self, move: Move, key: GainKey, gained: int) -> Iterable[Finding]:
        limit = self._limits.gain
        total = self._totals.get(move.item_id, 0) if self._totals is not None else 0
        if limit is None or gained <= limit or gained * SUPPLY_PART <= total:
            return
        change = EvidenceChange(move.seq, move.gain)
        evidence = Evidence(limit=limit, quantity=gained, after=total or None, changes=(change,))
        subject = f"{key.player_id} {key.item_id}"
        is_first = self._note(GAIN, subject, move.at)
        lead = self.gains.join_hour(key, move.at // SLOT_MS) if is_first else NO_CHANGES
        yield Finding(GAIN, subject, move.at, evidence, item_id=key.item_id, player_id=key.player_id, lead=lead)

    def _note(self, rule: str, subject: str, at: int) -> bool:
        """Note that a rule has found a subject. True: it may be the first finding of a new signal."""
        last = self._found.get((rule, subject))
        self._found[rule, subject] = at if last is None else max(last, at)
        return last is None or at - last >= QUIET_MS


async def _list_gifts(tx: Reading, limits: Limits, moves: Iterable[Move]) -> list[_Gift]:
    """Return the gifts in a batch. A change of a bulk job counts with what the whole job gives."""
    gifts: list[_Gift] = []
    jobs: dict[str, int] = {}
    for move in moves if limits.gift else ():
        if move.job_id is None and move.gain <= (limits.gift or 0):
            continue  # most gifts are small
        if move.gain <= 0 or move.source not in (KEY, STAFF) or move.kind == PlayerCreated.kind:
            continue
        if move.job_id is not None and move.job_id not in jobs:
            job = await bulk_jobs.find(tx, move.job_id)
            jobs[move.job_id] = (read_details(job).quantity or 0) * job.players if job else 0
        gifts.append(_Gift(move, max(move.gain, jobs.get(move.job_id or "", 0)), move.job_id))
    return gifts


def _judge_gift(limits: Limits, gift: _Gift) -> Iterable[Finding]:
    move = gift.move
    if limits.gift is None or gift.quantity <= limits.gift:
        return
    change = EvidenceChange(move.seq, move.gain)
    evidence = Evidence(limit=limits.gift, quantity=gift.quantity, job_id=gift.job_id, changes=(change,))
    subject = f"{move.giver_id or ''} {move.item_id}"
    user_id = move.giver_id if move.source == STAFF else None
    yield Finding(GIFT, subject, move.at, evidence, item_id=move.item_id, giver_id=move.giver_id, user_id=user_id)


def _is_growth(move: Move) -> bool:
    return move.source not in (UNDO, IMPORT) and move.kind != PlayerCreated.kind


def _sum_window(slots: Slots, last: int) -> int:
    return sum(each for slot, each in slots.items() if last - WINDOW_SLOTS < slot <= last)


def _list_items(moves: Iterable[Move]) -> list[str]:
    return sorted({each.item_id for each in moves})
