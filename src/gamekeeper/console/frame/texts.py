"""Texts in the language of the current request: the console's own, and those of the server that it shows.

The English text is the key. `make texts` collects the texts in locale/console.pot, and updates the translations. A
catalogue is loaded once, at its first use. The language of a page is the choice of the person, else the setting, else
the languages of the browser, else English.

The API and the commands are in English. A message of theirs is found by the English template that it was made from. Its
values stay, except for those that are templates themselves, such as "must not be empty", and words of our own, such as
the state "finished". A message that no template fits stays English.
"""

import json
import re
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from functools import cache, lru_cache, wraps
from gettext import NullTranslations, translation
from pathlib import Path
from typing import Generic, NamedTuple, ParamSpec, TypeVar

from markupsafe import Markup

from gamekeeper.game.core.refusals import Refusal
from gamekeeper.ground import settings
from gamekeeper.http.server.request import Request
from gamekeeper.store.audit import approvals, bulk_jobs

T = TypeVar("T")
P = ParamSpec("P")

ENGLISH, GERMAN = "en", "de"
LANGUAGES = dict(zip(settings.LANGUAGES, ("English", "Deutsch"), strict=True))  # each with its name for itself
LOCALE = Path(__file__).parent / "locale"
# the language of the page that is being made; `use_language` sets it at the start of each request
LANGUAGE: ContextVar[str] = ContextVar("console_language", default=ENGLISH)


@cache
def load_catalogue(language: str) -> NullTranslations:
    """Load the translations into a language. English needs none: without one, gettext returns the key."""
    return NullTranslations() if language == ENGLISH else translation("console", LOCALE, [language])


def translate(message: str) -> str:
    """Translate a message without filling in its placeholders."""
    return load_catalogue(LANGUAGE.get()).gettext(message)


def translate_plural(singular: str, plural: str, count: int) -> str:
    """Translate a message in the form for `count`, without filling in its placeholders."""
    return load_catalogue(LANGUAGE.get()).ngettext(singular, plural, count)


def gettext(message: str, **values: object) -> str:
    """Translate a message and fill in its %(name)s placeholders. Works like gettext in the templates."""
    return load_catalogue(LANGUAGE.get()).gettext(message) % values


def ngettext(singular: str, plural: str, count: int, **values: object) -> str:
    """Translate a message in the singular or plural form for `count`. The placeholder %(num)s is the count."""
    return load_catalogue(LANGUAGE.get()).ngettext(singular, plural, count) % {"num": count, **values}


def pgettext(context: str, message: str) -> str:
    """Translate a message that has several meanings. The context tells translators which one it is."""
    return load_catalogue(LANGUAGE.get()).pgettext(context, message)


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


@cache
def load_script_texts(language: str) -> Markup:
    """Load the translations of the static scripts as JSON: message → text, or message → list of plural forms.

    Pages contain it, so that the scripts themselves are the same files in every language. Empty: there are none.
    """
    file = LOCALE / language / "scripts.json"
    if not file.is_file():
        return Markup()
    found = json.dumps(json.loads(file.read_bytes()), ensure_ascii=False, separators=(",", ":"))
    return Markup(found.replace("<", "\\u003c"))  # noqa: S704 - our own file, and no text can end the script element


# an element of Accept-Language: a language with subtags such as de-AT, and its weight
ACCEPTED_LANGUAGE = re.compile(
    rb"([a-z]{1,8})(?:-[a-z0-9]{1,8})*[ \t]*(?:;[ \t]*q=([01](?:\.\d{0,3})?))?[ \t]*", re.IGNORECASE
)
MOST_PREFERENCES = 20  # elements of Accept-Language that are read; browsers send fewer
LANGUAGE_COOKIE = b"gamekeeper-language="  # holds a person's choice


def use_language(request: Request) -> None:
    """Choose the language of a request. All texts of this request's task are then in it."""
    chosen = _read_chosen_language(request.headers.get(b"cookie", b""))
    setting = chosen or request.services.keeper.settings.language
    LANGUAGE.set(setting or find_preferred_language(request.headers.get(b"accept-language", b"")))


def _read_chosen_language(cookies: bytes) -> str:
    if LANGUAGE_COOKIE not in cookies:  # most requests: no need to split the header
        return ""
    values = (
        each.strip().removeprefix(LANGUAGE_COOKIE)
        for each in cookies.split(b";")
        if each.strip().startswith(LANGUAGE_COOKIE)
    )
    return next((found for value in values if (found := value.decode("latin-1")) in LANGUAGES), "")


