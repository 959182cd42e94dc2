"""Effects that give loaded rows times of the past: for the demo, whose changes are made by the rules of today."""

from collections.abc import Iterable, Mapping, Sequence

from gamekeeper.game.core.change import Step, Unlogged
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


def load_numbers(requests: Sequence[Minute], sign_ins: Sequence[PastSignIn]) -> Unlogged:
    """Return the effect that stores numbers of requests, and sign-ins, which the rollup counts."""

    async def effect(tx: Writing) -> None:
        activity.load_requests(tx, requests)
        security_log.load_sign_ins(tx, sign_ins)

    return Unlogged(effect)


def load_boards(loaded: Iterable[tuple[Board, Sequence[Season]]]) -> Unlogged:
    """Return the effect that stores boards with their seasons. The follower counts them."""

    async def effect(tx: Writing) -> None:
        for board, seasons in loaded:
            boards.insert(tx, board)
            for season in seasons:
                boards.insert_season(tx, season)
                standings.begin(tx, season.id)

    return Unlogged(effect)


def load_key(key: ApiKey) -> Unlogged:
    """Return the effect that stores an API key without a text: nobody can use it."""

    async def effect(tx: Writing) -> None:
        api_keys.insert(tx, key)
        await tx.flush()
        api_keys.backdate(tx, key)

    return Unlogged(effect)


def load_pictures(drawn: Mapping[str, Picture]) -> Unlogged:
    """Return the effect that stores pictures, by item."""

    async def effect(tx: Writing) -> None:
        for item_id, picture in drawn.items():
            catalogue.save_picture(tx, item_id, picture)

    return Unlogged(effect)


def backdate_accounts(created: Mapping[str, int]) -> Unlogged:
    """Return the effect that sets when accounts were created."""

    async def effect(tx: Writing) -> None:
        for user_id, at in created.items():
            users.backdate(tx, user_id, at)

    return Unlogged(effect)


def backdate_bans(user_ids: Iterable[str], at: int) -> Unlogged:
    async def effect(tx: Writing) -> None:
        for user_id in user_ids:
            moderation.backdate_ban(tx, user_id, at)

    return Unlogged(effect)


def backdate_mutes(user_ids: Iterable[str], at: int) -> Unlogged:
    async def effect(tx: Writing) -> None:
        for user_id in user_ids:
            moderation.backdate_mute(tx, user_id, at)

    return Unlogged(effect)


def load_job(new: NewJob, targets: Sequence[NewTarget] | None) -> Unlogged:
    """Return the effect that stores a bulk job; without targets it undoes another job."""

    async def effect(tx: Writing) -> None:
        if targets is None:
            bulk_jobs.insert_undos(tx, new, await bulk_jobs.read_changes(tx, new.undoes or ""))
        else:
            bulk_jobs.insert(tx, new, targets)

    return Unlogged(effect)


def refuse_target(job_id: str, number: int, refusal: Refusal) -> Unlogged:
    async def effect(tx: Writing) -> None:
        result = TargetResult(REFUSED, code=refusal.code, problem=refusal.message)
        bulk_jobs.set_target(tx, job_id, number, result)

    return Unlogged(effect)


def finish_job(job_id: str, at: int) -> Unlogged:
    async def effect(tx: Writing) -> None:
        bulk_jobs.stop(tx, job_id, FINISHED, at)
        bulk_jobs.backdate_undos(tx, job_id, at)

    return Unlogged(effect)
