"""Commands to the game: which game servers are told of them, and what the game servers acknowledge.

A command is a change that the game must carry out, such as a kick. It has a delivery for each game server that must do
so. "Sent" is derived from the cursors with which game servers poll the change feed, so that a poll writes nothing.
"""

from collections.abc import Sequence

from gamekeeper.game.change import Unlogged
from gamekeeper.game.changes import Decision
from gamekeeper.game.delivery_refusals import NotTold
from gamekeeper.store import deliveries
from gamekeeper.store.deliveries import APPLIED, FAILED, UNKNOWN, WAITING, Acknowledgement
from gamekeeper.store.engine import Reading, Store, Writing
from gamekeeper.store.feed import FeedRow
from gamekeeper.store.kinds import COMMANDS, STATE_COMMANDS, TOLD_ONCE

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
                await deliveries.save_cursors(tx, moved)

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
    found = await deliveries.read_of_changes(tx, numbers)
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
    states = await deliveries.lock(tx, server, [each.seq for each in acks])
    taken: dict[int, Acknowledgement] = {}
    for each in acks:
        if each.seq not in states:
            raise NotTold(server=server, seq=each.seq)
        if each.state in _FOLLOWING.get(states[each.seq], ()):
            states[each.seq], taken[each.seq] = each.state, each

    async def save(tx: Writing) -> None:
        deliveries.acknowledge(tx, server, taken.values())

    return Decision([Unlogged(save)] if taken else [], [(each.seq, states[each.seq]) for each in acks])
