"""Refusals on the pages where people manage their own second factors. No operation of the API causes them.

Malformed     WrongSecondFactor  TicketExpired
NotFound      NoSuchFactor
Conflict      FactorExists  TooManyFactors  FactorRequired
"""

from gamekeeper.game.refusals import Conflict, Malformed, NotFound


class WrongSecondFactor(Malformed):
    """The code is wrong, or was used already. Type the next code, or a recovery code."""


class TicketExpired(Malformed):
    """This took longer than {minutes} minutes. Start over."""


class NoSuchFactor(NotFound):
    """This account has no such second factor."""


class FactorExists(Conflict):
    """This second factor is set up already."""


class TooManyFactors(Conflict):
    """An account has at most {most} second factors; remove one first."""


class FactorRequired(Conflict):
    """Your role '{role}' requires a second factor, and this is the last one; add another one first."""
