"""Signals: something that staff should look at, with its evidence, until one of them acknowledges it.

A rule that finds the same subject again does not raise a second signal: it adds to the open one. One that was
acknowledged takes in what follows without a pause; after a quiet hour the same subject is a new signal.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import msgspec

from gamekeeper.game.changes import Decision, Intent, make_entry
from gamekeeper.game.codec import Codec
from gamekeeper.game.history import HIDDEN_NAME
from gamekeeper.game.lookup import new_guid
from gamekeeper.game.signal_effects import SignalAcknowledged, SignalRaised
from gamekeeper.game.signal_refusals import NoSuchSignal
from gamekeeper.game.signal_rules import BEYOND
from gamekeeper.store import clock, economy, ledger
from gamekeeper.store import signals as rows
from gamekeeper.store.economy import Giver
from gamekeeper.store.engine import Locking, Reading, Writing
from gamekeeper.store.signals import ACKNOWLEDGED, OPEN, ChangeOfPlayer, Signal

QUIET_MS = 60 * 60 * 1000
MOST_AGE_MS = 90 * 24 * 60 * 60 * 1000  # older changes raise none: the first count after an upgrade reads them all
MOST_OPEN = 100  # open signals of a rule; what it finds beyond them is added to one more, which has no subject
MOST_CHANGES = 20  # changes in the evidence of a signal: the first ones
INTENT = Intent(request_id="signals")


class EvidenceChange(NamedTuple):
    seq: int
    quantity: int


class Evidence(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a rule compared; which fields it has depends on the rule. Nothing in it names a person."""

    limit: int | None = None
    quantity: int | None = None  # that is above the limit, or that does not add up
    before: int | None = None  # quantity in circulation an hour before, or at the end of the day before
    after: int | None = None
    usual: int | None = None  # requests refused in ten minutes, as a median of the last day
    since: int | None = None  # time in ms
    job_id: str | None = None  # bulk job that gives the items
    changes: tuple[EvidenceChange, ...] = ()


class Finding(NamedTuple):
    """What a rule has found."""

    rule: str
    subject: str
    at: int
    evidence: Evidence
    item_id: str | None = None
    player_id: str | None = None
    giver_id: str | None = None
    user_id: str | None = None  # account of the giver, if it is an account
    times: int = 1
    last_at: int = 0  # time of the last one, if there are several

    def find_last(self) -> int:
        return max(self.at, self.last_at)


class SignalDetails(NamedTuple):
    """A signal with what its ids stand for."""

    signal: Signal
    evidence: Evidence
    item: str | None
    player: str | None  # None: of no player, or the player is deleted
    giver: Giver | None
    acknowledged_by: str | None  # name of the account; None: not acknowledged, or deleted

    def hide_names(self, me: str) -> "SignalDetails":
        """Hide the names of accounts and API keys, except the name of the account `me`."""
        giver, by = self.giver, self.acknowledged_by
        if giver and giver.name and giver.id != me:
            giver = giver._replace(name=HIDDEN_NAME, owner=None)
        if by and self.signal.acknowledged_by != me:
            by = HIDDEN_NAME
        return self._replace(giver=giver, acknowledged_by=by)


class SignalPage(NamedTuple):
    signals: list[SignalDetails]
    next: tuple[int, str] | None


def read_evidence(signal: Signal) -> Evidence:
    return msgspec.json.decode(signal.evidence, type=Evidence)


async def raise_findings(tx: Writing, codec: Codec, findings: Iterable[Finding]) -> None:
    """Store findings as signals, new or known, in the transaction that has found them."""
    merged: dict[tuple[str, str], Finding] = {}
    for each in findings:
        known = merged.get((each.rule, each.subject))
        merged[each.rule, each.subject] = _merge(known, each) if known else each
    oldest = await clock.now(tx) - MOST_AGE_MS if merged else 0
    merged = {key: each for key, each in merged.items() if each.find_last() >= oldest}
    if not merged:
        return
    opened = {each.rule: each.opened for each in await rows.read_counts(tx)}
    for each in merged.values():
        if await _repeat(tx, each):
            continue
        beyond = opened.get(each.rule, 0) >= MOST_OPEN
        found = (
            Finding(each.rule, BEYOND, each.at, each.evidence, times=each.times, last_at=each.last_at)
            if beyond
            else each
        )
        if beyond and await _repeat(tx, found):
            continue
        await _raise(tx, codec, found)
        opened[each.rule] = opened.get(each.rule, 0) + 1


