"""The public side: boards and players for web pages, without a token. Off by default.

Its routes exist only if the setting `public_boards` is on. They are read-only, have no ids, and never say why
something is not there: an unknown, hidden or banned player and a board that is not public are the same 404.
"""

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from gamekeeper.game.core import lookup
from gamekeeper.game.core.refusals import NoSuchPlayer
from gamekeeper.game.insight import boards, standings
from gamekeeper.game.insight.boards import SeasonRecord, StandingsPage
from gamekeeper.game.insight.refusals import NoSuchBoard, NoSuchSeason
from gamekeeper.ground.settings import BadSetting, Settings, variable
from gamekeeper.ground.wire import PageRange, PlainInt32, PlainInt64, Shape
from gamekeeper.http.contract.operation import NO_TOKEN, READ, REVALIDATED, Route
from gamekeeper.http.contract.records import make_record
from gamekeeper.http.contract.shapes import PageNumber, PageSize
from gamekeeper.http.insight.boards import SeasonNumber
from gamekeeper.http.players import players
from gamekeeper.http.server.request import Request
from gamekeeper.http.server.response import Response
from gamekeeper.store.engine.interface import Reading
from gamekeeper.store.insight import boards as rows
from gamekeeper.store.insight import standings as places
from gamekeeper.store.insight.boards import Board, Ranks
from gamekeeper.store.players.players import StoredPlayer


class PublicQuery(Struct, frozen=True):
    season: SeasonNumber | UnsetType = UNSET
    page: PageNumber = 0
    pageSize: PageSize = 10  # noqa: N815 - the wire's spelling


class PublicPlace(Shape):
    rank: PlainInt32
    name: str | None  # null: the player was deleted
    value: PlainInt64


class PublicBoard(Shape):
    name: str
    title: str
    ranks: Ranks
    thing: str | None
    gain: bool
    season: SeasonRecord
    seasons: list[SeasonRecord]
    total: PlainInt32
    page: PlainInt32
    page_size: PlainInt32
    count: PlainInt32
    values: list[PublicPlace]


class BoardPlace(Shape):
    """The place of a player in the running or last season of a public board."""

    board: str
    title: str
    rank: PlainInt32
    value: PlainInt64


class PublicPlayer(Struct):
    """A player, as in its record. The fields of the record that the setting `public_fields` names follow."""

    Name: Raw
    Level: Raw
    Class: Raw
    Rank: PlainInt32
    Boards: list[BoardPlace]


ROOT = "/api/public/v1"
CACHED = b"public, max-age=30"
MAX_BOARDS = 10  # public boards whose places are in the answer about a player
# fields of a player's record that the setting `public_fields` can name; none leads to an account
FIELDS = frozenset(
    {
        *("Exp", "ExperienceToNextLevel", "Gender", "Sprite", "Face", "Dead"),
        *("CreationDate", "PlayTimeSeconds", "MapName", "Online", "LastOnline"),
    }
)


def parse_fields(settings: Settings) -> tuple[str, ...]:
    """Parse the setting `public_fields`."""
    names = tuple(filter(None, (each.strip() for each in settings.public_fields.split(","))))
    for each in names:
        if each not in FIELDS:
            known = ", ".join(sorted(FIELDS))
            raise BadSetting(f"{variable('public_fields')} has '{each}'; it can have: {known}.")
    return names


async def show_board(request: Request, query: PublicQuery) -> Response:
    """Show a page of a public board."""
    keeper = request.services.keeper
    _count(request)
    size = min(query.pageSize, keeper.settings.max_page_size)

    page = PageRange(query.page, size, size)

    async def read(tx: Reading) -> StandingsPage:
        board = await boards.require_board(tx, request.params[0])
        if not board.public:
            raise NoSuchBoard(board=request.params[0])
        report = await boards.report_standings(tx, board, query.season or None, page)
        if report.season.state == "planned":  # planned seasons are not public
            raise NoSuchSeason(board=board.name, season=query.season) if query.season else NoSuchBoard(board=board.name)
        return report

    found = await keeper.store.read(read)
    begun = [each for each in found.board.seasons if each.state != "planned"]
    places = [make_record(PublicPlace, each) for each in found.values]
    return _answer(make_record(PublicBoard, found.board, found, seasons=begun, values=places))


async def show_player(request: Request) -> Response:
    """Show a player by its name: level, class, rank, places on public boards, and the fields of `public_fields`."""
    keeper = request.services.keeper
    _count(request)
    name = request.params[0]
    if lookup.parse_guid(name) is not None:  # ids are not public
        raise NoSuchPlayer(by="name", key=name)

    async def read(tx: Reading) -> tuple[StoredPlayer, list[BoardPlace]]:
        player_id = await lookup.find_player_id(tx, name)
        public = [each for each in await rows.read_all(tx) if each.public]
        seen = (await places.read_visibility(tx, [player_id])).get(player_id)
        staff_shown = any(not each.hide_staff for each in public)
        if seen is None or seen.hidden or seen.banned or (seen.staff and not staff_shown):
            raise NoSuchPlayer(by="name", key=name)
        record = await lookup.find_player_record(tx, player_id)
        found = [await _find_place(tx, each, player_id) for each in public[:MAX_BOARDS]]
        return record, [each for each in found if each is not None]

    record, found = await keeper.store.read(read)
    shown = msgspec.json.decode(players.encode_record(record), type=dict[str, msgspec.Raw])
    ranking = await keeper.lists.find_rank(name, 0)
    player = PublicPlayer(shown["Name"], shown["Level"], shown["ClassName"], ranking.rank, found)
    chosen = {each: shown[each] for each in parse_fields(keeper.settings)}
    return _answer(msgspec.structs.asdict(player) | chosen)


async def _find_place(tx: Reading, board: Board, player_id: str) -> BoardPlace | None:
    season = await boards.require_season(tx, board, None)
    place = await standings.find_place(tx, season.id, player_id)
    if place is None:
        return None
    key = places.StandingKey(player_id, season.id)
    value = (await places.read_held(tx, [key]))[key].value
    return BoardPlace(board.name, board.title, place, boards.show_number(board, value))


def _count(request: Request) -> None:
    request.services.public_guard.count(request.address, request.services.keeper.settings.public_per_minute)


def _answer(content: object) -> Response:
    return Response(msgspec.json.encode(content), cache_control=CACHED)


ROUTES: tuple[Route, ...] = (
    Route(
        method="GET",
        path=f"{ROOT}/boards/[board]",
        permissions=NO_TOKEN,
        access=READ,
        cache=REVALIDATED,
        query=PublicQuery,
        handler=show_board,
    ),
    Route(
        method="GET",
        path=f"{ROOT}/players/[lookupKey]",
        permissions=NO_TOKEN,
        access=READ,
        cache=REVALIDATED,
        handler=show_player,
    ),
)
