"""Sentences about deliveries beside changes, and the page of commands that no game server has acknowledged in time."""

from collections.abc import Iterable, Mapping

from gamekeeper.console.frame import pages
from gamekeeper.console.frame.formats import format_decimal
from gamekeeper.console.frame.texts import PerLanguage, gettext
from gamekeeper.game.world.commands import EXPIRED, NOT_NEEDED, SENT, DeliveryState
from gamekeeper.http.server.request import Request
from gamekeeper.http.server.response import Response
from gamekeeper.store.world import feed
from gamekeeper.store.world.feed import APPLIED, FAILED, UNKNOWN, WAITING

SERVER = "%(server)s"  # stays in the translated texts below, for the name of the game server
TEXTS = PerLanguage[Mapping[str, str]](
    lambda: {
        WAITING: gettext("waiting for %(server)s", server=SERVER),
        SENT: gettext("sent to %(server)s", server=SERVER),
        APPLIED: gettext("applied by %(server)s", server=SERVER),
        FAILED: gettext("failed on %(server)s", server=SERVER),
        UNKNOWN: gettext("%(server)s does not know whether it was done", server=SERVER),
        EXPIRED: gettext("expired before %(server)s confirmed it", server=SERVER),
        NOT_NEEDED: gettext("not needed by %(server)s any more: the player has left it", server=SERVER),
    }
)
PENDING = frozenset({WAITING, SENT})  # the game server may still confirm it
MOST_OVERDUE = 100  # overdue commands that are counted and listed


async def show(request: Request) -> Response:
    """Show the overdue commands, the newest first."""
    keeper = request.services.keeper
    seconds = keeper.settings.delivery_warning_seconds
    found = await feed.read_overdue(keeper.store, seconds * 1000, MOST_OVERDUE)
    return pages.render(request, "world/deliveries.html", found=found, seconds=seconds)


def describe_states(states: Iterable[DeliveryState], *, is_short: bool = True) -> list[str]:
    """Describe how far each game server has got. `is_short`: leave out game servers that need not know the change."""
    return [_describe(each) for each in states if each.state != NOT_NEEDED or not is_short]


def _describe(each: DeliveryState) -> str:
    if each.state == APPLIED and each.seconds is not None:
        return gettext(
            "applied by %(server)s after %(seconds)s s", server=each.server, seconds=format_decimal(each.seconds)
        )
    said = TEXTS()[each.state] % {"server": each.server}
    if each.state in {FAILED, UNKNOWN} and each.reason:
        return gettext("%(state)s: %(reason)s", state=said, reason=each.reason)
    return said
