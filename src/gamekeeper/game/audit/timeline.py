"""The timeline of a player or account: changes, sanctions, notes and sign-ins in one list, newest first.

It merges a few lists that are read by their own cursors, so a page costs the same wherever it starts.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from gamekeeper.game.access import security_log
from gamekeeper.game.accounts import notes
from gamekeeper.game.audit import history
from gamekeeper.game.audit.history import KINDS, NOTE_KINDS, HistoryPage
from gamekeeper.game.core import lookup
from gamekeeper.game.world.commands import FindCursor, States, ignore_cursors
from gamekeeper.store.access.security_log import SecurityFilter, SecurityRow
from gamekeeper.store.accounts.notes import Note, Subject
from gamekeeper.store.audit.history import NEVER, OF_PLAYER, OF_USER, HistoryChange, HistoryFilter
from gamekeeper.store.engine.interface import Reading

# position in a list: time and id of a note or event, or number of a change and no id
Position = tuple[int, str]
FIRST: Position = (NEVER, lookup.ZERO_GUID)
SANCTION_KINDS = tuple(each.name for each in KINDS.values() if each.is_sanction)
SHOWN_AS_NOTE = "note_added"  # the timeline shows the note itself
# events of the security log that are about signing in; the others are in the audit log too, or very many
SIGN_IN_KINDS = (
    *("sign_in", "guess_failed", "guess_refused", "new_address"),
    *("many_addresses", "recovery_code_used", "oidc_refused", "token_reused"),
)


class TimelineParts(NamedTuple):
    """What of a timeline to load."""

    changes: bool = False
    sanctions: bool = False
    notes: bool = False
    sign_ins: bool = False


class Positions(NamedTuple):
    """Where a page starts in each of the lists. None: there is nothing more in the list."""

    player: Position | None = FIRST
    account: Position | None = FIRST
    notes: Position | None = FIRST
    events: Position | None = FIRST


START = Positions()
Entry = HistoryChange | Note | SecurityRow


class Subjects(NamedTuple):
    """Whose timeline it is: of a player with its account, or of an account alone."""

    player_id: str | None
    user_id: str | None  # None: the account is erased


class TimelinePage(NamedTuple):
    entries: list[Entry]
    undone: Mapping[int, int]
    deliveries: States
    next: Positions | None  # None: there are no more entries


class _Row(NamedTuple):
    at: int
    position: Position
    entry: Entry | None  # None: not shown, but the next page starts after it


class _List(NamedTuple):
    """A part of one list, newest first."""

    start: Position | None
    rows: list[_Row]
    end: Position | None  # there is more after this position; None: the list is complete


EMPTY = _List(None, [], None)
EMPTY_PAGE = TimelinePage([], {}, {}, None)


async def load_page(
    tx: Reading,
    subjects: Subjects,
    parts: TimelineParts,
    start: Positions,
    limit: int,
    wanted: HistoryFilter,
    find_cursor: FindCursor = ignore_cursors,
) -> TimelinePage:
    """Load a page. `wanted`: what the caller may see of changes."""
    player_id, user_id = subjects
    chosen = _choose_kinds(wanted, parts)
    of_player = chosen and chosen._replace(within=OF_PLAYER, whose=player_id)
    of_account = chosen and chosen._replace(within=OF_USER, whose=user_id)
    first, changed = await _load_changes(tx, of_player, start.player if player_id else None, limit, find_cursor)
    second, account = await _load_changes(tx, of_account, start.account if user_id else None, limit, find_cursor)
    # a change of the player that names its account too is in the first list already
    account = account._replace(rows=[_hide(each, of_players=player_id is not None) for each in account.rows])
    written = await _load_notes(tx, user_id, start.notes if parts.notes else None, limit)
    events = await _load_events(tx, user_id, start.events if parts.sign_ins else None, limit)
    entries, following = _merge((changed, account, written, events), limit)
    return TimelinePage(
        entries, {**first.undone, **second.undone}, {**first.deliveries, **second.deliveries}, following
    )


def _choose_kinds(wanted: HistoryFilter, parts: TimelineParts) -> HistoryFilter | None:
    """Return the filter for these parts; None: none of them has changes."""
    groups = [(parts.sanctions, SANCTION_KINDS), (parts.notes, NOTE_KINDS)]
    kinds = tuple(kind for is_shown, group in groups for kind in group if is_shown != parts.changes)
    if parts.changes:
        return wanted._replace(kinds=kinds, without_kinds=bool(kinds))
    return wanted._replace(kinds=kinds) if kinds else None


async def _load_changes(
    tx: Reading, wanted: HistoryFilter | None, start: Position | None, limit: int, find_cursor: FindCursor
) -> tuple[HistoryPage, _List]:
    if start is None or wanted is None:
        return HistoryPage([], {}, None), EMPTY
    page = await history.load_page(tx, wanted, start[0], limit, find_cursor=find_cursor)
    rows = [_Row(each.at, (each.seq, ""), each) for each in page.changes]
    return page, _List(start, rows, (page.next, "") if page.next else None)


def _hide(row: _Row, *, of_players: bool) -> _Row:
    told = row.entry
    if not isinstance(told, HistoryChange):
        return row
    return row._replace(entry=None) if told.kind == SHOWN_AS_NOTE or (of_players and told.player_id) else row


async def _load_notes(tx: Reading, user_id: str | None, start: Position | None, limit: int) -> _List:
    if start is None or user_id is None:
        return EMPTY
    page = await notes.load_page(tx, start, limit, Subject(user_id))
    return _List(start, [_Row(each.at, (each.at, each.id), each) for each in page.notes], page.next)


async def _load_events(tx: Reading, user_id: str | None, start: Position | None, limit: int) -> _List:
    """Load sign-ins. Each kind is a range of one index: other events of the account are not read."""
    if start is None or user_id is None:
        return EMPTY
    found = list[SecurityRow]()
    for kind in SIGN_IN_KINDS:
        found += (await security_log.load_page(tx, SecurityFilter(user_id, kind, 0, NEVER), start, limit + 1)).events
    found.sort(key=lambda each: (each.at, each.id), reverse=True)
    rows = [_Row(each.at, (each.at, each.id), each) for each in found[:limit]]
    return _List(start, rows, rows[-1].position if len(found) > limit else None)


def _merge(lists: Sequence[_List], limit: int) -> tuple[list[Entry], Positions | None]:
    """Merge lists by time. Stop at the end of a list that has more: its next entry may be the newest."""
    taken, shown = [0] * len(lists), list[Entry]()
    while len(shown) < limit:
        left = [each.rows[at:] for each, at in zip(lists, taken, strict=True)]
        if any(not rows and each.end for each, rows in zip(lists, left, strict=True)):
            break
        heads = [(rows[0].at, -number) for number, rows in enumerate(left) if rows]
        if not heads:
            break
        newest = -max(heads)[1]
        taken[newest] += 1
        if entry := left[newest][0].entry:
            shown.append(entry)
    found = Positions(*(_find_position(each, at) for each, at in zip(lists, taken, strict=True)))
    return shown, found if any(found) else None


def _find_position(part: _List, taken: int) -> Position | None:
    """Return where the list continues after this many of its rows."""
    if taken == len(part.rows):
        return part.end
    return part.rows[taken - 1].position if taken else part.start
