"""The page of a list that a query or a legacy body selects."""

from typing import NamedTuple

from gamekeeper.http.wire.lists import DEFAULT_SIZE, LegacyPage, PageQuery

MAX_INT32 = 2**31 - 1


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


def read_body(body: LegacyPage, largest: int) -> PageRange:
    size = min(body.count if body.count > 0 else DEFAULT_SIZE, largest)
    return PageRange(body.page, size, size)
