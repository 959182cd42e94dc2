"""Kills, warps and chat messages: commands that the game carries out at most once."""

from collections.abc import Mapping
from typing import NamedTuple

from gamekeeper.game import lookup, moderation, texts
from gamekeeper.game.actors import NO_PERMISSION, Actor, read_permissions
from gamekeeper.game.changes import Decision
from gamekeeper.game.codec import Codec, SubjectIds
from gamekeeper.game.command_effects import GameCommanded
from gamekeeper.game.delivery_refusals import InvalidMap, InvalidPlayerId, NoRecipient, NoSuchMap
from gamekeeper.game.refusals import NoSuchPlayer, NoSuchUser, Outranked, UserNotOnline
from gamekeeper.store import catalogue, players, presence, users
from gamekeeper.store import moderation as moderation_rows
from gamekeeper.store.engine import Reading
from gamekeeper.store.users import User

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
    texts.require_text(order.reason, "reason", texts.MAX_REASON_CHARACTERS)
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
    if compare and not moderation.can_act_on(await read_permissions(tx, order.actor), user):
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
