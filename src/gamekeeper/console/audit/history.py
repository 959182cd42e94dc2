"""The pages of the audit log: a filtered list of changes, one change, and exports as CSV and JSON."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from functools import partial
from operator import attrgetter
from typing import NamedTuple

import msgspec

from gamekeeper.console.audit import change_lines, undo
from gamekeeper.console.audit.change_lines import SignalLine
from gamekeeper.console.frame import differences, formats, pages
from gamekeeper.console.frame.differences import Difference
from gamekeeper.console.frame.labels import name_actor, name_kind
from gamekeeper.console.frame.list_page import build_address, find_cursor
from gamekeeper.console.frame.menu import CHANGES, NOTES, QUERY, SUPPORT
from gamekeeper.console.frame.routes import PagePart, ShownSubject, page_route
from gamekeeper.console.frame.texts import PerLanguage, gettext
from gamekeeper.game.audit import history
from gamekeeper.game.audit.history import HistoryPage, Pause
from gamekeeper.game.core import lookup
from gamekeeper.game.core.refusals import BadField, NoSuchChange, Refusal
from gamekeeper.game.insight.changes import SignalRaised
from gamekeeper.game.lists import search
from gamekeeper.game.world import commands
from gamekeeper.game.world.commands import NO_STATES, States
from gamekeeper.http.audit import history as operations
from gamekeeper.http.audit import history_shapes
from gamekeeper.http.contract import shapes
from gamekeeper.http.server import errors, queries
from gamekeeper.http.server.caller import Caller
from gamekeeper.http.server.request import Request
from gamekeeper.http.server.response import Response
from gamekeeper.store.audit import history as rows
from gamekeeper.store.audit.history import NEVER, HistoryChange, HistoryFilter
from gamekeeper.store.engine.interface import Reading

PAGE_SIZE = 50  # changes per page of the list
MOST_DIFFERENCES = 8  # differences shown of each change in the list; the change's own page shows all
FIELDS = ("player", "user", "actor", "kind", "item", "from", "to", "request", "reason")
# changes per query of an export, and queries at most: as many changes as an API client gets in 10 requests
BATCH, BATCHES = 1_000, 10
ROWS = 50  # changes of an export that are encoded at once: takes about 3 ms, in which no other request runs
BYTE_ORDER_MARK = "\ufeff".encode()  # starts a CSV file: without it spreadsheets do not read the file as UTF-8
FORMATS = {operations.CSV: b"text/csv; charset=utf-8", operations.JSON: b"application/json; charset=utf-8"}
AROUND = 1_000  # how many change numbers before and after a change are searched for others of its request
REQUEST_CHANGES = 50  # how many changes of one request are shown
MOST_FOUND, NAMED = 100, {search.EXACT, search.PREFIX}
ACCOUNT_KINDS = PerLanguage(lambda: gettext("Accounts"))
KINDS = PerLanguage[Mapping[str, tuple[str, ...]]](
    lambda: {
        gettext("Players"): history.PLAYER_KINDS,
        ACCOUNT_KINDS(): history.ACCOUNT_KINDS,
        gettext("Commands to the game"): history.COMMAND_KINDS,
        gettext("The whole game"): (*history.WORLD_KINDS, *history.SIGNAL_KINDS, *history.GLOBAL_KINDS),
    }
)
KIND_OPTIONS = PerLanguage(
    lambda: [(group, [(kind, name_kind(kind)) for kind in kinds]) for group, kinds in KINDS().items()]
)


class HistoryEntry(NamedTuple):
    """A change as the template macro `ui.changes` lists it."""

    told: HistoryChange
    lines: Sequence[Difference]
    undone_by: int | None
    undoable: bool
    summary: str = ""  # one line instead of the differences of a created or deleted player
    is_cut: bool = False  # whether the list shows only a part of the change
    delivered: Sequence[str] = ()  # sentences that say how far game servers have got with it
    signal: SignalLine | None = None  # the signal that it is about


async def show(request: Request) -> Response:
    """Show the list of changes. An error in the filter is shown beside the filter, so that it can be corrected."""
    sought = {name: request.query.get(name, "").strip() for name in FIELDS}
    page, reached, refused = HistoryPage([], {}, None), None, None
    try:
        page, reached = await _load_page(request, sought)
    except Refusal as refusal:
        refused = refusal
    older = str(page.next) if page.next else ""
    find_file = partial(build_address, "/console/changes/file", sought, before=request.query.get("before", ""))
    return pages.render(
        request,
        "audit/history.html",
        refused,
        sought=sought,
        kinds=[each for each in KIND_OPTIONS() if each[0] != ACCOUNT_KINDS() or _sees_accounts(request)],
        entries=await load_entries(request, page.changes, page.undone, page.deliveries, is_short=True),
        reached=reached,
        newest="" if "before" not in request.query else build_address("/console/changes", sought),
        older=build_address("/console/changes", sought, before=older) if older else "",
        files={form: find_file(format=form) for form in FORMATS},
        most=BATCH * BATCHES,
    )


async def show_change(request: Request) -> Response:
    told = await _require_visible(request, request.params[0])
    store = request.services.keeper.store
    undone = await history.find_undone_changes(store, [told])
    wanted = HistoryFilter(request_id=told.request_id, accounts=_sees_accounts(request))
    # no list of changes of the same request: all raised signals share one request id, and are otherwise unrelated
    is_of_request = told.kind != SignalRaised.kind
    together = (
        await rows.read_page(store, wanted, told.seq + AROUND, 2 * AROUND, REQUEST_CHANGES) if is_of_request else ()
    )
    [entry] = await load_entries(request, [told], undone)
    states = await commands.load_delivery_states(store, [told], request.services.keeper.feed.cursors.find)
    return pages.render(
        request,
        "audit/change.html",
        entry=entry,
        delivered=change_lines.describe_states(states.get(told.seq, ()), is_short=False),
        before=_decode_side(told.before),
        after=_decode_side(told.after),
        others=[each for each in reversed(together) if each.seq != told.seq],
    )


async def export(request: Request) -> Response:
    """Export the filtered changes as a file, the newest first. Its last row says whether there are more."""
    try:
        return await _start_export(request)
    except Exception as error:  # noqa: BLE001 - the page of every error links to the list of changes
        return pages.render_refusal(request, errors.to_refusal(error, request.id), back="/console/changes")


async def _start_export(request: Request) -> Response:
    form = request.query.get("format", "")
    if form not in FORMATS:
        raise BadField(field="format", problem=gettext("must be csv or json"))
    sought = {name: request.query.get(name, "").strip() for name in FIELDS}
    wanted, cursor = await _build_filter(request, sought), find_cursor(request)
    first = await _read_page(request, wanted, cursor, BATCH)
    attached = (b"content-disposition", f'attachment; filename="changes.{form}"'.encode())
    stream = (_stream_csv if form == operations.CSV else _stream_json)(request, _read_batches(request, wanted, first))
    return Response(headers=(attached,), content_type=FORMATS[form], stream=stream)


async def _read_batches(request: Request, wanted: HistoryFilter, page: HistoryPage) -> AsyncGenerator[HistoryPage]:
    """Read one batch after another: other requests run in between, and the download starts at once."""
    for number in range(BATCHES):
        if number:
            if page.next is None:
                return
            await asyncio.sleep(0)
            page = await _read_page(request, wanted, page.next, BATCH)
        for start in range(0, max(1, len(page.changes)), ROWS):
            yield page._replace(changes=page.changes[start : start + ROWS])


async def _stream_csv(request: Request, pages: AsyncGenerator[HistoryPage]) -> AsyncGenerator[bytes]:
    has_header, more = False, None
    async for page in pages:
        table = await request.run_through_gate(partial(_encode, operations.make_csv, page, request.caller))
        names, line_end, rows = table.partition(b"\r\n")
        if not has_header:
            yield BYTE_ORDER_MARK + names + line_end
        if rows:
            yield rows
        has_header, more = True, page.next
    if more is not None:
        yield gettext("There are more changes. Export those before change %(seq)s too.", seq=more).encode() + b"\r\n"


async def _stream_json(request: Request, pages: AsyncGenerator[HistoryPage]) -> AsyncGenerator[bytes]:
    """Export the changes as the API's answer has them: one list of all pages, then the cursor of the last."""
    start, following = b'{"Changes":[', None
    async for page in pages:
        if rows := await request.run_through_gate(partial(_encode, _encode_rows, page, request.caller)):
            yield start + rows
            start = b","
        following = page.next
    yield start.removeprefix(b",") + b'],"Next":%b}' % shapes.encode(following)


