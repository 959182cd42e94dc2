"""The ledger as people look at it: the newest first, filtered, and what was taken back."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from gamekeeper.store import pattern
from gamekeeper.store.engine import Reading, Row
from gamekeeper.store.statements import Statements
from gamekeeper.store.table import as_table

SQL = Statements("history")
NEVER = 2**63 - 1  # later than every time, larger than every number
PAGE_LETTERS = 4_000_000  # in both sides of the changes of a page, about
ALL, OF_PLAYER, OF_USER, BY_ACTOR = "all", "player", "user", "actor"


class HistoryChange(NamedTuple):
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
    actor: str | None  # empty: not for whoever asks
    player: str | None
    user: str | None
    later_changes_kept: bool  # all that came after it, and after the first that it takes back, is still in the ledger
    from_game: bool  # a game reported it, or the change that was taken back in the first place
    first: int  # that change; its own number when it takes none back
    depth: int = 0  # how many changes it takes back, each through the next
    barred: bool = False  # without it a change would be taken back twice: see `doubled`
    erased: bool = False  # whom it is about was erased, and names are taken out of it

    @property
    def about_account(self) -> bool:
        """As `page` sees it."""
        return self.kind.startswith("user") or (self.user_id is not None and self.player_id is None)


class HistoryFilter(NamedTuple):
    """What is looked at (`within`, by the id `whose`), and what of it is wanted."""

    within: str = ALL
    whose: str | None = None
    accounts: bool = True  # also what is about accounts, and what they are called
    me: str | None = None  # who asks: the account whose own name is told to it in any case
    since: int = 0
    until: int = NEVER
    kind: str | None = None
    request_id: str | None = None
    reason: str | None = None  # a part of it, in any case
    item_id: str | None = None
    user_id: str | None = None
    actor_id: str | None = None  # but not what it reported for a game

    @property
    def is_selective(self) -> bool:
        """Whether some of what is looked at may not be wanted."""
        return self._replace(within=ALL, whose=None, me=None) != HistoryFilter()


class ScanEnd(NamedTuple):
    seq: int
    at: int  # the latest of them: one clock that was wrong does not end a search
    rows: int


class HistoryStep(NamedTuple):
    seq: int
    kind: str
    before: bytes | str | None
    after: bytes | str | None
    request_id: str
    at: int
    over_link: bool


class ReportedChange(NamedTuple):
    """A change that a game reported, with the player's name; None: the player is deleted."""

    seq: int
    player_id: str
    before: bytes | str | None
    after: bytes | str | None
    player: str | None


class UndoOrigin(NamedTuple):
    """The first of the changes that one takes back, each through the next."""

    from_game: bool
    depth: int  # how many there are
    first: int
    later_changes_kept: bool


async def read_page(
    tx: Reading, wanted: HistoryFilter, before: int, window: int, limit: int, letters: int = PAGE_LETTERS
) -> list[HistoryChange]:
    """`letters`: of both sides together; the row with which there are so many is the last."""
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
        pattern.build_substring_pattern(wanted.reason) if wanted.reason else None,
        f"%{wanted.item_id}%" if wanted.item_id else None,
        wanted.user_id,
        wanted.actor_id,
        letters,
    )
    return await _add_origins(await _mark_erased([_to_change(row) for row in rows], tx), tx)


async def find_scan_end(tx: Reading, wanted: HistoryFilter, before: int, window: int) -> ScanEnd:
    row = await tx.one(SQL.reached, before, window, wanted.within, wanted.whose)
    return ScanEnd(*row) if row else ScanEnd(0, 0, 0)


async def find_change(tx: Reading, seq: int) -> HistoryChange | None:
    row = await tx.one(SQL.one, seq)
    return next(iter(await _add_origins(await _mark_erased([_to_change(row)], tx), tx)), None) if row else None


async def find_undos(tx: Reading, numbers: Iterable[int]) -> dict[int, list[int]]:
    """What takes each of them back, and what takes that back: from a number to those that do."""
    found: dict[int, list[int]] = {}
    for seq, undoes in await tx.all(SQL.undoing, _to_table(numbers)):
        found.setdefault(undoes, []).append(seq)
    return found


def resolve_undos(undoing: Mapping[int, Sequence[int]], wanted: Iterable[int]) -> dict[int, int]:
    """Of what `undoing` found: which are taken back, and by which; not by one that was taken back itself."""
    by: dict[int, int] = {}
    for seq in sorted(undoing, reverse=True):  # what takes a change back is later than it
        stand = [each for each in undoing[seq] if each not in by]
        if stand:
            by[seq] = max(stand)
    return {seq: by[seq] for seq in wanted if seq in by}


def find_double_undos(undoing: Mapping[int, Sequence[int]], wanted: Iterable[int]) -> dict[int, tuple[int, int]]:
    """Of what `undoing` found of the first of each: which must stay, or a change would be taken back twice.

    With that change, and what takes it back already. When one is taken back, the one that it takes back stands again,
    what that one takes back does not, and so on down to the first.
    """
    undoes = {each: seq for seq, numbers in undoing.items() for each in numbers}
    by = resolve_undos(undoing, undoing)
    found: dict[int, tuple[int, int]] = {}
    for seq in wanted:
        again = undoes.get(seq)
        while again is not None and (below := undoes.get(again)) is not None:
            if below in by:
                found[seq] = below, by[below]
                break
            again = undoes.get(below)
    return found


