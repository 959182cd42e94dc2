"""The change feed for game servers. Both methods need the role game.link."""

from typing import Any, Literal

from msgspec import UNSET, Struct, UnsetType

from gamekeeper_client.call import Batch, Call, Payload, convert
from gamekeeper_client.operation import iterator, operation

MAX_WAIT_SECONDS = 60  # longest time that the server waits in a long poll
After = int | Literal["now"]


class Change(Struct, rename="pascal"):
    """A change of the feed; `before` and `after` are JSON with the field names of the API."""

    seq: int
    at: str
    kind: str
    player_id: str | None
    before: Any
    after: Any
    by: str | None
    request_id: str
    server: str | UnsetType = UNSET  # this field and those after it: only of commands, with `server`
    expires_at: str | UnsetType | None = UNSET
    expired: bool | UnsetType = UNSET


class Changes(Struct, rename="pascal"):
    changes: list[Change]
    next: int
    epoch: str


class Feed:
    @operation("GET", "/api/link/v1/changes")
    def list_changes(
        self,
        after: After = 0,
        *,
        wait: int = 0,
        limit: int | None = None,
        own: bool = False,
        epoch: str | None = None,
        server: str | None = None,
    ) -> Payload[Changes]:
        """List changes of the feed once.

        after: number of the last change that you have, or "now"; 0 starts with the oldest.
        wait: seconds to wait if there is no change yet, up to 60.
        limit: return at most this many changes.
        own: include the changes that your own account reported over the game link.
        epoch: `epoch` of an earlier response; raises EpochChanged if the database was restored since.
        server: name of your game server, to leave out commands for others.
        Returns the changes, the number to continue after, and the epoch.
        Raises EpochChanged, ChangesTrimmed, CursorAhead, ServerNotAllowed, BadField, RoleMissing.
        """
        query = {"after": after, "wait": wait, "limit": limit, "own": own, "epoch": epoch, "server": server}
        return Payload(Changes, query=query, wait=min(wait, MAX_WAIT_SECONDS))

    @iterator
    def follow_changes(
        self,
        after: After = 0,
        *,
        own: bool = False,
        epoch: str | None = None,
        wait: int = 20,
        limit: int = 1000,
        server: str | None = None,
    ) -> Call[Batch[Change]]:
        """Iterate over all changes, then over each new one as it comes, without end.

        While the server is away, the iterator waits; then it continues. To continue after a restart of your program,
        store the `seq` of the last change that you have applied.

        after: number of the last change that you have, or "now"; 0 starts with the oldest.
        own: include the changes that your own account reported over the game link.
        epoch: `epoch` of an earlier response; raises EpochChanged if the database was restored since.
        wait: seconds that one request waits for a change, up to 60.
        limit: changes per request.
        server: name of your game server, to leave out commands for others.
        Returns an endless iterator of changes.
        Raises EpochChanged, ChangesTrimmed if the change after `after` is no longer stored, CursorAhead,
        ServerNotAllowed, BadField, RoleMissing.
        """

        def batch(found: Changes) -> Batch[Change]:
            following = Feed.follow_changes.call(
                found.next, own=own, epoch=found.epoch, wait=wait, limit=limit, server=server
            )
            return Batch(found.changes, following)

        first = Feed.list_changes.call(after, wait=wait, limit=limit, own=own, epoch=epoch, server=server)
        return convert(first, batch, endless=True)
