"""JSON shapes of staff accounts."""

from msgspec import Struct

from gamekeeper.http.wire.scalars import Guid


class Suspension(Struct):
    """An account, and whether it is suspended."""

    Id: Guid
    Name: str
    Suspended: bool
