"""Reads of the audit log for people: newest first, filtered, with undos resolved."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from gamekeeper.store.core import ledger
from gamekeeper.store.core.person import PersonRows
from gamekeeper.store.engine import statements
from gamekeeper.store.engine.interface import Reading, Row
from gamekeeper.store.engine.statements import Statements, as_column, as_table

SQL = Statements(__file__)
NEVER = 2**63 - 1  # stands for "no limit": later than any time, larger than any change number
PAGE_LETTERS = 4_000_000  # size limit of an audit log page: characters of JSON in `before` and `after` of its changes
MOST_NOTICES = 100  # changes before a notice that are searched for its ban or mute; other notices lie between
ALL, OF_PLAYER, OF_USER, BY_ACTOR = "all", "player", "user", "actor"


class HistoryChange(NamedTuple):
    """A change of the audit log with the current names of its actor, player and account; before and after are JSON."""

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
    actor: str | None  # name of the account that made the change; empty if the caller may not see it
    player: str | None
    user: str | None
    later_changes_kept: bool  # no change after this one (or after the change at the end of its undo chain) was trimmed
    from_game: bool  # a game server reported the change at the end of the undo chain
    first: int  # number of the change at the end of the undo chain; the change's own number if it is no undo
    depth: int = 0  # length of the undo chain; 0 if the change is no undo
    # the change cannot be undone, or another change would be undone twice: see `find_double_undos`
    barred: bool = False
    key: str | None = None  # name of the API key that made the change; empty if the caller may not see it; None: no key
    erased: bool = False  # the player or account of the change was erased, and personal data is masked

    @property
    def about_account(self) -> bool:
        """Whether the change is about an account and not a player; the SQL statement `page` has the same condition."""
        return self.kind.startswith("user") or (self.user_id is not None and self.player_id is None)

    @property
    def is_game_notice(self) -> bool:
        """Whether the change is only the notice for the game about a ban, mute or kick of the player's account."""
        return self.kind.startswith("user_") and self.player_id is not None


class HistoryFilter(NamedTuple):
    """Which audit log entries to scan (`within` and the id `whose`), and which of them to return (the other fields)."""

    within: str = ALL
    whose: str | None = None
    accounts: bool = True  # include changes of accounts, and names of accounts
    me: str | None = None  # id of the calling account, which may always see its own name
    since: int = 0
    until: int = NEVER
    kind: str | None = None
    request_id: str | None = None
    reason: str | None = None  # the reason must contain this text, in any case
    item_id: str | None = None
    user_id: str | None = None
    actor_id: str | None = None  # excludes changes that this account reported as a game server
    notes: bool = True  # the caller may read the texts of notes and the tags; otherwise the changes of them are blank
    kinds: tuple[str, ...] = ()  # only these kinds, or with `without_kinds` all others; empty: all
    without_kinds: bool = False

    @property
    def is_selective(self) -> bool:
        """Whether the filter can leave out some of the scanned audit log entries."""
        return self._replace(within=ALL, whose=None, me=None, notes=True) != HistoryFilter()


class ScanEnd(NamedTuple):
    seq: int
    at: int  # latest time among the scanned changes, so that one wrong clock does not end a search early
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
    """A change that a game server reported, with the player's name (None if the player is deleted)."""

    seq: int
    player_id: str
    before: bytes | str | None
    after: bytes | str | None
    player: str | None


class UndoOrigin(NamedTuple):
    """The change at the end of an undo chain: an undo, the change it undoes, the change that one undoes, and so on."""

    from_game: bool
    depth: int  # number of undos in the undo chain
    first: int
    later_changes_kept: bool