async def find_origins(tx: Reading, numbers: Iterable[int]) -> dict[int, UndoOrigin]:
    """What is gone may be a game's."""
    found: dict[int, UndoOrigin] = {}
    for seq, undoes, over_link, followed in await tx.all(SQL.origins, _to_table(numbers)):
        if undoes is None:
            found[seq] = UndoOrigin(bool(over_link), 0, seq, bool(followed))
        else:
            origin = found.get(undoes, UndoOrigin(from_game=True, depth=0, first=undoes, later_changes_kept=False))
            found[seq] = origin._replace(depth=origin.depth + 1)
    return found


async def read_back(tx: Reading, player_id: str, before: int, since: int, limit: int) -> list[HistoryStep]:
    return [_to_step(row) for row in await tx.all(SQL.back, player_id, before, since, limit)]


async def read_right_before(tx: Reading, player_id: str, before: int, window: int) -> list[HistoryStep]:
    """The same, out of so many changes of any kind."""
    return [_to_step(row) for row in await tx.all(SQL.right_before, player_id, before, window)]


async def find_following(tx: Reading, player_id: str, after: int, but: Iterable[int]) -> int | None:
    """The first change of a character after a number, but for some."""
    row = await tx.one(SQL.following, player_id, after, _to_table(but))
    return row[0] if row else None


async def find_reported_of_others(
    tx: Reading, player_id: str, numbers: range, times: tuple[int, int], item_ids: Iterable[str]
) -> list[ReportedChange]:
    """What games reported of other players, where it mentions one of these items afterwards."""
    given = as_table({"id": each} for each in item_ids)
    found = await tx.all(SQL.reported_of_others, numbers.start, numbers.stop, player_id, *times, given)
    return [ReportedChange(*row) for row in found]


async def find_newest_until(tx: Reading, player_id: str, at: int, most: int) -> int:
    row = await tx.one(SQL.until, player_id, at, most)
    return row[0] if row else 0


async def has_any_until(tx: Reading, player_id: str, seq: int) -> bool:
    return await tx.one(SQL.any_until, player_id, seq) is not None


async def count_since(tx: Reading, player_id: str, seq: int, most: int) -> tuple[int, int]:
    """How many changes, counted up to so many; and how many of them `back` would tell."""
    row = await tx.one(SQL.since, player_id, seq, most)
    return (row[0], row[1]) if row else (0, 0)


async def find_account_change(
    tx: Reading, user_id: str, after: int, kinds: Iterable[str], but: Iterable[int]
) -> int | None:
    """The first of these kinds after a number, but for some."""
    row = await tx.one(SQL.of_account, user_id, after, as_table({"kind": each} for each in kinds), _to_table(but))
    return row[0] if row else None


async def find_erased_players(tx: Reading, player_ids: Iterable[str]) -> set[str]:
    """Of characters that are not there: those whose account is not there either."""
    return {row[0] for row in await tx.all(SQL.erased, as_table({"id": each} for each in player_ids))}


async def find_first_from(tx: Reading, seq: int) -> tuple[int, int] | None:
    row = await tx.one(SQL.first_from, seq)
    return (row[0], row[1]) if row else None


def _to_change(row: Row) -> HistoryChange:
    *told, followed = row
    over_link = bool(row[5])
    return HistoryChange(*told, later_changes_kept=bool(followed), from_game=over_link, first=row[0])._replace(
        over_link=over_link
    )


def _to_step(row: Row) -> HistoryStep:
    return HistoryStep(*row)._replace(over_link=bool(row[-1]))


async def _mark_erased(told: list[HistoryChange], tx: Reading) -> list[HistoryChange]:
    """With who was erased: an account that is not there, a character that went with its own."""
    gone = {each.player_id for each in told if each.player_id and each.player is None}
    lost = await find_erased_players(tx, gone) if gone else set[str]()
    return [
        each._replace(
            erased=each.player_id in lost if each.player_id else each.user_id is not None and each.user is None
        )
        for each in told
    ]


async def _add_origins(told: list[HistoryChange], tx: Reading) -> list[HistoryChange]:
    """With where those come from that take others back; what was trimmed away since it was read is left out."""
    undos = [each.seq for each in told if each.undoes is not None]
    if not undos:
        return told
    found = await find_origins(tx, undos)
    there = [seq for seq in undos if seq in found]
    barred = find_double_undos(await find_undos(tx, {found[seq].first for seq in there}), there)
    return [
        each._replace(**found[each.seq]._asdict(), barred=each.seq in barred) if each.undoes is not None else each
        for each in told
        if each.undoes is None or each.seq in found
    ]


def _to_table(numbers: Iterable[int]) -> str:
    return as_table({"seq": each} for each in numbers)
