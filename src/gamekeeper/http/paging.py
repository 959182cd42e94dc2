"""The page of a list that a query or a legacy body selects."""

import re
from collections.abc import Mapping
from typing import NamedTuple

from msgspec import UNSET

from gamekeeper.http import bodies
from gamekeeper.http.request import Request
from gamekeeper.http.wire.lists import DEFAULT_SIZE, EngineQuery, LegacyPage, PageQuery, SentPage

MAX_INT32 = 2**31 - 1

_NUMBER = re.compile(r"[0-9]{1,10}", re.ASCII)


class PageRange(NamedTuple):
    number: int
    size: int
    limit: int  # largest number of records on a page

    @property
    def offset(self) -> int:
        return self.number * self.size


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
