"""Refusals of the export of a person's data. `refusals.py` has all others.

Conflict    ExportTooLarge
"""

from gamekeeper.game.refusals import Conflict


class ExportTooLarge(Conflict):
    """The data of this person is larger than {most} MiB. Export it on the server: gamekeeper users export."""
