"""Signals: list them, see their evidence, acknowledge them."""

from collections.abc import Sequence
from functools import partial
from typing import Annotated, Literal

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from gamekeeper.game.core.lookup import parse_guid
from gamekeeper.game.insight import signals
from gamekeeper.game.insight.refusals import NoSuchSignal
from gamekeeper.game.insight.signals import MOST_CHANGES, EvidenceChange
from gamekeeper.game.keeper import Keeper
from gamekeeper.ground.wire import Body, Guid, Instant, PlainInt64, Shape, describe
from gamekeeper.http.accounts.account_shapes import NoteText
from gamekeeper.http.audit.history import ACCOUNTS_ROLE
from gamekeeper.http.contract import examples
from gamekeeper.http.contract.operation import MOST_AT_ONCE, Group, needs
from gamekeeper.http.contract.path_parameters import declare_id
from gamekeeper.http.contract.records import make_record
from gamekeeper.http.contract.shapes import Limit, describe_cursor
from gamekeeper.http.server import query_values
from gamekeeper.http.server.caller import Caller
from gamekeeper.http.server.metrics import COUNTER, GAUGE, MetricFamily, RoomMetrics, Sample, format_sample
from gamekeeper.http.server.query_values import MailCursor
from gamekeeper.http.server.request import Request
from gamekeeper.http.server.response import Response
from gamekeeper.store.engine.interface import Reading
from gamekeeper.store.insight import signals as rows
from gamekeeper.store.insight.signals import BAG, BEYOND, SILENT

SignalsBefore = Annotated[query_values.MailCursor, describe_cursor("signals")]
SignalState = Annotated[Literal["open", "acknowledged"], describe("Only signals in this state.")]
SignalRule = Annotated[
    Literal["supply", "gain", "gift", "bag", "conservation", "refusals", "silent"],
    describe("Only signals of this rule."),
]


class SignalsQuery(Struct, frozen=True):
    state: SignalState | UnsetType = UNSET
    rule: SignalRule | UnsetType = UNSET
    before: SignalsBefore = query_values.START
    limit: Annotated[Limit, Meta(extra={"cut": 1000})] = 50


class AcknowledgeSignal(Body):
    Note: Annotated[NoteText, describe("What was found, at most 1000 characters.")] = ""


class SignalEvidence(Shape):
    """What a rule compared; fields that the rule does not have are null."""

    limit: PlainInt64 | None
    amount: PlainInt64 | None
    before: PlainInt64 | None
    after: PlainInt64 | None
    usual: PlainInt64 | None
    since: Instant | None
    job_id: Guid | None


class Signal(Shape):
    """What a rule has found."""

    id: Guid
    rule: str
    state: str  # open or acknowledged
    first_at: Instant
    last_at: Instant
    times: PlainInt64
    item_id: Guid | None
    item: str | None  # null: of no item, or it is not in the catalogue
    player_id: Guid | None
    player: str | None  # null: of no player, or the player is deleted
    giver_id: Guid | None  # account or API key
    giver: str | None  # null without the permission users.query, except the caller's own name
    server: str | None
    bag_id: Guid | None
    evidence: SignalEvidence
    acknowledged_at: Instant | None
    acknowledged_by_id: Guid | None
    acknowledged_by: str | None  # null without the permission users.query, except the caller's own name
    note: str | None


class SignalDetails(Signal):
    """A signal with the largest changes of its evidence."""

    changes: list[EvidenceChange]
    more_changes: PlainInt64  # number of changes besides these


class Signals(Shape):
    signals: list[Signal]
    next: str | None


GROUP = Group("Signals", "What rules over changes, requests and game servers have found.", 130, needs("audit.read"))
GROUPS = (GROUP,)


declare_id("signalId", "The signal's id.", examples.MAIL_ID, "signal_id")


@GROUP.operation("GET /api/keeper/v1/signals", rows=MOST_AT_ONCE)
async def list_signals(request: Request, query: SignalsQuery) -> Signals:
    """List signals, newest first."""
    read = partial(
        signals.load_page, before=query.before, limit=query.limit, rule=query.rule or None, state=query.state or None
    )
    page, following = await request.services.keeper.store.read(read)
    shown = [make_signal(hide_accounts(each, request.caller)) for each in page]
    return Signals(shown, str(MailCursor(*following)) if following else None)


@GROUP.operation("GET /api/keeper/v1/signals/[signalId]", rows=MOST_CHANGES, refusals=(NoSuchSignal,))
async def get_signal(request: Request, signal_id: str) -> SignalDetails:
    """Get a signal with the changes of its evidence."""

    async def read(tx: Reading) -> SignalDetails:
        found = await signals.find(tx, signal_id)
        changes = await signals.read_changes(tx, found.evidence)
        shown = msgspec.structs.asdict(make_signal(hide_accounts(found, request.caller)))
        return SignalDetails(**shown, changes=changes, more_changes=found.evidence.more)

    return await request.services.keeper.store.read(read)


@GROUP.operation(
    "POST /api/keeper/v1/signals/[signalId]/acknowledge",
    permissions=needs("signals.write"),
    example_body=AcknowledgeSignal("The event of this weekend."),
    answer=Signal,
    refusals=(NoSuchSignal,),
)
async def acknowledge_signal(request: Request, body: AcknowledgeSignal, signal_id: str) -> Response:
    """Acknowledge a signal. One that is acknowledged already stays as it is."""
    decide = partial(signals.acknowledge, signal_id=signal_id, note=body.Note, account_id=request.caller.account_id)
    return await request.change(decide, lambda found: make_signal(hide_accounts(found, request.caller)))


def hide_accounts(found: signals.SignalDetails, caller: Caller) -> signals.SignalDetails:
    """Hide the names of accounts and API keys from callers that may not see accounts, as in the history."""
    return found if ACCOUNTS_ROLE in caller.permissions else found.hide_names(caller.account_id)


def make_signal(found: signals.SignalDetails) -> Signal:
    signal, evidence = found.signal, found.evidence
    return make_record(
        Signal,
        signal,
        found,
        giver=found.giver.name or None if found.giver else None,
        server=signal.subject if signal.rule == SILENT and signal.subject != BEYOND else None,
        bag_id=parse_guid(signal.subject) if signal.rule == BAG and signal.player_id else None,
        evidence=make_record(SignalEvidence, evidence, amount=evidence.quantity),
        acknowledged_by_id=signal.acknowledged_by,
        acknowledged_by=found.acknowledged_by or None,
    )


async def _count_signals(keeper: Keeper) -> Sequence[Sample]:
    """Count the signals of each rule, zeros included: an increase from nothing would not be noticed."""
    counts = {each.rule: each for each in await rows.read_counts(keeper.store)}
    samples: list[Sample] = []
    for rule in signals.RULES:
        count = counts.get(rule)
        samples.append(format_sample("gamekeeper_signals_open", {"rule": rule}, count.opened if count else 0))
        samples.append(format_sample("gamekeeper_signals_raised_total", {"rule": rule}, count.raised if count else 0))
    return samples


FAMILIES = {
    "gamekeeper_signals_open": MetricFamily(GAUGE, "Signals that nobody has acknowledged, by rule."),
    "gamekeeper_signals_raised_total": MetricFamily(COUNTER, "Signals raised, by rule."),
}
METRICS = (RoomMetrics(FAMILIES, _count_signals),)
