"""The newest activity and trades of the game's logs, on the pages of accounts and players."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from gamekeeper.console.frame import formats
from gamekeeper.console.frame.routes import PagePart, ShownSubject
from gamekeeper.console.frame.texts import PerLanguage, gettext
from gamekeeper.game.world import logs
from gamekeeper.game.world.logs import LogFilter
from gamekeeper.ground.wire import PageRange
from gamekeeper.http.server.request import Request
from gamekeeper.http.world import logs as operations
from gamekeeper.store.engine.interface import Reading
from gamekeeper.store.world.logs import ActivityEntry, TradeRow

NEWEST = PageRange(0, 20, 20)
READ, SEE_ADDRESSES = "logs.read", "addresses.read"
WITH_DETAILS = frozenset({"FailedLogin", "NameChange"})  # actions whose text says more than the names of the page
ACTION_TITLES = PerLanguage[Mapping[str, str]](
    lambda: {  # action in lower case → title
        "create": gettext("Account created"),
        "delete": gettext("Account deleted"),
        "passwordrecoveryattempt": gettext("Password recovery attempted"),
        "passwordrecoverydispatched": gettext("Password recovery sent"),
        "passwordchanged": gettext("Password changed"),
        "twofactoradd": gettext("Second factor added"),
        "twofactorremove": gettext("Second factor removed"),
        "twofactorsuccess": gettext("Second factor accepted"),
        "twofactorfailure": gettext("Second factor wrong"),
        "twofactortimeout": gettext("Second factor timed out"),
        "login": gettext("Log-in"),
        "failedlogin": gettext("Failed log-in"),
        "logout": gettext("Log-out"),
        "disconnectlogout": gettext("Left the game"),
        "disconnecttimeout": gettext("Connection timed out"),
        "disconnectban": gettext("Disconnected by a ban"),
        "disconnectbanfail": gettext("Disconnection by a ban failed"),
        "disconnectkick": gettext("Kicked"),
        "disconnectkickfail": gettext("Kick failed"),
        "disconnectdatabasefailure": gettext("Disconnected by a database error"),
        "kill": gettext("Killed by staff"),
        "killfail": gettext("Kill by staff failed"),
        "mute": gettext("Muted"),
        "mutefail": gettext("Mute failed"),
        "createplayer": gettext("Player created"),
        "deleteplayer": gettext("Player deleted"),
        "selectplayer": gettext("Player selected"),
        "switchplayer": gettext("Player switched"),
        "namechange": gettext("Name changed"),
    }
)
PEER_TITLES = PerLanguage[Mapping[str, str]](lambda: {"client": gettext("game"), "editor": gettext("editor")})

_decode_items: Callable[[Any], Any] = operations.decode_items


class RecentLogs(NamedTuple):
    sees_addresses: bool
    activity: tuple[int, Sequence[ActivityEntry]]  # how many there are, and the newest
    trades: tuple[int, Sequence[TradeRow]] = (0, ())
    item_names: Mapping[str, str] = {}  # of the traded items that are known, by id


async def _load_recent(tx: Reading, request: Request, subject: ShownSubject) -> RecentLogs | None:
    """Load the newest entries of an account, or of a player with its trades; None: the viewer may not read the logs."""
    rights = request.caller.permissions
    if READ not in rights or subject.is_past:
        return None
    player_id, user_id = subject.subjects
    wanted = LogFilter(user_id=user_id) if player_id is None else LogFilter(player_id=player_id)
    sees_addresses = SEE_ADDRESSES in rights
    activity = await logs.load_activity(tx, wanted, NEWEST, newest_first=True)
    if player_id is None:
        return RecentLogs(sees_addresses, activity)
    trades = await logs.load_trades(tx, wanted, NEWEST, newest_first=True)
    return RecentLogs(sees_addresses, activity, trades, await operations.read_item_names(tx, trades[1]))


def _name_action(action: str) -> str:
    return ACTION_TITLES().get(action.lower(), action)


def _name_peer(peer: str) -> str:
    return PEER_TITLES().get(peer.lower(), peer)


def _describe_activity(row: ActivityEntry) -> str:
    return (row.meta or "") if row.action in WITH_DETAILS else ""


formats.FILTERS.update(
    log_action=_name_action, log_peer=_name_peer, log_details=_describe_activity, traded_items=_decode_items
)
PAGE_PARTS = (PagePart("recent", _load_recent, is_history=True),)
