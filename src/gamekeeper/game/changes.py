"""The write path: one transaction = effect + ledger row + idempotency answer + outbox.

A change is a value (`effects.py`); carrying it out writes its effect and its ledger row from that one value, so
neither can be had without the other.
"""

import hashlib
import re
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeVar

from gamekeeper import crash
from gamekeeper.game.codec import Codec, SubjectIds
from gamekeeper.game.effects import Change, Unlogged, UserRegistered
from gamekeeper.game.refusals import AnswerErased, ChangedMeanwhile, IdempotencyInProgress, IdempotencyKeyReused
from gamekeeper.store import keys, ledger
from gamekeeper.store.engine import ClaimTaken, Reading, Store, Writing

R = TypeVar("R")
ERASED_NAME = "(erased)"  # in place of a name


@dataclass(frozen=True, slots=True)
class Intent:
    """Who asks for a change, why, and under which key."""

    request_id: str
    actor_id: str | None = None  # None: the command line
    token_id: str | None = None
    over_link: bool = False
    reason: str | None = None
    key: str | None = None
    fingerprint: str = ""
    dry_run: bool = False
    expected: str | None = None  # as `seen` has it: whoever looked before must have looked at this
    queue: str | None = None  # changes with the same one wait for each other before they take a connection


@dataclass(frozen=True, slots=True)
class Decision(Generic[R]):
    """What a rule decided: the changes to carry out, and what to tell the caller once they are."""

    changes: Sequence[Change | Unlogged]
    result: R
    subject: SubjectIds | None = None  # whom the result is about, where the first change does not say it
    stored_result: R | None = None  # what a replay is told, where the result may not be kept
    undoes: int | None = None  # the change that the first of these takes back
    erased_names: Sequence[str] = ()  # names that are taken out of the reason
    preview: str = ""  # what a preview shows besides the changes: it must not have changed either


@dataclass(frozen=True, slots=True)
class ApplyResult:
    answer: bytes
    replayed: bool = False
    entries: Sequence[ledger.LedgerEntry] = ()  # what is in the ledger now, or would be
    state_fingerprint: str = field(
        default="", compare=False
    )  # of a dry run: fingerprint of the state that it started from


class _DryRun(Exception):
    """Rolls the transaction back with the answer in hand."""

    def __init__(self, done: ApplyResult) -> None:
        self.done = done


Decide = Callable[[Reading], Coroutine[Any, Any, Decision[R]]]


class Changes:
    def __init__(self, store: Store, codec: Codec) -> None:
        self._store = store
        self.codec = codec

    async def apply(self, intent: Intent, decide: Decide[R], answer: Callable[[R], bytes]) -> ApplyResult:
        async def attempt(tx: Writing) -> ApplyResult:
            done = await self._find_stored_answer(tx, intent)
            if done is not None:
                return done
            crash.here("after_key")
            decision = await decide(tx)
            entries = await self._carry_out(tx, intent, decision)
            found = (
                fingerprint_state(entries, decision.preview) if intent.dry_run or intent.expected is not None else ""
            )
            if intent.expected is not None and found != intent.expected:
                raise ChangedMeanwhile
            crash.here("after_effect")
            body = answer(decision.result)
            done = ApplyResult(body, entries=tuple(entries), state_fingerprint=found)
            if intent.dry_run:
                await tx.flush()
                raise _DryRun(done)
            key = _find_key(intent)
            if key:
                kept = body if decision.stored_result is None else answer(decision.stored_result)
                keys.insert(tx, *key, keys.StoredAnswer(intent.fingerprint, kept), _find_subject(decision))
            return done

        try:
            return await self._store.write(attempt, _find_claim(intent), queue=intent.queue)
        except _DryRun as tried:
            return tried.done
        except ClaimTaken:
            raise IdempotencyInProgress from None

    async def replay(self, intent: Intent) -> ApplyResult | None:
        """The kept answer, for those who must prove something before they come to `apply`."""
        if not _find_key(intent):
            return None
        return await self._store.write(lambda tx: self._find_stored_answer(tx, intent))

    async def _find_stored_answer(self, tx: Writing, intent: Intent) -> ApplyResult | None:
        """A row is written, so that this COMMIT too waits for what the first may not have reached: the standby."""
        key = _find_key(intent)
        kept = await keys.find(tx, *key) if key else None
        if not key or not kept:
            return None
        if kept.fingerprint != intent.fingerprint:
            raise IdempotencyKeyReused
        if kept.answer == keys.ERASED_ANSWER:
            raise AnswerErased
        keys.touch(tx, *key)
        return ApplyResult(kept.answer, replayed=True)

    async def _carry_out(self, tx: Writing, intent: Intent, decision: Decision[R]) -> list[ledger.LedgerEntry]:
        entries: list[ledger.LedgerEntry] = []
        if decision.erased_names:
            intent = replace(intent, reason=_erase_names(intent.reason, decision.erased_names))
        for change in decision.changes:
            if isinstance(change, Unlogged):
                await change.effect(tx)
            else:
                change.carry_out(tx, self.codec)
                # what comes with it, such as telling a game, takes nothing back
                entries.append(self._make_entry(intent, change, None if entries else decision.undoes))
        await ledger.append(tx, entries)
        return entries

    def _make_entry(self, intent: Intent, change: Change, undoes: int | None) -> ledger.LedgerEntry:
        before, after = change.sides()
        player_id, user_id = change.whose()
        return ledger.LedgerEntry(
            kind=change.kind,
            actor_id=intent.actor_id,
            token_id=intent.token_id,
            over_link=intent.over_link,
            player_id=player_id,
            user_id=user_id,
            before=self.codec.encode_side(before) if before else None,
            after=self.codec.encode_side(after) if after else None,
            request_id=intent.request_id,
            reason=intent.reason,
            undoes=undoes,
        )


def fingerprint_state(entries: Sequence[ledger.LedgerEntry], shown: str = "") -> str:
    """Fingerprint of the state that a request starts from: equal for two requests that find the same state.

    The id of a new account is left out: every attempt makes another one.
    """
    from_here = [
        (each.kind, each.player_id, None if each.kind == UserRegistered.kind else each.user_id, each.before)
        for each in entries
    ]
    return hashlib.sha256((repr(from_here) + shown).encode()).hexdigest()


def _erase_names(reason: str | None, names: Sequence[str]) -> str | None:
    """The reason with each of these names, as a whole word in any case, replaced; longer ones first."""
    for name in sorted(filter(None, names), key=len, reverse=True) if reason else ():
        reason = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", ERASED_NAME, reason or "", flags=re.IGNORECASE)
    return reason


def _find_subject(decision: Decision[Any]) -> SubjectIds:
    """Whoever is erased takes the answers about them along."""
    said = (change.whose() for change in decision.changes if not isinstance(change, Unlogged))
    return decision.subject or next(said, (None, None))


def _find_key(intent: Intent) -> tuple[str, str] | None:
    """Whose it is, and the key; None: the answer is not kept."""
    if not intent.key or not intent.actor_id or intent.dry_run:
        return None
    return intent.actor_id, intent.key


def _find_claim(intent: Intent) -> int | None:
    if not intent.key or intent.dry_run:
        return None
    digest = hashlib.blake2b(f"{intent.actor_id}\n{intent.key}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)
