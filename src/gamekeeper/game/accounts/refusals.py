"""Refusals about notes, tags, and the export of a person's data."""

from gamekeeper.game.core.refusals import Conflict, NotFound


class NoSuchNote(NotFound):
    """There is no such note. GET /api/keeper/v1/notes lists them."""


class ExportTooLarge(Conflict):
    """The data of this person is larger than {most} MiB. Export it on the server: gamekeeper users export."""
