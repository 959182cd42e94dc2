"""Commands to the game (kills, warps and chat messages), and their delivery.

The game carries a command out at most once. Deliveries say which game servers are told of it, what they acknowledge,
and for each change which game servers must know of it and how far each has got. These states are derived when they are
read: from deliveries, from the cursors of the change feed and from the receipts (`AppliedSeq`) of game servers. Nothing
is written for a change that is no command.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from gamekeeper.game.access import permissions
from gamekeeper.game.access.permissions import NO_PERMISSION, read_permissions
from gamekeeper.game.core import lookup, values
from gamekeeper.game.core.change import Actor, Codec, SubjectIds, Unlogged
from gamekeeper.game.core.refusals import NoSuchPlayer, NoSuchUser, Outranked, UserNotOnline
from gamekeeper.game.core.writes import Decision
from gamekeeper.game.world.changes import GameCommanded
from gamekeeper.game.world.refusals import InvalidMap, InvalidPlayerId, NoRecipient, NoSuchMap, NotTold
from gamekeeper.store.accounts import moderation as moderation_rows
from gamekeeper.store.accounts import users
from gamekeeper.store.accounts.users import User
from gamekeeper.store.audit.history import HistoryChange
from gamekeeper.store.engine.interface import Reading, Store, Writing
from gamekeeper.store.engine.statements import COMMANDS, SIGNALS, STATE_COMMANDS, TOLD_ONCE, WITHOUT_PLAYER
from gamekeeper.store.players import players, presence
from gamekeeper.store.world import catalogue, feed
from gamekeeper.store.world.feed import (
    APPLIED,
    FAILED,
    UNKNOWN,
    WAITING,
    Acknowledgement,
    Delivery,
    FeedRow,
    ServerReceipt,
)

GLOBAL, DIRECT, PROXIMITY = "global", "direct", "proximity"  # channels of chat messages
KILLED, WARPED, CHATTED = "player_killed", "player_warped", "chat_sent"


class CommandRequest(NamedTuple):
    """A request to kill or warp a player: the name or id in the path, and who asks."""

    key: str
    actor: Actor
    key_is_player: bool
    life_ms: int
    reason: str = ""
    moderator: str = ""


class Destination(NamedTuple):
    map_id: str | None  # None: the map where the player is
    place: tuple[int, int] | None  # x and y; None: the player keeps its own


class WarpResult(NamedTuple):
    player: str
    map_id: str
    x: int
    y: int


class _Target(NamedTuple):
    player_id: str
    server: str
    user: User


async def kill(tx: Reading, order: CommandRequest) -> Decision[str]:
    """Kill a player who is online. Return its name. The caller's powers must weigh as much as those of the account."""
    values.require_text(order.reason, "reason", values.MAX_REASON_CHARACTERS)
    target = await _lock_online(tx, order, compare=True)
    details = {"Reason": order.reason, "Moderator": order.moderator}
    command = GameCommanded(KILLED, target.player_id, details, (target.server,), order.life_ms)
    return Decision([command], await _find_name(tx, target.player_id))


async def warp(tx: Reading, order: CommandRequest, to: Destination, codec: Codec) -> Decision[WarpResult]:
    """Warp a player who is online. The game decides what an unknown map means."""
    target = await _lock_online(tx, order, compare=False)
    stored = await players.lock_by_id(tx, target.player_id)
    if stored is None:
        raise UserNotOnline
    player = codec.decode_player(stored.document, stored.last_online)
    map_id = to.map_id or player.map_id
    x, y = to.place or (player.x, player.y)
    place = {"X": x, "Y": y} if to.place else {}
    command = GameCommanded(WARPED, player.id, {"MapId": map_id, **place}, (target.server,), order.life_ms)
    return Decision([command], WarpResult(player.name, map_id, x, y))


async def send_to_all(tx: Reading, message: Mapping[str, object], life_ms: int) -> Decision[None]:
    """Send a chat message to everybody in the game."""
    servers = await presence.find_live_servers(tx)
    command = GameCommanded(CHATTED, None, {"Channel": GLOBAL, **message}, servers, life_ms)
    return Decision([command], None, subject=await _find_named(tx, message))


async def send_near(tx: Reading, map_id: str, message: Mapping[str, object], life_ms: int) -> Decision[None]:
    """Send a chat message to the players on a map and its neighbours. Any map is accepted if the catalogue has none."""
    if map_id == lookup.ZERO_GUID:
        raise InvalidMap(key=map_id)
    if not await catalogue.find_by_ids(tx, "maps", [map_id]) and await catalogue.count(tx, "maps"):
        raise NoSuchMap(key=map_id)
    servers = await presence.find_live_servers(tx)
    told = {"Channel": PROXIMITY, "MapId": map_id, **message}
    return Decision(
        [GameCommanded(CHATTED, None, told, servers, life_ms)], None, subject=await _find_named(tx, message)
    )


