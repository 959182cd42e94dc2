"""How the console itself can say no; everything else the rules say."""

from gamekeeper.game.refusals import Denied, Forbidden, NotFound, Overloaded


class SignInFirst(Denied):
    """Sign in to see this page."""


class ForgedForm(Forbidden):
    """This form did not come from a page of this console, or its session has ended. Reload the page and try again."""


class NoSuchPage(NotFound):
    """There is no such page."""


class TooManyWatching(Overloaded):
    """{most} pages are being kept fresh by this process already. Close some, or reload this one to see what is new."""
