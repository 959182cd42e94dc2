"""The words that actions in the search box consist of: verbs, prepositions and times.

English words are understood in every language, and those of the page's language too.
"""

import re

from gamekeeper.console.texts import ENGLISH, LANGUAGE, PerLanguage, pgettext


def _list_words() -> dict[str, str]:
    """List the words of the current language by meaning, separated by commas. Translations may have more or fewer."""
    return {
        "ban": pgettext("typed", "ban"),
        "unban": pgettext("typed", "unban"),
        "mute": pgettext("typed", "mute"),
        "unmute": pgettext("typed", "unmute"),
        "kick": pgettext("typed", "kick"),
        "give": pgettext("typed", "give"),
        "take": pgettext("typed", "take"),
        "to": pgettext("typed", "to"),
        "from": pgettext("typed", "from"),
        "for": pgettext("typed", "for"),
        "until": pgettext("typed", "until, till"),
        "forever": pgettext("typed", "forever, permanently, permanent"),
        "tomorrow": pgettext("typed", "tomorrow"),
        "minutes": pgettext("typed", "m, min, mins, minute, minutes"),
        "hours": pgettext("typed", "h, hr, hrs, hour, hours"),
        "days": pgettext("typed", "d, day, days"),
        "weeks": pgettext("typed", "w, wk, wks, week, weeks"),
        "months": pgettext("typed", "mo, mos, month, months"),
        "years": pgettext("typed", "y, yr, yrs, year, years"),
        "monday": pgettext("typed", "monday, mon"),
        "tuesday": pgettext("typed", "tuesday, tue"),
        "wednesday": pgettext("typed", "wednesday, wed"),
        "thursday": pgettext("typed", "thursday, thu"),
        "friday": pgettext("typed", "friday, fri"),
        "saturday": pgettext("typed", "saturday, sat"),
        "sunday": pgettext("typed", "sunday, sun"),
    }


def _collect_words() -> dict[str, frozenset[str]]:
    own, language = _list_words(), LANGUAGE.set(ENGLISH)
    try:
        english = _list_words()
    finally:
        LANGUAGE.reset(language)
    return {meaning: _split(text) | _split(english[meaning]) for meaning, text in own.items()}


def _split(text: str) -> frozenset[str]:
    return frozenset(each.strip().casefold() for each in text.split(","))


WORDS = PerLanguage(_collect_words)  # meaning → words


def find_meaning(word: str, *meanings: str) -> str | None:
    """Find which of these meanings a word has."""
    words, sought = WORDS(), word.casefold()
    return next((each for each in meanings if sought in words[each]), None)


def make_pattern(meaning: str) -> str:
    """Return a regular expression for the words of a meaning."""
    return "|".join(re.escape(each) for each in sorted(WORDS()[meaning], key=len, reverse=True))
