"""Rules of signals that a background job evaluates: game servers, bags, refused requests, and sums of days.

Each step is one transaction: it raises the signals, and removes or moves what it has examined. So a crash neither
loses nor doubles a signal, and one instance at a time examines the same thing.
"""

from functools import partial
from statistics import median_low

from gamekeeper.game.calendar_steps import DAY_MS
from gamekeeper.game.codec import Codec
from gamekeeper.game.signal_evidence import Evidence
from gamekeeper.game.signal_rules import BAG, CONSERVATION, REFUSALS, SILENT, Limits
from gamekeeper.game.signals import Finding, raise_findings
from gamekeeper.store import clock, economy, presence, rollups, signal_sums
from gamekeeper.store.engine import Reading, Store, Writing
from gamekeeper.store.rollups import Checkpoint
from gamekeeper.store.signal_sums import Check

RUN_SECONDS = 2.0
MINUTE_MS = 60_000
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
            while await signal_sums.has_due_check(self._store, rule, wait * MINUTE_MS):
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
                await signal_sums.add_check(tx, BAG, bag_id, player_id)

        await self._store.write(save)
        for each in noted:  # not before: if the write fails, the next run repeats it
            del self._bags[each]

    async def _examine_due(self, tx: Writing, rule: str, wait_ms: int) -> bool:
        """Examine some due checks. False: there were fewer than a batch, or other instances work on them."""
        due = await signal_sums.lock_due_checks(tx, rule, wait_ms, BATCH_CHECKS)
        findings = [found for each in due if (found := await self._examine(tx, each))]
        for each in due:
            await signal_sums.delete_check(tx, each)
        await raise_findings(tx, self._codec, findings)
        return len(due) == BATCH_CHECKS

    async def _examine(self, tx: Reading, check: Check) -> Finding | None:
        evidence = Evidence(since=check.at)
        if check.rule == SILENT:
            if self._limits.silent is None or await presence.find_lease_end(tx, check.subject) is not None:
                return None
            evidence = Evidence(since=check.at, limit=self._limits.silent)
            return Finding(SILENT, check.subject, check.at, evidence)
        owner = await signal_sums.find_bag_owner(tx, check.subject)
        if self._limits.bag is None or owner is None or owner == check.player_id:
            return None
        return Finding(BAG, check.subject, check.at, evidence, player_id=check.player_id)

    async def _check_refusals(self) -> None:
        """Compare the requests that were refused in the last ten minutes with those of a day before."""
        checkpoint = await rollups.find(self._store, REFUSALS)
        if checkpoint.position >= await self._find_last_slot(self._store):
            return

        async def step(tx: Writing) -> None:
            locked = await rollups.lock(tx, REFUSALS)
            last = await self._find_last_slot(tx)
            if locked is None or locked.position >= last:
                return
            # after a pause of serving only the newest ten minutes are examined: before, nobody was refused
            since = _find_recorded_since(locked, last)
            rollups.move(tx, REFUSALS, Checkpoint(last, since))
            if last - 1 - DAY_SLOTS >= since and (found := await self._judge_slot(tx, last - 1)):
                await raise_findings(tx, self._codec, [found])

        await self._store.write(step)

    async def _find_last_slot(self, tx: Reading) -> int:
        """Return the number, counted from 1970, of the period of ten minutes that has not ended yet."""
        return (await clock.now(tx) // MINUTE_MS - SETTLE_MINUTES) // SLOT_MINUTES

    async def _judge_slot(self, tx: Reading, slot: int) -> Finding | None:
        factor, first = self._limits.refusals, slot - DAY_SLOTS
        numbers = await signal_sums.read_refused(tx, first * SLOT_MINUTES, (slot + 1) * SLOT_MINUTES)
        refused = numbers.get(slot, 0)
        usual = median_low([numbers.get(each, 0) for each in range(first, slot)])
        if factor is None or refused < LEAST_REFUSED or refused <= factor * usual:
            return None
        at = slot * SLOT_MINUTES * MINUTE_MS
        return Finding(REFUSALS, "requests", at, Evidence(limit=factor, quantity=refused, usual=usual, since=at))

    async def _check_days(self) -> None:
        """Compare the totals of a day that is over with those of the day before, and what came and went between."""
        state = await economy.read_state(self._store)
        day = (await rollups.find(self._store, CONSERVATION)).position
        if state is None or state.swept is not None or state.at // DAY_MS <= day:
            return
        unbalanced = await self._store.read(lambda tx: signal_sums.find_unbalanced(tx, day, MOST_UNBALANCED))

        async def step(tx: Writing) -> None:
            locked = await rollups.lock(tx, CONSERVATION)
            if locked is None or locked.position != day:
                return
            rollups.move(tx, CONSERVATION, Checkpoint(day + 1, 0))
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


def _make_unbalanced(found: signal_sums.Unbalanced, day: int) -> Finding:
    missing = found.after - found.before - found.created + found.destroyed
    evidence = Evidence(quantity=missing, before=found.before, after=found.after, since=day * DAY_MS)
    return Finding(CONSERVATION, found.item_id, (day + 1) * DAY_MS - 1, evidence, item_id=found.item_id)
