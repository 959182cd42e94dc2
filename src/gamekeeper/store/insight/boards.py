"""Boards, their seasons, and accounts that are hidden from them."""

from collections.abc import Iterable
from typing import Literal, NamedTuple

from gamekeeper.ground.wire import Guid, Shape
from gamekeeper.store.engine.interface import Reading, Row, Writing
from gamekeeper.store.engine.statements import Statements, as_column

SQL = Statements(__file__)
LEVEL, ITEM, VARIABLE, PLAY_TIME = "level", "item", "variable", "play_time"
Ranks = Literal["level", "item", "variable", "play_time"]
NOT_STARTED = -1
FIRST_ACCOUNT = "00000000-0000-0000-0000-000000000000"  # before all ids


class Board(NamedTuple):
    id: str
    name: str
    title: str
    ranks: str  # level, item, variable or play_time
    thing_id: str | None
    gain: bool
    hide_staff: bool
    public: bool
    created_at: int
    thing: str | None = None  # name of the item or variable; None: it has none, or it is not in the catalogue


class Season(NamedTuple):
    id: str
    board_id: str
    number: int
    title: str
    starts_at: int
    ends_at: int | None
    seq: int = NOT_STARTED  # changes up to this number are counted
    swept: str | None = None  # players up to this id are counted; None: all
    final: bool = False


class OpenSeason(NamedTuple):
    """A season that is not final, with what its board ranks."""

    season: Season
    ranks: str
    thing_id: str | None
    gain: bool
    hide_staff: bool


class BoardChange(NamedTuple):
    """A change of the audit log with the fields that boards need."""

    seq: int
    at: int
    kind: str
    player_id: str | None
    user_id: str | None
    before: bytes | str | None
    after: bytes | str | None


class EndedBan(NamedTuple):
    ends_at: int
    started_at: int
    user_id: str


NO_BAN = EndedBan(0, -1, FIRST_ACCOUNT)


class HiddenAccount(Shape):
    user_id: Guid
    user: str


def insert(tx: Writing, board: Board) -> None:
    tx.defer(SQL.insert, *board[:9])


def update(tx: Writing, board: Board) -> None:
    """Update a board. If it hides staff from now on, or shows them, the review of all staff starts."""
    tx.defer(SQL.update, board.id, board.title, board.hide_staff, board.public, FIRST_ACCOUNT)


async def read_reviewing(tx: Reading) -> dict[str, str]:
    """Return the boards whose staff is being reviewed, each with the account up to which it is."""
    return {row[0]: row[1] for row in await tx.all(SQL.reviewing)}


async def read_all(tx: Reading) -> list[Board]:
    return await tx.rows(Board, SQL.all)


async def find(tx: Reading, name: str) -> Board | None:
    return await tx.row(Board, SQL.find, name)


async def lock(tx: Reading, board_id: str) -> None:
    await tx.one(SQL.lock, board_id)


def insert_season(tx: Writing, season: Season) -> None:
    tx.defer(SQL.insert_season, *season[:8])


async def read_seasons(tx: Reading, board_id: str, limit: int) -> list[Season]:
    """Read seasons of a board, newest first."""
    return await tx.rows(Season, SQL.seasons, board_id, limit)


async def find_season(tx: Reading, board_id: str, number: int) -> Season | None:
    return await tx.row(Season, SQL.season, board_id, number)


async def read_open(tx: Reading) -> list[OpenSeason]:
    """Read all seasons that are not final, in the order in which they are counted."""
    return [_to_open(row) for row in await tx.all(SQL.open)]


async def read_rules(tx: Reading, season_ids: Iterable[str]) -> dict[str, OpenSeason]:
    """Read seasons by their ids, final ones too, with what their boards rank."""
    rows = await tx.all(SQL.rules, as_column("id", season_ids))
    return {row[0]: _to_open(row) for row in rows}


async def move_season(tx: Writing, season: Season) -> None:
    await tx.returning(SQL.move_season, season.id, season.seq, season.swept, season.final)


async def read_changes(tx: Reading, after: int, upto: int, limit: int) -> list[BoardChange]:
    return await tx.rows(BoardChange, SQL.changes, after, upto, limit)


async def find_change_from(tx: Reading, seq: int) -> tuple[int, int] | None:
    """Return number and time of the first change from a number on."""
    row = await tx.one(SQL.change_at_or_after, seq)
    return (row[0], row[1]) if row else None


async def read_trimmed(tx: Reading) -> int:
    return await tx.value(SQL.trimmed) or 0


async def is_hidden(tx: Reading, user_id: str) -> bool:
    return await tx.one(SQL.is_hidden, user_id) is not None


async def find_hidden_waiting(tx: Reading, limit: int) -> list[str]:
    """Return accounts that were hidden or shown again, and whose standings do not have that yet."""
    return [row[0] for row in await tx.all(SQL.hidden_waiting, limit)]


async def find_ended_bans(tx: Reading, after: EndedBan, upto: int, limit: int) -> list[EndedBan]:
    """Return the bans after another one, in the order of their ends, that ended up to a time."""
    return await tx.rows(EndedBan, SQL.bans_ended, *after, upto, limit)


async def has_deleted(tx: Reading) -> bool:
    return await tx.one(SQL.has_deleted) is not None


def _to_open(row: Row) -> OpenSeason:
    season = Season(*row[:9])._replace(final=bool(row[8]))
    return OpenSeason(season, row[9], row[10], bool(row[11]), bool(row[12]))
