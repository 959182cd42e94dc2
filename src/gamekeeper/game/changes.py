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
from gamekeeper.game.effects import Change, Untraced, UserRegistered
from gamekeeper.game.refusals import AnswerErased, ChangedMeanwhile, IdempotencyInProgress, IdempotencyKeyReused
from gamekeeper.game.spelling import Spelling, Whose
from gamekeeper.store import keys, ledger
from gamekeeper.store.engine import ClaimTaken, Reading, Store, Writing

R = TypeVar("R")
UNNAMED = "(erased)"  # in place of a name


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

    changes: Sequence[Change | Untraced]
    result: R
    about: Whose | None = None  # whom the result is about, where the first change does not say it
    kept: R | None = None  # what a replay is told, where the result may not be kept
    undoes: int | None = None  # the change that the first of these takes back
    unnamed: Sequence[str] = ()  # names that are taken out of the reason
    shown: str = ""  # what a preview shows besides the changes: it must not have changed either


@dataclass(frozen=True, slots=True)
class Done:
    answer: bytes
    replayed: bool = False
    entries: Sequence[ledger.LedgerEntry] = ()  # what is in the ledger now, or would be
    seen: str = field(default="", compare=False)  # of a dry run: fingerprint of the state that it started from


class _DryRun(Exception):
    """Rolls the transaction back with the answer in hand."""

    def __init__(self, done: Done) -> None:
        self.done = done


Decide = Callable[[Reading], Coroutine[Any, Any, Decision[R]]]


class Changes:
    def __init__(self, store: Store, spelling: Spelling) -> None:
        self._store = store
        self.spelling = spelling

    async def apply(self, intent: Intent, decide: Decide[R], answer: Callable[[R], bytes]) -> Done:
        async def attempt(tx: Writing) -> Done:
            done = await self._replayed(tx, intent)
            if done is not None:
                return done
            crash.here("after_key")
            decision = await decide(tx)
            entries = await self._carry_out(tx, intent, decision)
            found = seen(entries, decision.shown) if intent.dry_run or intent.expected is not None else ""
            if intent.expected is not None and found != intent.expected:
                raise ChangedMeanwhile
            crash.here("after_effect")
            body = answer(decision.result)
            done = Done(body, entries=tuple(entries), seen=found)
            if intent.dry_run:
                await tx.flush()
                raise _DryRun(done)
            key = _key(intent)
            if key:
                kept = body if decision.kept is None else answer(decision.kept)
                keys.insert(tx, *key, keys.StoredAnswer(intent.fingerprint, kept), _about(decision))
            return done

        try:
            return await self._store.write(attempt, _claim(intent), queue=intent.queue)
        except _DryRun as tried:
            return tried.done
        except ClaimTaken:
            raise IdempotencyInProgress from None

    async def replay(self, intent: Intent) -> Done | None:
        """The kept answer, for those who must prove something before they come to `apply`."""
        if not _key(intent):
            return None
        return await self._store.write(lambda tx: self._replayed(tx, intent))

    async def _replayed(self, tx: Writing, intent: Intent) -> Done | None:
        """A row is written, so that this COMMIT too waits for what the first may not have reached: the standby."""
        key = _key(intent)
        kept = await keys.find(tx, *key) if key else None
        if not key or not kept:
            return None
        if kept.fingerprint != intent.fingerprint:
            raise IdempotencyKeyReused
        if kept.answer == keys.ERASED_ANSWER:
            raise AnswerErased
        keys.touch(tx, *key)
        return Done(kept.answer, replayed=True)

    async def _carry_out(self, tx: Writing, intent: Intent, decision: Decision[R]) -> list[ledger.LedgerEntry]:
        entries: list[ledger.LedgerEntry] = []
        if decision.unnamed:
            intent = replace(intent, reason=_without(intent.reason, decision.unnamed))
        for change in decision.changes:
            if isinstance(change, Untraced):
                await change.effect(tx)
            else:
                change.carry_out(tx, self.spelling)
                # what comes with it, such as telling a game, takes nothing back
                entries.append(self._entry(intent, change, None if entries else decision.undoes))
        await ledger.append(tx, entries)
        return entries

    def _entry(self, intent: Intent, change: Change, undoes: int | None) -> ledger.LedgerEntry:
        before, after = change.sides()
        player_id, user_id = change.whose()
        return ledger.LedgerEntry(
            kind=change.kind,
            actor_id=intent.actor_id,
            token_id=intent.token_id,
            over_link=intent.over_link,
            player_id=player_id,
            user_id=user_id,
            before=self.spelling.trace(before) if before else None,
            after=self.spelling.trace(after) if after else None,
            request_id=intent.request_id,
            reason=intent.reason,
            undoes=undoes,
        )


def seen(entries: Sequence[ledger.LedgerEntry], shown: str = "") -> str:
    """Fingerprint of the state that a request starts from: equal for two requests that find the same state.

    The id of a new account is left out: every attempt makes another one.
    """
    from_here = [
        (each.kind, each.player_id, None if each.kind == UserRegistered.kind else each.user_id, each.before)
        for each in entries
    ]
    return hashlib.sha256((repr(from_here) + shown).encode()).hexdigest()


def _without(reason: str | None, names: Sequence[str]) -> str | None:
    """The reason with each of these names, as a whole word in any case, replaced; longer ones first."""
    for name in sorted(filter(None, names), key=len, reverse=True) if reason else ():
        reason = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", UNNAMED, reason or "", flags=re.IGNORECASE)
    return reason


def _about(decision: Decision[Any]) -> Whose:
    """Whoever is erased takes the answers about them along."""
    said = (change.whose() for change in decision.changes if not isinstance(change, Untraced))
    return decision.about or next(said, (None, None))


def _key(intent: Intent) -> tuple[str, str] | None:
    """Whose it is, and the key; None: the answer is not kept."""
    if not intent.key or not intent.actor_id or intent.dry_run:
        return None
    return intent.actor_id, intent.key


def _claim(intent: Intent) -> int | None:
    if not intent.key or intent.dry_run:
        return None
    digest = hashlib.blake2b(f"{intent.actor_id}\n{intent.key}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)
