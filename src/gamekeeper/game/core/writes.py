"""The write path: one transaction = effect + audit log entry + idempotency answer + outbox.

A change is a value (`change.py`). Its effect and its entry in the audit log are both written from that one value, so
neither can be written without the other.
"""

import hashlib
import re
from collections.abc import Callable, Coroutine, Iterable, Sequence
from typing import Any, Generic, Protocol, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from gamekeeper.game.core.change import Change, Codec, Command, Step, SubjectIds, Unlogged, find_job_id
from gamekeeper.game.core.refusals import AnswerErased, ChangedMeanwhile, IdempotencyInProgress, IdempotencyKeyReused
from gamekeeper.game.core.request import Consent, FindOrigin, FindRequest, GiftLimits, Rules, SecurityEvent
from gamekeeper.ground import crash
from gamekeeper.ground.settings import Settings
from gamekeeper.store.audit import approvals as approval_rows
from gamekeeper.store.audit import bulk_jobs
from gamekeeper.store.core import idempotency_keys, ledger
from gamekeeper.store.engine.interface import ClaimTaken, Locking, Reading, RowExists, Store, Writing
from gamekeeper.store.engine.statements import as_table
from gamekeeper.store.world import feed

R = TypeVar("R")
REGISTERED = "user_registered"  # kind of the change that makes a new account
ERASED_NAME = "(erased)"  # replaces the name of an erased account or player in a reason


class Intent(Struct, frozen=True):
    """A request for a change: the caller, the reason and the idempotency key.

    A Struct, like the other values of each write, although it is never encoded: it is made in C.
    """

    request_id: str
    actor_id: str | None = None  # account that makes the change; None: the command line
    token_id: str | None = None  # id of the token or API key
    scope_id: str | None = None  # id under which Idempotency-Keys of an API key are stored; None: the account's
    over_link: bool = False
    reason: str | None = None
    key: str | None = None
    fingerprint: str = ""
    dry_run: bool = False
    gift_limits: GiftLimits | None = None  # limits of the caller's gifts; None: no limit
    expected: str | None = None  # fingerprint of the state that the caller saw in a dry run; another state is refused
    find_origin: FindOrigin | None = None  # finds the client's address and browser, for the security log
    find_request: FindRequest | None = None  # describes the request, to hold it for approval; None: it is not held
    consent: Consent | None = None  # the change was held, and a second person approves it
    step: Step | None = None  # the change is one of a bulk job, without a key: its transaction stores the result
    queue: str | None = None  # requests with the same queue name wait for each other before they take a connection


class Decision(Struct, Generic[R], frozen=True):
    """The result of a rule of the game: the changes to write, and the answer for the caller."""

    changes: Sequence[Change | Unlogged]
    result: R
    subject: SubjectIds | None = None  # player and account that the answer is about; None: those of the first change
    stored_result: R | None = None  # the answer stored for retries, if `result` has data that must not be stored
    undoes: int | None = None  # number of the change that the first of `changes` undoes
    erased_names: Sequence[str] = ()  # names of erased accounts and players, to remove from the reason
    events: Sequence[SecurityEvent] = ()  # events for the security log that do not follow from the changes
    preview: str = ""  # other data that a dry run shows; part of the fingerprint of the state


class ApplyResult(Struct, frozen=True):
    answer: bytes
    replayed: bool = False
    entries: Sequence[ledger.LedgerEntry] = ()  # entries that were written to the audit log, or would be in a dry run
    state_fingerprint: str = ""  # fingerprint of the state before a dry run
    held: str | None = None  # id of the approval for which the change waits: nothing was changed
    needs_approval: bool = False  # a dry run: without it, the change would be held


class _DryRun(Exception):
    """Rolls the transaction of a dry run back, and carries its result out of it."""

    def __init__(self, done: ApplyResult) -> None:
        self.done = done


Decide = Callable[[Locking], Coroutine[Any, Any, Decision[R]]]


