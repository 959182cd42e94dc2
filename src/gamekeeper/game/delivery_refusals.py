"""Refusals of commands to the game and of their acknowledgements. `refusals.py` has all others.

Malformed   InvalidPlayerId  InvalidMap
NotFound    NoRecipient  NoSuchMap
Conflict    NotTold
TooManyRequests  TooManyMessages
"""

from gamekeeper.game.refusals import Conflict, Malformed, NotFound, TooManyRequests


class InvalidPlayerId(Malformed):
    """Invalid player id."""


class InvalidMap(Malformed):
    """Invalid map id '{key}'."""


class NoRecipient(NotFound):
    """No player found for '{key}'."""


class NoSuchMap(NotFound):
    """No map found for '{key}'."""


class NotTold(Conflict):
    """The game server '{server}' has no command {seq}; no acknowledgement of this request was stored."""


class TooManyMessages(TooManyRequests):
    """Too many chat messages; wait {seconds} seconds."""
