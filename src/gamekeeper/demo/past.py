"""Write changes and bulk jobs of the demo's past: through the rules and the write path, with earlier times."""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from operator import itemgetter
from typing import Any, NamedTuple

import msgspec
from msgspec.structs import replace

from gamekeeper.demo import world
from gamekeeper.demo.world import make_stable_id
from gamekeeper.game.access.permissions import PERMISSIONS
from gamekeeper.game.accounts import moderation
from gamekeeper.game.accounts.changes import NoteAdded, TagsSet
from gamekeeper.game.accounts.moderation import ModerationRequest
from gamekeeper.game.audit import bulk_jobs
from gamekeeper.game.audit import undo as game_undo
from gamekeeper.game.audit.bulk_jobs import UNDO, record_result
from gamekeeper.game.audit.changes import BulkJobChanged, JobDetails
from gamekeeper.game.core.change import Actor, Change, Step, Unlogged, unlogged
from gamekeeper.game.core.player import INVENTORY
from gamekeeper.game.core.refusals import InventoryFull
from gamekeeper.game.core.writes import Decide, Decision, Intent
from gamekeeper.game.keeper import Keeper
from gamekeeper.game.players import inventory, items
from gamekeeper.game.players.inventory import read_capacity
from gamekeeper.game.players.player_edits import load_state
from gamekeeper.game.world import link
from gamekeeper.game.world.link import PlayerReport
from gamekeeper.ground.instants import DAY_MS
from gamekeeper.store.access import security_log
from gamekeeper.store.access.api_keys import ApiKey, KeyLimits
from gamekeeper.store.accounts import moderation as penalties
from gamekeeper.store.accounts.moderation import Penalty
from gamekeeper.store.accounts.notes import Note, Subject
from gamekeeper.store.audit import bulk_jobs as job_rows
from gamekeeper.store.audit.bulk_jobs import FINISHED, REFUSED, RUNNING, WAITING, BulkJob, NewTarget, TargetResult
from gamekeeper.store.core import ledger
from gamekeeper.store.engine.interface import Locking, Writing
from gamekeeper.store.engine.statements import as_column
from gamekeeper.store.world.catalogue import CatalogueItem

OWNERS = {player: account for account, held in world.ACCOUNTS.items() for player in held}
API_ID = make_stable_id("user", world.API_ACCOUNT)
SHOP_KEY_ID = make_stable_id("api key", world.SHOP_KEY)
DEMO_INTENT = Intent("demo")


# the API key of the demo's shop; its text is not known to anybody
SHOP_KEY = ApiKey(
    *(SHOP_KEY_ID, API_ID, world.API_ACCOUNT, API_ID, SHOP_KEY_ID, world.SHOP_KEY, "shop", frozenset(), KeyLimits()),
    created_at=0,
    expires_at=None,
    last_address="203.0.113.80",
)


class Staff(NamedTuple):
    """An account that makes changes in the console."""

    name: str

    @property
    def id(self) -> str:
        return make_stable_id("user", self.name)

    def make_intent(self, at: int, reason: str | None) -> Intent:
        return Intent(f"demo-{at}", self.id, make_stable_id("session", f"{self.name} {at // DAY_MS}"), reason=reason)


Gain = tuple[CatalogueItem, int]  # a quantity that a player gets or, if negative, loses in the game