def find_preferred_language(accepted: bytes) -> str:
    """Find the language of the console that a browser prefers, by its header Accept-Language."""
    best, best_weight = ENGLISH, 0.0
    for each in accepted.split(b",")[:MOST_PREFERENCES]:
        found = ACCEPTED_LANGUAGE.fullmatch(each.strip())
        if found is None:
            continue
        language, weight = found[1].decode().lower(), float(found[2] or 1)
        if language in LANGUAGES and weight > best_weight:  # of equal weights the first counts
            best, best_weight = language, weight
    return best


# words of our own that messages have as values: name of the value → word → word in the language of the page
SERVER_WORDS = PerLanguage[Mapping[str, Mapping[str, str]]](
    lambda: {
        "act": {
            "ban": pgettext("act of a refusal", "ban"),
            "delete": pgettext("act of a refusal", "delete"),
            "suspend": pgettext("act of a refusal", "suspend"),
            "resume": pgettext("act of a refusal", "resume"),
            "give": pgettext("act of a refusal", "give"),
            "take": pgettext("act of a refusal", "take"),
            "edit": pgettext("act of a refusal", "edit"),
            "edited": pgettext("act of a refusal", "edited"),
            "deleted": pgettext("act of a refusal", "deleted"),
        },
        "state": {
            bulk_jobs.FINISHED: pgettext("state in a refusal", "finished"),
            bulk_jobs.CANCELLED: pgettext("state in a refusal", "cancelled"),
            approvals.DONE: pgettext("state in a refusal", "done"),
            approvals.DENIED: pgettext("state in a refusal", "denied"),
        },
        "by": {
            "name": pgettext("what a refusal says was looked up", "name"),
            "id": pgettext("what a refusal says was looked up", "id"),
        },
    }
)
PLACEHOLDER = re.compile(r"\{(\w+)\}")
MOST_DEPTH = 3  # a value of a value of a message is translated
MOST_LETTERS = 500  # of a message that is translated
LISTED = re.compile(r", | and ")  # between the parts of a list such as "digits, spaces and hyphens"


class Template(NamedTuple):
    pattern: re.Pattern[str]  # fits the English text
    text: str  # the translation, with the same placeholders


class MessageCatalogue:
    """Translations of messages into one language."""

    def __init__(self, texts: dict[str, str]) -> None:
        self._texts = texts
        # those with more text of their own come first: they fit less by chance
        longest = sorted((each for each in texts if "{" in each and _measure(each)), key=_measure, reverse=True)
        self._templates = [Template(re.compile(_make_pattern(each), re.DOTALL), texts[each]) for each in longest]

    def translate(self, message: str, depth: int = MOST_DEPTH) -> str:
        text = message.strip()
        found = self._texts.get(text) or self._fill(text, depth) or self._translate_list(text)
        return message.replace(text, found, 1) if found else message

    def _fill(self, text: str, depth: int) -> str:
        if depth == 0:
            return ""
        for each in self._templates:
            if found := each.pattern.fullmatch(text):
                values = {name: self._translate_value(name, text, depth) for name, text in found.groupdict().items()}
                return PLACEHOLDER.sub(lambda mark, values=values: values[mark[1]], each.text)
        return ""

    def _translate_value(self, name: str, text: str, depth: int) -> str:
        return SERVER_WORDS().get(name, {}).get(text) or self.translate(text, depth - 1)

    def _translate_list(self, text: str) -> str:
        parts = LISTED.split(text)
        if len(parts) == 1 or not all(each in self._texts for each in parts):
            return ""
        *first, last = (self._texts[each] for each in parts)
        return gettext("%(first)s and %(last)s", first=", ".join(first), last=last)


def _measure(template: str) -> int:
    return len(PLACEHOLDER.sub("", template))


def _make_pattern(template: str) -> str:
    """Make the pattern of a template. A name that occurs twice must have the same value."""
    parts, seen = PLACEHOLDER.split(template), set[str]()
    for place in range(1, len(parts), 2):
        name = parts[place]
        parts[place] = f"(?P={name})" if name in seen else f"(?P<{name}>.*?)"
        seen.add(name)
    parts[::2] = [re.escape(each) for each in parts[::2]]
    return "".join(parts)


# loaded at the first refusal: most pages need none
SERVER_MESSAGES = PerLanguage(
    lambda: MessageCatalogue(json.loads((LOCALE / LANGUAGE.get() / "server.json").read_bytes()))
)


def describe_refusal(refusal: Refusal) -> str:
    """Return the message of a refusal in the language of the page."""
    return translate_message(refusal.message)


def translate_message(message: str) -> str:
    """Translate a message of a refusal, or a part of one, such as those that are stored with bulk jobs.

    A very long one stays English: it has a long value of the request, and the patterns would take long.
    """
    if LANGUAGE.get() == ENGLISH or len(message) > MOST_LETTERS:
        return message
    return _translate_message(LANGUAGE.get(), message)


@lru_cache(maxsize=512)
def _translate_message(_: str, message: str) -> str:
    return SERVER_MESSAGES().translate(message)
