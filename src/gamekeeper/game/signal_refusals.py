"""Refusals about signals. `refusals.py` has all others.

NotFound    NoSuchSignal
"""

from gamekeeper.game.refusals import NotFound


class NoSuchSignal(NotFound):
    """There is no such signal. GET /api/keeper/v1/signals lists them."""
