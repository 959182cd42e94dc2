"""Refusals that only pages of the console can cause: own second factors, and sign-ins with OpenID Connect.

No operation of the API causes them.
"""

from gamekeeper.game.core.refusals import Conflict, Forbidden, Malformed, NotFound, Overloaded


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


class UnknownIdentity(Forbidden):
    """No account is linked to your sign-in at {provider}, and no group of yours there gives a role.

    Ask an administrator.
    """


class NoSuchIdentity(NotFound):
    """Your account has no such linked sign-in."""


class IdentityTaken(Conflict):
    """This sign-in at {provider} is linked to another account. Remove it there first, or ask an administrator."""


class IdentityGivesRoles(Conflict):
    """This sign-in gives roles by your groups at the provider, so it stays linked.

    Ask an administrator to suspend the account instead.
    """


class TooManyIdentities(Conflict):
    """An account has at most {most} linked sign-ins; remove one first."""


class NoUsableName(Conflict):
    """Your name at {provider} gives no free name for an account. Ask an administrator for an invitation instead."""


class SignInNotStarted(Malformed):
    """This sign-in did not start in this browser, or took longer than {minutes} minutes. Start over at {console}."""


class SignInUsed(Malformed):
    """This sign-in was used already. Start over."""


class ProviderRefused(Malformed):
    """{provider} did not confirm your sign-in: {problem}. Try again, or sign in with your password."""


class ProviderUnreachable(Overloaded):
    """{provider} cannot be used now: {problem}. Try again later, or sign in with your password."""