async def _encode(form: Callable[[HistoryPage, Caller], bytes], page: HistoryPage, caller: Caller) -> bytes:
    return form(page, caller)


def _encode_rows(page: HistoryPage, caller: Caller) -> bytes:
    return shapes.encode([*operations.make_changes(page, caller)])[1:-1]


async def load_entries(
    request: Request,
    changes: Sequence[HistoryChange],
    undone: Mapping[int, int],
    states: States = NO_STATES,
    *,
    is_short: bool = False,
    is_done: bool = False,
) -> list[HistoryEntry]:
    """Load the differences of each change, and whether the caller can undo the change.

    `states`: how far game servers have got with the changes; described beside each of them.

    `is_short`: load only the first differences of each change, and a summary of a created or deleted player.
    `is_done`: the changes were just made, so equipped items are named by the present inventory.
    """
    keeper, most = request.services.keeper, MOST_DIFFERENCES if is_short else None
    outlines = change_lines.outline_players(changes) if is_short else {}
    summed = await change_lines.summarize_players(keeper.store, outlines) if outlines else {}
    compared = [told for told in changes if told.seq not in summed]
    decoded = [differences.decode_sides(keeper.changes.codec.decode_side, told) for told in compared]
    found = await differences.list_differences(
        keeper,
        compared,
        most and most + 1,
        sees_accounts=_sees_accounts(request),
        is_done=is_done,
        decoded=decoded,
    )
    lines = {
        told.seq: change_lines.list_note_lines(told) if told.kind in history.NOTE_KINDS else each
        for told, each in zip(compared, found, strict=True)
    }
    sides = {told.seq: each for told, each in zip(compared, decoded, strict=True)}
    undoable = await undo.find_undoable(request, changes, undone, sides, outlines)
    delivered = {seq: change_lines.describe_states(each) for seq, each in states.items()}
    me = request.caller.account_id
    found_signals = await change_lines.load_signal_lines(keeper.store, compared, me, accounts=_sees_accounts(request))
    return [
        HistoryEntry(
            told,
            lines.get(told.seq, [])[:most],
            undone.get(told.seq),
            told.seq in undoable,
            summed.get(told.seq, ""),
            is_cut=told.seq in summed or (is_short and len(lines[told.seq]) > MOST_DIFFERENCES),
            delivered=delivered.get(told.seq, ()),
            signal=found_signals.get(told.seq),
        )
        for told in changes
    ]


