"""Types of values in the API's JSON, and pages of lists, for shapes on any floor.

Of the types, `extra` is read by http/server/bodies.py and queries.py, and `extra_json_schema` by the OpenAPI documents.
"""

from collections.abc import Sized
from typing import Annotated, ClassVar, NamedTuple

from msgspec import Meta, Struct

from gamekeeper.ground.settings import MOST_PAGE_ROWS


def describe(text: str) -> Meta:
    """Describe a field or parameter for the API's documents and its clients."""
    return Meta(description=text)


PRINTABLE = {"pattern": "^[^\\x00-\\x1f\\x7f-\\x9f]*$"}
Text = Annotated[str, Meta(max_length=255, extra_json_schema=PRINTABLE)]  # a text that people write
Guid = Annotated[str, Meta(extra={"is": "guid"}, extra_json_schema={"format": "uuid"})]
# ISO 8601 time with a UTC offset, such as 2026-01-31T09:00:00Z
Instant = Annotated[str, Meta(extra={"is": "instant"}, extra_json_schema={"format": "date-time"})]
Date = Annotated[str, Meta(extra_json_schema={"format": "date"})]
# Integers in answers: the format tells client generators the width; no range is checked.
PlainInt32 = Annotated[int, Meta(extra_json_schema={"format": "int32"})]
PlainInt64 = Annotated[int, Meta(extra_json_schema={"format": "int64"})]
PlainDouble = Annotated[float, Meta(extra_json_schema={"format": "double"})]


class Shape(Struct, rename="pascal"):
    """A JSON object of the API that a rule returns. Its attribute `item_id` is the field `ItemId`."""


class Body(Struct):
    """A JSON object that a rule takes, as it was sent: stored requests are compared with the fields of the body."""


class PageRange(NamedTuple):
    """The page of a list that a caller wants."""

    number: int
    size: int
    limit: int  # largest number of records on a page

    @property
    def offset(self) -> int:
        return self.number * self.size

    def head(self, total: int, records: Sized) -> tuple[int, int, int, int]:
        """Return the fields of `Page`, of which the list has `total` records."""
        return total, self.number, self.size, len(records)


class Page(Shape):
    """The first fields of a page of a list."""

    MOST_ROWS: ClassVar = MOST_PAGE_ROWS
    total: PlainInt32
    page: PlainInt32
    page_size: PlainInt32
    count: PlainInt32
