"""Effects that give loaded rows times of the past: for the demo, whose changes are made by the rules of today."""

from collections.abc import Iterable, Mapping, Sequence

from gamekeeper.demo.world import make_stable_id
from gamekeeper.game.core.change import Step, unlogged
from gamekeeper.game.core.refusals import Refusal
from gamekeeper.store.access import api_keys, security_log
from gamekeeper.store.access.api_keys import ApiKey
from gamekeeper.store.access.security_log import PastSignIn
from gamekeeper.store.accounts import moderation, users
from gamekeeper.store.audit import bulk_jobs
from gamekeeper.store.audit.bulk_jobs import FINISHED, REFUSED, NewJob, NewTarget, TargetResult
from gamekeeper.store.core import ledger
from gamekeeper.store.engine.interface import Writing
from gamekeeper.store.insight import activity, boards, standings
from gamekeeper.store.insight.activity import Minute
from gamekeeper.store.insight.boards import Board, Season
from gamekeeper.store.world import catalogue
from gamekeeper.store.world.catalogue import Picture


def make_step(at: int, now: int, numbers: list[int], inner: Step | None) -> Step:
    """Make the step that gives a change its time. `numbers` gets the numbers of its entries in the audit log.

    `now` is the time before the load: events of the security log since then are of this change.
    """

    async def begin(_: Writing) -> None:
        """Nothing to check: a load has the database for itself."""

    def record(tx: Writing, appended: Sequence[int], approval_id: str | None) -> None:
        ledger.set_time(tx, appended, at)
        security_log.backdate(tx, now, at)
        numbers[:] = appended
        if inner:
            inner.record(tx, appended, approval_id)

    return Step(begin, record, is_approved=True)


@unlogged
async def load_numbers(tx: Writing, requests: Sequence[Minute], sign_ins: Sequence[PastSignIn]) -> None:
    """Store numbers of requests, and sign-ins, which the rollup counts."""
    activity.load_requests(tx, requests)
    security_log.load_sign_ins(tx, sign_ins)


@unlogged
async def load_boards(tx: Writing, loaded: Iterable[tuple[Board, Sequence[Season]]]) -> None:
    """Store boards with their seasons. The follower counts them."""
    for board, seasons in loaded:
        boards.insert(tx, board)
        for season in seasons:
            boards.insert_season(tx, season)
            standings.begin(tx, season.id)


@unlogged
async def load_key(tx: Writing, key: ApiKey) -> None:
    """Store an API key without a text: nobody can use it."""
    api_keys.insert(tx, key)
    await tx.flush()
    api_keys.backdate(tx, key)


@unlogged
async def load_pictures(tx: Writing, drawn: Mapping[str, Picture]) -> None:
    """Store pictures, by item."""
    for item_id, picture in drawn.items():
        catalogue.save_picture(tx, item_id, picture)


@unlogged
async def backdate_accounts(tx: Writing, created: Mapping[str, int]) -> None:
    """Set when accounts were created."""
    for user_id, at in created.items():
        users.backdate(tx, user_id, at)


@unlogged
async def backdate_penalties(tx: Writing, names: Iterable[str], at: int, *, bans: bool) -> None:
    for name in names:
        (moderation.backdate_ban if bans else moderation.backdate_mute)(tx, make_stable_id("user", name), at)


@unlogged
async def load_job(tx: Writing, new: NewJob, targets: Sequence[NewTarget] | None) -> None:
    """Store a bulk job; without targets it undoes another job."""
    if targets is None:
        bulk_jobs.insert_undos(tx, new, await bulk_jobs.read_changes(tx, new.undoes or ""))
    else:
        bulk_jobs.insert(tx, new, targets)


@unlogged
async def refuse_target(tx: Writing, job_id: str, number: int, refusal: Refusal) -> None:
    result = TargetResult(REFUSED, code=refusal.code, problem=refusal.message)
    bulk_jobs.set_target(tx, job_id, number, result)


@unlogged
async def finish_job(tx: Writing, job_id: str, at: int) -> None:
    bulk_jobs.stop(tx, job_id, FINISHED, at)
    bulk_jobs.backdate_undos(tx, job_id, at)
