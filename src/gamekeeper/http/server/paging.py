"""Lists in answers: the page that a query or a legacy body selects, of all records or of the results of a search.

Lists with all that one player, guild or account has are not paged: above MOST_AT_ONCE rows they are encoded through the
gate for long reads.
"""

import csv
import io
import re
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import Any, Protocol, TypeVar, get_args

import msgspec
from msgspec import UNSET, Struct
from msgspec.structs import astuple

from gamekeeper.game.audit.history import Pause
from gamekeeper.game.lists import search
from gamekeeper.game.lists.ordered_lists import PageRequest
from gamekeeper.game.lists.player_walks import PlayerFilter
from gamekeeper.game.lists.search import R, Sort
from gamekeeper.ground.instants import parse_instant
from gamekeeper.ground.wire import PageRange
from gamekeeper.http.contract import shapes
from gamekeeper.http.contract.operation import MOST_AT_ONCE, QUERY
from gamekeeper.http.contract.records import to_snake
from gamekeeper.http.contract.shapes import DEFAULT_SIZE, EngineQuery, LegacyPage, PageQuery, SearchQuery, SentPage
from gamekeeper.http.server import bodies
from gamekeeper.http.server.query_values import MailCursor
from gamekeeper.http.server.request import Request
from gamekeeper.http.server.response import Response
from gamekeeper.store.engine.interface import Reading

MAX_INT32 = 2**31 - 1

_NUMBER = re.compile(r"[0-9]{1,10}", re.ASCII)


def read_query(query: PageQuery, largest: int) -> PageRange:
    size = min(query.pageSize, largest)
    return PageRange(query.page, size, min(query.limit or size, size))


def read_engine_query(query: EngineQuery) -> PageRange:
    return PageRange(query.page, query.pageSize, min(query.limit, query.pageSize))


def read_body(body: LegacyPage, largest: int) -> PageRange:
    size = min(body.count if body.count > 0 else DEFAULT_SIZE, largest)
    return PageRange(body.page, size, size)


def read_legacy(request: Request, body: LegacyPage) -> PageRange:
    """Return the page that a legacy body selects. What it leaves out is read from the query, where some clients put it.

    A number in the query that cannot be read counts as missing, as in the engine.
    """
    number, count = _add_query(request, body) if request.query else (body.page, body.count)
    return read_body(LegacyPage(number, count), request.services.keeper.settings.max_page_size)


def _add_query(request: Request, body: LegacyPage) -> tuple[int, int]:
    content_type = request.headers.get(b"content-type", b"").decode("latin-1")
    sent = bodies.decode(request.raw_body, content_type, SentPage)
    size = _read_number(request.query, "pagesize", _read_number(request.query, "count", body.count))
    number = _read_number(request.query, "page", body.page)
    return (number if sent.page is UNSET else body.page), (size if sent.count is UNSET else body.count)


def _read_number(query: Mapping[str, str], name: str, default: int) -> int:
    text = query.get(name, "")
    return int(text) if _NUMBER.fullmatch(text) and int(text) <= MAX_INT32 else default


async def encode_page(
    request: Request, query: SearchQuery, sorts: Mapping[str, Sort[R]], encode: Callable[[Sequence[R]], list[bytes]]
) -> bytes:
    asked = read_query(query, request.services.keeper.settings.max_page_size)
    descending = query.sortDirection == "Descending"
    total, records, _ = await load_page(request, asked, sorts[query.sortBy], query.search, descending=descending)
    return shapes.encode_paged(total, asked.number, asked.size, encode(records))


async def load_page(
    request: Request, page: PageRange, sort: Sort[R], sought: str, *, descending: bool
) -> tuple[int, Sequence[R], bool]:
    """Return the number of matches, the page's records, and whether the search stopped early. Empty `sought`: all."""
    keeper = request.services.keeper
    if sort.listing and not sought:
        total, records = await keeper.lists.load_page(sort.listing, page.offset, page.limit, descending=descending)
        return total, records, False
    wanted = PageRequest(page.offset, page.limit, descending=descending)
    return await request.run_through_gate(lambda: search.load_page(keeper.lists, sort, sought, wanted))


def read_player_filter(request: Request, given: Struct) -> PlayerFilter:
    """Make the filter of a query, or of the body of a bulk job; check that the caller may know who is banned.

    Its conditions are those fields of the query or body that are named like fields of the filter.
    """
    wanted: dict[str, Any] = {}
    for field in given.__struct_fields__:
        name, value = to_snake(field), getattr(given, field)
        if name in PlayerFilter.__struct_fields__ and value is not UNSET:
            wanted[name] = (
                parse_instant(value) if name in {"seen_from", "seen_to"} and isinstance(value, str) else value
            )
    if "banned" in wanted:
        request.caller.require(QUERY)
    return PlayerFilter(**wanted)


Row = TypeVar("Row")
PIECE_ROWS = 250  # rows that are encoded before the next pause: less than a millisecond


async def encode_rows(request: Request, rows: Sequence[Row], encode: Callable[[Sequence[Row]], bytes]) -> bytes:
    """Encode a list. `encode` encodes some of its rows as a JSON array."""
    return await join_pieces(request, len(rows), encode_pieces(rows, encode))