CountGifts = Callable[[Writing, GiftLimits | None, Iterable[Change | Unlogged], int | None], Coroutine[Any, Any, None]]
RecordEvents = Callable[
    [Writing, Iterable[Change | Unlogged], Iterable[SecurityEvent], str | None, FindOrigin | None], None
]


class Gate(Protocol):
    """Holds changes until a second person approves them. The only implementation is `game/audit/approval_gate.py`."""

    rules: Rules

    async def find_rule(self, tx: Writing, intent: Intent, decision: Decision[Any], /) -> str | None:
        """Return the rule that holds a change for approval. Count the gifts of one that is not held."""
        ...

    async def hold(
        self,
        tx: Writing,
        intent: Intent,
        rule: str,
        entries: Sequence[ledger.LedgerEntry],
        state_fingerprint: str,
        key: tuple[str, str] | None,
        /,
    ) -> str:
        """Store a request that waits for approval; return the approval's id."""
        ...

    async def require_held(self, tx: Reading, approval_id: str, /) -> None:
        """Refuse the repetition of a held request whose approval was denied, or expired."""
        ...

    def require_waiting(self, approval_id: str, state: str | None, /) -> None: ...

    async def record_consent(self, tx: Writing, intent: Intent, consent: Consent, /) -> None:
        """Mark an approval as carried out, and name the approver in the audit log and the security log."""
        ...


