"""Ranges of times, days or levels that a caller asks for."""

from gamekeeper.game.refusals import BadField


def require_order(field: str, start: int | None, end: int | None) -> None:
    """Refuse a range that ends before it begins. `field`: the name of its start; None: no limit on that side."""
    if start is not None and end is not None and start > end:
        raise BadField(field=field, problem="must not be after the end of the range")
