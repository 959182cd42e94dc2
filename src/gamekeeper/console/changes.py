"""The ledger for people: what happened, who did it, how it was before, and a way back."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from functools import partial
from typing import NamedTuple
from urllib.parse import urlencode

import msgspec

from gamekeeper.console import differences, pages, undos
from gamekeeper.console.differences import Line
from gamekeeper.console.menu import QUERY
from gamekeeper.console.queries import find_cursor
from gamekeeper.game import finder, history, lookup
from gamekeeper.game.history import HistoryPage, Pause
from gamekeeper.game.refusals import BadField, NoSuchChange, Refusal
from gamekeeper.http import errors, queries, wire
from gamekeeper.http import history as operations
from gamekeeper.http.caller import Caller
from gamekeeper.http.request import Request
from gamekeeper.http.response import Answer
from gamekeeper.store import history as rows
from gamekeeper.store.engine import Reading
from gamekeeper.store.history import NEVER, HistoryChange, HistoryFilter

LIMIT = 50
BRIEF = 8  # lines of a change in a list
FIELDS = ("player", "user", "actor", "kind", "item", "from", "to", "request", "reason")
PIECE, PIECES = 1_000, 10  # of a file: no more than a program gets in as many requests
ROWS = 50  # of a file that are written in one go: about 3 ms
MARK = "\ufeff".encode()  # without it spreadsheets take a file for one in their own code page
FORMATS = {operations.CSV: b"text/csv; charset=utf-8", operations.JSON: b"application/json; charset=utf-8"}
AROUND = 1_000  # numbers before and after a change, among which others of its request are looked for
OF_ONE = 50
MANY_FOUND, NAMED = 100, {finder.EXACT, finder.PREFIX}
KINDS: Mapping[str, tuple[str, ...]] = {
    "Characters": history.PLAYER_KINDS,
    "Accounts": history.ACCOUNT_KINDS,
    "The whole game": history.GLOBAL_KINDS,
}


class Entry(NamedTuple):
    """A change as a line of a history (`ui.changes`)."""

    told: HistoryChange
    lines: Sequence[Line]
    undone_by: int | None
    undoable: bool


async def show(request: Request) -> Answer:
    """What is typed wrongly is said beside the filter, not instead of it."""
    sought = {name: request.query.get(name, "").strip() for name in FIELDS}
    page, reached, refused = HistoryPage([], {}, None), None, None
    try:
        page, reached = await _page(request, sought)
    except Refusal as refusal:
        refused = refusal
    older = str(page.next) if page.next else ""
    shown = pages.render(
        request,
        "changes.html",
        sought=sought,
        kinds={title: kinds for title, kinds in KINDS.items() if title != "Accounts" or _sees_accounts(request)},
        entries=[brief(each) for each in await entries(request, page.changes, page.undone, BRIEF + 1)],
        problem=refused.message if refused else "",
        reached=reached,
        newest="" if "before" not in request.query else address("/console/changes", sought),
        older=address("/console/changes", sought, before=older) if older else "",
        files={form: _file_address(request, sought, form) for form in FORMATS},
        most=PIECE * PIECES,
    )
    return pages.with_refusal(shown, refused)


async def one(request: Request) -> Answer:
    told = await _visible(request, request.params[0])
    store = request.services.keeper.store
    undone = await history.find_undone(store, [told.seq])
    wanted = HistoryFilter(request_id=told.request_id, accounts=_sees_accounts(request))
    together = await rows.read_page(store, wanted, told.seq + AROUND, 2 * AROUND, OF_ONE)
    [entry] = await entries(request, [told], undone)
    return pages.render(
        request,
        "change.html",
        entry=entry,
        before=_side(told.before),
        after=_side(told.after),
        others=[each for each in reversed(together) if each.seq != told.seq],
    )


async def file(request: Request) -> Answer:
    """The same changes as a file, the newest first; its end says when there are more."""
    try:
        return await _open_file(request)
    except Exception as error:  # noqa: BLE001 - every failure leads back to the page of changes
        return pages.refused(request, errors.refusal_of(error, request.id), back="/console/changes")


async def _open_file(request: Request) -> Answer:
    form = request.query.get("format", "")
    if form not in FORMATS:
        raise BadField(field="format", problem="must be csv or json")
    sought = {name: request.query.get(name, "").strip() for name in FIELDS}
    wanted, cursor = await _filter(request, sought), find_cursor(request)
    first = await _read(request, wanted, cursor, PIECE)
    attached = (b"content-disposition", f'attachment; filename="changes.{form}"'.encode())
    stream = (_table if form == operations.CSV else _list)(request, _pieces(request, wanted, first))
    return Answer(headers=(attached,), content_type=FORMATS[form], stream=stream)


async def _pieces(request: Request, wanted: HistoryFilter, page: HistoryPage) -> AsyncGenerator[HistoryPage]:
    """One after another, so that nobody waits for all of them."""
    for _ in range(PIECES - 1):
        for part in _parts(page):
            yield part
        if page.next is None:
            return
        await asyncio.sleep(0)
        page = await _read(request, wanted, page.next, PIECE)
    for part in _parts(page):
        yield part


def _parts(page: HistoryPage) -> list[HistoryPage]:
    starts = range(0, max(1, len(page.changes)), ROWS)
    return [page._replace(changes=page.changes[start : start + ROWS]) for start in starts]


async def _table(request: Request, pieces: AsyncGenerator[HistoryPage]) -> AsyncGenerator[bytes]:
    begun, more = False, None
    async for page in pieces:
        table = await request.through_gate(partial(_write, operations.table, page, request.caller))
        names, line, rows = table.partition(b"\r\n")
        if not begun:
            yield MARK + names + line
        if rows:
            yield rows
        begun, more = True, page.next
    if more is not None:
        yield f"There are more: export those before change {more} too\r\n".encode()


async def _list(request: Request, pieces: AsyncGenerator[HistoryPage]) -> AsyncGenerator[bytes]:
    """Each piece is the same list with other rows; what follows them is the last one's."""
    before, end = None, b""
    async for page in pieces:
        told = await request.through_gate(partial(_write, _json, page, request.caller))
        head, opened, rest = told.partition(b"[")
        rows, closed, tail = rest.rpartition(b"]")
        if before is None:
            yield head + opened
            before = b""
        if rows:
            yield before + rows
            before = b","
        end = closed + tail
    yield end


