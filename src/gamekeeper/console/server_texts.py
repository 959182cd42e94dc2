"""Texts of the game and of the API in the language of the page: messages of refusals, and descriptions.

The API and the commands are in English. A message is found by the English template that it was made from. Its values
stay, except for those that are templates themselves, such as "must not be empty", and words of our own, such as the
state "finished". A message that no template fits stays English.
"""

import json
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

from gamekeeper.console.texts import ENGLISH, LANGUAGE, LOCALE, PerLanguage, gettext, pgettext
from gamekeeper.game.refusals import Refusal
from gamekeeper.store import approvals, bulk_jobs

# words of our own that messages have as values: name of the value → word → word in the language of the page
WORDS = PerLanguage[Mapping[str, Mapping[str, str]]](
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
        return WORDS().get(name, {}).get(text) or self.translate(text, depth - 1)

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


def _load() -> MessageCatalogue:
    file = LOCALE / LANGUAGE.get() / "server.json"
    return MessageCatalogue(json.loads(file.read_bytes()))


CATALOGUE = PerLanguage(_load)  # loaded at the first refusal: most pages need none


def describe_refusal(refusal: Refusal) -> str:
    """Return the message of a refusal in the language of the page."""
    return translate_message(refusal.message)


def translate_message(message: str) -> str:
    """Translate a message of a refusal, or a part of one, such as those that are stored with bulk jobs.

    A very long one stays English: it has a long value of the request, and the patterns would take long.
    """
    if LANGUAGE.get() == ENGLISH or len(message) > MOST_LETTERS:
        return message
    return _translate(LANGUAGE.get(), message)


@lru_cache(maxsize=512)
def _translate(_: str, message: str) -> str:
    return CATALOGUE().translate(message)
