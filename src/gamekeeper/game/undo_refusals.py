"""Refusals of requests to undo a change."""

from gamekeeper.game.refusals import Conflict


class NotUndoable(Conflict):
    """A change of kind {kind} cannot be undone: {why}."""


class AlreadyUndone(Conflict):
    """Change {seq} was already undone by change {by}."""


class UndoConflict(Conflict):
    """Change {seq} can no longer be undone: {why}. Nothing was changed."""


class ItemMovedOn(Conflict):
    """
    A game took the item of change {seq}, and {trade} within {minutes} minutes of it. An undo may duplicate the item:
    add `force=true` to undo the change anyway. Nothing was changed.
    """
