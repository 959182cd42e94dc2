"""The pages of signals: the list with filters, and one signal with its evidence and what to do next."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import msgspec

from gamekeeper.console.frame import list_page, pages
from gamekeeper.console.frame.formats import format_number
from gamekeeper.console.frame.labels import SIGNAL_TITLES
from gamekeeper.console.frame.list_page import SignalsPageQuery
from gamekeeper.console.frame.refusals import NoSuchPage
from gamekeeper.console.frame.texts import PerLanguage, gettext
from gamekeeper.console.frame.texts import translate as _
from gamekeeper.game.audit.history import HIDDEN_NAME, SIGNAL_KINDS
from gamekeeper.game.core import lookup
from gamekeeper.game.insight import signals
from gamekeeper.game.insight.economy_reports import is_command_line
from gamekeeper.game.insight.signal_rules import BAG, BEYOND, CONSERVATION, GAIN, GIFT, REFUSALS, SILENT, SUPPLY
from gamekeeper.game.insight.signals import EvidenceChange, SignalDetails
from gamekeeper.http.insight.signals import hide_accounts
from gamekeeper.http.server import queries
from gamekeeper.http.server.query_values import MailCursor
from gamekeeper.http.server.request import Request
from gamekeeper.http.server.response import Response
from gamekeeper.store.audit.history import HistoryChange
from gamekeeper.store.engine.interface import Reading
from gamekeeper.store.insight.signals import ACKNOWLEDGED, OPEN, ChangeOfPlayer

SIGNALS_PER_PAGE = 30
STATES = PerLanguage[Mapping[str, str]](lambda: {OPEN: gettext("Open"), ACKNOWLEDGED: gettext("Acknowledged")})
ADVICE = PerLanguage[Mapping[str, str]](
    lambda: {
        SUPPLY: gettext(
            "Look at the changes and at the page of the item: who got it, and from where? If it was duplicated, "
            "take it "
            "away or undo the changes, and tell the developers of the game. If it was an event, acknowledge the signal."
        ),
        GAIN: gettext(
            "Look at the changes and the history of the player. A trade has a player who lost as much at the "
            "same time. If the items were duplicated, take them away or undo the changes, and tell the developers of "
            "the game."
        ),
        GIFT: gettext(
            "Ask who gave it. If it was a mistake, undo the change or the bulk job. If such gifts are usual, raise the "
            "limit gift in GAMEKEEPER_SIGNALS, or hold them for approval with GAMEKEEPER_APPROVALS."
        ),
        BAG: gettext(
            "Compare the bag in the inventories of both players with the game. If the game has it twice, it was "
            "duplicated: remove one in the game."
        ),
        CONSERVATION: gettext(
            "Run the doctor on the page Health: it names the players and slots that differ from the audit log. "
            "Then count "
            "again with: gamekeeper economy --recount"
        ),
        REFUSALS: gettext(
            "Look at the security log and the access log: "
            "somebody may guess passwords, or a program may have a wrong key."
        ),
        SILENT: gettext(
            "Check that the game server runs and reaches Gamekeeper. "
            "Its players are offline here until it reports again."
        ),
    }
)
SENTENCES = PerLanguage[Mapping[str, str]](
    lambda: {
        SUPPLY: _("There were %(before)s of %(item)s, and an hour later %(after)s: more than %(limit)s times as many."),
        GAIN: _("%(player)s got %(quantity)s of %(item)s within an hour. The limit is %(limit)s."),
        GIFT: _("%(giver)s gave %(quantity)s of %(item)s. The limit is %(limit)s."),
        BAG: _("A game server reports a bag for %(player)s that another player has."),
        CONSERVATION: _("The totals of two days differ by %(quantity)s of %(item)s that no change created or took."),
        REFUSALS: _("%(quantity)s requests were refused in ten minutes. Usual are %(usual)s."),
        SILENT: _("The game server %(server)s has sent nothing since its lease ended."),
    }
)
TAKEN_TOO_MUCH = PerLanguage(lambda: _("A change took more of %(item)s from %(player)s than it had."))
BEYOND_TEXT = PerLanguage(lambda: gettext("This rule found more than is listed one by one."))


class SignalLine(NamedTuple):
    details: SignalDetails
    title: str
    state: str
    text: str


class SignalSide(msgspec.Struct):
    """The part of one side of a change that names its signal. An erasure may have removed fields."""

    SignalId: str = ""
    Rule: str = ""


_decode_side = msgspec.json.Decoder(SignalSide).decode


async def show(request: Request) -> Response:
    """List signals, the open ones by default."""
    query = queries.decode(SignalsPageQuery, request.query)
    state = None if query.state == "all" else query.state
    page = await request.services.keeper.store.read(
        lambda tx: signals.load_page(tx, query.before, SIGNALS_PER_PAGE, query.rule or None, state)
    )
    return pages.render(
        request,
        "insight/signals.html",
        lines=[make_line(hide_accounts(each, request.caller)) for each in page.signals],
        rules=SIGNAL_TITLES(),
        rule=query.rule or "",
        shown=query.state,
        states={OPEN: gettext("Open"), ACKNOWLEDGED: gettext("Acknowledged"), "all": gettext("All")},
        newest=list_page.build_url(request, before="") if "before" in request.query else "",
        older=list_page.build_url(request, before=str(MailCursor(*page.next))) if page.next else "",
    )


async def show_signal(request: Request) -> Response:
    signal_id = lookup.parse_guid(request.params[0])
    if signal_id is None:
        raise NoSuchPage

    async def read(tx: Reading) -> tuple[SignalDetails, list[tuple[EvidenceChange, ChangeOfPlayer | None]]]:
        found = hide_accounts(await signals.find(tx, signal_id), request.caller)
        return found, await signals.read_changes(tx, found.evidence)

    found, changes = await request.services.keeper.store.read(read)
    line = make_line(found)
    return pages.render(
        request,
        "insight/signal.html",
        line=line,
        signal=found.signal,
        evidence=found.evidence,
        facts=_list_facts(found),
        advice=ADVICE().get(found.signal.rule, ""),
        changes=changes,
        giver=found.giver if found.giver and not is_command_line(found.giver) else None,
    )


async def load_lines(
    tx: Reading, changes: Iterable[HistoryChange], me: str = "", *, accounts: bool
) -> dict[int, SignalLine]:
    """Load the signals that changes are about, by the number of the change. Deleted signals are missing.

    `accounts`: whether the viewer, with the account `me`, may see names of accounts.
    """
    ids = {each.seq: side.SignalId for each in changes if (side := find_side(each)) and side.SignalId}
    if not ids:
        return {}
    found = {each.signal.id: each for each in await signals.find_some(tx, sorted(set(ids.values())))}
    lines = {key: make_line(each if accounts else each.hide_names(me)) for key, each in found.items()}
    return {seq: lines[key] for seq, key in ids.items() if key in lines}


def find_side(told: HistoryChange) -> SignalSide | None:
    """Return what a change says about its signal. None: the change is not about a signal."""
    return _decode_side(told.after) if told.kind in SIGNAL_KINDS and told.after else None


def make_line(found: SignalDetails) -> SignalLine:
    signal = found.signal
    text = BEYOND_TEXT() if signal.subject == BEYOND else _describe(found)
    return SignalLine(
        found, SIGNAL_TITLES().get(signal.rule, signal.rule), STATES().get(signal.state, signal.state), text
    )


def _describe(found: SignalDetails) -> str:
    """Say in one sentence what a rule has found."""
    signal, evidence = found.signal, found.evidence
    text = TAKEN_TOO_MUCH() if signal.rule == CONSERVATION and signal.player_id else SENTENCES().get(signal.rule, "")
    giver = found.giver.name if found.giver and not is_command_line(found.giver) else None
    if giver == HIDDEN_NAME:
        giver = gettext("An account or API key")
    facts = {
        "item": found.item or gettext("an item that is not in the catalogue"),
        "player": found.player or gettext("a deleted player"),
        "giver": giver or gettext("The command line or a deleted account"),
        "server": signal.subject,
        **{
            name: format_number(getattr(evidence, name) or 0)
            for name in ("quantity", "limit", "before", "after", "usual")
        },
    }
    return text % facts


def _list_facts(found: SignalDetails) -> list[tuple[str, int]]:
    """List the numbers of the evidence with their labels."""
    evidence, is_refusals = found.evidence, found.signal.rule == REFUSALS
    every = (
        (gettext("Requests refused") if is_refusals else gettext("Quantity"), evidence.quantity),
        (gettext("Limit"), evidence.limit),
        (gettext("Usual"), evidence.usual),
        (gettext("In circulation before"), evidence.before),
        (gettext("In circulation after"), evidence.after),
    )
    return [(label, number) for label, number in every if number is not None]


pages.TEMPLATES.filters.update(is_signal=frozenset(SIGNAL_KINDS).__contains__)
