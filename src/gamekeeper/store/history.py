"""The ledger as people look at it: the newest first, filtered, and what was taken back."""

from collections.abc import Iterable
from typing import NamedTuple

from gamekeeper.store import pattern
from gamekeeper.store.engine import Reading, Row
from gamekeeper.store.statements import Statements
from gamekeeper.store.table import as_table

SQL = Statements("history")
NEVER = 2**63 - 1  # later than every time, larger than every number
ALL, OF_PLAYER, OF_USER, BY_ACTOR = "all", "player", "user", "actor"


class Told(NamedTuple):
    """A row of the ledger with the names that its ids have now; before and after are JSON."""

    seq: int
    at: int
    kind: str
    actor_id: str | None
    token_id: str | None
    over_link: bool
    player_id: str | None
    user_id: str | None
    before: bytes | str | None
    after: bytes | str | None
    request_id: str
    reason: str | None
    undoes: int | None
    actor: str | None
    player: str | None
    user: str | None

    @property
    def about_account(self) -> bool:
        """As `page` sees it."""
        return self.kind.startswith("user") or (self.user_id is not None and self.player_id is None)


class Filter(NamedTuple):
    """What is looked at (`within`, by the id `whose`), and what of it is wanted."""

    within: str = ALL
    whose: str | None = None
    accounts: bool = True  # also what is about accounts
    since: int = 0
    until: int = NEVER
    kind: str | None = None
    request_id: str | None = None
    reason: str | None = None  # a part of it, in any case
    item_id: str | None = None
    user_id: str | None = None
    actor_id: str | None = None  # but not what it reported for a game

    @property
    def picks(self) -> bool:
        """Whether some of what is looked at may not be wanted."""
        return self._replace(within=ALL, whose=None) != Filter()


class Reached(NamedTuple):
    seq: int
    at: int
    rows: int


class Step(NamedTuple):
    seq: int
    at: int
    kind: str
    before: bytes | str | None
    after: bytes | str | None


async def page(tx: Reading, wanted: Filter, before: int, window: int, limit: int) -> list[Told]:
    rows = await tx.all(
        SQL.page,
        before,
        window,
        limit,
        wanted.within,
        wanted.whose,
        wanted.accounts,
        wanted.since,
        wanted.until,
        wanted.kind,
        wanted.request_id,
        pattern.part(wanted.reason) if wanted.reason else None,
        f"%{wanted.item_id}%" if wanted.item_id else None,
        wanted.user_id,
        wanted.actor_id,
    )
    return [_told(row) for row in rows]


async def reached(tx: Reading, wanted: Filter, before: int, window: int) -> Reached:
    row = await tx.one(SQL.reached, before, window, wanted.within, wanted.whose)
    return Reached(*row) if row else Reached(0, 0, 0)


async def one(tx: Reading, seq: int) -> Told | None:
    row = await tx.one(SQL.one, seq)
    return _told(row) if row else None


async def undoing(tx: Reading, numbers: Iterable[int]) -> dict[int, list[int]]:
    """What takes each of them back, and what takes that back: from a number to those that do."""
    found: dict[int, list[int]] = {}
    for seq, undoes in await tx.all(SQL.undoing, as_table({"seq": each} for each in numbers)):
        found.setdefault(undoes, []).append(seq)
    return found


async def back(tx: Reading, player_id: str, before: int, since: int, limit: int) -> list[Step]:
    return [Step(*row) for row in await tx.all(SQL.back, player_id, before, since, limit)]


async def first_from(tx: Reading, seq: int) -> tuple[int, int] | None:
    row = await tx.one(SQL.first_from, seq)
    return (row[0], row[1]) if row else None


def _told(row: Row) -> Told:
    return Told(*row)._replace(over_link=bool(row[5]))
