"""Rules of signals: over changes of the audit log, and those that a background job evaluates.

Rules over changes run in the transaction that counts the changes for the economy. They are evaluated after each change,
in order and by the times of the changes. So it makes no difference how many changes a transaction counts. Sums over the
last hour are kept by ten minutes, in two small tables. Their rows also have the largest changes, which are evidence of
a signal: reading them from the audit log would take long for a busy game.

The background job examines game servers, bags, refused requests, and sums of days. Each step is one transaction: it
raises the signals, and removes or moves what it has examined. So a crash neither loses nor doubles a signal, and one
instance at a time examines the same thing.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from statistics import median_low
from typing import Generic, NamedTuple, TypeVar

from gamekeeper.game.audit.bulk_jobs import read_details
from gamekeeper.game.core.change import Codec
from gamekeeper.game.insight.flows import GAME, IMPORT, KEY, STAFF, UNDO, Move
from gamekeeper.game.insight.signals import (
    NO_CHANGES,
    QUIET_MS,
    ChangeList,
    Evidence,
    Finding,
    Limits,
    ListedChange,
    decode_changes,
    encode_changes,
    join_changes,
    raise_findings,
)
from gamekeeper.game.players.changes import PlayerCreated
from gamekeeper.ground.instants import DAY_MS, MINUTE_MS
from gamekeeper.store.audit import bulk_jobs
from gamekeeper.store.engine import clock
from gamekeeper.store.engine.interface import Reading, Store, Writing
from gamekeeper.store.insight import activity, economy, signals
from gamekeeper.store.insight.activity import Checkpoint
from gamekeeper.store.insight.holdings import Holding
from gamekeeper.store.insight.signals import (
    BAG,
    CONSERVATION,
    GAIN,
    GIFT,
    REFUSALS,
    SILENT,
    SUPPLY,
    Check,
    GainKey,
    Slots,
    StoredSums,
)
from gamekeeper.store.players import presence

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
    hour = _Hour(limits, await signals.read_quantities(tx, _list_items(moves)) if is_complete else None)
    if limits.supply:
        hour.growth = _Sums(await signals.read_growth(tx, _list_items(moves)))
    if limits.gain and (keys := {key for each in moves if (key := hour.find_gain_key(each))}):
        hour.gains = _Sums(await signals.read_gains(tx, sorted(keys)))
    findings: list[Finding] = []
    for each in moves:
        hour.add(each, findings)
    oldest = max(each.at for each in moves) // SLOT_MS - WINDOW_SLOTS
    if hour.growth.changed:
        await signals.save_growth(tx, hour.growth.changed, hour.growth.encode_changes(), oldest)
    if hour.gains.changed:
        await signals.save_gains(tx, hour.gains.changed, hour.gains.encode_changes(), oldest)
    return findings + [each for gift in await _list_gifts(tx, limits, moves) for each in _judge_gift(limits, gift)]


def make_contradiction(holding: Holding, quantity: int, seq: int, at: int) -> Finding:
    """Make the finding that a change took more of an item from a player than it had."""
    evidence = Evidence(quantity=quantity, changes=(ListedChange(seq, quantity),))
    subject = f"{holding.player_id} {holding.thing_id}"
    return Finding(CONSERVATION, subject, at, evidence, item_id=holding.thing_id, player_id=holding.player_id)


class _Sums(Generic[Key]):
    """Sums of the last hour by ten minutes, with the largest changes. Most of those are never decoded.

    The changes become evidence. To find them in the audit log would take longer the more changes the hour has.
    """

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
        self._lists[place] = self._find_list(place).add(ListedChange(move.seq, move.gain))

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
            change = ListedChange(move.seq, move.gain)
            evidence = Evidence(limit=factor, quantity=grown, before=before, after=after, changes=(change,))
            is_first = self._note(SUPPLY, move.item_id, move.at)
            lead = self.growth.join_hour(move.item_id, move.at // SLOT_MS) if is_first else NO_CHANGES
            yield Finding(SUPPLY, move.item_id, move.at, evidence, item_id=move.item_id, lead=lead)

    def _judge_gain(self, move: Move, key: GainKey, gained: int) -> Iterable[Finding]:
        limit = self._limits.gain
        total = self._totals.get(move.item_id, 0) if self._totals is not None else 0
        if limit is None or gained <= limit or gained * SUPPLY_PART <= total:
            return
        change = ListedChange(move.seq, move.gain)
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
    change = ListedChange(move.seq, move.gain)
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


RUN_SECONDS = 2.0
BAG_MINUTES = 5  # time in which the other player's report of a trade may come
BATCH_CHECKS = 20
MOST_NOTED = 1_000  # bags that a process remembers until the next run
SLOT_MINUTES = 10
DAY_SLOTS = 24 * 60 // SLOT_MINUTES
# requests refused in ten minutes below which nothing is unusual: some clients try every second
LEAST_REFUSED = 100
# minutes to wait after the end of a slot: processes save their numbers every ten seconds
SETTLE_MINUTES = 1
# ten-minute slots without serving after which the usual number is unknown for a day; shorter pauses hardly change it
MOST_PAUSE_SLOTS = 6
MOST_UNBALANCED = 100  # items of one day


class SignalChecks:
    def __init__(self, store: Store, codec: Codec, limits: Limits) -> None:
        self._store = store
        self._codec = codec
        self._limits = limits
        self._bags: dict[str, str] = {}  # bag → player for whom a report claimed it

    def note_bag(self, bag_id: str, player_id: str) -> None:
        """Remember that a game server reported a bag for a player, while another player has it."""
        if self._limits.bag and len(self._bags) < MOST_NOTED:
            self._bags.setdefault(bag_id, player_id)

    async def run(self) -> None:
        """Examine what is due, as a background job."""
        await self._save_bags()
        for rule, wait in ((SILENT, self._limits.silent or 0), (BAG, BAG_MINUTES)):
            while await self._store.one(signals.SQL.has_due_check, rule, wait * MINUTE_MS) is not None:
                if not await self._store.write(partial(self._examine_due, rule=rule, wait_ms=wait * MINUTE_MS)):
                    break
        await self._check_refusals()
        await self._check_days()

    async def _save_bags(self) -> None:
        noted = dict(self._bags)
        if not noted:
            return

        async def save(tx: Writing) -> None:
            for bag_id, player_id in noted.items():
                await signals.add_check(tx, BAG, bag_id, player_id)

        await self._store.write(save)
        for each in noted:  # not before: if the write fails, the next run repeats it
            del self._bags[each]

    async def _examine_due(self, tx: Writing, rule: str, wait_ms: int) -> bool:
        """Examine some due checks. False: there were fewer than a batch, or other instances work on them."""
        due = [Check(*row) for row in await tx.returning(signals.SQL.due_checks, rule, wait_ms, BATCH_CHECKS)]
        findings = [found for each in due if (found := await self._examine(tx, each))]
        for each in due:
            await tx.returning(signals.SQL.delete_check, each.rule, each.subject)
        await raise_findings(tx, self._codec, findings)
        return len(due) == BATCH_CHECKS

    async def _examine(self, tx: Reading, check: Check) -> Finding | None:
        evidence = Evidence(since=check.at)
        if check.rule == SILENT:
            if self._limits.silent is None or await presence.find_lease_end(tx, check.subject) is not None:
                return None
            evidence = Evidence(since=check.at, limit=self._limits.silent)
            return Finding(SILENT, check.subject, check.at, evidence)
        owner = await tx.value(signals.SQL.bag_owner, check.subject)
        if self._limits.bag is None or owner in {None, check.player_id}:
            return None
        return Finding(BAG, check.subject, check.at, evidence, player_id=check.player_id)

    async def _check_refusals(self) -> None:
        """Compare the requests that were refused in the last ten minutes with those of a day before."""
        checkpoint = await activity.find_checkpoint(self._store, REFUSALS)
        if checkpoint.position >= await self._find_last_slot(self._store):
            return

        async def step(tx: Writing) -> None:
            locked = await activity.lock_checkpoint(tx, REFUSALS)
            last = await self._find_last_slot(tx)
            if locked is None or locked.position >= last:
                return
            # after a pause of serving only the newest ten minutes are examined: before, nobody was refused
            since = _find_recorded_since(locked, last)
            activity.move_checkpoint(tx, REFUSALS, Checkpoint(last, since))
            if last - 1 - DAY_SLOTS >= since and (found := await self._judge_slot(tx, last - 1)):
                await raise_findings(tx, self._codec, [found])

        await self._store.write(step)

    async def _find_last_slot(self, tx: Reading) -> int:
        """Return the number, counted from 1970, of the period of ten minutes that has not ended yet."""
        return (await clock.now(tx) // MINUTE_MS - SETTLE_MINUTES) // SLOT_MINUTES

    async def _judge_slot(self, tx: Reading, slot: int) -> Finding | None:
        factor, first = self._limits.refusals, slot - DAY_SLOTS
        rows = await tx.all(signals.SQL.refused, first * SLOT_MINUTES, (slot + 1) * SLOT_MINUTES)
        numbers: Slots = dict(map(tuple, rows))
        refused = numbers.get(slot, 0)
        usual = median_low([numbers.get(each, 0) for each in range(first, slot)])
        if factor is None or refused < LEAST_REFUSED or refused <= factor * usual:
            return None
        at = slot * SLOT_MINUTES * MINUTE_MS
        return Finding(REFUSALS, "requests", at, Evidence(limit=factor, quantity=refused, usual=usual, since=at))

    async def _check_days(self) -> None:
        """Compare the totals of a day that is over with those of the day before, and what came and went between."""
        state = await economy.read_state(self._store)
        day = (await activity.find_checkpoint(self._store, CONSERVATION)).position
        if state is None or state.swept is not None or state.at // DAY_MS <= day:
            return
        unbalanced = await self._store.read(lambda tx: signals.find_unbalanced(tx, day, MOST_UNBALANCED))

        async def step(tx: Writing) -> None:
            locked = await activity.lock_checkpoint(tx, CONSERVATION)
            if locked is None or locked.position != day:
                return
            activity.move_checkpoint(tx, CONSERVATION, Checkpoint(day + 1, 0))
            if self._limits.conservation:
                await raise_findings(tx, self._codec, [_make_unbalanced(each, day) for each in unbalanced])

        await self._store.write(step)


def _find_recorded_since(checkpoint: Checkpoint, last: int) -> int:
    """Return the slot of ten minutes since which refusals were recorded without a long pause.

    It is the value of the checkpoint. 0: none is known, as after the upgrade that began to record them.
    """
    if last - checkpoint.position > MOST_PAUSE_SLOTS:
        return last
    return checkpoint.value or checkpoint.position


def _make_unbalanced(found: signals.Unbalanced, day: int) -> Finding:
    missing = found.after - found.before - found.created + found.destroyed
    evidence = Evidence(quantity=missing, before=found.before, after=found.after, since=day * DAY_MS)
    return Finding(CONSERVATION, found.item_id, (day + 1) * DAY_MS - 1, evidence, item_id=found.item_id)
