"""Presence: a player is online while a game server with a valid lease says so."""

from collections.abc import Collection, Sequence
from functools import partial
from typing import NamedTuple

from gamekeeper.game.access.refusals import PlayerOnOtherServer
from gamekeeper.game.core import lookup
from gamekeeper.game.core.background_jobs import Erasure, Job, OldRows
from gamekeeper.game.core.change import Unlogged
from gamekeeper.game.core.refusals import CursorAhead, NoSuchPlayer, NoSuchServer
from gamekeeper.game.core.writes import CoreKeeper, Decision
from gamekeeper.store.core import ledger
from gamekeeper.store.engine import clock
from gamekeeper.store.engine.interface import Reading, Store, Writing
from gamekeeper.store.insight import signals
from gamekeeper.store.insight.signals import SILENT
from gamekeeper.store.players import presence

EXPIRE_SECONDS = 0.5


class Speaker(NamedTuple):
    """An API key that may speak for some game servers only."""

    key: str  # name of the key
    servers: Collection[str]


async def heartbeat(tx: Reading, server: str, lease_ms: int, applied: int | None = None) -> Decision[tuple[int, int]]:
    """Renew a game server's lease. Return when it ends, and the number of players on the server.

    `applied`: the game server has applied all changes up to this number; None: it does not say.
    """
    online = await presence.count_of_server(tx, server)
    if applied is not None and applied > (last := (await ledger.read_state(tx)).last):
        raise CursorAhead(last=last)

    async def renew(tx: Writing) -> None:
        presence.save_server(tx, server, lease_ms, applied)

    return Decision([Unlogged(renew)], (await clock.now(tx) + lease_ms, online))


def make_receipt(player_id: str, applied: int) -> Unlogged:
    """Make the effect that stores how far a player's game server has applied the changes of the player."""
    return Unlogged(partial(presence.save_applied, player_id=player_id, applied=applied))


async def join(tx: Reading, server: str, ids: Sequence[str], speaker: Speaker | None = None) -> Decision[int]:
    """Bring players online; those on another game server move, unless `speaker` may not speak for that server."""
    await _lock_server_and_players(tx, server, ids)
    await _refuse_elsewhere(tx, ids, speaker)
    here = await presence.count_of_server(tx, server)
    already = await presence.find_on_server(tx, server, ids)
    return Decision(
        [Unlogged(partial(presence.join, name=server, ids=sorted(set(ids))))], here + len(set(ids) - already)
    )


async def leave(tx: Reading, server: str, ids: Sequence[str]) -> Decision[int]:
    """Take players offline. Players on another game server stay online: a late `left` undoes no newer `joined`."""
    await _lock_server_and_players(tx, server, ids)
    here = await presence.count_of_server(tx, server)
    leaving = await presence.find_on_server(tx, server, ids)
    return Decision([Unlogged(partial(presence.leave, name=server, ids=sorted(leaving)))], here - len(leaving))


async def require_reach(tx: Reading, player_id: str, speaker: Speaker | None) -> None:
    """Lock a player; refuse a speaker that may not speak for the game server on which the player is online."""
    if speaker is not None:
        await presence.lock_players(tx, [player_id])
        await _refuse_elsewhere(tx, [player_id], speaker)


async def _refuse_elsewhere(tx: Reading, ids: Sequence[str], speaker: Speaker | None) -> None:
    if speaker is None or not ids:
        return
    for player_id, server in (await presence.find_servers_of(tx, ids)).items():
        if server not in speaker.servers:
            raise PlayerOnOtherServer(player=player_id, server=server, name=speaker.key)


async def close_server(tx: Reading, server: str) -> Decision[int]:
    await _lock_server_and_players(tx, server, [])
    return Decision([Unlogged(partial(presence.drop_server, name=server))], 0)


async def expire_leases(store: Store) -> int:
    """Take the players of game servers with expired leases offline. Only this function checks the leases' expiry."""
    if not await presence.has_lapsed(store):
        return 0

    async def drop(tx: Writing) -> int:
        lapsed = await presence.find_lapsed(tx)
        for server in lapsed:
            await presence.drop_server(tx, server)
            await signals.add_check(tx, SILENT, server)
        return len(lapsed)

    return await store.write(drop)


async def _lock_server_and_players(tx: Reading, server: str, ids: Sequence[str]) -> None:
    if not await presence.lock_server(tx, server):
        raise NoSuchServer(name=server)
    known = await presence.lock_players(tx, ids) if ids else set[str]()
    for each in ids:
        if each not in known:
            raise NoSuchPlayer(by="id", key=each)


async def _forget_sessions(tx: Writing, player_id: str, _: int) -> int:
    return await presence.forget_sessions(tx, player_id, lookup.new_guid())


ERASURES = (Erasure(40, _forget_sessions),)
JOBS = (Job[CoreKeeper]("leases", EXPIRE_SECONDS, lambda keeper: partial(expire_leases, keeper.store)),)
OLD_ROWS = (OldRows(40, lambda settings: settings.session_days, presence.delete_old_sessions),)
