"""Refusals about second factors. `own_factor_refusals.py` has those that only pages of the console can cause.

Conflict      KeyFileUnusable  OwnFactors
LogInRefusal  MfaRequired  WrongOtp
"""

from gamekeeper.game.refusals import Conflict, LogInRefusal


class MfaRequired(LogInRefusal):
    """{problem}"""


class WrongOtp(LogInRefusal):
    """The code of the second factor is wrong, or was used already. Send the next code, or a recovery code."""

    error = "invalid_grant"


class KeyFileUnusable(Conflict):
    """The key file cannot be used now: {problem}."""


class OwnFactors(Conflict):
    """These are your own second factors: remove them on your page in the console, with a code."""
