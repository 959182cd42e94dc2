"""How the console itself can say no; everything else the rules say."""

from gamekeeper.game.refusals import (
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
from gamekeeper.http.errors import InternalError, OutcomeUnknown

UNSURE = (OutcomeUnknown, InternalError, IdempotencyInProgress)  # it may have been done all the same
BY_QUERY = (Malformed, Conflict, NotThereThen, SearchNotReady)  # of a page: without its query it is there


class SignInFirst(Denied):
    """Sign in to see this page."""


class ForgedForm(Forbidden):
    """This form did not come from a page of this console, or its session has ended. Reload the page and try again."""


class UnusablePassword(Malformed):
    """{problem}"""


class OwnPassword(Conflict):
    """This would set your own password without the current one. Open "Change my password" behind your name."""


class NoSuchPage(NotFound):
    """There is no such page."""


class TooManyWatching(Overloaded):
    """{most} pages are being kept fresh by this process already. Close some, or reload this one to see what is new."""


class WatchingEnough(Conflict):
    """{most} pages of your account are being kept fresh already, and this one is not. Close one, or reload this one."""


class NameNotTyped(Malformed):
    """Type the account's name, {name}, to erase it. Nothing was changed."""


def again(refusal: Refusal) -> str:
    """What is said of what can be sent again under its key; nothing where that would not help."""
    if isinstance(refusal, UNSURE):
        return "It is not known whether it was done; send it again: it is never done twice."
    return f"{refusal.message} Send it again then: it is never done twice." if refusal.retry_after else ""
