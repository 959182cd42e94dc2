"""The timeline on the pages of players and accounts: changes, sanctions, notes and sign-ins, by kind and in pages."""

import re
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import groupby
from typing import NamedTuple

from gamekeeper.console.audit import history
from gamekeeper.console.frame import list_page
from gamekeeper.console.frame.menu import CHANGES, NOTES, QUERY, SECURITY
from gamekeeper.console.frame.routes import PagePart, ShownSubject
from gamekeeper.console.frame.texts import PerLanguage, gettext
from gamekeeper.game.audit import timeline
from gamekeeper.game.audit.timeline import Position, Positions, Subjects, TimelinePage, TimelineParts
from gamekeeper.game.core.refusals import BadField
from gamekeeper.http.server import query_values
from gamekeeper.http.server.request import Request
from gamekeeper.store.accounts.notes import Note
from gamekeeper.store.audit.history import HistoryChange, HistoryFilter
from gamekeeper.store.engine.interface import Reading

PER_PAGE = 20
KIND, BEFORE = "kind", "before"  # query parameters
ANY_KIND = TimelineParts(changes=True, sanctions=True, notes=True, sign_ins=True)
FILTERS = PerLanguage(
    lambda: {
        "changes": (gettext("Changes"), TimelineParts(changes=True)),
        "sanctions": (gettext("Bans, mutes and kicks"), TimelineParts(sanctions=True)),
        "notes": (gettext("Notes and tags"), TimelineParts(notes=True)),
        "sign-ins": (gettext("Sign-ins"), TimelineParts(sign_ins=True)),
    }
)
ENTRY_KINDS: Mapping[type, str] = {HistoryChange: "changes", Note: "notes"}
NUMBER = re.compile("[0-9]{1,18}", re.ASCII)
NEWEST, NO_MORE = "new", "end"  # in a cursor: the start and the end of a list


class ShownTimeline(NamedTuple):
    groups: Sequence[tuple[str, Sequence[object]]]  # entries of one kind in a row
    kinds: list[tuple[str, str, bool]]  # titles and addresses, and whether the kind is shown
    newest: str  # address of the newest entries; empty: the page shows them
    older: str
    has_changes: bool


async def _load(tx: Reading, request: Request, subject: ShownSubject) -> TimelinePage:
    """Load the page that the address asks for; an empty one for viewers who may not read the audit log."""
    if not request.caller.permissions >= CHANGES:
        return timeline.EMPTY_PAGE
    subjects, start = subject.subjects, _read_positions(request)
    seen = HistoryFilter(accounts=request.caller.permissions >= QUERY, me=request.caller.account_id)
    wanted = FILTERS()[chosen][1] if (chosen := _read_kind(request)) else ANY_KIND
    allowed, sent = _list_allowed(request, subjects), request.services.keeper.feed.cursors.find
    parts = wanted._replace(
        notes=wanted.notes and "notes" in allowed, sign_ins=wanted.sign_ins and "sign-ins" in allowed
    )
    return await timeline.load_page(tx, subjects, parts, start, PER_PAGE, seen, sent)


async def _show(request: Request, subject: ShownSubject, page: TimelinePage) -> ShownTimeline:
    """Prepare a page for the template. Earlier states of a player have no Undo."""
    build_address = partial(list_page.build_address, subject.address, subject.query)
    told = [each for each in page.entries if isinstance(each, HistoryChange)]
    entries = await history.load_entries(request, told, page.undone, page.deliveries)
    by_number = {each.told.seq: each._replace(undoable=each.undoable and not subject.is_past) for each in entries}
    groups = [
        (ENTRY_KINDS.get(kind, "events"), [by_number[one.seq] if isinstance(one, HistoryChange) else one for one in of])
        for kind, of in groupby(page.entries, type)
    ]
    chosen = _read_kind(request)
    allowed = _list_allowed(request, subject.subjects)
    kinds = [(gettext("Everything"), ""), *((title, name) for name, (title, _) in FILTERS().items() if name in allowed)]
    return ShownTimeline(
        groups,
        [(title, build_address(kind=name), name == chosen) for title, name in kinds],
        build_address(kind=chosen) if BEFORE in request.query else "",
        build_address(kind=chosen, before=".".join(map(_write_position, page.next))) if page.next else "",
        bool(told),
    )


def _list_allowed(request: Request, subjects: Subjects) -> set[str]:
    """List the kinds that the viewer may see: the owner and readers of the security log see sign-ins."""
    rights = request.caller.permissions
    sees = {
        "changes": rights >= CHANGES,
        "sanctions": rights >= CHANGES | QUERY,
        "notes": rights >= NOTES,
        "sign-ins": rights >= SECURITY or subjects.user_id == request.caller.account_id,
    }
    return {name for name, is_seen in sees.items() if is_seen}


def _read_kind(request: Request) -> str:
    """Return the kind of the address. An address of an earlier version, with the number of a change, shows changes."""
    kind = request.query.get(KIND, "")
    if not kind and NUMBER.fullmatch(request.query.get(BEFORE, "")):
        return "changes"
    return kind if kind in FILTERS() else ""


def _read_positions(request: Request) -> Positions:
    text = request.query.get(BEFORE, "")
    if not text:
        return timeline.START
    parts = [text, text, NO_MORE, NO_MORE] if NUMBER.fullmatch(text) else text.split(".")
    if len(parts) != len(timeline.START):
        raise BadField(field=BEFORE, problem=gettext("must be the address of a page of the history"))
    changes = (_read_position(text, is_number=True) for text in parts[:2])
    return Positions(*changes, *map(_read_position, parts[2:]))


def _read_position(text: str, *, is_number: bool = False) -> Position | None:
    if text in {NEWEST, NO_MORE}:
        return timeline.FIRST if text == NEWEST else None
    if not is_number:
        return query_values.read_mail_cursor(text, BEFORE)
    if not NUMBER.fullmatch(text):
        raise BadField(field=BEFORE, problem=gettext("must be the number of a change"))
    return int(text), ""


def _write_position(position: Position | None) -> str:
    if position is None or position == timeline.FIRST:
        return NO_MORE if position is None else NEWEST
    number, last = position
    return f"{number}-{last}" if last else str(number)


PAGE_PARTS = (PagePart("timeline", _load, _show, is_history=True),)