def encode_pieces(rows: Sequence[Row], encode: Callable[[Sequence[Row]], bytes]) -> Iterator[bytes]:
    """Yield a JSON array in pieces."""
    yield b"["
    for start in range(0, len(rows), PIECE_ROWS):
        yield (b"," if start else b"") + encode(rows[start : start + PIECE_ROWS])[1:-1]
    yield b"]"


async def fill_list(empty: bytes, rows: Sequence[Row], encode: Callable[[Sequence[Row]], bytes], rest: Pause) -> bytes:
    """Encode a list into `empty`, an answer whose first field is the list. Pause between the pieces."""
    start, _, end = empty.partition(b"[]")
    made = [start]
    for each in encode_pieces(rows, encode):
        made.append(each)
        await rest()
    return b"".join((*made, end))


async def join_pieces(request: Request, rows: int, pieces: Iterator[bytes]) -> bytes:
    """Join the pieces of an answer. `rows`: their number in all; above MOST_AT_ONCE it runs through the gate."""
    if rows <= MOST_AT_ONCE:
        return b"".join(pieces)

    async def join(rest: Pause) -> bytes:
        made = list[bytes]()
        for each in pieces:
            made.append(each)
            await rest()
        return b"".join(made)

    return await request.services.gate.run(request.caller.account_id, join)


CSV_BATCH = 50  # CSV rows that are formatted between two pauses: about 3 ms of work
# characters that start a formula in spreadsheets, also the full-width ones
FORMULA_STARTS = "=+\\-@\uff1d\uff0b\uff0d\uff20"
# A formula can start at a CSV cell's start, or after a separator or quote: some spreadsheets split at semicolons.
FORMULA = re.compile(rf"(?:^|(?<=[;\t\r\n\"']))(?=[{FORMULA_STARTS}])|^(?=[\t\r\n])")
FORMULA_IN_JSON = re.compile(rf"(?<=[;\"'])[{FORMULA_STARTS}]")  # start of a formula inside a JSON string of a CSV cell


def format_cell(value: object) -> str:
    """Format a cell of a CSV table. One that a spreadsheet could run as a formula gets a leading apostrophe."""
    if isinstance(value, str):
        return FORMULA.sub("'", value)
    told = shapes.encode(value).decode().removeprefix("null")
    # escape the sign that starts a formula; the JSON value stays the same
    return FORMULA_IN_JSON.sub(lambda sign: f"\\u{ord(sign[0]):04x}", told)


class CsvTable:
    """A CSV table of records of one shape, with a row of their names."""

    def __init__(self, shape: type[Struct]) -> None:
        self._out = io.StringIO(newline="")
        self._writer = csv.writer(self._out)
        self._writer.writerow(shape.__struct_encode_fields__)

    def write(self, records: Iterable[Struct]) -> None:
        self._writer.writerows([format_cell(value) for value in astuple(each)] for each in records)

    def encode(self) -> bytes:
        return self._out.getvalue().encode()


class NextPage(Protocol):
    """A page with the cursor of the next one: a number, or time and id; None: it is the last."""

    @property
    def next(self) -> int | tuple[int, str] | None: ...


Page = TypeVar("Page", bound=NextPage)
MakeRecords = Callable[[Page], Iterable[Struct]]


async def answer_table(
    request: Request,
    load: Callable[[Reading], AsyncIterator[Page]],
    make: MakeRecords[Page],
    shape: type[Struct],
    file: str | None,
    *,
    long: bool,
) -> bytes | Response:
    """Answer pages as one answer of `shape`, whose fields are a list and `Next`; with a file name, as a CSV table."""
    read = partial(_read_json if file is None else _read_csv, load=load, make=make, shape=shape)
    found = await request.run_until_disconnect(request.read_in_pieces(read, long=long))
    if found is None:
        return b""  # nobody reads this answer: the client has disconnected
    content, following = found
    if file is None:
        return content
    more = [] if following is None else [(b"x-next", str(following).encode())]
    attached = (b"content-disposition", f'attachment; filename="{file}"'.encode())
    return Response(content, headers=(attached, *more), content_type=b"text/csv; charset=utf-8")


async def _read_json(
    tx: Reading,
    rest: Pause,
    load: Callable[[Reading], AsyncIterator[Page]],
    make: MakeRecords[Page],
    shape: type[Struct],
) -> tuple[bytes, int | str | None]:
    """Encode each part by itself: all records at once would take longer than other requests may wait."""
    parts, following = list[bytes](), None
    async for page in load(tx):
        if records := [*make(page)]:
            parts.append(shapes.encode(records)[1:-1])
        following = _show_cursor(page)
        await rest()
    field = shape.__struct_encode_fields__[0].encode()
    return b'{"%b":[%b],"Next":%b}' % (field, b",".join(parts), shapes.encode(following)), following


async def _read_csv(
    tx: Reading,
    rest: Pause,
    load: Callable[[Reading], AsyncIterator[Page]],
    make: MakeRecords[Page],
    shape: type[Struct],
) -> tuple[bytes, int | str | None]:
    table, following = CsvTable(get_args(msgspec.structs.fields(shape)[0].type)[0]), None
    async for page in load(tx):
        await rest()
        records = iter(make(page))
        while some := [*islice(records, CSV_BATCH)]:
            table.write(some)
            await rest()
        following = _show_cursor(page)
    return table.encode(), following


def _show_cursor(page: NextPage) -> int | str | None:
    return str(MailCursor(*page.next)) if isinstance(page.next, tuple) else page.next
