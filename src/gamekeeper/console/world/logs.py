"""The newest activity and trades of the game's logs, on the pages of accounts and players."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import msgspec

from gamekeeper.console.frame.routes import PagePart, ShownSubject
from gamekeeper.console.frame.texts import PerLanguage, gettext
from gamekeeper.game.world import logs
from gamekeeper.game.world.logs import LogFilter, LogPage, LogSlice
from gamekeeper.http.server.request import Request
from gamekeeper.http.world import log_shapes
from gamekeeper.store.engine.interface import Reading
from gamekeeper.store.world import logs as rows
from gamekeeper.store.world.logs import ActivityRow, TradeRow

NEWEST = LogSlice(0, 20, newest_first=True)
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
_decode_items = msgspec.json.Decoder(list[log_shapes.TradeItem]).decode


class ActivityLine(NamedTuple):
    at: int
    action: str
    peer: str
    details: str
    address: str


class TradeLine(NamedTuple):
    at: int
    target_id: str
    target: str | None  # name of the other player; None: deleted
    gave: Sequence[tuple[int, str | None]]  # quantity, and name of the item; None: unknown
    got: Sequence[tuple[int, str | None]]


class RecentLogs(NamedTuple):
    sees_addresses: bool
    activity: Sequence[ActivityLine]
    activity_total: int
    trades: Sequence[TradeLine] = ()
    trades_total: int = 0


async def _load_recent(tx: Reading, request: Request, subject: ShownSubject) -> RecentLogs | None:
    """Load the newest entries of an account, or of a player with its trades; None: the viewer may not read the logs."""
    rights = request.caller.permissions
    if READ not in rights or subject.is_past:
        return None
    player_id, user_id = subject.subjects
    wanted = LogFilter(user_id=user_id) if player_id is None else LogFilter(player_id=player_id)
    sees_addresses = SEE_ADDRESSES in rights
    found = await logs.load_activity(tx, wanted, NEWEST)
    lines = [_make_activity(each, with_address=sees_addresses) for each in found.rows]
    if player_id is None:
        return RecentLogs(sees_addresses, lines, found.total)
    trades = await logs.load_trades(tx, wanted, NEWEST)
    return RecentLogs(sees_addresses, lines, found.total, await _make_trades(tx, trades), trades.total)


def _make_activity(row: ActivityRow, *, with_address: bool) -> ActivityLine:
    action, peer = ACTION_TITLES().get(row.action.lower(), row.action), PEER_TITLES().get(row.peer.lower(), row.peer)
    details = (row.meta or "") if row.action in WITH_DETAILS else ""
    return ActivityLine(row.at, action, peer, details, (row.address or "") if with_address else "")


async def _make_trades(tx: Reading, page: LogPage[TradeRow]) -> list[TradeLine]:
    sides = [(_decode_items(row.items), _decode_items(row.target_items)) for row in page.rows]
    ids = {item.ItemId for pair in sides for side in pair for item in side}
    names = await rows.read_item_names(tx, ids) if ids else {}
    return [
        TradeLine(row.at, row.target_id, row.target, _name_items(gave, names), _name_items(got, names))
        for row, (gave, got) in zip(page.rows, sides, strict=True)
    ]


def _name_items(items: Sequence[log_shapes.TradeItem], names: Mapping[str, str]) -> list[tuple[int, str | None]]:
    return [(each.Quantity, names.get(each.ItemId)) for each in items]


PAGE_PARTS = (PagePart("recent", _load_recent, is_history=True),)
