"""Time travel on a player's page: the moments of the address, links to usual ones, and why one cannot be shown."""

from typing import NamedTuple

from gamekeeper.console import changes
from gamekeeper.console.server_texts import describe_refusal, translate_message
from gamekeeper.console.texts import PerLanguage, gettext
from gamekeeper.game.history import PointInTime
from gamekeeper.game.player_effects import PlayerDeleted
from gamekeeper.game.players import Player
from gamekeeper.game.refusals import BadField, HistoryTooLong, HistoryTrimmed, NotThereThen, Refusal
from gamekeeper.http import queries
from gamekeeper.http.instants import format_instant
from gamekeeper.http.request import Request
from gamekeeper.http.wire.history import ThenQuery
from gamekeeper.store import clock, history
from gamekeeper.store.engine import Reading
from gamekeeper.store.history import HistoryChange

NOW = "now"  # in the address, instead of a moment: the present
UNTIL = "until"  # in the address, with the number before it as the moment: the change that has not yet happened then
HOUR_MS = 3_600_000
AGO = PerLanguage(
    lambda: {
        gettext("an hour ago"): HOUR_MS,
        gettext("a day ago"): 24 * HOUR_MS,
        gettext("a week ago"): 7 * 24 * HOUR_MS,
    }
)
REFUSALS = (BadField, HistoryTooLong, HistoryTrimmed, NotThereThen)
BAD_MOMENT = BadField.template().format(field="at", problem="").rstrip(".")  # start of the message


class Moments(NamedTuple):
    moment: PointInTime = PointInTime()
    against: PointInTime | None = None  # the moment to compare with; None: there is no comparison

    @property
    def is_past(self) -> bool:
        return self != PRESENT


PRESENT = Moments()


class AgoLink(NamedTuple):
    title: str
    shown: str  # address of the state at that moment
    compared: str  # address of its comparison with the present


class MomentProblem(NamedTuple):
    """Why the page shows the present instead of the moment of the address."""

    text: str
    first: HistoryChange | None  # the first known change of the player, after which its state can be shown


def read_moments(request: Request) -> Moments:
    against = _read_moment(request, "against") if request.query.get("against") else None
    return Moments(_read_moment(request, "at"), against)


def _read_moment(request: Request, name: str) -> PointInTime:
    text = request.query.get(name, "")
    return queries.decode(ThenQuery, {} if text == NOW else {"at": text}).at


def read_until(request: Request, moment: PointInTime) -> int | None:
    """Return the change right after the moment, if the reader came by a link to the state before that change.

    "Before change 512" and "after change 511" are the same state, and the page names it like the link.
    """
    following = moment.seq + 1 if moment.seq is not None else None
    return following if request.query.get(UNTIL) == str(following) else None


async def explain(tx: Reading, refusal: Refusal, player: Player) -> MomentProblem:
    """Explain in the words of the page why a moment cannot be shown. Malformed ones need no first change."""
    if isinstance(refusal, BadField):
        problem = translate_message(refusal.message.removeprefix(BAD_MOMENT).removesuffix("."))
        return MomentProblem(gettext("The moment %(problem)s", problem=f"{problem}."), None)
    seq = await history.find_following(tx, player.id, 0, ())
    first = await history.find_change(tx, seq) if seq is not None else None
    if first and first.kind == PlayerDeleted.kind:
        first = None
    if isinstance(refusal, NotThereThen):
        return MomentProblem(gettext("Nothing is known of %(name)s at that time.", name=player.name), first)
    return MomentProblem(describe_refusal(refusal), first if isinstance(refusal, HistoryTrimmed) else None)


async def list_links(request: Request, home: str, tab: str) -> list[AgoLink]:
    """List links to usual moments. They have the time itself, so that they show the same state when opened again."""
    now = await clock.now(request.services.keeper.store)
    found: list[AgoLink] = []
    for title, ago in AGO().items():
        at = format_instant(now - ago)
        shown = changes.build_address(home, {"tab": tab, "at": at})
        found.append(AgoLink(title, shown, changes.build_address(home, {"tab": tab, "at": at, "against": NOW})))
    return found
