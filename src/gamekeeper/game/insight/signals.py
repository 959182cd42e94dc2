"""Signals: something that staff should look at, with its evidence, until one of them acknowledges it.

A rule that finds the same subject again within an hour does not raise a second signal: it adds to the newest one, open
or acknowledged. After a quiet hour the same subject is another incident, and a new signal. The counts of a rule are
locked before its newest signal is read. So instances that find the same thing at the same time raise one signal.

Evidence is what a rule compared, and the largest changes that add up to it. It names no person.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import msgspec

from gamekeeper.game.audit.history import HIDDEN_NAME
from gamekeeper.game.core.change import Codec
from gamekeeper.game.core.lookup import new_guid
from gamekeeper.game.core.writes import Decision, Intent, make_entry
from gamekeeper.game.insight.changes import SignalAcknowledged, SignalRaised
from gamekeeper.game.insight.refusals import NoSuchSignal
from gamekeeper.ground.instants import format_instant
from gamekeeper.ground.settings import BadSetting, variable
from gamekeeper.ground.wire import Guid, Instant, PlainInt64, Shape
from gamekeeper.store.core import ledger
from gamekeeper.store.engine import clock
from gamekeeper.store.engine.interface import Locking, Reading, Writing
from gamekeeper.store.insight import economy
from gamekeeper.store.insight import signals as rows
from gamekeeper.store.insight.economy import Giver
from gamekeeper.store.insight.signals import (
    ACKNOWLEDGED,
    BAG,
    BEYOND,
    CONSERVATION,
    GAIN,
    GIFT,
    OPEN,
    REFUSALS,
    SILENT,
    SUPPLY,
    Signal,
)

ON, OFF = "on", "off"
MOST_LIMIT = 10**15


class Rule(NamedTuple):
    about: str
    limit: int | None  # default; None: the rule has no limit, and is on or off
    least: int = 1


RULES: Mapping[str, Rule] = {
    SUPPLY: Rule("An item's supply has grown by more than this factor within an hour.", 3, 2),
    GAIN: Rule("One player got more than this many of an item within an hour.", 10_000),
    GIFT: Rule("Staff or an API key gave more than this many of an item at once.", 10_000),
    BAG: Rule("A game server reports a bag that another player has.", None),
    CONSERVATION: Rule("Quantities of an item do not add up.", None),
    REFUSALS: Rule("This many times more requests than usual were refused in ten minutes.", 5, 2),
    SILENT: Rule("A game server has been silent for this many minutes.", 5),
}


class Limits(NamedTuple):
    """The limits of all rules; None: the rule is off."""

    supply: int | None
    gain: int | None
    gift: int | None
    bag: int | None  # 1: on
    conservation: int | None  # 1: on
    refusals: int | None
    silent: int | None


DEFAULTS = Limits(**{name: rule.limit or 1 for name, rule in RULES.items()})


def parse_limits(text: str) -> Limits:
    """Parse the setting `signals`, such as `gain=50000, silent=off`. Rules that it does not name keep their default."""
    found: dict[str, int | None] = {}
    for each in filter(None, (part.strip() for part in text.split(","))):
        name, _, value = (part.strip().lower() for part in each.partition("="))
        if name not in RULES:
            raise BadSetting(f"{variable('signals')} has '{each}'; the rules are {', '.join(RULES)}.")
        if name in found:
            raise BadSetting(f"{variable('signals')} has the rule {name} twice.")
        found[name] = _parse_limit(each, RULES[name], value)
    return DEFAULTS._replace(**found)


def _parse_limit(text: str, rule: Rule, value: str) -> int | None:
    if value == OFF:
        return None
    if rule.limit is None:
        if value != ON:
            raise BadSetting(f"{variable('signals')} has '{text}'; this rule is on or off.")
        return 1
    if not (value.isascii() and value.isdigit() and rule.least <= int(value[:20]) <= MOST_LIMIT):
        raise BadSetting(
            f"{variable('signals')} has '{text}'; the limit must be a number from {rule.least} to {MOST_LIMIT}, or off."
        )
    return int(value)


MOST_CHANGES = 20  # changes in the evidence of a signal: the largest ones


class ListedChange(NamedTuple):
    seq: int
    quantity: int


class ChangeList(NamedTuple):
    """The largest of some changes, in their order, and how many more there are."""

    changes: tuple[ListedChange, ...] = ()
    more: int = 0

    def add(self, change: ListedChange) -> "ChangeList":
        """Return the list with one more change, whose number is higher than those of the others."""
        if len(self.changes) < MOST_CHANGES:
            return ChangeList((*self.changes, change), self.more)
        return join_changes((self, ChangeList((change,))))


NO_CHANGES = ChangeList()


class Evidence(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a rule compared; which fields it has depends on the rule."""

    limit: int | None = None
    quantity: int | None = None  # that is above the limit, or that does not add up
    before: int | None = None  # quantity in circulation an hour before, or at the end of the day before
    after: int | None = None
    usual: int | None = None  # requests refused in ten minutes, as a median of the last day
    since: int | None = None  # time in ms
    job_id: str | None = None  # bulk job that gives the items
    changes: tuple[ListedChange, ...] = ()
    more: int = 0  # number of changes besides these


