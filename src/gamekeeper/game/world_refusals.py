"""Refusals about variables of the server and of guilds. `refusals.py` has all others.

Malformed   InvalidGlobalVariable  InvalidServerVariable  InvalidGuildVariable  GuildMissing  WrongValueType
NotFound    NoSuchGlobalVariable  NoSuchServerVariable
"""

from gamekeeper.game.refusals import Malformed, NotFound


class InvalidGlobalVariable(Malformed):
    """Invalid global variable id."""


class InvalidServerVariable(Malformed):
    """Variable id cannot be {id}"""


class InvalidGuildVariable(Malformed):
    """Invalid variable id ${id}."""


class GuildMissing(Malformed):
    """Guild does not exist."""


class WrongValueType(Malformed):
    """Invalid value for variable of type {type}. Received: {received}"""


class NoSuchGlobalVariable(NotFound):
    """No global variable with id '{id}'."""


class NoSuchServerVariable(NotFound):
    """No server variable with id '{id}'."""
