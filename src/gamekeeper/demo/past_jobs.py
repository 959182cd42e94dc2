"""Bulk jobs of the demo's past, with their results and an undo of one of them."""

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import msgspec

from gamekeeper.demo.names import make_stable_id
from gamekeeper.demo.past import Past, Staff, make_decide
from gamekeeper.game import bulk_jobs, items
from gamekeeper.game.bulk_effects import BulkJobChanged
from gamekeeper.game.bulk_jobs import UNDO, JobDetails, record_result
from gamekeeper.game.changes import Decision, Intent
from gamekeeper.game.inventory import INVENTORY
from gamekeeper.game.past_loads import finish_job, load_job, refuse_target
from gamekeeper.game.refusals import InventoryFull
from gamekeeper.game.steps import Step
from gamekeeper.store.bulk_jobs import RUNNING, WAITING, NewJob, NewTarget
from gamekeeper.store.catalogue import CatalogueItem
from gamekeeper.store.engine import Locking, Writing

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


def _make_full(quantity: int) -> InventoryFull:
    return InventoryFull(place=INVENTORY, room=0, wanted=quantity)


def add_gift(past: Past, gift: GiftJob) -> None:
    details = JobDetails(item_id=gift.item.id, quantity=gift.quantity)
    new = NewJob(
        *(gift.id, GIVE, msgspec.json.encode(details).decode(), gift.reason, gift.by.id, None, None),
        *(len(gift.players), 0, 0, gift.at),
    )
    targets = [NewTarget(WAITING, make_stable_id("player", player), None) for player in gift.players]
    past.add(gift.at, Intent("demo"), make_decide(load_job(new, targets)))
    _add_start(past, gift.by, gift.id, gift.at, {"ItemId": gift.item.id, "Each": gift.quantity})
    at = gift.at + START_MS
    for number, player in enumerate(gift.players, 1):
        at += EACH_MS
        if player in gift.full:
            past.add(at, Intent("demo"), make_decide(refuse_target(gift.id, number, _make_full(gift.quantity))))
            continue
        rule = partial(
            items.give,
            key=make_stable_id("player", player),
            item_id=gift.item.id,
            quantity=gift.quantity,
            room=past.room,
            overflow=False,
        )
        intent = Intent(REQUEST.format(gift.id), gift.by.id, reason=gift.reason)
        past.add(at, intent, rule, f"{gift.id} {number}", _make_step(gift.id, number))
    end = at + EACH_MS
    past.add(end, Intent("demo"), make_decide(finish_job(gift.id, end)))


def add_undo(past: Past, gift: GiftJob, at: int, reason: str) -> None:
    """Add a job that undoes all changes of another one."""
    job_id = make_stable_id("bulk job", f"undo of {gift.name}")
    done = [number for number, player in enumerate(gift.players, 1) if player not in gift.full]
    new = NewJob(job_id, UNDO, "{}", reason, gift.by.id, None, gift.id, len(done), 0, 0, at)
    past.add(at, Intent("demo"), make_decide(load_job(new, None)))
    _add_start(past, gift.by, job_id, at, {"UndoOf": gift.id})
    for place, number in enumerate(done, 1):
        past.undo(
            at + START_MS + place * EACH_MS, gift.by, f"{gift.id} {number}", reason, _make_step(job_id, number), job_id
        )
    end = at + START_MS + (len(done) + 1) * EACH_MS
    past.add(end, Intent("demo"), make_decide(finish_job(job_id, end)))


def _add_start(past: Past, by: Staff, job_id: str, created_at: int, details: dict[str, object]) -> None:
    at = created_at + START_MS

    async def decide(tx: Locking) -> Decision[None]:
        job = await bulk_jobs.find(tx, job_id)
        return Decision([BulkJobChanged(job, job._replace(state=RUNNING, started_at=at), details, None)], None)

    past.add(at, by.make_intent(at, None), decide)


def _make_step(job_id: str, number: int) -> Step:
    async def begin(_: Writing) -> None:
        """Nothing to check: the demo is loaded by one process."""

    return Step(begin, partial(record_result, job_id=job_id, number=number), is_approved=True)
