"""Boards: rankings by level, an item, a variable or play time, in seasons; and accounts that are hidden from them.

Reports of boards are pages of standings, and the place of a player.
"""

import re
from collections.abc import Sequence
from typing import Annotated, Literal, cast

from msgspec import UNSET, Meta, UnsetType

from gamekeeper.game.core import lookup
from gamekeeper.game.core.refusals import BadField
from gamekeeper.game.core.writes import Decision
from gamekeeper.game.insight import standings
from gamekeeper.game.insight.board_seasons import show_value
from gamekeeper.game.insight.changes import AccountHidden, BoardDeleted, BoardSaved, SeasonSaved
from gamekeeper.game.insight.refusals import (
    BoardExists,
    NoSuchBoard,
    NoSuchSeason,
    NotOnBoard,
    SeasonEnded,
    SeasonRunning,
    TooManyBoards,
    TooManyHidden,
)
from gamekeeper.game.lists import ranked_lists
from gamekeeper.ground.instants import format_instant, parse_instant
from gamekeeper.ground.wire import Body, Guid, Instant, Page, PageRange, PlainInt32, PlainInt64, Shape, Text, describe
from gamekeeper.store.core import ledger
from gamekeeper.store.engine import clock
from gamekeeper.store.engine.interface import Locking, Reading
from gamekeeper.store.insight import activity, boards
from gamekeeper.store.insight.boards import ITEM, NOT_STARTED, PLAY_TIME, VARIABLE, Board, HiddenAccount, Ranks, Season
from gamekeeper.store.insight.standings import BUCKETS, KIND
from gamekeeper.store.world import catalogue

MAX_BOARDS = 50
MAX_SEASONS = 500  # of one board
MAX_HIDDEN = 500
SHOWN_SEASONS = 20  # newest seasons of a board in its record
SESSIONS = "activity"  # checkpoint of the play sessions: since when they are recorded, and which are deleted
# A season of play time that starts before now, or within this time, also adds the sessions that are counted already.
SOON_MS = 60_000
NEWEST_CHANGES = 1_000  # changes that a complete season may not have counted yet: they come all the time
CATALOGUE = {ITEM: "items", VARIABLE: "variables"}  # what a board ranks → kind of catalogue entries
_NAME = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,38}[a-z0-9])?", re.ASCII)


class SeasonRecord(Shape):
    """A season."""

    number: PlainInt32
    title: str
    starts_at: Instant
    ends_at: Instant | None  # null: open
    state: Annotated[
        Literal["planned", "running", "ended", "final"],
        describe("ended: its last changes are still being counted; final: the standings stay as they are."),
    ]
    complete: Annotated[bool, describe("False: some players are not counted yet.")]


class BoardRecord(Shape):
    """A board with its seasons."""

    name: str
    title: str
    ranks: Ranks
    thing_id: Guid | None
    thing: Annotated[str | None, describe("Name of the item or variable in the catalogue.")]
    gain: bool
    hide_staff: bool
    public: bool
    seasons: Annotated[list[SeasonRecord], describe("Newest first, at most 20.")]


class BoardList(Shape):
    boards: list[BoardRecord]
    hidden: Annotated[
        list[HiddenAccount],
        describe("Accounts whose players are on no board; empty without the permission users.query."),
    ]


class HiddenState(Shape):
    user_id: Guid
    user: str
    hidden: bool


class StandingRecord(Shape):
    rank: PlainInt32
    player_id: Annotated[Guid | None, describe("Null: the player was deleted.")]
    name: str | None
    value: Annotated[PlainInt64, describe("Level, quantity, value, or play time in seconds.")]


class StandingsPage(Page):
    board: BoardRecord
    season: SeasonRecord
    values: list[StandingRecord]


BoardName = Annotated[str, Meta(max_length=40, pattern="^[a-z0-9]([a-z0-9-]*[a-z0-9])?$")]


class CreateBoard(Body):
    """A new board with its first season. `Thing` is the name or id of the item or variable.

    `Gain`: rank by what players gain in the season, not by what they have.
    """

    Name: Annotated[BoardName, describe("Name in addresses: a to z, 0 to 9 and -.")]
    Title: Annotated[Text, describe("Title for people.")]
    Ranks: Annotated[Ranks, describe("What players are ranked by.")]
    Thing: Annotated[Text, describe("Name or id of the item or variable.")] | UnsetType = UNSET
    Gain: Annotated[bool, describe("Rank by what players gain in the season, not by what they have.")] = False
    HideStaff: Annotated[bool, describe("Leave accounts with permissions out.")] = True
    Public: Annotated[bool, describe("Show it without a token, if the server's public side is on.")] = False
    SeasonTitle: Annotated[Text, describe("Title of the first season.")] = ""
    StartsAt: Annotated[Instant, describe("When the first season starts; default now.")] | UnsetType = UNSET
    EndsAt: Annotated[Instant, describe("When it ends; default never.")] | UnsetType = UNSET