class ChangeApplier:
    """Applies changes. Approvals, limits of gifts and the security log are passed in: their rooms are above this."""

    def __init__(
        self, store: Store, codec: Codec, gate: Gate, count_gifts: CountGifts, record_events: RecordEvents
    ) -> None:
        self._store = store
        self.codec = codec
        self.gate = gate
        self._count_gifts = count_gifts
        self._record_events = record_events

    async def apply(self, intent: Intent, decide: Decide[R], answer: Callable[[R], bytes]) -> ApplyResult:
        async def attempt(tx: Writing) -> ApplyResult:
            try:
                decision = await (self._decide_with_consent if intent.consent else _decide_once)(tx, intent, decide)
            except RowExists:
                done = await self._find_stored_answer(tx, intent)
                if done is not None:
                    return done
                decision = await decide(tx)  # the retention job has just deleted the answer
            crash.crash_at("after_key")
            rule = await self.gate.find_rule(tx, intent, decision) if self.gate.rules else None
            if rule and not intent.dry_run:
                return await self._hold(tx, intent, decision, rule)
            entries = await self._carry_out(tx, intent, decision)
            found = (
                fingerprint_state(entries, decision.preview) if intent.dry_run or intent.expected is not None else ""
            )
            if intent.expected is not None and found != intent.expected:
                raise ChangedMeanwhile
            crash.crash_at("after_effect")
            body = answer(decision.result)
            done = ApplyResult(body, entries=tuple(entries), state_fingerprint=found, needs_approval=bool(rule))
            if intent.dry_run:
                await tx.flush()
                raise _DryRun(done)
            await self._store_answer(tx, intent, decision, body, answer)
            return done

        try:
            if intent.dry_run:
                return await self._store.dry_run(attempt, queue=intent.queue)
            return await self._store.write(attempt, _find_claim(intent), queue=intent.queue)
        except _DryRun as tried:
            return tried.done
        except ClaimTaken:
            raise IdempotencyInProgress from None

    async def apply_together(self, steps: Sequence[tuple[Intent, Decide[Any]]]) -> None:
        """Apply changes one after the other in one transaction, all or none: for a load.

        No answers are stored, and no rule holds them for approval.
        """

        async def attempt(tx: Writing) -> None:
            for intent, decide in steps:
                await self._carry_out(tx, intent, await decide(tx))
                await tx.flush()

        await self._store.write(attempt)

    async def _decide_with_consent(self, tx: Writing, intent: Intent, decide: Decide[R]) -> Decision[R]:
        """Run the rule of an approved change: its approval must still wait, and the requester must still be allowed."""
        if intent.consent:
            own = intent.consent.approver_key
            state = await approval_rows.lock(tx, intent.consent.approval_id)
            if own and await idempotency_keys.find(tx, own.scope_id, own.key):
                raise IdempotencyInProgress  # a parallel request has used the approver's key
            self.gate.require_waiting(intent.consent.approval_id, state)
            await intent.consent.check_requester(tx)
        return await decide(tx)

    async def _store_answer(
        self, tx: Writing, intent: Intent, decision: Decision[R], body: bytes, answer: Callable[[R], bytes]
    ) -> None:
        """Store the answer for retries. That of an approved change replaces the marker of the held one."""
        if intent.consent:
            reason = erase_names(intent.consent.reason, decision.erased_names)
            await self.gate.record_consent(tx, intent, intent.consent._replace(reason=reason))
        key, own = _find_key(intent), intent.consent and intent.consent.approver_key
        if not key and not own:
            return
        kept = body if decision.stored_result is None else answer(decision.stored_result)
        if key:
            save = idempotency_keys.replace if intent.consent else idempotency_keys.insert
            save(tx, *key, idempotency_keys.StoredAnswer(intent.fingerprint, kept), _find_subject(decision))
        if own:
            told = idempotency_keys.StoredAnswer(own.fingerprint, own.make_answer(kept))
            idempotency_keys.insert(tx, own.scope_id, own.key, told, _find_subject(decision))

    async def replay(self, intent: Intent) -> ApplyResult | None:
        """Return the stored answer to a retried request, for callers that check a password before they call `apply`."""
        if not _find_key(intent):
            return None
        return await self._store.write(lambda tx: self._find_stored_answer(tx, intent))

    async def _find_stored_answer(self, tx: Writing, intent: Intent) -> ApplyResult | None:
        """Return the answer stored for an Idempotency-Key. Touch its row, so that COMMIT waits for the standby."""
        key = _find_key(intent)
        kept = await idempotency_keys.find(tx, *key) if key else None
        if not key or not kept:
            return None
        if kept.fingerprint != intent.fingerprint:
            raise IdempotencyKeyReused
        if kept.answer == idempotency_keys.ERASED_ANSWER:
            raise AnswerErased
        idempotency_keys.touch(tx, *key)
        if approval_id := idempotency_keys.find_approval(kept.answer):
            # a request that was carried out has its real answer stored instead
            await self.gate.require_held(tx, approval_id)
            return ApplyResult(b"", held=approval_id)
        return ApplyResult(kept.answer, replayed=True)

    async def _hold(self, tx: Writing, intent: Intent, decision: Decision[Any], rule: str) -> ApplyResult:
        """Store the request instead of carrying it out. This is a result and not an exception: it must be committed."""
        logged = [each for each in decision.changes if not isinstance(each, Unlogged)]
        entries = [make_entry(self.codec, intent, each) for each in logged]
        found, key = fingerprint_state(entries, decision.preview), _find_key(intent)
        if intent.expected is not None and found != intent.expected:
            raise ChangedMeanwhile
        approval_id = await self.gate.hold(tx, intent, rule, entries, found, key)
        if key:
            marker = idempotency_keys.StoredAnswer(intent.fingerprint, idempotency_keys.make_marker(approval_id))
            idempotency_keys.insert(tx, *key, marker, _find_subject(decision))
        event = SecurityEvent("approval_requested", intent.actor_id, details={"ApprovalId": approval_id, "Rule": rule})
        self._record_events(tx, (), [event], intent.actor_id, intent.find_origin)
        if intent.step is not None:
            intent.step.record(tx, (), approval_id)
        return ApplyResult(b"", held=approval_id)

    async def _carry_out(self, tx: Writing, intent: Intent, decision: Decision[R]) -> list[ledger.LedgerEntry]:
        if intent.gift_limits is not None or decision.undoes is not None:
            await self._count_gifts(tx, intent.gift_limits, decision.changes, decision.undoes)
        if decision.undoes is not None:
            bulk_jobs.mark_undone(tx, decision.undoes, find_job_id(intent.request_id))
        entries: list[ledger.LedgerEntry] = []
        commands: list[tuple[int, Command]] = []  # positions of commands among the entries
        if decision.erased_names:
            intent = replace(intent, reason=erase_names(intent.reason, decision.erased_names))
        for change in decision.changes:
            if isinstance(change, Unlogged):
                await change.effect(tx)
            else:
                change.carry_out(tx, self.codec)
                if isinstance(change, Command):
                    commands.append((len(entries), change))
                # only the first change of an undo request is the undo; the others are side effects, such as notices
                entries.append(make_entry(self.codec, intent, change, None if entries else decision.undoes))
        self._record_events(tx, decision.changes, decision.events, intent.actor_id, intent.find_origin)
        if commands or intent.step:
            numbers = await ledger.append_numbered(tx, entries)
            if commands:
                targets = (
                    {"seq": numbers[place], "server": server, "life": command.life_ms}
                    for place, command in commands
                    for server in command.servers
                )
                tx.defer(feed.SQL.insert_deliveries, as_table(targets))
            if intent.step:
                intent.step.record(tx, numbers, None)
        else:
            await ledger.append(tx, entries)
        return entries