async def _load_page(request: Request, sought: Mapping[str, str]) -> tuple[HistoryPage, int | None]:
    """Load a page of changes. If the search stopped before the page was full, also return the time it reached."""
    wanted = await _build_filter(request, sought)
    page = await _read_page(request, wanted, find_cursor(request), PAGE_SIZE)
    if page.next is None or len(page.changes) == PAGE_SIZE:
        return page, None
    found = await rows.find_first_from(request.services.keeper.store, page.next)
    return page, found[1] if found else None


async def _read_page(request: Request, wanted: HistoryFilter, cursor: int | None, limit: int) -> HistoryPage:
    async def read(tx: Reading, rest: Pause) -> HistoryPage:
        return await history.load_page(tx, wanted, cursor, limit, rest, request.services.keeper.feed.cursors.find)

    return await request.read_in_pieces(read)


async def _build_filter(request: Request, sought: Mapping[str, str]) -> HistoryFilter:
    """Replace names by ids, then read the filter as the API's list of changes does."""
    store, player = request.services.keeper.store, sought["player"]
    query = {
        **sought,
        # an id is not looked up, because a deleted player has changes too
        "player": player and (lookup.parse_guid(player) or await lookup.find_player_id(store, player)),
        "user": await _find_account_id(request, sought["user"]),
        "actor": await _find_account_id(request, sought["actor"]),
        "item": await _find_item_id(request, sought["item"]),
    }
    return operations.make_filter(queries.decode(history_shapes.HistoryQuery, query), request.caller)