class SaveBoard(Body):
    """What to change about a board. What is left out stays as it is."""

    Title: Annotated[Text, describe("The new title.")] | UnsetType = UNSET
    HideStaff: Annotated[bool, describe("Leave accounts with permissions out.")] | UnsetType = UNSET
    Public: Annotated[bool, describe("Show it without a token, if the server's public side is on.")] | UnsetType = UNSET


class StartSeason(Body):
    """A season after the last one. Without `StartsAt` it starts now; without `EndsAt` it stays open."""

    Title: Annotated[Text, describe("Title of the season.")] = ""
    StartsAt: Annotated[Instant, describe("When it starts; default now.")] | UnsetType = UNSET
    EndsAt: Annotated[Instant, describe("When it ends; default never.")] | UnsetType = UNSET


class SaveSeason(Body):
    """What to change about a season. `EndsAt` null: it stays open. `EndNow`: it ends at the time of the request."""

    Title: Annotated[Text, describe("The new title.")] | UnsetType = UNSET
    EndsAt: Annotated[Instant, describe("The new end.")] | UnsetType | None = UNSET
    EndNow: Annotated[bool, describe("End it at the time of the request.")] = False


async def read_all(tx: Reading, *, accounts: bool) -> BoardList:
    """Read all boards and, if `accounts`, the accounts that are hidden from them."""
    found = [await read_record(tx, each) for each in await boards.read_all(tx)]
    return BoardList(found, await tx.rows(HiddenAccount, boards.SQL.hidden) if accounts else [])


async def _read_moment(tx: Reading) -> tuple[int, int]:
    """Read the time and the number of the newest change, which decide about the states of seasons."""
    return await clock.now(tx), await ledger.read_last(tx)


async def read_record(
    tx: Reading, board: Board, seasons: Sequence[Season] | None = None, moment: tuple[int, int] | None = None
) -> BoardRecord:
    """Read the record of a board; its newest seasons and the moment may be given."""
    shown = await boards.read_seasons(tx, board.id, SHOWN_SEASONS) if seasons is None else seasons
    now, newest = moment or await _read_moment(tx)
    return BoardRecord(
        *(board.name, board.title, cast("Ranks", board.ranks), board.thing_id, board.thing),
        *(board.gain, board.hide_staff, board.public),
        [_show_season(each, now, newest) for each in shown],
    )


def _show_season(season: Season, now: int, newest: int) -> SeasonRecord:
    return SeasonRecord(
        season.number,
        season.title,
        format_instant(season.starts_at),
        None if season.ends_at is None else format_instant(season.ends_at),
        _find_state(season, now),
        _is_complete(season, newest),
    )


async def require_board(tx: Reading, name: str) -> Board:
    found = await boards.find(tx, name.lower()) if _NAME.fullmatch(name.lower()) else None
    if found is None:
        raise NoSuchBoard(board=name)
    return found


async def require_season(tx: Reading, board: Board, number: int | None) -> Season:
    """Find a season of a board; without a number the one that is running, or the last one that started."""
    if number is not None:
        found = await tx.row(Season, boards.SQL.season, board.id, number)
    else:
        newest, now = await boards.read_seasons(tx, board.id, SHOWN_SEASONS), await clock.now(tx)
        found = next((each for each in newest if each.starts_at <= now), newest[-1] if newest else None)
    if found is None:
        raise NoSuchSeason(board=board.name, season=number)
    return found


def _find_state(season: Season, now: int) -> Literal["planned", "running", "ended", "final"]:
    if season.final:
        return "final"
    if season.starts_at > now:
        return "planned"
    return "running" if season.ends_at is None or season.ends_at > now else "ended"


def _is_complete(season: Season, newest: int) -> bool:
    """Tell whether a season has counted all players, and all changes but the newest ones."""
    is_counted = season.seq != NOT_STARTED and season.swept is None and season.seq >= newest - NEWEST_CHANGES
    return season.final or is_counted


