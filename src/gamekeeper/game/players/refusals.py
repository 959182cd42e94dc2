"""Refusals of changes of a player's slots and variables."""

from gamekeeper.game.core.refusals import Conflict, Malformed, NotFound


class NoSuchContainer(NotFound):
    """There is no container '{container}': name 'inventory', 'bank' or the id of a bag of this player."""


class SlotChanged(Conflict):
    """Slot {slot} does not hold what the request expects. Nothing was changed; read the slots again."""


class SlotHoldsLess(Conflict):
    """Slot {slot} holds only {held} of this item, not {wanted}. Nothing was changed."""


class SlotOccupied(Conflict):
    """Slot {slot} holds another item. Only a whole stack can change places with it. Nothing was changed."""


class BagInItself(Conflict):
    """A bag cannot be put into itself, or into a bag that is in it. Nothing was changed."""


class ReadOnlyVariable(Malformed):
    """The variable '{variable}' is of type {type}, which can only be read; set one of type Integer or Boolean."""


class ItemMovedOn(Conflict):
    """
    A game took the item of change {seq}, and {trade} within {minutes} minutes of it. An undo may duplicate the item:
    add `force=true` to undo the change anyway. Nothing was changed.
    """