def join_changes(lists: Iterable[ChangeList]) -> ChangeList:
    """Join lists of different changes. The result does not depend on how the changes are spread over the lists."""
    parts = tuple(lists)
    every = [change for each in parts for change in each.changes]
    largest = sorted(every, key=lambda each: (-abs(each.quantity), each.seq))[:MOST_CHANGES]
    return ChangeList(tuple(sorted(largest)), sum(each.more for each in parts) + len(every) - len(largest))


def add_lead(evidence: Evidence, lead: ChangeList) -> Evidence:
    """Add the changes that led to a finding to its evidence."""
    joined = join_changes((lead, ChangeList(evidence.changes, evidence.more)))
    return msgspec.structs.replace(evidence, changes=joined.changes, more=joined.more)


def merge_evidence(known: Evidence, found: Evidence) -> Evidence:
    """Merge two evidences: the figures of the one with the greater quantity, and the changes of both."""
    greater = found if (found.quantity or 0) >= (known.quantity or 0) else known
    joined = join_changes(ChangeList(each.changes, each.more) for each in (known, found))
    return msgspec.structs.replace(greater, changes=joined.changes, more=joined.more)


def encode_changes(changes: ChangeList) -> str:
    return msgspec.json.encode(changes).decode()


def decode_changes(text: str) -> ChangeList:
    return msgspec.json.decode(text, type=ChangeList)


QUIET_MS = 60 * 60 * 1000  # time without a finding after which the same subject is another incident
MOST_AGE_MS = 90 * 24 * 60 * 60 * 1000  # older changes raise none: the first count after an upgrade reads them all
MOST_OPEN = 100  # open signals of a rule; what it finds beyond them is added to one more, which has no subject
INTENT = Intent(request_id="signals")


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
    lead: ChangeList = NO_CHANGES  # changes before it that led to it; part of the evidence of a new signal

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


class EvidenceChange(Shape):
    """A change of the evidence; without player and time, it was trimmed from the audit log."""

    seq: PlainInt64
    amount: PlainInt64
    at: Instant | None
    player_id: Guid | None
    player: str | None


def read_evidence(signal: Signal) -> Evidence:
    return msgspec.json.decode(signal.evidence, type=Evidence)


async def raise_findings(tx: Writing, codec: Codec, findings: Sequence[Finding]) -> None:
    """Store findings as signals, new or known, in the transaction that has found them."""
    oldest = await clock.now(tx) - MOST_AGE_MS if findings else 0
    incidents = _merge_incidents(each for each in findings if each.find_last() >= oldest)
    opened = {rule: await rows.lock_rule(tx, rule) for rule in sorted({each.rule for each in incidents})}
    for each in incidents:
        if await _repeat(tx, each):
            continue
        found = each
        if opened[each.rule] >= MOST_OPEN:
            found = Finding(each.rule, BEYOND, each.at, each.evidence, times=each.times, last_at=each.last_at)
            if await _repeat(tx, found):
                continue
        await _raise(tx, codec, found)
        opened[each.rule] += 1