async def read_page(
    tx: Reading, wanted: HistoryFilter, before: int, window: int, limit: int, letters: int = PAGE_LETTERS
) -> list[HistoryChange]:
    """Read up to `limit` matching changes, newest first, out of the `window` changes before number `before`.

    The page ends early with the change at which `before` and `after` together exceed `letters` characters.
    """
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
        statements.build_substring_pattern(wanted.reason) if wanted.reason else None,
        f"%{wanted.item_id}%" if wanted.item_id else None,
        wanted.user_id,
        wanted.actor_id,
        letters,
        as_column("kind", wanted.kinds),
        bool(wanted.kinds) and not wanted.without_kinds,
    )
    return await _add_origins(await _mark_erased([_to_change(row) for row in rows], tx), tx)


async def find_scan_end(tx: Reading, wanted: HistoryFilter, before: int, window: int) -> ScanEnd:
    return await tx.row(ScanEnd, SQL.reached, before, window, wanted.within, wanted.whose) or ScanEnd(0, 0, 0)


async def find_beside_jobs(tx: Reading, before: int, window: int, limit: int) -> list[int]:
    """Find the newest change of each bulk job, and all other changes, out of the `window` changes before a number.

    Returns up to `limit` numbers, newest first.
    """
    return [row[0] for row in await tx.all(SQL.beside_jobs, before, window, limit)]


async def find_change(tx: Reading, seq: int) -> HistoryChange | None:
    row = await tx.one(SQL.one, seq)
    return next(iter(await _add_origins(await _mark_erased([_to_change(row)], tx), tx)), None) if row else None


async def find_undos(tx: Reading, numbers: Iterable[int]) -> dict[int, list[int]]:
    """Map the number of each change, and of each undo of it, to the numbers of its undos."""
    found: dict[int, list[int]] = {}
    for seq, undoes in await tx.all(SQL.undoing, as_column("seq", numbers)):
        found.setdefault(undoes, []).append(seq)
    return found


async def find_sources_of_notices(tx: Reading, notices: Iterable[HistoryChange]) -> dict[int, int]:
    """Map the number of each notice for the game to that of the ban, mute or unmute of the account that it tells of."""
    given = as_table(
        {"seq": each.seq, "user_id": each.user_id, "kind": each.kind, "request_id": each.request_id}
        for each in notices
        if each.user_id is not None
    )
    rows = await tx.all(SQL.sources_of_notices, given, MOST_NOTICES)
    return {seq: source for seq, source in rows if source is not None}


def resolve_undos(undoing: Mapping[int, Sequence[int]], wanted: Iterable[int]) -> dict[int, int]:
    """Map each change that is undone to the undo in force. An undo that was itself undone does not count.

    `undoing` is the result of `find_undos`.
    """
    by: dict[int, int] = {}
    for seq in sorted(undoing, reverse=True):  # an undo is always later than its change
        stand = [each for each in undoing[seq] if each not in by]
        if stand:
            by[seq] = max(stand)
    return {seq: by[seq] for seq in wanted if seq in by}


def find_double_undos(undoing: Mapping[int, Sequence[int]], wanted: Iterable[int]) -> dict[int, tuple[int, int]]:
    """Find the undos that cannot be undone, because another change would then be undone twice.

    Maps each to that change and to the undo of it that is already in force. Undoing an undo restores the change that
    it undid; this flips every other change along the chain. `undoing` is the result of `find_undos` for the changes
    at the ends of the chains.
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
    """Find the first change of each undo chain. A change that was trimmed counts as reported by a game server."""
    found: dict[int, UndoOrigin] = {}
    for seq, undoes, over_link, followed in await tx.all(SQL.origins, as_column("seq", numbers)):
        if undoes is None:
            found[seq] = UndoOrigin(bool(over_link), 0, seq, bool(followed))
        else:
            origin = found.get(undoes, UndoOrigin(from_game=True, depth=0, first=undoes, later_changes_kept=False))
            found[seq] = origin._replace(depth=origin.depth + 1)
    return found


async def read_back(tx: Reading, player_id: str, before: int, since: int, limit: int) -> list[HistoryStep]:
    return await tx.rows(HistoryStep, SQL.back, player_id, before, since, limit)


async def read_right_before(tx: Reading, player_id: str, before: int, window: int) -> list[HistoryStep]:
    """Read changes that can mention items, spells or variables, out of a player's last `window` before `before`."""
    return await tx.rows(HistoryStep, SQL.right_before, player_id, before, window)