class CoreKeeper(Struct, frozen=True):
    """The objects that the rules of all rooms need. `game/keeper.py` has those of all rooms together."""

    settings: Settings
    store: Store
    changes: ChangeApplier


def make_entry(codec: Codec, intent: Intent, change: Change, undoes: int | None = None) -> ledger.LedgerEntry:
    """Make the entry of a change in the audit log."""
    before, after = change.sides()
    player_id, user_id = change.whose()
    return ledger.LedgerEntry(
        kind=change.kind,
        actor_id=intent.actor_id,
        token_id=intent.token_id,
        over_link=intent.over_link,
        player_id=player_id,
        user_id=user_id,
        before=codec.encode_side(before) if before else None,
        after=codec.encode_side(after) if after else None,
        request_id=intent.request_id,
        reason=intent.reason,
        undoes=undoes,
    )


async def _decide_once(tx: Writing, intent: Intent, decide: Decide[R]) -> Decision[R]:
    """Run the rule; raise RowExists if an answer is stored for the Idempotency-Key, whatever the rule says."""
    key = _find_key(intent)
    if not key:
        if intent.step is not None:
            await intent.step.begin(tx)
        return await decide(tx)
    idempotency_keys.require_absent(tx, *key)
    try:
        return await decide(tx)
    finally:
        await tx.flush()  # looks for the key now if the rule has not used the database


def fingerprint_state(entries: Sequence[ledger.LedgerEntry], shown: str = "") -> str:
    """Make a fingerprint of the state before a request: two requests that start from the same state have the same one.

    The id of a new account is left out, because every attempt makes another id.
    """
    from_here = [
        (each.kind, each.player_id, None if each.kind == REGISTERED else each.user_id, each.before) for each in entries
    ]
    return hashlib.sha256((repr(from_here) + shown).encode()).hexdigest()


def erase_names(reason: str | None, names: Iterable[str]) -> str | None:
    """Replace names of erased accounts and players in a reason: whole words in any case, the longest names first."""
    for name in sorted(filter(None, names), key=len, reverse=True):
        reason = reason and re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", ERASED_NAME, reason, flags=re.IGNORECASE)
    return reason


def _find_subject(decision: Decision[Any]) -> SubjectIds:
    """Return the player and account that an answer is about: an erasure of the account erases stored answers too."""
    if decision.subject:
        return decision.subject
    for change in decision.changes:
        if not isinstance(change, Unlogged):
            return change.whose()
    return None, None


def _find_key(intent: Intent) -> tuple[str, str] | None:
    """Return the id and the Idempotency-Key under which an answer is stored; None: the answer is not stored."""
    if not intent.key or not intent.actor_id or intent.dry_run:
        return None
    return (intent.consent.scope_id if intent.consent else intent.scope_id) or intent.actor_id, intent.key


def _find_claim(intent: Intent) -> int | None:
    key = _find_key(intent)
    if key is None:
        return None
    digest = hashlib.blake2b("\n".join(key).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)
