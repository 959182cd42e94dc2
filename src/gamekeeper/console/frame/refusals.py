"""Refusals of the console itself. The docstring of each class is its message."""

from gamekeeper.console.frame.texts import describe_refusal, gettext
from gamekeeper.game.core.refusals import (
    Conflict,
    Denied,
    Forbidden,
    IdempotencyInProgress,
    Malformed,
    NotFound,
    NotThereThen,
    Overloaded,
    Refusal,
    SearchNotReady,
)
from gamekeeper.http.server.errors import InternalError, OutcomeUnknown

# refusals after which the call may have taken effect nevertheless
UNSURE = (OutcomeUnknown, InternalError, IdempotencyInProgress)
# refusals that the query in a page's URL causes: without the query the page works
BY_QUERY = (Malformed, Conflict, NotThereThen, SearchNotReady)


class SignInFirst(Denied):
    """Sign in to see this page."""


class ForgedForm(Forbidden):
    """This form did not come from a page of this console, or its session has ended. Reload the page and try again."""


class UnusablePassword(Malformed):
    """{problem}"""


class UnknownItem(Malformed):
    """The catalogue has no item with the name '{name}'. {similar}"""


class AmbiguousItem(Malformed):
    """Several items have the name '{name}'. Write the id of one of them: {ids}."""


class UnknownSpell(Malformed):
    """The catalogue has no spell with the name '{name}'. {similar}"""


class AmbiguousSpell(Malformed):
    """Several spells have the name '{name}'. Write the id of one of them: {ids}."""


class OwnPassword(Conflict):
    """This would set your own password without the current one. Use "Change my password" in the menu of your name."""


class RoleNotGiven(Conflict):
    """The account '{name}' is registered, but did not get the role '{role}': {problem}"""

    is_partial = True  # something was changed nevertheless


class FactorFirst(Forbidden):
    """Your role '{role}' requires a second factor. Set it up on the page "Second factor" first."""


class SessionTooOld(Forbidden):
    """You signed in too long ago. Sign in again, then link the sign-in."""


class NoSuchPage(NotFound):
    """There is no such page."""


class TooManyWatching(Overloaded):
    """{most} pages receive live updates from this process already. Close some, or reload this page to update it."""


class WatchingEnough(Conflict):
    """{most} pages of your account receive live updates already. Close one, or reload this page to update it."""


class NameNotTyped(Malformed):
    """Type the account's name, {name}, to erase it. Nothing was changed."""


def explain_retry(refusal: Refusal) -> str:
    """Explain that the call can be sent again with its idempotency key; empty where a retry would not help."""
    if isinstance(refusal, UNSURE):
        return gettext("It is not known whether this was done. Send it again: it takes effect only once.")
    if refusal.retry_after:
        return gettext("%(problem)s Then send it again: it takes effect only once.", problem=describe_refusal(refusal))
    return ""