async def create(tx: Locking, draft: CreateBoard) -> Decision[BoardRecord]:
    """Create a board with its first season."""
    if not _NAME.fullmatch(draft.Name):
        raise BadField(field="Name", problem="must have 1 to 40 characters: a to z, 0 to 9, and - between them")
    existing = await boards.read_all(tx)
    if any(each.name == draft.Name for each in existing):
        raise BoardExists(board=draft.Name)
    if len(existing) >= MAX_BOARDS:
        raise TooManyBoards(most=MAX_BOARDS, seasons=MAX_SEASONS)
    now, thing_id, thing = await clock.now(tx), None, None
    if draft.Ranks in CATALOGUE:
        thing_id, thing = await _find_thing(tx, draft)
    elif draft.Thing is not UNSET:
        raise BadField(field="Thing", problem="is only for boards of an item or a variable")
    if draft.Ranks == PLAY_TIME and draft.Gain:
        raise BadField(field="Gain", problem="must be left out: play time always counts within the season")
    board = Board(
        *(lookup.new_guid(), draft.Name, _require_title(draft.Title), draft.Ranks, thing_id),
        *(draft.Gain, draft.HideStaff, draft.Public, now, thing),
    )
    season = StartSeason(draft.SeasonTitle, draft.StartsAt, draft.EndsAt)
    first = await _make_season(tx, board, season, 1, now)
    record = await read_record(tx, board, [first])
    return Decision([BoardSaved(None, board), SeasonSaved(board, None, first)], record)


async def edit(tx: Locking, name: str, wanted: SaveBoard) -> Decision[BoardRecord]:
    board = await _lock_board(tx, name)
    edited = board._replace(
        title=board.title if wanted.Title is UNSET else _require_title(wanted.Title),
        hide_staff=board.hide_staff if wanted.HideStaff is UNSET else wanted.HideStaff,
        public=board.public if wanted.Public is UNSET else wanted.Public,
    )
    return Decision([BoardSaved(board, edited)] if edited != board else [], await read_record(tx, edited))


async def delete(tx: Locking, name: str) -> Decision[BoardRecord]:
    board = await _lock_board(tx, name)
    return Decision([BoardDeleted(board)], await read_record(tx, board))


async def start_season(tx: Locking, name: str, draft: StartSeason) -> Decision[BoardRecord]:
    """Start a season after the last one, which must be over then. One without an end is ended at its start."""
    board, now = await _lock_board(tx, name), await clock.now(tx)
    newest = await boards.read_seasons(tx, board.id, SHOWN_SEASONS)
    last = newest[0] if newest else None
    if last and last.number >= MAX_SEASONS:
        raise TooManyBoards(most=MAX_BOARDS, seasons=MAX_SEASONS)
    season = await _make_season(tx, board, draft, last.number + 1 if last else 1, now)
    changes: list[SeasonSaved] = []
    if last and (last.ends_at is None or last.ends_at > season.starts_at):
        if last.ends_at is not None or last.starts_at >= season.starts_at or season.starts_at < now:
            raise SeasonRunning(season=last.number)
        ended = last._replace(ends_at=season.starts_at)
        changes, newest = [SeasonSaved(board, last, ended)], [ended, *newest[1:]]
    changes.append(SeasonSaved(board, None, season))
    return Decision(changes, await read_record(tx, board, [season, *newest][:SHOWN_SEASONS]))


async def edit_season(tx: Locking, name: str, number: int, wanted: SaveSeason) -> Decision[BoardRecord]:
    """Change the title or the end of a season. Its end cannot be moved once it is over."""
    board, now = await _lock_board(tx, name), await clock.now(tx)
    season = await require_season(tx, board, number)
    edited = season._replace(title=season.title if wanted.Title is UNSET else _require_title(wanted.Title, empty=True))
    ends_at = now if wanted.EndNow else _read_time(wanted.EndsAt)
    if ends_at is not None or wanted.EndsAt is None:
        if season.final or (season.ends_at is not None and season.ends_at <= now):
            raise SeasonEnded(season=number)
        following = await tx.row(Season, boards.SQL.season, board.id, number + 1)
        if following and (ends_at is None or ends_at > following.starts_at):
            raise SeasonRunning(season=number)
        edited = edited._replace(ends_at=ends_at)
        _require_end(edited, now)
    changes = [SeasonSaved(board, season, edited)] if edited != season else []
    newest = await boards.read_seasons(tx, board.id, SHOWN_SEASONS)
    shown = [edited if each.id == edited.id else each for each in newest]
    return Decision(changes, await read_record(tx, board, shown))


async def hide(tx: Locking, user: str, *, hidden: bool) -> Decision[HiddenState]:
    """Hide all players of an account from all boards, or show them again."""
    found = await lookup.lock_user(tx, user)
    before = await boards.is_hidden(tx, found.id)
    if hidden and not before and await tx.value(boards.SQL.count_hidden) >= MAX_HIDDEN:
        raise TooManyHidden(most=MAX_HIDDEN)
    changes = [AccountHidden(found.id, before, hidden)] if hidden != before else []
    return Decision(changes, HiddenState(found.id, found.name, hidden), subject=(None, found.id))


