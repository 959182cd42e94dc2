"""Choose the language of a page: the person's choice, else the setting, else the browser's languages, else English."""

import re

from gamekeeper.console.texts import ENGLISH, LANGUAGE, LANGUAGES
from gamekeeper.http.request import Request

# an element of Accept-Language: a language with subtags such as de-AT, and its weight
PREFERENCE = re.compile(
    rb"([a-z]{1,8})(?:-[a-z0-9]{1,8})*[ \t]*(?:;[ \t]*q=([01](?:\.\d{0,3})?))?[ \t]*", re.IGNORECASE
)
MOST_PREFERENCES = 20  # elements of Accept-Language that are read; browsers send fewer
COOKIE = b"gamekeeper-language="  # holds a person's choice


def use_language(request: Request) -> None:
    """Choose the language of a request. All texts of this request's task are then in it."""
    LANGUAGE.set(choose(request))


def choose(request: Request) -> str:
    chosen = _read_choice(request.headers.get(b"cookie", b""))
    if chosen:
        return chosen
    setting = request.services.keeper.settings.language
    return setting or find_preferred(request.headers.get(b"accept-language", b""))


def _read_choice(cookies: bytes) -> str:
    if COOKIE not in cookies:  # most requests: no need to split the header
        return ""
    values = (each.strip().removeprefix(COOKIE) for each in cookies.split(b";") if each.strip().startswith(COOKIE))
    return next((found for value in values if (found := value.decode("latin-1")) in LANGUAGES), "")


def find_preferred(accepted: bytes) -> str:
    """Find the language of the console that a browser prefers, by its header Accept-Language."""
    best, best_weight = ENGLISH, 0.0
    for each in accepted.split(b",")[:MOST_PREFERENCES]:
        found = PREFERENCE.fullmatch(each.strip())
        if found is None:
            continue
        language, weight = found[1].decode().lower(), float(found[2] or 1)
        if language in LANGUAGES and weight > best_weight:  # of equal weights the first counts
            best, best_weight = language, weight
    return best
