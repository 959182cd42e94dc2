"""Changes of boards, their seasons, accounts that are hidden from them, and signals.

Changes of signals about a person belong to its account, so that an erasure removes what names it.
"""

from msgspec import Struct

from gamekeeper.game.core.change import ACCOUNTS, GLOBAL, SIGNALS, Change, ChangeSide, Codec, Kind, SubjectIds
from gamekeeper.ground.instants import format_instant
from gamekeeper.store.engine.interface import Writing
from gamekeeper.store.insight import boards, signals, standings
from gamekeeper.store.insight.boards import Board, Season
from gamekeeper.store.insight.signals import BEYOND, SILENT, Signal


class BoardSaved(Change, Struct, frozen=True):
    before: Board | None
    after: Board
    kind = Kind("board_saved", "Board saved", GLOBAL, 12, why_not="edit or delete the board instead").name

    def sides(self) -> tuple[ChangeSide | None, ChangeSide]:
        return _make_board_side(self.before) if self.before else None, _make_board_side(self.after)

    def carry_out(self, tx: Writing, _: Codec) -> None:
        if self.before is None:
            boards.insert(tx, self.after)
        else:
            board = self.after
            tx.defer(boards.SQL.update, board.id, board.title, board.hide_staff, board.public, boards.FIRST_ACCOUNT)


class BoardDeleted(Change, Struct, frozen=True):
    """The deletion of a board. A background job deletes its standings."""

    board: Board
    kind = Kind(
        "board_deleted", "Board deleted", GLOBAL, 13, why_not="create the board again; its seasons are not stored"
    ).name

    def sides(self) -> tuple[ChangeSide, ChangeSide | None]:
        return _make_board_side(self.board), None

    def carry_out(self, tx: Writing, _: Codec) -> None:
        tx.defer(boards.SQL.mark_deleted, self.board.id)


class SeasonSaved(Change, Struct, frozen=True):
    board: Board
    before: Season | None
    after: Season
    kind = Kind("season_saved", "Season saved", GLOBAL, 14, why_not="edit the season instead").name

    def sides(self) -> tuple[ChangeSide | None, ChangeSide]:
        before = _make_season_side(self.board, self.before) if self.before else None
        return before, _make_season_side(self.board, self.after)

    def carry_out(self, tx: Writing, _: Codec) -> None:
        if self.before is None:
            boards.insert_season(tx, self.after)
            standings.begin(tx, self.after.id)
        else:
            tx.defer(boards.SQL.update_season, self.after.id, self.after.title, self.after.ends_at)


class AccountHidden(Change, Struct, frozen=True):
    """An account whose players are hidden from all boards, or shown again. The follower applies it."""

    user_id: str
    before: bool
    after: bool
    kind = Kind(
        "account_hidden", "Account hidden from boards, or shown", ACCOUNTS, 24, why_not="show or hide the account again"
    ).name

    def whose(self) -> SubjectIds:
        return None, self.user_id

    def sides(self) -> tuple[ChangeSide, ChangeSide]:
        return ChangeSide(command={"Hidden": self.before}), ChangeSide(command={"Hidden": self.after})

    def carry_out(self, tx: Writing, _: Codec) -> None:
        tx.defer(boards.SQL.save_hidden, self.user_id, self.after)


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
            "StartsAt": format_instant(season.starts_at),
            "EndsAt": None if season.ends_at is None else format_instant(season.ends_at),
        }
    )


class SignalRaised(Change, Struct, frozen=True):
    """A new signal. `signals.raise_findings` stores it together with its entry in the audit log."""

    signal: Signal
    user_id: str | None  # account of the person that the signal is about
    kind = Kind(
        "signal_raised", "Signal raised", SIGNALS, 1, why_not="acknowledge the signal instead", reaction="nothing"
    ).name

    def whose(self) -> SubjectIds:
        return None, self.user_id

    def sides(self) -> tuple[ChangeSide | None, ChangeSide]:
        return None, _make_side(self.signal)


class SignalAcknowledged(Change, Struct, frozen=True):
    signal: Signal  # after it
    user_id: str | None
    kind = Kind(
        "signal_acknowledged",
        "Signal acknowledged",
        SIGNALS,
        2,
        why_not="a signal stays acknowledged; if it happens again there is a new one",
        reaction="nothing",
    ).name

    def whose(self) -> SubjectIds:
        return None, self.user_id

    def sides(self) -> tuple[ChangeSide | None, ChangeSide]:
        side = _make_side(self.signal)
        return None, ChangeSide(command={**side.command, "Note": self.signal.note})

    def carry_out(self, tx: Writing, _: Codec) -> None:
        done = self.signal
        tx.defer(signals.SQL.acknowledge, done.id, done.acknowledged_at, done.acknowledged_by, done.note)
        tx.defer(signals.SQL.add_counts, done.rule, 0, -1)


def _make_side(signal: Signal) -> ChangeSide:
    return ChangeSide(
        command={
            "SignalId": signal.id,
            "Rule": signal.rule,
            "PlayerId": signal.player_id,
            "ItemId": signal.item_id,
            "Server": signal.subject if signal.rule == SILENT and signal.subject != BEYOND else None,
        }
    )
