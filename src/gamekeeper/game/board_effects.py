"""Changes of boards, their seasons, and the accounts that are hidden from them."""

from dataclasses import dataclass
from datetime import UTC, datetime

from gamekeeper.game.codec import ChangeSide, Codec, SubjectIds
from gamekeeper.store import boards, standings
from gamekeeper.store.boards import Board, Season
from gamekeeper.store.engine import Writing


@dataclass(frozen=True, slots=True)
class BoardSaved:
    before: Board | None
    after: Board
    kind = "board_saved"

    def whose(self) -> SubjectIds:
        return None, None

    def sides(self) -> tuple[ChangeSide | None, ChangeSide]:
        return _make_board_side(self.before) if self.before else None, _make_board_side(self.after)

    def carry_out(self, tx: Writing, _: Codec) -> None:
        if self.before is None:
            boards.insert(tx, self.after)
        else:
            boards.update(tx, self.after)


@dataclass(frozen=True, slots=True)
class BoardDeleted:
    """The deletion of a board. A background job deletes its standings."""

    board: Board
    kind = "board_deleted"

    def whose(self) -> SubjectIds:
        return None, None

    def sides(self) -> tuple[ChangeSide, ChangeSide | None]:
        return _make_board_side(self.board), None

    def carry_out(self, tx: Writing, _: Codec) -> None:
        boards.mark_deleted(tx, self.board.id)


@dataclass(frozen=True, slots=True)
class SeasonSaved:
    board: Board
    before: Season | None
    after: Season
    kind = "season_saved"

    def whose(self) -> SubjectIds:
        return None, None

    def sides(self) -> tuple[ChangeSide | None, ChangeSide]:
        before = _make_season_side(self.board, self.before) if self.before else None
        return before, _make_season_side(self.board, self.after)

    def carry_out(self, tx: Writing, _: Codec) -> None:
        if self.before is None:
            boards.insert_season(tx, self.after)
            standings.begin(tx, self.after.id)
        else:
            boards.update_season(tx, self.after)


@dataclass(frozen=True, slots=True)
class AccountHidden:
    """An account whose players are hidden from all boards, or shown again. The follower applies it."""

    user_id: str
    before: bool
    after: bool
    kind = "account_hidden"

    def whose(self) -> SubjectIds:
        return None, self.user_id

    def sides(self) -> tuple[ChangeSide, ChangeSide]:
        return ChangeSide(command={"Hidden": self.before}), ChangeSide(command={"Hidden": self.after})

    def carry_out(self, tx: Writing, _: Codec) -> None:
        boards.save_hidden(tx, self.user_id, hidden=self.after)


def _make_board_side(board: Board) -> ChangeSide:
    return ChangeSide(
        command={
            "Board": board.name,
            "Title": board.title,
            "Ranks": board.ranks,
            "ThingId": board.thing_id,
            "Gain": board.gain,
            "HideStaff": board.hide_staff,
            "Public": board.public,
        }
    )


def _make_season_side(board: Board, season: Season) -> ChangeSide:
    return ChangeSide(
        command={
            "Board": board.name,
            "Season": season.number,
            "Title": season.title,
            "StartsAt": _format(season.starts_at),
            "EndsAt": None if season.ends_at is None else _format(season.ends_at),
        }
    )


def _format(at: int) -> str:
    return datetime.fromtimestamp(at / 1000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
