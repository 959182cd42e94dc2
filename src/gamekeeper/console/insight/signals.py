"""The pages of signals: the list with filters, and one signal with its evidence and what to do next."""

from collections.abc import Mapping

from gamekeeper.console.audit import change_lines
from gamekeeper.console.frame import list_page, pages
from gamekeeper.console.frame.labels import SIGNAL_TITLES
from gamekeeper.console.frame.list_page import SignalsPageQuery
from gamekeeper.console.frame.menu import CHANGES, SUPPORT
from gamekeeper.console.frame.refusals import NoSuchPage
from gamekeeper.console.frame.routes import Dialog, page_route
from gamekeeper.console.frame.texts import PerLanguage, gettext
from gamekeeper.game.core import lookup
from gamekeeper.game.insight import signals
from gamekeeper.game.insight.economy_reports import is_command_line
from gamekeeper.game.insight.signals import EvidenceChange, SignalDetails
from gamekeeper.http.insight.signals import hide_accounts
from gamekeeper.http.server import queries
from gamekeeper.http.server.request import Request
from gamekeeper.http.server.response import Response
from gamekeeper.store.engine.interface import Reading
from gamekeeper.store.insight import signals as rules

SIGNALS_PER_PAGE = 30
ADVICE = PerLanguage[Mapping[str, str]](
    lambda: {
        rules.SUPPLY: gettext(
            "Look at the changes and at the page of the item: who got it, and from where? If it was duplicated, take "
            "it away or undo the changes, and tell the developers of the game. If it was an event, acknowledge the "
            "signal."
        ),
        rules.GAIN: gettext(
            "Look at the changes and the history of the player. A trade has a player who lost as much at the "
            "same time. If the items were duplicated, take them away or undo the changes, and tell the developers of "
            "the game."
        ),
        rules.GIFT: gettext(
            "Ask who gave it. If it was a mistake, undo the change or the bulk job. If such gifts are usual, raise the "
            "limit gift in GAMEKEEPER_SIGNALS, or hold them for approval with GAMEKEEPER_APPROVALS."
        ),
        rules.BAG: gettext(
            "Compare the bag in the inventories of both players with the game. If the game has it twice, it was "
            "duplicated: remove one in the game."
        ),
        rules.CONSERVATION: gettext(
            "Run the doctor on the page Health: it names the players and slots that differ from the audit log. "
            "Then count again with: gamekeeper economy --recount"
        ),
        rules.REFUSALS: gettext(
            "Look at the security log and the access log: "
            "somebody may guess passwords, or a program may have a wrong key."
        ),
        rules.SILENT: gettext(
            "Check that the game server runs and reaches Gamekeeper. "
            "Its players are offline here until it reports again."
        ),
    }
)


async def show(request: Request) -> Response:
    """List signals, the open ones by default."""
    query = queries.decode(SignalsPageQuery, request.query)
    state = None if query.state == "all" else query.state
    page, following = await request.services.keeper.store.read(
        lambda tx: signals.load_page(tx, query.before, SIGNALS_PER_PAGE, query.rule or None, state)
    )
    return pages.render(
        request,
        "insight/signals.html",
        lines=[change_lines.make_signal_line(hide_accounts(each, request.caller)) for each in page],
        rules=SIGNAL_TITLES(),
        rule=query.rule or "",
        shown=query.state,
        states={rules.OPEN: gettext("Open"), rules.ACKNOWLEDGED: gettext("Acknowledged"), "all": gettext("All")},
        **list_page.link_by_time(request, following),
    )


async def show_signal(request: Request) -> Response:
    signal_id = lookup.parse_guid(request.params[0])
    if signal_id is None:
        raise NoSuchPage

    async def read(tx: Reading) -> tuple[SignalDetails, list[EvidenceChange]]:
        found = hide_accounts(await signals.find(tx, signal_id), request.caller)
        return found, await signals.read_changes(tx, found.evidence)

    found, changes = await request.services.keeper.store.read(read)
    line = change_lines.make_signal_line(found)
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


def _list_facts(found: SignalDetails) -> list[tuple[str, int]]:
    """List the numbers of the evidence with their labels."""
    evidence, is_refusals = found.evidence, found.signal.rule == rules.REFUSALS
    every = (
        (gettext("Requests refused") if is_refusals else gettext("Quantity"), evidence.quantity),
        (gettext("Limit"), evidence.limit),
        (gettext("Usual"), evidence.usual),
        (gettext("In circulation before"), evidence.before),
        (gettext("In circulation after"), evidence.after),
    )
    return [(label, number) for label, number in every if number is not None]


DIALOGS = (Dialog("acknowledge_signal", "Acknowledge the signal"),)
PAGES = (
    page_route("/signals", show, CHANGES)
    .in_menu("Signals", SUPPORT, 40, "signal")
    .with_help("What the rules have found: duplicated items, large gifts, silent game servers and more.", "signals"),
    page_route("/signals/[signal]", show_signal, CHANGES).with_help(
        "One signal with its evidence. Look into it, then acknowledge it with a note for your colleagues.", "signals"
    ),
)