async def acknowledge(tx: Locking, signal_id: str, note: str | None, account_id: str) -> Decision[SignalDetails]:
    """Acknowledge a signal. One that is acknowledged stays as it is."""
    signal = await rows.lock(tx, signal_id)
    if signal is None:
        raise NoSuchSignal
    if signal.state == ACKNOWLEDGED:
        return Decision([], await _describe_one(tx, signal))
    after = signal._replace(
        state=ACKNOWLEDGED,
        acknowledged_at=await clock.now(tx),
        acknowledged_by=account_id,
        note=(note or "").strip() or None,
    )
    user_id = await rows.lock_owner(tx, signal.player_id) if signal.player_id else None
    if signal.giver_id and not (await economy.find_givers(tx, [signal.giver_id]))[signal.giver_id].is_key:
        user_id = signal.giver_id
    return Decision([SignalAcknowledged(after, user_id)], await _describe_one(tx, after), subject=(None, user_id))


async def find(tx: Reading, signal_id: str) -> SignalDetails:
    signal = await rows.find(tx, signal_id)
    if signal is None:
        raise NoSuchSignal
    return await _describe_one(tx, signal)


async def load_page(
    tx: Reading, before: tuple[int, str], limit: int, rule: str | None, state: str | None
) -> SignalPage:
    """Load signals before a position, newest first."""
    found = await rows.read_page(tx, before, limit + 1, rule, state)
    shown = found[:limit]
    following = (shown[-1].first_at, shown[-1].id) if len(found) > limit else None
    return SignalPage(await _describe(tx, shown), following)


async def count_open(tx: Reading) -> int:
    return sum(each.opened for each in await rows.read_counts(tx))


async def read_changes(tx: Reading, evidence: Evidence) -> list[tuple[EvidenceChange, ChangeOfPlayer | None]]:
    """Read the changes of an evidence. None: the change is trimmed."""
    found = await rows.read_changes(tx, [each.seq for each in evidence.changes]) if evidence.changes else {}
    return [(each, found.get(each.seq)) for each in evidence.changes]


async def _repeat(tx: Writing, found: Finding) -> bool:
    """Add a finding to the signal that is open, or was acknowledged while it went on. False: there is none."""
    known = await rows.find_newest(tx, found.rule, found.subject)
    if known is None or (known.state != OPEN and found.at - known.last_at >= QUIET_MS):
        return False
    evidence = _merge_evidence(read_evidence(known), found.evidence)
    stored = msgspec.json.encode(evidence).decode()
    last_at, times = max(known.last_at, found.find_last()), known.times + found.times
    await rows.repeat(tx, known._replace(last_at=last_at, times=times, evidence=stored))
    return True


async def _raise(tx: Writing, codec: Codec, found: Finding) -> None:
    """Store a new signal. Ids of a player or giver that was erased before the rule found it must not come back."""
    owner = await rows.lock_owner(tx, found.player_id) if found.player_id else None
    signal_id = new_guid()
    player_gone = found.player_id is not None and owner is None
    giver_gone = found.giver_id is not None and await rows.lock_giver(tx, found.giver_id) is None
    signal = Signal(
        signal_id,
        found.rule,
        signal_id if player_gone or giver_gone else found.subject,
        found.item_id,
        None if player_gone else found.player_id,
        None if giver_gone else found.giver_id,
        found.at,
        found.find_last(),
        found.times,
        msgspec.json.encode(found.evidence).decode(),
    )
    await rows.insert(tx, signal)
    await rows.add_counts(tx, signal.rule, 1, 1)
    user_id = owner if giver_gone else found.user_id or owner
    await ledger.append_numbered(tx, [make_entry(codec, INTENT, SignalRaised(signal, user_id))])


async def _describe_one(tx: Reading, signal: Signal) -> SignalDetails:
    return (await _describe(tx, [signal]))[0]


async def _describe(tx: Reading, found: Sequence[Signal]) -> list[SignalDetails]:
    items = {each.item_id for each in found if each.item_id}
    players = {each.player_id for each in found if each.player_id}
    givers = {each.giver_id for each in found if each.giver_id}
    users = {each.acknowledged_by for each in found if each.acknowledged_by}
    item_names = await economy.find_item_names(tx, sorted(items)) if items else {}
    player_names = await rows.find_player_names(tx, sorted(players)) if players else {}
    known_givers = await economy.find_givers(tx, sorted(givers)) if givers else {}
    user_names = await rows.find_user_names(tx, sorted(users)) if users else {}
    return [
        SignalDetails(
            each,
            read_evidence(each),
            item_names.get(each.item_id or ""),
            player_names.get(each.player_id or ""),
            known_givers.get(each.giver_id or ""),
            user_names.get(each.acknowledged_by or ""),
        )
        for each in found
    ]


def _merge(known: Finding, found: Finding) -> Finding:
    evidence = _merge_evidence(known.evidence, found.evidence)
    return known._replace(evidence=evidence, times=known.times + found.times, last_at=found.find_last())


def _merge_evidence(known: Evidence, found: Evidence) -> Evidence:
    """Return the evidence with the greater quantity, with the first changes of both."""
    greater = found if (found.quantity or 0) >= (known.quantity or 0) else known
    return msgspec.structs.replace(greater, changes=(*known.changes, *found.changes)[:MOST_CHANGES])
