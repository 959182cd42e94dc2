"""Refusals of changes of variables. `refusals.py` has all others.

Malformed   ReadOnlyVariable
"""

from gamekeeper.game.refusals import Malformed


class ReadOnlyVariable(Malformed):
    """The variable '{variable}' is of type {type}, which can only be read; set one of type Integer or Boolean."""
