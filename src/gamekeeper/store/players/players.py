from collections.abc import Coroutine, Iterable, Sequence
from typing import Any, NamedTuple

from gamekeeper.store.core.ordered_lists import ListDelta, read_delta
from gamekeeper.store.engine.interface import Locking, Reading, Row, Writing
from gamekeeper.store.engine.statements import Statements, as_column, as_table, build_name_parameters

SQL = Statements(__file__)


class StoredPlayer(NamedTuple):
    """A player as it is read: the stored document, and the fields that the view joins to it.

    Statements for answers select nothing else: on SQLite each further column costs 0.3 µs per row.
    """

    document: bytes
    class_name: str
    map_name: str
    online: bool
    last_online: int | None


# the fields of a StoredPlayer in a plain tuple: pages have many of them, and a NamedTuple costs more than a row itself
RecordRow = tuple[bytes, str, str, bool, int | None]


class LockedPlayer(NamedTuple):
    id: str
    user_id: str
    document: bytes
    created_at: int
    last_online: int | None


class RankKey(NamedTuple):
    """Sort key of a player in the ranking."""

    level: int
    exp: int
    id: str


class RankNeighbours(NamedTuple):
    before: int  # rows of the bucket that precede the requested key in the ranking
    rows: list[tuple[RankKey, StoredPlayer]]  # players of the bucket with their keys in the ranking, in ascending order


class PlayerColumns(NamedTuple):
    """Columns of a player. All but `last_online` repeat fields of `document`; a test proves that they agree."""

    id: str
    user_id: str
    name: str
    fold: str
    level: int
    exp: int
    class_id: str
    map_id: str
    created_at: int
    last_online: int | None
    document: bytes
    play_time: int  # play time of the player, in seconds


class PlayerSummary(NamedTuple):
    id: str
    name: str
    fold: str
    level: int


class NameClaims(NamedTuple):
    """Values of a new player and its account of the same name that must be unique."""

    id: str
    user_id: str
    name: str
    fold: str
    email_fold: str


async def find_record_by_fold(tx: Reading, fold: str, name: str = "") -> StoredPlayer | None:
    return _to_record(await tx.one(SQL.record_by_fold, *build_name_parameters(fold, name)))


async def find_record_by_id(tx: Reading, player_id: str) -> StoredPlayer | None:
    return _to_record(await tx.one(SQL.record_by_id, player_id))


async def read_records_of_user(tx: Reading, user_id: str) -> list[StoredPlayer]:
    return await tx.rows(StoredPlayer, SQL.records_of_user, user_id)


async def read_other_names(tx: Reading, user_id: str, player_id: str, most: int) -> tuple[list[str], int]:
    """Read the names of the first other players of a player's account, and how many others there are."""
    rows = await tx.all(SQL.other_names_of_user, user_id, player_id, most)
    return [row[0] for row in rows], rows[0][1] - 1 if rows else 0


async def read_records_of_ids(tx: Reading, ids: Iterable[str]) -> dict[str, StoredPlayer]:
    """Read these players: id → record."""
    rows = await tx.all(SQL.records_of_ids, as_column("id", ids))
    return {row[0]: StoredPlayer(*row[1:]) for row in rows}


async def read_summaries(tx: Reading, ids: Iterable[str]) -> list[PlayerSummary]:
    """Read name and level of these players, in no particular order."""
    return await tx.rows(PlayerSummary, SQL.called, as_column("id", ids))


async def count(tx: Reading) -> int:
    return await tx.value(SQL.count) or 0


# these two return the coroutine of `read_delta` instead of awaiting it: one coroutine less for each page
def read_records_from_name(
    tx: Reading, mark: str, fold: str, limit: int, offset: int
) -> Coroutine[Any, Any, tuple[ListDelta, list[RecordRow]]]:
    return read_delta(tx, mark, SQL.records_from_name, fold, limit, offset)


def read_records_from_rank(
    tx: Reading, mark: str, key: RankKey, limit: int, offset: int
) -> Coroutine[Any, Any, tuple[ListDelta, list[RecordRow]]]:
    return read_delta(tx, mark, SQL.records_from_rank, *key, limit, offset)


async def read_keys_by_name(tx: Reading, fold: str, limit: int) -> list[str]:
    return [row[0] for row in await tx.all(SQL.keys_by_name, fold, limit)]


async def read_keys_by_rank(tx: Reading, key: RankKey, limit: int) -> list[RankKey]:
    return await tx.rows(RankKey, SQL.keys_by_rank, *key, limit)


async def read_lows_by_name(tx: Reading, every: int) -> list[str]:
    return [row[0] for row in await tx.all(SQL.lows_by_name, every)]


async def read_lows_by_rank(tx: Reading, every: int) -> list[RankKey]:
    return await tx.rows(RankKey, SQL.lows_by_rank, every)


