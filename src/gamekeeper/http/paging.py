"""The page of a list that a query or a legacy body selects."""

from dataclasses import dataclass

from gamekeeper.http.wire.lists import DEFAULT_SIZE, LegacyPage, PageQuery

MOST = 2**31 - 1


@dataclass(frozen=True, slots=True)
class Page:
    number: int
    size: int
    limit: int  # largest number of records to return

    @property
    def offset(self) -> int:
        return self.number * self.size


def from_query(query: PageQuery, largest: int) -> Page:
    size = min(query.pageSize, largest)
    return Page(query.page, size, min(query.limit or size, size))


def from_body(body: LegacyPage, largest: int) -> Page:
    size = min(body.count if body.count > 0 else DEFAULT_SIZE, largest)
    return Page(body.page, size, size)
