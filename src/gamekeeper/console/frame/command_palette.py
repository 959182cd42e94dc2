"""Commands that users type into the search box of the console, such as "ban Yorick 7d". Rooms register them.

A command leads to the preview of its operation. A text with an unknown word is rejected, because the operation would do
something else than the user typed. Commands have English words, and words in the language of the page.
"""

import re
from collections.abc import Awaitable, Callable, Mapping
from difflib import SequenceMatcher
from functools import partial
from typing import NamedTuple
from urllib.parse import quote

from gamekeeper.console.frame.pages import FormToken
from gamekeeper.console.frame.texts import ENGLISH, LANGUAGE, PerLanguage, translate, translate_message
from gamekeeper.game.core import lookup
from gamekeeper.game.keeper import Keeper
from gamekeeper.game.lists import search
from gamekeeper.game.lists.search import EXACT, ID, NEAR, SearchHit, Sight

MOST_FOUND = 20  # search hits in which a command looks for its player, account or item
MOST_OBJECTS = 3  # players, accounts or items that the search box offers for one command
MOST_UNKNOWN = 4  # last words of a text that are checked to name the unknown ones
LEAST_SIMILARITY = 0.6  # ratio from which a typed word counts as a misspelling of a word in a name
Words = PerLanguage[Mapping[str, frozenset[str]]]  # meaning → words


def collect_words(list_words: Callable[[], Mapping[str, str]]) -> Words:
    """Collect words by meaning, separated by commas in the current language. Translations may have more or fewer."""

    def collect() -> dict[str, frozenset[str]]:
        own, language = list_words(), LANGUAGE.set(ENGLISH)
        try:
            english = list_words()
        finally:
            LANGUAGE.reset(language)
        return {meaning: _split(text) | _split(english[meaning]) for meaning, text in own.items()}

    return PerLanguage(collect)


def _split(text: str) -> frozenset[str]:
    return frozenset(each.strip().casefold() for each in text.split(","))


def make_pattern(words: frozenset[str]) -> str:
    """Return a regular expression for the words of a meaning."""
    return "|".join(re.escape(each) for each in sorted(words, key=len, reverse=True))


class PaletteNote(NamedTuple):
    """Explains why a text that begins with a command is not valid, with the words that the command accepts."""

    name: str
    detail: str
    href: str = ""


class PaletteOffer(NamedTuple):
    """A button in the search results: a form of /console/act that shows the preview of a command."""

    label: str
    detail: str
    path: str  # of the operation, which is a POST
    body: Mapping[str, str | int]
    back: str
    kind: str = ""  # CSS class of the button

    @property
    def fields(self) -> dict[str, str]:
        values = {f"body.{name}": str(value) for name, value in self.body.items()}
        return {"method": "POST", "path": self.path, "back": self.back, **values}


FoundOffers = tuple[list[PaletteOffer], PaletteNote | None]


class PaletteCommand(NamedTuple):
    """A command of the search box. A room registers it in the tuple `PALETTE_COMMANDS`."""

    verb: str  # key of the command in `words`, such as "ban"
    label: str  # in English, with placeholders for the name and the values
    path: str  # of the operation, which is a POST
    words: Words
    explain: Callable[[], str]  # returns a help text with the words that the command accepts
    find: Callable[["NameSearch", "PaletteCommand", str], Awaitable[FoundOffers]]  # parses the text after the verb

    def build_path(self, kind: str, object_id: str) -> str:
        return self.path.format(kind=kind, id=quote(object_id, safe=""), verb=self.verb)

    def offer(self, found: SearchHit, body: Mapping[str, str | int], kind: str = "", **facts: str) -> PaletteOffer:
        """Make the offer for a player or account. `facts` are the values of the placeholders in the label."""
        label, path = translate(self.label) % {"name": found.name, **facts}, self.build_path(found.kind, found.id)
        back = f"/console/{'players' if found.kind == 'player' else 'accounts'}/{found.id}"
        return PaletteOffer(label, translate_message(found.detail), path, body, back, kind)

    def refuse(self, why: str) -> FoundOffers:
        return [], PaletteNote(why, self.explain())


class NameSearch(NamedTuple):
    """Finds the players, accounts and items that a command names, within the permissions of the viewer."""

    keeper: Keeper
    sight: Sight
    csrf: FormToken

    def may(self, act: PaletteCommand, kind: str, object_id: str) -> bool:
        return self.csrf.allows("POST", act.build_path(kind, object_id))

    async def find(self, name: str, *kinds: str) -> list[SearchHit]:
        """Find the records that a name in a command may mean; an exact match excludes all others."""
        find = partial(
            search.find,
            text=name,
            most=MOST_FOUND,
            codec=self.keeper.changes.codec,
            sight=self.sight._replace(changes=False),
        )
        hits = await self.keeper.store.read(find)
        found = [each for each in hits if each.kind in kinds and not each.deleted and is_meant(each, name)]
        exact = [each for each in found if each.match in {ID, EXACT}]
        return (exact or found)[:MOST_OBJECTS]

    async def find_unknown(self, text: str, *kinds: str) -> str:
        """Return the last words of a text that do not belong to a name, or all of it if it begins with none."""
        words = text.split()
        for size in range(1, min(len(words), MOST_UNKNOWN + 1)):
            if await self.find(" ".join(words[:-size]), *kinds):
                return " ".join(words[-size:])
        return text


def is_meant(found: SearchHit, typed: str) -> bool:
    """Tell whether every typed word belongs to the name of the search hit.

    The search ignores the end of a misspelt text, so "Yorick 1h" would find Yorick: a word that is no part of the name
    may be a value of the command, such as a duration.
    """
    if found.match in {ID, EXACT}:
        return True
    words, names = lookup.fold(typed).split(), lookup.fold(found.name).split()
    if len(words) > 1 and any(word not in names for word in words if any(each.isdigit() for each in word)):
        return False
    if found.match != NEAR:
        return True
    return any(
        len(words) == len(parts)
        and all(
            SequenceMatcher(None, word, part).ratio() >= LEAST_SIMILARITY
            for word, part in zip(words, parts, strict=True)
        )
        for parts in (names, found.detail.casefold().split())  # the detail of an account is its email
    )
