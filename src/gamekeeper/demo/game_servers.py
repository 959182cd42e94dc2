"""Two simulated game servers of the demo, which keep a dozen players online."""

from collections.abc import Sequence
from functools import partial

from gamekeeper import app, opening
from gamekeeper.demo.names import stable_id
from gamekeeper.demo.world import GAME_SERVERS
from gamekeeper.game import presence
from gamekeeper.game.changes import Decision, Intent
from gamekeeper.game.keeper import Keeper
from gamekeeper.http.asgi import Asgi
from gamekeeper.settings import Settings
from gamekeeper.store import presence as presence_rows
from gamekeeper.store.engine import Reading

LEASE_SECONDS = 60  # far more than RENEW_SECONDS, so that the players stay online on a machine that is busy for a while
RENEW_SECONDS = 2.0
LINK_INTENT = Intent(request_id="demo", over_link=True)


def build(settings: Settings) -> Asgi:
    """Build the demo's HTTP app, with a job that keeps players online on its simulated game servers."""
    keeper = opening.build_keeper(settings)
    return app.build(keeper, [(RENEW_SECONDS, partial(keep_online, keeper))])


async def keep_online(keeper: Keeper) -> None:
    """Renew the demo servers' leases. Log players in only if a server has none: players kicked by hand stay offline."""
    for server, names in GAME_SERVERS.items():
        beat = partial(presence.heartbeat, server=server, lease_ms=LEASE_SECONDS * 1000)
        done = await keeper.changes.apply(LINK_INTENT, beat, lambda state: b"%d" % state[1])
        if done.answer == b"0":
            ids = [stable_id("player", name) for name in names]
            await keeper.changes.apply(LINK_INTENT, partial(_join, server=server, ids=ids), lambda _: b"")


async def _join(tx: Reading, server: str, ids: Sequence[str]) -> Decision[int]:
    there = await presence_rows.find_known_players(tx, ids)  # without demo players that were deleted
    return await presence.join(tx, server, sorted(there))
