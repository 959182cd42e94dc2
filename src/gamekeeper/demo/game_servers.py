"""Two simulated game servers of the demo: they keep a dozen players online, and carry out and acknowledge commands."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import msgspec

from gamekeeper import app
from gamekeeper.demo.world import API_ACCOUNT, GAME_SERVERS, make_stable_id
from gamekeeper.game.core.refusals import ChangesTrimmed, CursorAhead, Refusal
from gamekeeper.game.core.writes import Decide, Decision, Intent
from gamekeeper.game.keeper import Keeper
from gamekeeper.game.players import presence
from gamekeeper.game.world import commands, link
from gamekeeper.game.world.feed import FeedQuery
from gamekeeper.game.world.link import PlayerReport
from gamekeeper.ground.settings import Settings
from gamekeeper.http import keeper_builder
from gamekeeper.http.server.asgi import Asgi
from gamekeeper.store.engine.interface import Reading
from gamekeeper.store.players import presence as presence_rows
from gamekeeper.store.world import feed as delivery_rows
from gamekeeper.store.world.feed import APPLIED, FAILED, Acknowledgement, FeedRow

LEASE_SECONDS = 60  # far more than RENEW_SECONDS, so that the players stay online on a machine that is busy for a while
RENEW_SECONDS = 2.0
FOLLOW_SECONDS = 0.5  # interval between two reads of the change feed
CHANGES_PER_READ = 500
ACCOUNT_ID = make_stable_id("user", API_ACCOUNT)  # account of the game servers
LINK_INTENT = Intent(request_id="demo", over_link=True, actor_id=ACCOUNT_ID)
THROWN_OUT = ("user_kicked", "user_banned")
WARPED = "player_warped"
FIELDS = {"MapId": "map_id", "X": "x", "Y": "y"}  # field of a warp → attribute of a player


def build(settings: Settings) -> Asgi:
    """Build the demo's HTTP app, with jobs that simulate its game servers."""
    keeper = keeper_builder.build_keeper(settings)
    game = DemoGame(keeper)
    return app.build(keeper, [(RENEW_SECONDS, game.keep_online), (FOLLOW_SECONDS, game.follow)])


class DemoGame:
    """The demo's game: all of its game servers in one process."""

    def __init__(self, keeper: Keeper) -> None:
        self._keeper = keeper
        self._cursors: dict[str, int] = {}  # game server → number up to which it has applied all changes

    async def keep_online(self) -> None:
        """Renew the leases. Log players in only if a server has none: players who were kicked stay offline."""
        for server, names in GAME_SERVERS.items():
            beat = partial(presence.heartbeat, server=server, lease_ms=LEASE_SECONDS * 1000)
            receipt = partial(beat, applied=self._cursors.get(server))
            try:
                online = await self._apply(receipt, lambda state: b"%d" % state[1])
            except CursorAhead:  # the newest changes were trimmed
                online = await self._apply(beat, lambda state: b"%d" % state[1])
            if online == b"0":
                ids = [make_stable_id("player", name) for name in names]
                await self._apply(partial(_join, server=server, ids=ids))

    async def follow(self) -> None:
        """Read the new changes of the feed, and carry out the commands among them."""
        for server in GAME_SERVERS:
            try:
                await self._follow_as(server)
            except (ChangesTrimmed, CursorAhead):
                self._cursors[server] = await self._find_present()

    async def _follow_as(self, server: str) -> None:
        if server not in self._cursors:  # go on after the last run of the demo, unless its lease has expired
            stored = await delivery_rows.read_cursors(self._keeper.store, [server])
            self._cursors[server] = stored.get(server) or await self._find_present()
        page = await self._keeper.feed.read_changes(_make_query(self._cursors[server], server))
        for change in page.changes:
            if change.target is not None and not change.target.expired:
                await self._carry_out(server, change)
        self._cursors[server] = page.next

    async def _find_present(self) -> int:
        return (await self._keeper.feed.read_changes(_make_query(None, None))).next

    async def _carry_out(self, server: str, command: FeedRow) -> None:
        """Carry out a command and acknowledge it in one transaction, so that it happens exactly once."""
        try:
            await self._apply(partial(self._decide, server=server, command=command))
        except Refusal as refusal:
            failed = [Acknowledgement(command.seq, FAILED, refusal.message[:255])]
            await self._apply(partial(commands.acknowledge, server=server, acks=failed))

    async def _apply(self, decide: Decide[Any], answer: Callable[[Any], bytes] = lambda _: b"") -> bytes:
        """Apply a change as a game server does, and return the answer."""
        return (await self._keeper.changes.apply(LINK_INTENT, decide, answer)).answer

    async def _decide(self, tx: Reading, server: str, command: FeedRow) -> Decision[None]:
        done: Sequence[Any] = ()
        if command.player_id and command.kind in THROWN_OUT:
            done = (await presence.leave(tx, server, [command.player_id])).changes
        elif command.player_id and command.kind == WARPED:
            done = (await self._warp(tx, command.player_id, command.after or b"{}")).changes
        acks = [Acknowledgement(command.seq, APPLIED, None)]
        return Decision([*done, *(await commands.acknowledge(tx, server, acks)).changes], None)

    async def _warp(self, tx: Reading, player_id: str, after: str | bytes) -> Decision[Any]:
        """Report a warped player's new place."""
        told: dict[str, object] = msgspec.json.decode(after)
        report = PlayerReport(fields={FIELDS[name]: value for name, value in told.items() if name in FIELDS})
        codec, settings = self._keeper.changes.codec, self._keeper.settings
        return await link.put_player(tx, player_id, report, settings, codec, account_id=ACCOUNT_ID)


def _make_query(after: int | None, server: str | None) -> FeedQuery:
    return FeedQuery(
        after, CHANGES_PER_READ, wait_seconds=0, account_id=ACCOUNT_ID, include_own=False, epoch=None, server=server
    )


async def _join(tx: Reading, server: str, ids: Sequence[str]) -> Decision[int]:
    there = await presence_rows.find_known_players(tx, ids)  # without demo players that were deleted
    return await presence.join(tx, server, sorted(there))