async def _write(form: Callable[[HistoryPage, Caller], bytes], page: HistoryPage, caller: Caller) -> bytes:
    return form(page, caller)


def _json(page: HistoryPage, caller: Caller) -> bytes:
    return wire.encode(operations.told(page, caller))


async def entries(
    request: Request, changes: Sequence[HistoryChange], undone: Mapping[int, int], most: int | None = None
) -> list[Entry]:
    """With Undo where the caller may and it can work; `most`: lines of each."""
    found = await differences.lines(request.services.keeper, [(each.before, each.after) for each in changes], most)
    offered = await undos.offered(request, changes, undone)
    return [
        Entry(told, lines, undone.get(told.seq), told.seq in offered)
        for told, lines in zip(changes, found, strict=True)
    ]


def brief(entry: Entry) -> Entry:
    """Of a change of very much, its beginning: its own page has the rest."""
    return (
        entry if len(entry.lines) <= BRIEF else entry._replace(lines=[*entry.lines[:BRIEF], Line("and more", "", "")])
    )


def address(path: str, sought: Mapping[str, str], **more: str) -> str:
    """What is sought stays in the address bar; what is empty does not."""
    return f"{path}?{urlencode({name: text for name, text in {**sought, **more}.items() if text})}".rstrip("?")


async def _page(request: Request, sought: Mapping[str, str]) -> tuple[HistoryPage, int | None]:
    """With the time back to which was looked, when that was not far enough for a page."""
    wanted = await _filter(request, sought)
    page = await _read(request, wanted, find_cursor(request), LIMIT)
    if page.next is None or len(page.changes) == LIMIT:
        return page, None
    found = await rows.find_first_from(request.services.keeper.store, page.next)
    return page, found[1] if found else None


async def _read(request: Request, wanted: HistoryFilter, cursor: int | None, limit: int) -> HistoryPage:
    async def read(tx: Reading, rest: Pause) -> HistoryPage:
        return await history.load_page(tx, wanted, cursor, limit, rest)

    return await request.read_in_pieces(read)


async def _filter(request: Request, sought: Mapping[str, str]) -> HistoryFilter:
    """Names become ids; the rest is read as the operation reads it."""
    store = request.services.keeper.store
    query = {
        **sought,
        "player": await _player(store, sought["player"]),
        "user": await _account(request, sought["user"]),
        "actor": await _account(request, sought["actor"]),
        "item": await _item(request, sought["item"]),
    }
    return operations.filter_of(queries.decode(wire.history.HistoryQuery, query), request.caller)


async def _player(tx: Reading, text: str) -> str:
    """An id is taken as it is: also one that is deleted has a history."""
    return text and (lookup.parse_guid(text) or await lookup.find_player_id(tx, text))


async def _account(request: Request, text: str) -> str:
    """Who may not see accounts knows their own name, and ids."""
    if not text or lookup.parse_guid(text):
        return text
    own, sees = request.caller.name, request.caller.rights >= QUERY
    if text == own or (not sees and lookup.fold(text) == lookup.fold(own)):
        return request.caller.account_id
    request.caller.require(QUERY)
    return (await lookup.find_user(request.services.keeper.store, text)).id


async def _item(request: Request, text: str) -> str:
    """The item that is called so, or else one that begins so; a slip is not guessed at here."""
    if not text or lookup.parse_guid(text):
        return text
    keeper = request.services.keeper
    found = await finder.find(keeper.store, text, MANY_FOUND, keeper.changes.codec, accounts=False)
    best = next((each.id for each in found if each.kind == "item" and each.match in NAMED), None)
    if best is None:
        raise BadField(field="item", problem="must be the name or the id of an item of the catalogue")
    return best


async def _visible(request: Request, text: str) -> HistoryChange:
    """Looked for as in the list, so that whoever does not see it there does not see it here."""
    seq = int(text) if text.isascii() and text.isdigit() and len(text) < len(str(NEVER)) else 0
    wanted = HistoryFilter(accounts=_sees_accounts(request), me=request.caller.account_id)
    found = history.hide_account_names(
        await rows.read_page(request.services.keeper.store, wanted, seq + 1, 1, 1), wanted
    )
    if not found or found[0].seq != seq:
        raise NoSuchChange(seq=text)
    return found[0]


def _sees_accounts(request: Request) -> bool:
    return request.caller.rights >= QUERY


def _file_address(request: Request, sought: Mapping[str, str], form: str) -> str:
    return address("/console/changes/file", sought, before=request.query.get("before", ""), format=form)


def _side(side: bytes | str | None) -> object:
    return msgspec.json.decode(side) if side else None