async def acknowledge(tx: Locking, signal_id: str, note: str | None, account_id: str) -> Decision[SignalDetails]:
    """Acknowledge a signal. One that is acknowledged stays as it is.

    The counts of the rule are locked before the signal, in the same order as by `raise_findings`.
    """
    seen = await rows.find(tx, signal_id)
    if seen is not None:
        await rows.lock_counts(tx, seen.rule)
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


async def find_some(tx: Reading, ids: Iterable[str]) -> list[SignalDetails]:
    """Return the signals with these ids, in any order. Deleted ones are missing."""
    return await _describe(tx, await rows.find_some(tx, ids))


async def load_page(
    tx: Reading, before: tuple[int, str], limit: int, rule: str | None, state: str | None
) -> tuple[list[SignalDetails], tuple[int, str] | None]:
    """Load signals before a position, newest first, and the position before which older ones are."""
    found = await rows.read_page(tx, before, limit + 1, rule, state)
    shown = found[:limit]
    following = (shown[-1].first_at, shown[-1].id) if len(found) > limit else None
    return await _describe(tx, shown), following


async def count_open(tx: Reading) -> int:
    return sum(each.opened for each in await rows.read_counts(tx))


async def read_changes(tx: Reading, evidence: Evidence) -> list[EvidenceChange]:
    """Read the changes of an evidence."""
    found = await rows.read_changes(tx, [each.seq for each in evidence.changes]) if evidence.changes else ()
    known = {each.seq: (format_instant(each.at), each.player_id, each.player) for each in found}
    return [EvidenceChange(*each, *known.get(each.seq, (None, None, None))) for each in evidence.changes]


async def _repeat(tx: Writing, found: Finding) -> bool:
    """Add a finding to the newest signal of its subject, if it is of the same incident. False: it is another one."""
    known = await rows.find_newest(tx, found.rule, found.subject)
    if known is None:
        return False
    takes_all = found.subject == BEYOND and known.state == OPEN
    if not takes_all and not _is_same_incident(known.last_at, found.at):
        return False
    evidence = merge_evidence(read_evidence(known), found.evidence)
    stored = msgspec.json.encode(evidence).decode()
    last_at, times = max(known.last_at, found.find_last()), known.times + found.times
    await tx.returning(rows.SQL.repeat, known.id, last_at, times, stored)
    return True


async def _raise(tx: Writing, codec: Codec, found: Finding) -> None:
    """Store a new signal. Ids of a player or giver that was erased before the rule found it must not come back."""
    owner = await rows.lock_owner(tx, found.player_id) if found.player_id else None
    signal_id = new_guid()
    player_gone = found.player_id is not None and owner is None
    giver_gone = found.giver_id is not None and await tx.value(rows.SQL.giver_account, found.giver_id) is None
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
        msgspec.json.encode(add_lead(found.evidence, found.lead)).decode(),
    )
    await rows.insert(tx, signal)
    await tx.returning(rows.SQL.add_counts, signal.rule, 1, 1)
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


def _is_same_incident(last_at: int, at: int) -> bool:
    """Tell whether a finding at a time belongs to an incident that was last found at another.

    A finding that is earlier belongs to it too: its change was counted late.
    """
    return at - last_at < QUIET_MS


def _merge_incidents(findings: Iterable[Finding]) -> list[Finding]:
    """Merge findings of the same incidents, so that the result is the same as of storing them one by one."""
    incidents: list[Finding] = []
    places: dict[tuple[str, str], int] = {}  # rule and subject → place of their last incident
    for each in findings:
        place = places.get((each.rule, each.subject))
        if place is not None and _is_same_incident(incidents[place].find_last(), each.at):
            incidents[place] = _merge(incidents[place], each)
        else:
            places[each.rule, each.subject] = len(incidents)
            incidents.append(each)
    return incidents


def _merge(known: Finding, found: Finding) -> Finding:
    evidence = merge_evidence(known.evidence, found.evidence)
    last_at = max(known.find_last(), found.find_last())
    return known._replace(evidence=evidence, times=known.times + found.times, last_at=last_at)