async def find_following(tx: Reading, player_id: str, after: int, but: Iterable[int]) -> int | None:
    """Find the player's first change after a number, except the numbers in `but`."""
    return await tx.value(SQL.following, player_id, after, as_column("seq", but))


async def read_record_before(
    tx: Reading, player_id: str, after: int, field: str, limit: int
) -> list[tuple[int, bytes | str | None]]:
    """Read the player's next changes after a number, oldest first: the number, and the side before it.

    The side is None if the change did not set this field of the player's record.
    """
    found = await tx.all(SQL.record_before, player_id, after, limit, f'%"{field}":%')
    return [(seq, before) for seq, before in found]


async def find_reported_of_others(
    tx: Reading, player_id: str, numbers: range, times: tuple[int, int], item_ids: Iterable[str]
) -> list[ReportedChange]:
    """Find changes that game servers reported for other players and whose `after` mentions one of these items."""
    given = as_column("id", item_ids)
    return await tx.rows(ReportedChange, SQL.reported_of_others, numbers.start, numbers.stop, player_id, *times, given)


async def find_newest_until(tx: Reading, player_id: str, at: int, most: int) -> int:
    return await tx.value(SQL.until, player_id, at, most) or 0


async def has_any_until(tx: Reading, player_id: str, seq: int) -> bool:
    return await tx.one(SQL.any_until, player_id, seq) is not None


async def count_since(tx: Reading, player_id: str, seq: int, most: int) -> tuple[int, int]:
    """Count a player's changes after a number, up to `most`; and those that can mention items, spells or variables."""
    row = await tx.one(SQL.since, player_id, seq, most)
    return (row[0], row[1]) if row else (0, 0)


async def find_account_change(
    tx: Reading, user_id: str, after: int, kinds: Iterable[str], but: Iterable[int]
) -> int | None:
    """Find the account's first change of these kinds after a number, except the numbers in `but`."""
    return await tx.value(SQL.of_account, user_id, after, as_column("kind", kinds), as_column("seq", but))


async def find_erased_players(tx: Reading, player_ids: Iterable[str]) -> set[str]:
    """Return which of these deleted players were erased: their account does not exist any more either."""
    return {row[0] for row in await tx.all(SQL.erased, as_column("id", player_ids))}


async def find_first_from(tx: Reading, seq: int) -> tuple[int, int] | None:
    row = await tx.one(SQL.first_from, seq)
    return (row[0], row[1]) if row else None


def _to_change(row: Row) -> HistoryChange:
    *told, followed, key = row
    over_link = bool(row[5])
    return HistoryChange(*told, later_changes_kept=bool(followed), from_game=over_link, first=row[0], key=key)._replace(
        over_link=over_link
    )


async def _mark_erased(told: list[HistoryChange], tx: Reading) -> list[HistoryChange]:
    """Set `erased` on changes of deleted accounts, and of players that were deleted with their account."""
    gone = {each.player_id for each in told if each.player_id and each.player is None}
    lost = await find_erased_players(tx, gone) if gone else set[str]()
    return [
        each._replace(
            erased=each.player_id in lost if each.player_id else each.user_id is not None and each.user is None
        )
        for each in told
    ]


async def _add_origins(told: list[HistoryChange], tx: Reading) -> list[HistoryChange]:
    """Add the first change of the undo chain to each undo; leave out undos that were trimmed since they were read."""
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


PERSON = tuple(
    PersonRows(900, "changes", each, ("seq",), of_players, booleans=("over_link",), json=("before", "after"))
    for each, of_players in ((ledger.SQL.of_user, False), (ledger.SQL.of_player, True))
)
