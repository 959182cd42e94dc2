"""Refusals about variables of the server and of guilds, guilds, and commands to the game."""

from gamekeeper.game.core.refusals import Conflict, Malformed, NotFound, TooManyRequests


class InvalidGlobalVariable(Malformed):
    """Invalid global variable id."""


class InvalidServerVariable(Malformed):
    """Variable id cannot be {id}"""


class InvalidGuildVariable(Malformed):
    """Invalid variable id ${id}."""


class GuildMissing(Malformed):
    """Guild does not exist."""


class NoSuchGlobalVariable(NotFound):
    """No global variable with id '{id}'."""


class NoSuchServerVariable(NotFound):
    """No server variable with id '{id}'."""


class NoSuchGuild(Malformed):
    """Guild not found: ${id}."""


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
