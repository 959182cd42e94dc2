"""Refusals about notes and tags. `refusals.py` has all others.

NotFound    NoSuchNote
"""

from gamekeeper.game.refusals import NotFound


class NoSuchNote(NotFound):
    """There is no such note. GET /api/keeper/v1/notes lists them."""