class Past:
    """Collects changes, and applies them in the order of their times."""

    def __init__(self, keeper: Keeper, now: int) -> None:
        self._keeper = keeper
        self._now = now  # before the load: events of the security log since then are of the change that is applied
        self._changes: list[tuple[int, Intent, Decide[Any]]] = []  # each with its time
        self._numbers: dict[str, Sequence[int]] = {}  # label of a change → its numbers in the audit log
        self.codec, self.settings = keeper.changes.codec, keeper.settings
        self.room = read_capacity(keeper.settings)

    def add(self, at: int, intent: Intent, decide: Decide[Any], label: str = "", step: Step | None = None) -> None:
        """Add a change; `label` names it for an undo, and `step` stores the result of a bulk job's target."""

        def record(tx: Writing, appended: Sequence[int], approval_id: str | None) -> None:
            tx.defer(ledger.SQL.set_time, as_column("seq", appended), at)
            tx.defer(security_log.SQL.backdate, self._now, at)
            if label:
                self._numbers[label] = [*appended]
            if step:
                step.record(tx, appended, approval_id)

        self._changes.append((at, replace(intent, step=Step(_begin, record, is_approved=True)), decide))

    def load(self, at: int, write: Callable[[Writing], None]) -> None:
        """Add rows that are not in the audit log."""

        async def record(tx: Writing) -> None:
            write(tx)

        self.add(at, DEMO_INTENT, make_decide(Unlogged(record)))

    def find_last(self, label: str) -> int:
        """Return the last number in the audit log of the change with this label, after it was applied."""
        return self._numbers[label][-1]

    async def apply(self) -> None:
        """Apply all changes in one transaction: all or none."""
        ordered = sorted(self._changes, key=itemgetter(0))
        await self._keeper.changes.apply_together([(intent, decide) for _, intent, decide in ordered])

    def report(self, at: int, player: str, *gains: Gain) -> None:
        """Add a report of a game server: what a player bought, sold, found or used."""
        intent = Intent(f"demo-{at}", API_ID, over_link=True)
        self.add(at, intent, partial(_report, player_id=make_stable_id("player", player), gains=gains, past=self))

    def give(
        self,
        at: int,
        who: Intent,
        player: str,
        item: CatalogueItem,
        quantity: int,
        label: str = "",
        step: Step | None = None,
    ) -> None:
        """Add a gift. One of a bulk job, which has a `step`, puts nothing into the bank."""
        rule = partial(items.give, key=make_stable_id("player", player), item_id=item.id, quantity=quantity)
        self.add(at, who, partial(rule, room=self.room, overflow=step is None), label, step)

    def take(self, at: int, who: Intent, player: str, item: CatalogueItem, quantity: int) -> None:
        key = make_stable_id("player", player)
        self.add(at, who, partial(items.take, key=key, item_id=item.id, quantity=quantity, codec=self.codec))

    def undo(
        self, at: int, by: Staff, label: str, reason: str, step: Step | None = None, job_id: str | None = None
    ) -> None:
        """Add an undo of the change with this label; `step` and `job_id`: of the bulk job that it belongs to."""

        async def decide(tx: Locking) -> Decision[Any]:
            actor = Actor(by.id, by.name, frozenset(PERMISSIONS), _allow)
            return await game_undo.undo(tx, self._numbers[label][0], actor, self.codec, self.room, trade_ms=0)

        intent = by.make_intent(at, reason)
        self.add(at, replace(intent, request_id=f"bulk-{job_id}") if job_id else intent, decide, step=step)

    def penalize(self, at: int, by: Staff, account: str, days: int, *, bans: bool) -> None:
        """Add a ban or a mute that ended, or will end, `days` after its start; 0: never."""
        reason = world.PENALTIES[account]
        penalty = Penalty(reason, by.name, at + days * DAY_MS if days else None)
        order = ModerationRequest(make_stable_id("user", account), reason=reason, moderator=by.name, restored=penalty)

        async def decide(tx: Locking) -> Decision[Any]:
            decision = await (moderation.ban if bans else moderation.mute)(tx, order)
            return replace(decision, changes=[*decision.changes, backdate_penalty(account, at, bans=bans)])

        self.add(at, by.make_intent(at, reason), decide)

    def unban(self, at: int, by: Staff, account: str, reason: str) -> None:
        order = ModerationRequest(make_stable_id("user", account), reason=reason, moderator=by.name)
        self.add(at, by.make_intent(at, reason), partial(moderation.unban, order=order))

    def note(self, at: int, by: Staff, player: str, text: str, *, warning: bool = False) -> None:
        user_id, player_id = make_stable_id("user", OWNERS[player]), make_stable_id("player", player)
        note = Note(make_stable_id("note", f"{player} {text}"), user_id, player_id, by.id, at, warning, text)
        self.add(at, by.make_intent(at, None), make_decide(NoteAdded(note)))

    def tag(self, at: int, by: Staff, player: str, *tags: str) -> None:
        subject = Subject(make_stable_id("user", OWNERS[player]), make_stable_id("player", player))
        self.add(at, by.make_intent(at, None), make_decide(TagsSet(subject, (), tags)))


@unlogged
async def backdate_penalty(tx: Writing, account: str, at: int, *, bans: bool) -> None:
    statement = penalties.SQL.backdate_ban if bans else penalties.SQL.backdate_mute
    tx.defer(statement, make_stable_id("user", account), at)


def make_decide(*changes: Change | Unlogged) -> Decide[None]:
    async def decide(_: Locking) -> Decision[None]:
        return Decision(changes, None)

    return decide


