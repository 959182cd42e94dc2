"""JSON shapes of the search over players, accounts and the catalogue."""

from typing import Annotated

from msgspec import Meta, Struct

from gamekeeper.http.wire.lists import Limit
from gamekeeper.http.wire.scalars import Printable

SEARCH_DESCRIPTION = "An id, also of a deleted player or account, or a part of a name or email."
SearchText = Annotated[Printable, Meta(description=SEARCH_DESCRIPTION)]


class FindQuery(Struct, frozen=True):
    q: SearchText = ""
    limit: Annotated[Limit, Meta(extra={"cut": 50})] = 20


class Found(Struct):
    Kind: str
    Id: str
    Name: str
    Detail: str
    Match: str  # how the search text matched: id, exact, prefix, part or near


class Finds(Struct):
    Query: str
    Found: list[Found]
