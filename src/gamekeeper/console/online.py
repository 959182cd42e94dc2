"""Who is online: on all game servers, or on one, where a page goes on from a name in either direction."""

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

from gamekeeper.console import lists, live, pages, pulse
from gamekeeper.console.characters import Character, read
from gamekeeper.console.queries import SIZE, SearchQuery
from gamekeeper.game import lookup
from gamekeeper.game.refusals import BadField
from gamekeeper.game.search import ONLINE_PLAYERS
from gamekeeper.http import queries
from gamekeeper.http.request import Request
from gamekeeper.http.response import Response
from gamekeeper.store import players, presence
from gamekeeper.store.engine import Reading
from gamekeeper.store.players import StoredPlayer


class Mark(NamedTuple):
    """A folded name, and on which side of it to look."""

    fold: str
    back: bool = False


class Roster(NamedTuple):
    """Some of those on one server, by name, and the names before and after which there may be others."""

    ids: list[str]
    before: str = ""
    after: str = ""
    stopped: bool = False  # as many as may be were looked at, and they were not a page of those sought


START = Mark("")


async def show(request: Request) -> Response:
    server = request.query.get("server", "")
    records, beside = await (_on_one(request, server) if server else lists.searched(request, ONLINE_PLAYERS))
    return pages.render(
        request,
        "online.html",
        servers=await live.of(request).pulse.servers(),
        most=pulse.LOOKED_AT,
        server=server,
        characters=await _placed(request, records),
        **beside,
    )


async def _on_one(request: Request, server: str) -> tuple[Sequence[StoredPlayer], dict[str, object]]:
    sought, mark = queries.decode(SearchQuery, request.query).search, _mark(request)
    look = partial(_found, server=server, sought=lookup.fold(sought), mark=mark)
    roster, records = await request.services.keeper.store.read(look)
    to = partial(lists.address, request)
    before = to(before=roster.before, after="") if roster.before else ""
    after = to(before="", after=roster.after) if roster.after else ""
    beside: dict[str, object] = {
        "start": to(before="", after="") if mark != START else "",
        "before": before,
        "after": after,
        "further": ((mark.back and before) or after) if roster.stopped else "",
        "sought": sought,
        "short": False,
        "kept": lists.kept(request, "server"),
        "heads": {},
    }
    return records, beside


def _mark(request: Request) -> Mark:
    for name in ("before", "after"):
        fold = request.query.get(name, "")
        if "\x00" in fold:  # U+0001 may be in it; this in no text of a database
            raise BadField(field=name, problem="must be out of a link on this page")
        if fold:
            return Mark(fold, back=name == "before")
    return START


async def _found(tx: Reading, *, server: str, sought: str, mark: Mark) -> tuple[Roster, list[StoredPlayer]]:
    roster = await _roster(tx, server, sought, mark) if lookup.is_nameable(server) else Roster([])
    records = {record.id: record for record in await players.read_records_of_ids(tx, roster.ids)}
    return roster, [records[each] for each in roster.ids]


async def _roster(tx: Reading, server: str, sought: str, mark: Mark) -> Roster:
    """A page, or what there is of one among as many as are looked at; who comes back to the start gets a whole one."""
    most = pulse.LOOKED_AT if sought else SIZE
    ahead = await (presence.read_before_name if mark.back else presence.read_after_name)(
        tx, server, mark.fold, most + 1
    )
    seen, more = ahead[:most], len(ahead) > most
    found = [each for each in seen if sought in lookup.strip_clash(each.fold)]
    shown, stopped = found[:SIZE], more and len(found) < SIZE
    end = shown[-1].fold if len(found) > SIZE else seen[-1].fold if more else ""
    if mark.back and not end:
        return await _roster(tx, server, sought, START)
    ids, begin = [each.player_id for each in shown], seen[0].fold if seen and mark != START else ""
    return Roster(ids[::-1], end, begin, stopped) if mark.back else Roster(ids, begin, end, stopped)


async def _placed(request: Request, records: Sequence[StoredPlayer]) -> list[tuple[Character, str]]:
    """With the server that each is on; nothing for one who has left since."""
    servers = await presence.find_servers_of(request.services.keeper.store, [each.id for each in records])
    return [(each, servers.get(each.record.id, "")) for each in read(request, records)]