async def _report(tx: Locking, player_id: str, gains: Iterable[Gain], past: Past) -> Decision[Any]:
    """Decide on a report with the slots as they are after the purchase or the find."""
    held = (await load_state(tx, player_id)).slots
    slots = dict(held)
    for item, gain in gains:
        if gain < 0:
            carried = inventory.count_item(slots, item.id).inventory
            outcome = inventory.take(slots, {}, item.id, min(-gain, carried))
        else:
            outcome = inventory.give(slots, item, gain, past.room, overflow=True, new_id=str)
        slots = inventory.apply_slot_changes(slots, outcome.changed_slots)
    spots = sorted(held.keys() | slots.keys())
    changed = {each: slots.get(each) for each in spots if held.get(each) != slots.get(each)}
    report = PlayerReport(slots=changed)
    return await link.put_player(tx, player_id, report, past.settings, past.codec, account_id=API_ID)


def _allow(_: frozenset[str]) -> None:
    """The demo's staff has every permission that its changes need."""


GIVE = "give_item"
REQUEST = "bulk-{}"  # request id of all changes of a job
START_MS = 25_000  # time in which a person looks at the preview
EACH_MS = 400


class GiftJob(NamedTuple):
    """A job that gives an item to each of many players."""

    at: int
    by: Staff
    name: str  # makes its id
    item: CatalogueItem
    quantity: int
    players: Sequence[str]
    full: Sequence[str]  # those of the players who have no room for it
    reason: str

    @property
    def id(self) -> str:
        return make_stable_id("bulk job", self.name)


def add_gift(past: Past, gift: GiftJob) -> None:
    details = JobDetails(item_id=gift.item.id, quantity=gift.quantity)
    about = gift.id, GIVE, msgspec.json.encode(details).decode(), gift.reason, gift.by.id, None, None, None
    new = BulkJob(*about, len(gift.players), 0, 0, gift.at)
    targets = [NewTarget(WAITING, make_stable_id("player", player), None) for player in gift.players]
    past.load(gift.at, lambda tx: job_rows.insert(tx, new, targets))
    _add_start(past, gift.by, gift.id, gift.at)
    at = gift.at + START_MS
    for number, player in enumerate(gift.players, 1):
        at += EACH_MS
        if player in gift.full:
            full = InventoryFull(place=INVENTORY, room=0, wanted=gift.quantity)
            refused = TargetResult(REFUSED, code=full.code, problem=full.message)
            past.load(at, partial(job_rows.set_target, job_id=gift.id, number=number, result=refused))
            continue
        intent, step = Intent(REQUEST.format(gift.id), gift.by.id, reason=gift.reason), _make_step(gift.id, number)
        past.give(at, intent, player, gift.item, gift.quantity, f"{gift.id} {number}", step)
    _add_end(past, gift.id, at + EACH_MS)


def add_undo(past: Past, gift: GiftJob, at: int, reason: str) -> None:
    """Add a job that undoes all changes of another one."""
    job_id = make_stable_id("bulk job", f"undo of {gift.name}")
    done = [number for number, player in enumerate(gift.players, 1) if player not in gift.full]
    new = BulkJob(job_id, UNDO, "{}", reason, gift.by.id, None, None, gift.id, len(done), 0, 0, at)

    @unlogged
    async def insert(tx: Writing) -> None:
        job_rows.insert_undos(tx, new, await job_rows.read_changes(tx, gift.id))

    past.add(at, DEMO_INTENT, make_decide(insert()))
    _add_start(past, gift.by, job_id, at)
    at += START_MS
    for number in done:
        at += EACH_MS
        past.undo(at, gift.by, f"{gift.id} {number}", reason, _make_step(job_id, number), job_id)
    _add_end(past, job_id, at + EACH_MS)


def _add_start(past: Past, by: Staff, job_id: str, created_at: int) -> None:
    at = created_at + START_MS

    async def decide(tx: Locking) -> Decision[None]:
        job = await bulk_jobs.find(tx, job_id)
        return Decision([BulkJobChanged(job, job._replace(state=RUNNING, started_at=at), None)], None)

    past.add(at, by.make_intent(at, None), decide)


def _add_end(past: Past, job_id: str, at: int) -> None:
    past.load(at, lambda tx: job_rows.stop(tx, job_id, FINISHED, at))
    past.load(at, lambda tx: tx.defer(job_rows.SQL.backdate_undos, job_id, at))


def _make_step(job_id: str, number: int) -> Step:
    return Step(_begin, partial(record_result, job_id=job_id, number=number), is_approved=True)


async def _begin(_: Writing) -> None:
    """Nothing to check: the demo is loaded by one process, which has the database for itself."""