async def _find_account_id(request: Request, text: str) -> str:
    """Return the id of an account. Callers without users.query can search for ids and for their own name only."""
    if not text or lookup.parse_guid(text):
        return text
    own, sees = request.caller.name, request.caller.permissions >= QUERY
    if text == own or (not sees and lookup.fold(text) == lookup.fold(own)):
        return request.caller.account_id
    request.caller.require(QUERY)
    return (await lookup.find_user(request.services.keeper.store, text)).id


async def _find_item_id(request: Request, text: str) -> str:
    """Return the id of the item with this name, or else of one whose name starts with it. Do not guess at typos."""
    if not text or lookup.parse_guid(text):
        return text
    keeper = request.services.keeper
    found = await search.find(
        keeper.store, text, MOST_FOUND, keeper.changes.codec, search.Sight(accounts=False, changes=True)
    )
    best = next((each.id for each in found if each.kind == "item" and each.match in NAMED), None)
    if best is None:
        raise BadField(field="item", problem=gettext("must be the name or the id of an item in the catalogue"))
    return best


async def _require_visible(request: Request, text: str) -> HistoryChange:
    """Find a change by its number. Callers can see only those changes that the list of changes shows them."""
    seq = int(text) if text.isascii() and text.isdigit() and len(text) < len(str(NEVER)) else 0
    notes = request.caller.permissions >= NOTES
    wanted = HistoryFilter(accounts=_sees_accounts(request), me=request.caller.account_id, notes=notes)
    found = history.hide_unseen(await rows.read_page(request.services.keeper.store, wanted, seq + 1, 1, 1), wanted)
    if not found or found[0].seq != seq:
        raise NoSuchChange(seq=text)
    return found[0]


def _sees_accounts(request: Request) -> bool:
    return request.caller.permissions >= QUERY


def _decode_side(side: bytes | str | None) -> object:
    return msgspec.json.decode(side) if side else None


# the fields that the macro `ui.changes` shows, read at once: templates read single attributes slowly
_get_fields = attrgetter("seq", "at", "kind", "player_id", "player", "user_id", "user", "over_link", "reason", "undoes")
formats.FILTERS.update(kind_title=name_kind, actor_name=name_actor, fields_of_change=_get_fields)


async def _show_deletion(request: Request, subject: ShownSubject, _: object) -> HistoryEntry | None:
    """Show the change that deleted the player of a page."""
    return (await load_entries(request, [subject.deletion], {}))[0] if subject.deletion else None


PAGE_PARTS = (PagePart("deletion", show=_show_deletion),)
PAGES = (
    page_route("/changes", show, CHANGES)
    .in_menu("Changes", SUPPORT, 30, "changes", ("/console/done/",))
    .with_help(
        "The audit log: every change with before, after, author and reason. Filter it, download it, and undo a "
        "change here.",
        "history",
    ),
    page_route("/changes/file", export, CHANGES),
    page_route("/changes/[seq]", show_change, CHANGES).with_help(
        "One entry of the audit log with everything that it changed.", "history"
    ),
)