async def read_records_around_rank(
    tx: Reading, mark: str, key: RankKey, around: int, low: RankKey, size: int
) -> tuple[ListDelta, RankNeighbours]:
    new, rows = await read_delta(tx, mark, SQL.records_around_rank, *key, around, *low, size)
    found = [(RankKey(*row[1:4]), StoredPlayer(*row[4:])) for row in rows]
    return new, RankNeighbours(rows[0][0] if rows else 0, found)


async def find_rank_key_by_fold(tx: Reading, fold: str, name: str = "") -> RankKey | None:
    return await tx.row(RankKey, SQL.rank_key_by_fold, *build_name_parameters(fold, name))


async def find_rank_key_by_id(tx: Reading, player_id: str) -> RankKey | None:
    return await tx.row(RankKey, SQL.rank_key_by_id, player_id)


async def find_id_by_fold(tx: Reading, fold: str, name: str = "") -> str | None:
    return await tx.value(SQL.id_by_fold, *build_name_parameters(fold, name))


async def find_id(tx: Reading, player_id: str) -> str | None:
    return await tx.value(SQL.id_by_id, player_id)


def hold_by_fold(tx: Locking, fold: str, name: str = "") -> Coroutine[Any, Any, str | None]:
    """Lock a player; return its id as `Locking.lock` does."""
    return tx.lock(SQL.hold_by_fold, *build_name_parameters(fold, name))


def hold_by_id(tx: Locking, player_id: str) -> Coroutine[Any, Any, str | None]:
    return tx.lock(SQL.hold_by_id, player_id)


async def read_locked(tx: Reading, locked: str | None) -> LockedPlayer | None:
    return await tx.row(LockedPlayer, SQL.locked, locked)


async def lock_by_id(tx: Reading, player_id: str) -> LockedPlayer | None:
    return await tx.row(LockedPlayer, SQL.lock_by_id, player_id)


async def lock_all_of_user(tx: Reading, user_id: str) -> list[str]:
    """Lock all players of the account; return their ids, oldest first."""
    return [row[0] for row in await tx.all(SQL.lock_of_user, user_id)]


def insert(tx: Writing, players: Iterable[PlayerColumns]) -> None:
    tx.defer(SQL.insert, as_table({**each._asdict(), "document": each.document.decode()} for each in players))


def load(tx: Writing, players: Iterable[PlayerColumns]) -> None:
    tx.load(SQL.load, map(tuple, players))  # APSW reads plain tuples faster than named ones


async def find_taken_name(tx: Reading, wanted: Iterable[NameClaims]) -> str | None:
    """Find one of these new players whose name or email is taken already; return its name."""
    return await tx.value(SQL.name_taken, as_table(each._asdict() for each in wanted))


async def find_known_folds(tx: Reading, folds: Iterable[str]) -> set[str]:
    return {row[0] for row in await tx.all(SQL.known_folds, as_column("fold", folds))}


def update(tx: Writing, columns: PlayerColumns, *, named: bool) -> None:
    """Update a player's row. If not `named`, keep the stored fold: it may carry a clash suffix."""
    tx.defer(SQL.update, *columns, named)


def delete(tx: Writing, player_id: str) -> None:
    tx.defer(SQL.delete, player_id)


async def read_columns_after(tx: Reading, player_id: str, limit: int) -> Sequence[Row]:
    """Read the next players in order of id, for doctor's checks of the whole table: id … play_time, document."""
    return await tx.all(SQL.columns_after, player_id, limit)


def _to_record(row: Row | None) -> StoredPlayer | None:
    return StoredPlayer._make(row) if row else None


class KnownSpell(NamedTuple):
    player_id: str
    slot: int
    spell_id: str


async def read_known_spells(tx: Reading, player_id: str) -> dict[int, str]:
    return {row[0]: row[1] for row in await tx.all(SQL.known, player_id)}


def save_spells(tx: Writing, known: Iterable[KnownSpell]) -> None:
    tx.defer(SQL.save, as_table(each._asdict() for each in known))


def load_spells(tx: Writing, known: Iterable[Row]) -> None:
    """Insert many known spells; the values are in the order of KnownSpell."""
    tx.load(SQL.load_spell, known)


def clear_spells(tx: Writing, player_id: str, slots: Iterable[int]) -> None:
    tx.defer(SQL.clear, player_id, as_column("slot", slots))


async def read_spells_between(tx: Reading, first: str, last: str) -> list[KnownSpell]:
    """Read the known spells of all players between two player ids."""
    return await tx.rows(KnownSpell, SQL.between, first, last)


async def count_spells_beyond(tx: Reading, size: int) -> int:
    """Count known spells in slots beyond the configured size, from slot number `size` on."""
    return await tx.value(SQL.beyond, size) or 0
