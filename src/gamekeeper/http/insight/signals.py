"""Signals: list them, see their evidence, acknowledge them."""

from collections.abc import Sequence
from functools import partial

import msgspec

from gamekeeper.game.core.lookup import parse_guid
from gamekeeper.game.insight import signals
from gamekeeper.game.insight.refusals import NoSuchSignal
from gamekeeper.game.insight.signals import MOST_CHANGES, Evidence, EvidenceChange
from gamekeeper.game.keeper import Keeper
from gamekeeper.ground.instants import format_instant
from gamekeeper.http.audit.history import ACCOUNTS_ROLE
from gamekeeper.http.contract import samples, shapes
from gamekeeper.http.contract.operation import MOST_AT_ONCE, Group, needs
from gamekeeper.http.contract.path_parameters import declare_id
from gamekeeper.http.insight import board_shapes
from gamekeeper.http.server.caller import Caller
from gamekeeper.http.server.metrics import COUNTER, GAUGE, MetricFamily, RoomMetrics, Sample, format_sample
from gamekeeper.http.server.query_values import MailCursor
from gamekeeper.http.server.request import Request
from gamekeeper.http.server.response import Response
from gamekeeper.store.engine.interface import Reading
from gamekeeper.store.insight import signals as rows
from gamekeeper.store.insight.signals import BAG, BEYOND, SILENT, ChangeOfPlayer

READ_SIGNALS = needs("audit.read")
# Examples for the documents, made of the demo data.
SIGNAL = board_shapes.Signal(
    Id=samples.MAIL_ID,
    Rule="gain",
    State="open",
    FirstAt=samples.TIME,
    LastAt=samples.LATER_TIME,
    Times=3,
    ItemId=samples.COIN,
    Item="Silver Mark",
    PlayerId=samples.PLAYER_ID,
    Player=samples.PLAYER,
    GiverId=None,
    Giver=None,
    Server=None,
    BagId=None,
    Evidence=board_shapes.SignalEvidence(10_000, 48_000, None, 131_072, None, None, None),
    AcknowledgedAt=None,
    AcknowledgedById=None,
    AcknowledgedBy=None,
    Note=None,
)
SIGNAL_DETAILS = board_shapes.SignalDetails(
    *msgspec.structs.astuple(SIGNAL),
    Changes=[board_shapes.EvidenceChange(4711, 48_000, samples.TIME, *samples.NAMED_PLAYER)],
    MoreChanges=0,
)
GROUP = Group("Signals", "What rules over changes, requests and game servers have found.", place=130)
GROUPS = (GROUP,)


declare_id("signalId", "The signal's id.", samples.MAIL_ID, "signal_id")


@GROUP.operation(
    "GET /api/keeper/v1/signals",
    permissions=READ_SIGNALS,
    answer=board_shapes.Signals,
    rows=MOST_AT_ONCE,
    example_answer=board_shapes.Signals([SIGNAL], samples.MAIL_CURSOR),
)
async def list_signals(request: Request, query: board_shapes.SignalsQuery) -> bytes:
    """List signals, newest first."""
    read = partial(
        signals.load_page, before=query.before, limit=query.limit, rule=query.rule or None, state=query.state or None
    )
    page = await request.services.keeper.store.read(read)
    following = str(MailCursor(*page.next)) if page.next else None
    shown = [make_signal(hide_accounts(each, request.caller)) for each in page.signals]
    return shapes.encode(board_shapes.Signals(shown, following))


@GROUP.operation(
    "GET /api/keeper/v1/signals/[signalId]",
    permissions=READ_SIGNALS,
    answer=board_shapes.SignalDetails,
    rows=MOST_CHANGES,
    refusals=(NoSuchSignal,),
    example_answer=SIGNAL_DETAILS,
)
async def get_signal(request: Request, signal_id: str) -> bytes:
    """Get a signal with the changes of its evidence."""

    async def read(tx: Reading) -> board_shapes.SignalDetails:
        found = await signals.find(tx, signal_id)
        changes = await signals.read_changes(tx, found.evidence)
        shown = msgspec.structs.asdict(make_signal(hide_accounts(found, request.caller)))
        listed = [_make_change(*each) for each in changes]
        return board_shapes.SignalDetails(**shown, Changes=listed, MoreChanges=found.evidence.more)

    return shapes.encode(await request.services.keeper.store.read(read))


@GROUP.operation(
    "POST /api/keeper/v1/signals/[signalId]/acknowledge",
    permissions=needs("signals.write"),
    example_body=board_shapes.AcknowledgeSignal("The event of this weekend."),
    answer=board_shapes.Signal,
    refusals=(NoSuchSignal,),
    example_answer=SIGNAL,
)
async def acknowledge_signal(request: Request, body: board_shapes.AcknowledgeSignal, signal_id: str) -> Response:
    """Acknowledge a signal. One that is acknowledged already stays as it is."""
    decide = partial(signals.acknowledge, signal_id=signal_id, note=body.Note, account_id=request.caller.account_id)
    return await request.change(decide, lambda found: shapes.encode(make_signal(hide_accounts(found, request.caller))))


def hide_accounts(found: signals.SignalDetails, caller: Caller) -> signals.SignalDetails:
    """Hide the names of accounts and API keys from callers that may not see accounts, as in the history."""
    return found if ACCOUNTS_ROLE in caller.permissions else found.hide_names(caller.account_id)


def make_signal(found: signals.SignalDetails) -> board_shapes.Signal:
    signal = found.signal
    return board_shapes.Signal(
        Id=signal.id,
        Rule=signal.rule,
        State=signal.state,
        FirstAt=format_instant(signal.first_at),
        LastAt=format_instant(signal.last_at),
        Times=signal.times,
        ItemId=signal.item_id,
        Item=found.item,
        PlayerId=signal.player_id,
        Player=found.player,
        GiverId=signal.giver_id,
        Giver=found.giver.name or None if found.giver else None,
        Server=signal.subject if signal.rule == SILENT and signal.subject != BEYOND else None,
        BagId=parse_guid(signal.subject) if signal.rule == BAG and signal.player_id else None,
        Evidence=_make_evidence(found.evidence),
        AcknowledgedAt=format_instant(signal.acknowledged_at) if signal.acknowledged_at else None,
        AcknowledgedById=signal.acknowledged_by,
        AcknowledgedBy=found.acknowledged_by or None,
        Note=signal.note,
    )


def _make_evidence(evidence: Evidence) -> board_shapes.SignalEvidence:
    return board_shapes.SignalEvidence(
        Limit=evidence.limit,
        Amount=evidence.quantity,
        Before=evidence.before,
        After=evidence.after,
        Usual=evidence.usual,
        Since=format_instant(evidence.since) if evidence.since else None,
        JobId=evidence.job_id,
    )


def _make_change(change: EvidenceChange, found: ChangeOfPlayer | None) -> board_shapes.EvidenceChange:
    return board_shapes.EvidenceChange(
        Seq=change.seq,
        Amount=change.quantity,
        At=format_instant(found.at) if found else None,
        PlayerId=found.player_id if found else None,
        Player=found.player if found else None,
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