async def send_to_player(tx: Reading, key: str, message: Mapping[str, object], life_ms: int) -> Decision[None]:
    """Send a chat message to one player who is online."""
    if lookup.parse_guid(key) == lookup.ZERO_GUID:
        raise InvalidPlayerId
    try:
        owner = await lookup.find_owner(tx, key)
    except NoSuchPlayer:
        raise NoRecipient(key=key) from None
    await presence.lock_players(tx, [owner.player_id])
    server = await presence.find_server_of(tx, owner.player_id)
    if server is None:
        raise NoRecipient(key=key)
    command = GameCommanded(CHATTED, owner.player_id, {"Channel": DIRECT, **message}, (server,), life_ms)
    return Decision([command], None)


async def _find_named(tx: Reading, message: Mapping[str, object]) -> SubjectIds:
    """Find the player or account that a chat message names as its target: an erasure blanks the stored answer."""
    name = str(message.get("Target") or "")
    try:
        owner = await lookup.find_owner(tx, name)
    except NoSuchPlayer:
        found = await users.find_by_fold(tx, lookup.fold(name)) if lookup.is_nameable(name) else None
        return None, found.id if found else None
    return owner.player_id, owner.user_id


async def _lock_online(tx: Reading, order: CommandRequest, *, compare: bool) -> _Target:
    """Find the player and lock its account; of an account with several players online, the first is meant."""
    owner = await lookup.find_owner(tx, order.key) if order.key_is_player else None
    user = await lookup.lock_user(tx, owner.user_id if owner else order.key)
    if compare and not permissions.can_act_on(await read_permissions(tx, order.actor), user):
        raise Outranked(problem=NO_PERMISSION)
    for player_id, server in await moderation_rows.find_online_of_user(tx, user.id):
        if owner is None or player_id == owner.player_id:
            return _Target(player_id, server, user)
    raise UserNotOnline


async def _find_name(tx: Reading, player_id: str) -> str:
    found = await moderation_rows.find_owner_by_id(tx, player_id)
    if found is None:
        raise NoSuchUser(by="id", key=player_id)
    return found.player


SAVE_SECONDS = 1.0  # interval between writes of the cursors
# state of a delivery → states that an acknowledgement may give it; any other acknowledgement changes nothing
_FOLLOWING = {WAITING: {APPLIED, FAILED, UNKNOWN}, UNKNOWN: {APPLIED, FAILED}}


