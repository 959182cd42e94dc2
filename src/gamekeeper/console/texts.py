"""Texts of the console in the language of the current request: the English text is the key.

`make texts` collects them in locale/console.pot, and updates the translations. A catalogue is loaded once, at import.
"""

import json
from collections.abc import Callable
from contextvars import ContextVar
from functools import lru_cache, wraps
from gettext import NullTranslations, translation
from importlib import resources
from pathlib import Path
from typing import Generic, ParamSpec, TypeVar

from markupsafe import Markup

from gamekeeper import settings

T = TypeVar("T")
P = ParamSpec("P")

ENGLISH, GERMAN = "en", "de"
LANGUAGES = dict(zip(settings.LANGUAGES, ("English", "Deutsch"), strict=True))  # each with its name for itself
LOCALE = Path(str(resources.files("gamekeeper.console") / "locale"))
# the language of the page that is being made; languages.py chooses it at the start of each request
LANGUAGE: ContextVar[str] = ContextVar("console_language", default=ENGLISH)


def load_catalogue(language: str) -> NullTranslations:
    """Load the translations of a language. English needs none: without a translation, gettext returns the key."""
    return NullTranslations() if language == ENGLISH else translation("console", LOCALE, [language])


CATALOGUES = {language: load_catalogue(language) for language in LANGUAGES}


def translate(message: str) -> str:
    """Translate a message without filling in its placeholders."""
    return CATALOGUES[LANGUAGE.get()].gettext(message)


def translate_plural(singular: str, plural: str, count: int) -> str:
    """Translate a message in the form for `count`, without filling in its placeholders."""
    return CATALOGUES[LANGUAGE.get()].ngettext(singular, plural, count)


def gettext(message: str, **values: object) -> str:
    """Translate a message and fill in its %(name)s placeholders. Works like gettext in the templates."""
    return CATALOGUES[LANGUAGE.get()].gettext(message) % values


def ngettext(singular: str, plural: str, count: int, **values: object) -> str:
    """Translate a message in the singular or plural form for `count`. The placeholder %(num)s is the count."""
    return CATALOGUES[LANGUAGE.get()].ngettext(singular, plural, count) % {"num": count, **values}


def pgettext(context: str, message: str) -> str:
    """Translate a message that has several meanings. The context tells translators which one it is."""
    return CATALOGUES[LANGUAGE.get()].pgettext(context, message)


class PerLanguage(Generic[T]):
    """A value with translated texts, such as a dictionary of labels. It is made once for each language, at first use.

    Texts of a module's constants need it: the language is not known yet when the module is imported.
    """

    __slots__ = ("_made", "_make")

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._made: dict[str, T] = {}

    def __call__(self) -> T:
        language = LANGUAGE.get()
        if language not in self._made:
            self._made[language] = self._make()
        return self._made[language]


def cache_texts(most: int) -> Callable[[Callable[P, str]], Callable[P, str]]:
    """Cache the last texts that a function returned, with their language. `most`: how many per language."""

    def wrap(make: Callable[P, str]) -> Callable[P, str]:
        @lru_cache(maxsize=most * len(LANGUAGES))
        def make_in(_: str, *given: P.args, **named: P.kwargs) -> str:
            return make(*given, **named)

        @wraps(make)
        def get(*given: P.args, **named: P.kwargs) -> str:
            return make_in(LANGUAGE.get(), *given, **named)

        return get

    return wrap


def load_script_texts(language: str) -> Markup:
    """Load the translations of the static scripts as JSON: message → text, or message → list of plural forms.

    Pages contain it, so that the scripts themselves are the same files in every language. Empty: there are none.
    """
    file = LOCALE / language / "scripts.json"
    if not file.is_file():
        return Markup()
    found = json.dumps(json.loads(file.read_bytes()), ensure_ascii=False, separators=(",", ":"))
    return Markup(found.replace("<", "\\u003c"))  # noqa: S704 - our own file, and no text can end the script element


SCRIPT_TEXTS = {language: load_script_texts(language) for language in LANGUAGES}
