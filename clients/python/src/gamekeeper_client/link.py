"""The game link: what a game server tells, and the changes it follows. Needs the role game.link."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal, Unpack

from gamekeeper_client.call import Batch, Call, WriteOptions, every_page, get, path, query, reading, then, write
from gamekeeper_client.players import LARGEST_PAGE
from gamekeeper_client.shapes import (
    Change,
    Changes,
    Count,
    ItemEntry,
    Kind,
    Lease,
    NamedEntry,
    Online,
    Page,
    Player,
    Players,
    PutPlayer,
    ServerState,
    VariableEntry,
)

LINK = "/api/link/v1"
LONGEST_WAIT = 60
After = int | Literal["now"]
Entry = ItemEntry | NamedEntry | VariableEntry
ENTRIES: dict[str, Any] = {"items": ItemEntry, "variables": VariableEntry}

_online = then(reading(Online), lambda answer: answer.online)


def put_catalogue(kind: Kind, entries: Sequence[Entry], **options: Unpack[WriteOptions]) -> Call[int]:
    """Adds and replaces entries by id; answers how many there were."""
    read = then(reading(Count), lambda answer: answer.count)
    return write("PUT", path(LINK + "/catalogue/{}", kind), read, list(entries), **options)


def catalogue(kind: Kind, *, page_size: int = LARGEST_PAGE) -> Call[Batch[Entry]]:
    """Every entry of a kind, fetched a page at a time."""
    return every_page(lambda page: catalogue_page(kind, page, page_size=page_size))


def catalogue_page(
    kind: Kind, page: int = 0, *, page_size: int | None = None, limit: int | None = None
) -> Call[Page[Entry]]:
    shape: type[Page[Entry]] = Page[ENTRIES.get(kind, NamedEntry)]
    wanted = query(page=page, pageSize=page_size, limit=limit)
    return get(path(LINK + "/catalogue/{}", kind), reading(shape), wanted)


def put_player(player_id: str, fields: PutPlayer, **options: Unpack[WriteOptions]) -> Call[Player]:
    """Creates a character, or sets the fields given. Raises UnappliedChanges when `applied_seq` is behind."""
    return write("PUT", path(LINK + "/players/{}", player_id), reading(Player), fields, **options)


def delete_player(player_id: str, **options: Unpack[WriteOptions]) -> Call[Player]:
    """Answers the record that was."""
    return write("DELETE", path(LINK + "/players/{}", player_id), reading(Player), **options)


def heartbeat(server: str, lease: int, **options: Unpack[WriteOptions]) -> Call[ServerState]:
    """The server lives for so many seconds more."""
    return write("PUT", path(LINK + "/servers/{}", server), reading(ServerState), Lease(lease), **options)


def joined(server: str, player_ids: Sequence[str], **options: Unpack[WriteOptions]) -> Call[int]:
    """Answers how many are on the server now."""
    address = path(LINK + "/servers/{}/joined", server)
    return write("POST", address, _online, Players(list(player_ids)), **options)


def left(server: str, player_ids: Sequence[str], **options: Unpack[WriteOptions]) -> Call[int]:
    """Answers how many are on the server now."""
    address = path(LINK + "/servers/{}/left", server)
    return write("POST", address, _online, Players(list(player_ids)), **options)


def shut(server: str, **options: Unpack[WriteOptions]) -> Call[int]:
    """The server's lease ends now, and all its players are offline."""
    return write("DELETE", path(LINK + "/servers/{}", server), _online, **options)


def changes(
    after: After = 0, *, wait: int = 0, limit: int | None = None, own: bool = False, epoch: str | None = None
) -> Call[Changes]:
    """One look at the feed; waits up to `wait` seconds for something to tell."""
    wanted = query(after=after, wait=wait, limit=limit, own=own, epoch=epoch)
    return replace(get(f"{LINK}/changes", reading(Changes), wanted), wait=min(wait, LONGEST_WAIT))


def follow(
    after: After = 0, *, own: bool = False, epoch: str | None = None, wait: int = 20, limit: int = 1000
) -> Call[Batch[Change]]:
    """Every change after a number (or from now on), then each new one as it comes, without end.

    Waits while the server is away and goes on where it was. To go on after a restart of your own, keep the `seq` of
    the last change you have applied. Raises EpochChanged when the server's database was restored
    meanwhile, and ChangesTrimmed when you were away for longer than it keeps changes.
    """
    look = changes(after, wait=wait, limit=limit, own=own, epoch=epoch)

    def batch(found: Changes) -> Batch[Change]:
        following = follow(found.next, own=own, epoch=found.epoch, wait=wait, limit=limit)
        return Batch(found.changes, following)

    return Call(look.method, look.path, then(look.read, batch), look.query, wait=look.wait, patient=True)
