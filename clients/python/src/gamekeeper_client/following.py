"""Follow the change feed, for game servers: `follow_changes`."""

from typing import Literal

from gamekeeper_client.call import Batch, Call, convert
from gamekeeper_client.feed import Change, Changes, FeedOperations
from gamekeeper_client.operation import iterator

After = int | Literal["now"]


class Following:
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
            following = Following.follow_changes.call(
                found.next, own=own, epoch=found.epoch, wait=wait, limit=limit, server=server
            )
            return Batch(found.changes, following)

        first = FeedOperations.list_changes.call(after, wait=wait, limit=limit, own=own, epoch=epoch, server=server)
        return convert(first, batch, endless=True)
