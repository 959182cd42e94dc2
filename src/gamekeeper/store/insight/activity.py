"""Rows of the activity rollups: minutes, hours, periods, cohorts, and what is known of each player's earlier days."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from gamekeeper.store.engine.interface import Reading, Writing
from gamekeeper.store.engine.statements import Statements, as_column, as_table

SQL = Statements(__file__)


class WaitingSession(NamedTuple):
    player_id: str
    started_at: int
    ended_at: int | None
    counted_to: int | None  # None: nothing of it is counted
    created_at: int | None  # when the player was created; None: it is deleted, or was counted before


class CountedSession(NamedTuple):
    player_id: str
    started_at: int
    counted_to: int
    is_counted: bool


class PlayerActivity(NamedTuple):
    player_id: str
    first_day: int
    last_day: int
    is_new: bool  # False: the player is older than the record of sessions
    play_ms: int


class Minute(NamedTuple):
    minute: int
    started: int = 0
    ended: int = 0
    requests: int = 0
    errors: int = 0


class Hour(NamedTuple):
    hour: int
    online_sum: int = 0
    online_min: int = 0
    online_max: int = 0
    requests: int = 0
    errors: int = 0
    sign_ins: int = 0


class Period(NamedTuple):
    """Numbers of a day, week or month."""

    day: int  # its first day, in days since 1970
    active: int = 0
    new_players: int = 0
    returned: int = 0
    play_ms: int = 0
    sign_ins: int = 0
    requests: int = 0
    errors: int = 0
    online_sum: int = 0
    online_max: int = 0


class Cohort(NamedTuple):
    """The new players of a day, and how many of them were online 1, 7 and 30 days later."""

    day: int
    players: int = 0
    day1: int = 0
    day7: int = 0
    day30: int = 0


async def has_waiting(tx: Reading) -> bool:
    return await tx.one(SQL.has_waiting) is not None


async def read_players(tx: Reading, ids: Iterable[str]) -> dict[str, PlayerActivity]:
    rows = await tx.rows(PlayerActivity, SQL.players, as_column("id", ids))
    return {each.player_id: each for each in rows}


def save_sessions(tx: Writing, sessions: Iterable[CountedSession]) -> None:
    tx.defer(
        SQL.save_sessions,
        as_table(
            {
                "player_id": each.player_id,
                "started_at": each.started_at,
                "counted_to": each.counted_to,
                "counted": "yes" if each.is_counted else "no",
            }
            for each in sessions
        ),
    )


def save_players(tx: Writing, players: Iterable[PlayerActivity]) -> None:
    tx.defer(
        SQL.save_players, as_table(each._asdict() | {"is_new": "yes" if each.is_new else "no"} for each in players)
    )


def add_minutes(tx: Writing, minutes: Iterable[Minute]) -> None:
    """Add to the numbers of started and ended sessions."""
    tx.defer(SQL.add_minutes, as_table(each._asdict() for each in minutes))


def load_requests(tx: Writing, minutes: Iterable[Minute]) -> None:
    """Add to the numbers of requests and errors of earlier minutes."""
    tx.defer(SQL.load_requests, as_table(each._asdict() for each in minutes))


def add_periods(tx: Writing, step: str, periods: Iterable[Period]) -> None:
    tx.defer(SQL.add_periods, as_table({"step": step} | each._asdict() for each in periods))


def add_cohorts(tx: Writing, cohorts: Iterable[Cohort]) -> None:
    tx.defer(SQL.add_cohorts, as_table(each._asdict() for each in cohorts))


def save_hours(tx: Writing, hours: Iterable[Hour]) -> None:
    """Store numbers of players and requests. The sign-ins of the hours are kept."""
    tx.defer(SQL.save_hours, as_table(each._asdict() for each in hours))


def save_sign_ins(tx: Writing, sign_ins: Mapping[int, int]) -> None:
    """Store the sign-ins of some hours."""
    tx.defer(SQL.save_sign_ins, as_table({"hour": hour, "sign_ins": count} for hour, count in sign_ins.items()))


async def read_minutes(tx: Reading, start: int, end: int) -> list[Minute]:
    return await tx.rows(Minute, SQL.minutes, start, end)


async def read_hours(tx: Reading, start: int, end: int) -> list[Hour]:
    return await tx.rows(Hour, SQL.hours, start, end)


async def read_periods(tx: Reading, step: str, start: int, end: int) -> list[Period]:
    """Read the periods whose first day is in a range of days."""
    return await tx.rows(Period, SQL.periods, step, start, end)


async def read_cohorts(tx: Reading, start: int, end: int) -> list[Cohort]:
    return await tx.rows(Cohort, SQL.cohorts, start, end)


SESSIONS, ONLINE, SIGN_INS = "activity", "online", "sign_ins"  # names of the checkpoints


class Checkpoint(NamedTuple):
    position: int  # everything before it is counted; its unit depends on the rollup
    value: int


async def find_checkpoint(tx: Reading, name: str) -> Checkpoint:
    return await tx.row(Checkpoint, SQL.find, name) or Checkpoint(0, 0)


async def lock_checkpoint(tx: Writing, name: str) -> Checkpoint | None:
    """Lock a rollup until the transaction ends. None: another instance has locked it."""
    found = await tx.returning(SQL.lock, name)
    return Checkpoint(*found[0]) if found else None


async def begin_rollup(tx: Writing, name: str) -> None:
    """Insert the checkpoint of a rollup that has none, with the present time."""
    await tx.returning(SQL.begin, name)


async def wait_for_checkpoint(tx: Writing, name: str) -> Checkpoint | None:
    """Lock a rollup until the transaction ends, after other instances. None: it has no checkpoint yet."""
    found = await tx.returning(SQL.wait, name)
    return Checkpoint(*found[0]) if found else None


def move_checkpoint(tx: Writing, name: str, checkpoint: Checkpoint) -> None:
    tx.defer(SQL.move, name, *checkpoint)
