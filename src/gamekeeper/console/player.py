"""A character: who it is, what it has and what happened to it; also as it was, and after it is deleted."""

from collections.abc import Mapping
from typing import NamedTuple

from gamekeeper.console import account, belongings, changes, differences, pages
from gamekeeper.console.differences import Names
from gamekeeper.console.queries import find_cursor
from gamekeeper.game import history, lookup
from gamekeeper.game.codec import ChangeSide, Codec
from gamekeeper.game.effects import PlayerDeleted
from gamekeeper.game.history import HistoryPage, PointInTime
from gamekeeper.game.lists import Ranking
from gamekeeper.game.players import Player, make_player
from gamekeeper.game.refusals import NoSuchPlayer
from gamekeeper.http import queries
from gamekeeper.http.request import Request
from gamekeeper.http.response import Response
from gamekeeper.http.wire.history import ThenQuery
from gamekeeper.store import catalogue, presence, users
from gamekeeper.store.engine import Reading
from gamekeeper.store.history import OF_PLAYER, HistoryChange, HistoryFilter
from gamekeeper.store.players import StoredPlayer
from gamekeeper.store.users import User

AROUND = 3  # above and below in the ranking
CHANGES = 20  # of the history at a time
MOST_CHOICES = 1_000  # classes and variables to choose from
ERASED = "(erased)"


class Sight(NamedTuple):
    """All that one moment of the database says."""

    player: Player
    record: StoredPlayer | None  # None: it is deleted
    deletion: HistoryChange | None
    held: ChangeSide
    names: Names
    owner: User | None
    looker: User | None
    server: str | None
    past: HistoryPage
    classes: list[catalogue.CatalogueEntry]
    variables: list[catalogue.CatalogueEntry]


class Neighbour(NamedTuple):
    rank: int
    player: Player


async def show(request: Request) -> Response:
    moment = queries.decode(ThenQuery, request.query).at
    sight = await request.read_in_pieces(lambda tx, rest: _look(tx, request, moment, rest))
    player, then = sight.player, moment != PointInTime()
    standing = (
        None if then or sight.record is None else await request.services.keeper.lists.find_rank(player.id, AROUND)
    )
    equipment = () if then else player.equipment
    told = [*([sight.deletion] if sight.deletion else []), *sight.past.changes]
    entries = await changes.load_entries(request, told, sight.past.undone)
    home, at = f"/console/players/{player.id}", {"at": request.query.get("at", "")}
    return pages.render(
        request,
        "player.html",
        sight=sight,
        player=player,
        record=sight.record,
        home=home,
        operations=f"/api/v1/players/{player.id}",
        moment=moment if then else None,
        live=sight.record is not None and not then,
        standing=standing,
        neighbours=_neighbours(standing, request.services.keeper.changes.codec) if standing else [],
        grids=belongings.grids(sight.held, sight.names, request.services.keeper.settings, equipment),
        stats=list(zip(belongings.STATS, player.base_stats, player.stat_point_allocations, strict=False)),
        variables=_by_name(sight.held.variables, sight.names),
        acts=account.acts(request, sight.looker, sight.owner),
        days=account.DAYS,
        deletion=entries.pop(0) if sight.deletion else None,
        entries=[each._replace(undoable=each.undoable and not then) for each in entries],
        newest=changes.build_address(home, at) if "before" in request.query else "",
        older=changes.build_address(home, at, before=str(sight.past.next)) if sight.past.next else "",
        max_level=request.services.keeper.settings.max_level,
    )


async def _look(tx: Reading, request: Request, moment: PointInTime, rest: history.Pause) -> Sight:
    spelling = request.services.keeper.changes.codec
    accounts = "users.query" in request.caller.permissions
    seen = HistoryFilter(within=OF_PLAYER, accounts=accounts, me=request.caller.account_id)
    player, record, deletion = await _who(tx, request.params[0], spelling, seen)
    if deletion and moment == PointInTime():
        held = spelling.decode_side(deletion.before or b"{}")  # all that it had
    else:
        _, world = await history.load_state_at(tx, player.id, moment, spelling, rest)
        held = world.make_side(player)
    wanted = seen._replace(whose=player.id)
    return Sight(
        player=player,
        record=record,
        deletion=deletion,
        held=held,
        names=await differences.load_names(tx, [held]),
        owner=await users.find_by_id(tx, player.user_id),
        looker=await users.find_by_id(tx, request.caller.account_id),
        server=await presence.find_server_of(tx, player.id),
        past=await history.load_page(tx, wanted, find_cursor(request), CHANGES),
        classes=await catalogue.read_page(tx, "classes", MOST_CHOICES, 0),
        variables=await catalogue.read_page(tx, "variables", MOST_CHOICES, 0),
    )


async def _who(
    tx: Reading, key: str, spelling: Codec, seen: HistoryFilter
) -> tuple[Player, StoredPlayer | None, HistoryChange | None]:
    """By id or name; who is deleted is known by id alone, as the ledger has it."""
    try:
        record = await lookup.find_player_record(tx, key)
    except NoSuchPlayer:
        deletion = await _deletion(tx, key, seen)
        if deletion is None:
            raise
        return _as_it_was(deletion, spelling), None, deletion
    return spelling.decode_player(record.document, record.last_online), record, None


async def _deletion(tx: Reading, key: str, seen: HistoryFilter) -> HistoryChange | None:
    player_id = lookup.parse_guid(key)
    if player_id is None:
        return None
    wanted = seen._replace(whose=player_id, kind=PlayerDeleted.kind)
    found = (await history.load_page(tx, wanted, None, 1)).changes
    return found[0] if found else None


def _as_it_was(deletion: HistoryChange, spelling: Codec) -> Player:
    """What is left of somebody who was erased says neither name nor owner."""
    trace = spelling.decode_side(deletion.before or b"{}")
    known = {name: value for name, value in trace.player.items() if value not in {None, ""}}
    least = {"id": deletion.player_id or lookup.ZERO_GUID, "user_id": lookup.ZERO_GUID, "name": ERASED}
    return make_player(least | known, trace.unknown)


def _neighbours(found: Ranking, spelling: Codec) -> list[Neighbour]:
    """With the character itself among them, the best first."""
    ranked = sorted([*found.around, (found.rank, found.player)])
    return [Neighbour(rank, spelling.decode_player(each.document, each.last_online)) for rank, each in ranked]


def _by_name(held: Mapping[str, int | bool | None], names: Names) -> list[tuple[str, str, int | bool]]:
    """Variables with their names and values."""
    found = [(names.of("variables", each), each, value) for each, value in held.items() if value is not None]
    return [(each, name, value) for name, each, value in sorted(found)]