async def _lock_board(tx: Locking, name: str) -> Board:
    found = await require_board(tx, name)
    await boards.lock(tx, found.id)
    return await require_board(tx, name)


async def _find_thing(tx: Reading, draft: CreateBoard) -> tuple[str, str | None]:
    """Return id and name of the item or variable that a board ranks."""
    kind, given = CATALOGUE[draft.Ranks], draft.Thing or ""
    thing_id = lookup.parse_guid(given) or await catalogue.find_id_by_name(tx, kind, given)
    if thing_id is None:
        raise BadField(field="Thing", problem=f"must be the name or id of one of the {kind} in the catalogue")
    return thing_id, None if lookup.parse_guid(given) else given


async def _make_season(tx: Reading, board: Board, draft: StartSeason, number: int, now: int) -> Season:
    starts_at, ends_at = _read_time(draft.StartsAt), _read_time(draft.EndsAt)
    starts_at = now if starts_at is None else starts_at
    swept = None
    if board.ranks == PLAY_TIME:
        await _require_sessions(tx, starts_at, ends_at, now)
        swept = lookup.ZERO_GUID if starts_at < now + SOON_MS else None
    elif board.gain:
        await _require_changes(tx, starts_at)
    title = _require_title(draft.Title, empty=True)
    season = Season(lookup.new_guid(), board.id, number, title, starts_at, ends_at, swept=swept)
    if board.gain or board.ranks == PLAY_TIME:
        _require_end(season, season.starts_at)
    else:  # what players had at an earlier time is not known
        _require_end(season, now)
    return season


def _read_time(text: str | UnsetType | None) -> int | None:
    return parse_instant(text) if text else None


def _require_end(season: Season, earliest: int) -> None:
    if season.ends_at is not None and (season.ends_at < earliest or season.ends_at <= season.starts_at):
        raise BadField(field="EndsAt", problem="must be after the start, and not in the past")


async def _require_changes(tx: Reading, starts_at: int) -> None:
    """Refuse a start before the oldest change that is kept: gains before it are not known."""
    trimmed = await ledger.read_trimmed_number(tx)
    oldest = await tx.one(boards.SQL.change_at_or_after, trimmed + 1)
    if trimmed and oldest and starts_at < oldest[1]:
        raise BadField(field="StartsAt", problem="must not be before the oldest change in the audit log")


async def _require_sessions(tx: Reading, starts_at: int, ends_at: int | None, now: int) -> None:
    """Refuse a start between the first recorded session and the oldest one that is kept.

    Of the deleted ones only the sum up to the present is known. So a season from before the first one must not be over.
    """
    checkpoint = await activity.find_checkpoint(tx, SESSIONS)
    if checkpoint.position < starts_at < checkpoint.value:
        raise BadField(field="StartsAt", problem="must not be before the oldest play session that is kept")
    if checkpoint.position < checkpoint.value and starts_at <= checkpoint.position and ends_at and ends_at <= now:
        raise BadField(field="EndsAt", problem="must not be in the past: play sessions of that time are deleted")


def _require_title(text: str, *, empty: bool = False) -> str:
    title = text.strip()
    if not title and not empty:
        raise BadField(field="Title", problem="must not be empty")
    return title


async def report_standings(
    tx: Reading, board: Board, number: int | None, page: PageRange, player: str | None = None
) -> StandingsPage:
    """Report a page of the standings of a season; with a player, the page that has it in the middle."""
    season, offset = await require_season(tx, board, number), page.offset
    if player is not None:
        place = await standings.find_place(tx, season.id, await lookup.find_player_id(tx, player))
        if place is None:
            raise NotOnBoard
        offset = max(place - 1 - page.limit // 2, 0)
        page = page._replace(number=offset // page.size)
    total, rows = await ranked_lists.find_page(tx, BUCKETS, KIND, season.id, offset, page.limit)
    moment = await _read_moment(tx)
    record = await read_record(tx, board, moment=moment)
    places = [
        StandingRecord(rank, each.player_id if each.name else None, each.name, show_number(board, each.quantity))
        for rank, each in enumerate(rows, start=offset + 1)
    ]
    return StandingsPage(*page.head(total, places), record, _show_season(season, *moment), places)


def show_number(board: Board, value: int) -> int:
    shown = show_value(board.ranks, gain=board.gain, value=value)
    return shown // 1000 if board.ranks == PLAY_TIME else shown