class Cursors:
    """How far game servers have read the change feed, by the cursors of their polls at this process."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._sent: dict[str, int] = {}
        self._saved: dict[str, int] = {}

    def note(self, server: str | None, after: int) -> None:
        if server is not None and after > self._sent.get(server, 0):
            self._sent[server] = after

    def find(self, server: str) -> int:
        return self._sent.get(server, 0)

    async def save(self) -> None:
        """Store the cursors that have moved, for other processes. A background job does it."""
        moved = {server: seq for server, seq in self._sent.items() if seq > self._saved.get(server, 0)}
        if moved:

            async def save(tx: Writing) -> None:
                await feed.save_cursors(tx, moved)

            await self._store.write(save)
            self._saved |= moved


async def select_for_server(tx: Reading, rows: Sequence[FeedRow], server: str | None) -> list[FeedRow]:
    """Leave out commands for other game servers, and add to the others when they expire.

    Without a name, there is no game server that could carry out a command at most once. Notices of versions without
    deliveries are told to every game server.
    """
    if server is None:
        return [row for row in rows if row.kind not in TOLD_ONCE]
    numbers = [row.seq for row in rows if row.kind in COMMANDS]
    if not numbers:
        return list(rows)
    found = await feed.read_deliveries_of_changes(tx, numbers)
    delivered, ours = {each.seq for each in found}, {each.seq: each for each in found if each.server == server}
    return [
        row._replace(target=ours.get(row.seq))
        for row in rows
        if row.kind not in COMMANDS or row.seq in ours or (row.kind in STATE_COMMANDS and row.seq not in delivered)
    ]


async def acknowledge(tx: Reading, server: str, acks: Sequence[Acknowledgement]) -> Decision[Sequence[tuple[int, str]]]:
    """Take a game server's acknowledgements, all or none. Return the state of each command that stands.

    The first acknowledgement stands. Only `unknown` can be replaced: a game may find out later what it did.
    """
    states = await feed.lock_deliveries(tx, server, [each.seq for each in acks])
    taken: dict[int, Acknowledgement] = {}
    for each in acks:
        if each.seq not in states:
            raise NotTold(server=server, seq=each.seq)
        if each.state in _FOLLOWING.get(states[each.seq], ()):
            states[each.seq], taken[each.seq] = each.state, each

    async def save(tx: Writing) -> None:
        feed.acknowledge(tx, server, taken.values())

    return Decision([Unlogged(save)] if taken else [], [(each.seq, states[each.seq]) for each in acks])


SENT, EXPIRED, NOT_NEEDED = "sent", "expired", "not_needed"  # derived states; the others are stored
STATES = (WAITING, SENT, APPLIED, feed.FAILED, feed.UNKNOWN, EXPIRED, NOT_NEEDED)
FOR_ALL = frozenset(WITHOUT_PLAYER) - {*COMMANDS, *SIGNALS}  # kinds of changes that every game server must know
MOST_SERVERS = 100  # game servers listed for a change that all of them must know
FindCursor = Callable[[str], int]  # name of a game server → change number up to which it has read the feed


class DeliveryState(NamedTuple):
    """How far one game server has got with one change."""

    server: str
    state: str
    reason: str | None = None  # what the game says about it
    at: int | None = None  # when the game server acknowledged it, or when it expired; None: not known
    seconds: float | None = None  # from the request to the acknowledgement


States = Mapping[int, Sequence[DeliveryState]]  # number of a change → its states; missing: no game server needs it
NO_STATES: States = MappingProxyType({})


def ignore_cursors(_server: str) -> int:
    """Return 0 for each game server: for callers that know only the stored cursors."""
    return 0


async def load_delivery_states(
    tx: Reading, changes: Iterable[HistoryChange], find_cursor: FindCursor = ignore_cursors
) -> States:
    """Load the delivery states of a page of changes, with a fixed number of queries.

    `find_cursor`: how far game servers have read the feed at this process; the stored cursors may be older.
    """
    told = [each for each in changes if not each.over_link or each.kind in COMMANDS]
    commands = {each.seq: each for each in told if each.kind in COMMANDS}
    for_all = [each.seq for each in told if each.kind in FOR_ALL]
    player_ids = {each.player_id for each in told if each.player_id is not None}
    online = await feed.read_player_receipts(tx, player_ids) if player_ids else {}
    found = await feed.read_deliveries_of_changes(tx, commands) if commands else []
    cursors = await _load_cursors(tx, found, find_cursor)
    states: dict[int, list[DeliveryState]] = {}
    for each in found:
        player_id = commands[each.seq].player_id
        receipt = online.get(player_id) if player_id else None
        left = player_id is not None and (receipt is None or receipt.server != each.server)
        is_moot = left and commands[each.seq].kind in STATE_COMMANDS
        states.setdefault(each.seq, []).append(_find_command_state(each, cursors, is_moot=is_moot))
    for change in told:
        receipt = online.get(change.player_id) if change.player_id and change.kind not in COMMANDS else None
        if receipt:
            states[change.seq] = [_find_change_state(change.seq, receipt, find_cursor)]
    if for_all:
        servers = await feed.read_leased(tx, MOST_SERVERS)
        states |= {seq: [_find_change_state(seq, each, find_cursor) for each in servers] for seq in for_all}
    return states


async def _load_cursors(tx: Reading, found: Iterable[Delivery], find_cursor: FindCursor) -> dict[str, int]:
    """Load how far game servers have read the feed, if one of their deliveries waits."""
    waiting = {each.server for each in found if each.state == WAITING}
    stored = await feed.read_cursors(tx, waiting) if waiting else {}
    return {each: max(stored.get(each, 0), find_cursor(each)) for each in waiting}


def _find_command_state(each: Delivery, cursors: Mapping[str, int], *, is_moot: bool) -> DeliveryState:
    """Find the state of a command. `is_moot`: the player has left the game server, which need not know it any more."""
    if each.state != WAITING:
        seconds = None if each.acked_at is None else max(0, each.acked_at - each.queued_at) / 1000
        return DeliveryState(each.server, each.state, each.reason, each.acked_at, seconds)
    if each.expired:
        return DeliveryState(each.server, EXPIRED, at=each.expires_at)
    if is_moot:
        return DeliveryState(each.server, NOT_NEEDED)
    return DeliveryState(each.server, SENT if cursors[each.server] >= each.seq else WAITING)


def _find_change_state(seq: int, receipt: ServerReceipt, find_cursor: FindCursor) -> DeliveryState:
    if receipt.applied_seq >= seq:
        return DeliveryState(receipt.server, APPLIED)
    is_sent = max(receipt.sent_seq, find_cursor(receipt.server)) >= seq
    return DeliveryState(receipt.server, SENT if is_sent else WAITING)
