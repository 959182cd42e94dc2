"""Rules for a new password that a person types: long enough, and not one that attackers try first.

They apply in the console and on the command line. The API receives a SHA-256 hash, which does not show the strength.
"""

import functools
import secrets
import string
import unicodedata
from collections.abc import Iterable, Iterator, Mapping

from gamekeeper.settings import Settings

ADVICE = "Use several words that do not belong together, or a generated password."
# letters of generated passwords: 32 characters, 5 bits each; none looks like another
ALPHABET = "abcdefghijkmnpqrstuvwxyz23456789"
GROUP, GROUPS = 5, 4  # generated passwords have 4 groups of 5 characters: 100 random bits
DECORATION = string.digits + string.punctuation + " "
LEET = str.maketrans("@4831!|0$57+", "aabeiliosstt")
# rows, columns and zigzags of keyboards, and the alphabet; passwords are compared in both directions
WALKS = (
    "abcdefghijklmnopqrstuvwxyz",
    "01234567890",
    "qwertyuiop asdfghjkl zxcvbnm",
    "qwertzuiop yxcvbnm azertyuiop qsdfghjklm wxcvbn",
    "1qaz2wsx3edc4rfv5tgb6yhn7ujm8ik9ol0p",
    "1q2w3e4r5t6y7u8i9o0p",
    "q1w2e3r4t5y6u7i8o9p0",
    "!@#$%^&*()",
)
JUDGED_CHARACTERS = 64  # characters of a new password that are checked, so that a long password does not take longer
SHORTEST_STEP, LONGEST_STEP = 3, 36  # shortest and longest part of a keyboard walk that is recognised
FEWEST_DIFFERENT = 5  # different characters that a new password needs at least
# digits that a password of digits only needs: a shorter number may be a date, a telephone number or a sequence
LONG_NUMBER = 16
SHORTEST_NAME = 3
FEWEST_OWN_LETTERS = 4  # letters that a new password needs besides the account's name or email
# two common words are no password if the product of their ranks (1: most common) is below this: attackers try those
PAIR_RANK_PRODUCT = 10**6


def find_problem(password: str, settings: Settings, names: Iterable[str] = ()) -> str:
    """Describe what is wrong with a password, and what to do; empty: the password is acceptable.

    `names` are known to attackers: the account's name and email.
    """
    least = settings.min_password_length
    if len(password) < least:
        return f"The password has {len(password)} characters; it needs at least {least}. {ADVICE}"
    if is_common(password, least, (*names, settings.game_name)):
        return f"The password is easy to guess: it is a common one, a pattern, or a name. {ADVICE}"
    return ""


def generate(settings: Settings) -> str:
    """Make a random password for a person to copy."""
    groups = max(GROUPS, -(-settings.min_password_length // (GROUP + 1)) + 1)
    return "-".join("".join(secrets.choice(ALPHABET) for _ in range(GROUP)) for _ in range(groups))


def is_common(password: str, least: int, names: Iterable[str]) -> bool:
    """Tell whether a password is a common word or pattern, even if decorated, repeated or spelt with digits."""
    whole = _fold(password)[:JUDGED_CHARACTERS]
    text = _find_repeated_part(whole)
    if len(text) < least and text != whole:
        return True
    if len(set(text)) < FEWEST_DIFFERENT or (text.isdigit() and len(text) < LONG_NUMBER) or _is_walk(text):
        return True
    return any(_is_common_core(core) for core in _strip_decoration(text)) or any(
        _is_mostly_name(text, name) for name in _split_names(names)
    )


def _fold(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()


def _find_repeated_part(text: str) -> str:
    """Return the shortest text whose repetition is this text; usually the text itself."""
    return text[: (text + text).index(text, 1)] if text else text


def _is_walk(text: str) -> bool:
    """Tell whether a text consists of keyboard walks and alphabet sequences, such as qwerty12345."""
    walks = [each[::step] for each in WALKS for step in (1, -1)]
    while text:
        length = next(
            (n for n in range(LONGEST_STEP, SHORTEST_STEP - 1, -1) if any(text[:n] in walk for walk in walks)), 0
        )
        if not length:
            return False
        text = text[length:]
    return True


def _strip_decoration(text: str) -> Iterator[str]:
    """Yield a password without digits and punctuation at its ends, as it is and with leetspeak read as letters."""
    for core in (text.strip(DECORATION), text.rstrip(DECORATION)):
        yield core
        yield core.translate(LEET)


def _is_common_core(core: str) -> bool:
    """Tell whether the core of a password is a common word, a repeated one, a walk, or two common words."""
    letters = _find_repeated_part("".join(each for each in core if each.isalnum()))
    ranks = _load_ranks()
    if not letters or letters in ranks or _is_walk(letters):
        return True
    pairs = ((letters[:cut], letters[cut:]) for cut in range(2, len(letters) - 1))
    return any(
        ranks.get(one, PAIR_RANK_PRODUCT) * ranks.get(other, PAIR_RANK_PRODUCT) < PAIR_RANK_PRODUCT
        for one, other in pairs
    )


def _split_names(names: Iterable[str]) -> Iterator[str]:
    """Yield an account's names, and its email address with and without the domain."""
    for name in names:
        for part in {_fold(name), _fold(name.partition("@")[0])}:
            if len(part) >= SHORTEST_NAME:
                yield part


def _is_mostly_name(text: str, name: str) -> bool:
    """Tell whether a password is a known name with little or nothing added."""
    rest = text.replace(name, "").strip(DECORATION)
    return name in text and (len(rest) < FEWEST_OWN_LETTERS or rest in _load_ranks() or _is_walk(rest))


@functools.cache
def _load_ranks() -> Mapping[str, int]:
    """Load common passwords, words and names with their ranks, on first use: they take about 20 MB and 0.2 s."""
    from zxcvbn.frequency_lists import FREQUENCY_LISTS  # noqa: PLC0415 - needed only when a password is set

    ranks: dict[str, int] = {}
    for words in FREQUENCY_LISTS.values():
        for rank, word in enumerate(words, 1):
            ranks[word] = min(rank, ranks.get(word, rank))
    return ranks
