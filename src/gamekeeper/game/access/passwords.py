"""Passwords: hashing, imported hashes, and rules for new ones.

A password is stored as argon2id over the SHA-256 hash that clients send, computed in a few low-priority threads. Hashes
imported from Intersect are salted SHA-256, stored as they are or wrapped in argon2id. A new password that a person
types must be long enough, and not one that attackers try first. Those rules apply in the console and on the command
line: the API receives a SHA-256 hash, which does not show the strength.
"""

import asyncio
import functools
import hashlib
import hmac
import os
import re
import secrets
import string
import sys
import threading
import time
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple, TypeVar

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from gamekeeper.game.core.refusals import BadPassword, Overloaded
from gamekeeper.ground.settings import Settings

# Prefixes of imported password hashes: before and after they were wrapped in argon2id.
# store/access/credentials.sql finds the first kind.
IMPORTED, WRAPPED = "intersect", "wrapped"


class ImportedHash(NamedTuple):
    salt: str
    hash: str  # Intersect's password hash, or argon2id over it
    wrapped: bool


def format_imported(salt: str, intersects: str) -> str:
    """Format Intersect's salt and password hash as one text, as an import stores them."""
    return f"{IMPORTED}${salt}${intersects}"


def format_wrapped(salt: str, argon2: str) -> str:
    return f"{WRAPPED}${salt}${argon2}"


def parse_imported_hash(stored: str) -> ImportedHash | None:
    """Parse a stored password hash. None: not from Intersect. The salt may contain `$`: split at the last one."""
    rest = stored.partition("$")[2]
    if stored.startswith(IMPORTED):
        salt, _, intersects = rest.rpartition("$")
        return ImportedHash(salt, intersects, wrapped=False)
    if stored.startswith(WRAPPED):
        salt, _, argon2 = rest.rpartition("$$")  # split at `$$`: an argon2 hash starts with `$` itself
        return ImportedHash(salt, f"${argon2}", wrapped=True)
    return None


def hash_as_intersect(sent: str, salt: str) -> str:
    """Hash a password as Intersect does."""
    return hashlib.sha256((sent.upper() + salt).encode()).hexdigest().upper()


T = TypeVar("T")
NO_PASSWORD = "!"  # noqa: S105 - a stored hash that matches no password
CACHE_SECONDS = 60  # seconds for which a right password is remembered, so that repeated log-ins are cheap
CACHE_ENTRIES = 10_000
NICENESS = 10  # scheduling priority (nice value) of the password hashing threads: other requests go first
_WIRE = re.compile(r"[0-9a-fA-F]{64}", re.ASCII)
_hasher = PasswordHasher(time_cost=2, memory_cost=19 * 1024, parallelism=1)


def hash_for_wire(password: str) -> str:
    """Return the SHA-256 hash of a plain password, as clients send it."""
    return hashlib.sha256(password.encode()).hexdigest()


def require_wire_hash(sent: str) -> str:
    if not _WIRE.fullmatch(sent):
        raise BadPassword
    return sent.lower()


class Passwords:
    def __init__(self, queue: int) -> None:
        self._pool = ThreadPoolExecutor(max(1, (os.cpu_count() or 1) - 1), "gamekeeper-argon2", _lower_priority)
        self._longest_queue = queue
        self._queue_length = 0
        self._secret = secrets.token_bytes(32)
        self._cache: dict[bytes, float] = {}
        self._dummy_hash = _hash_random_password()

    @property
    def queue_length(self) -> int:
        """Number of passwords that are being hashed or wait for it."""
        return self._queue_length

    async def hash_password(self, sent: str) -> str:
        return await self._run_queued(lambda: _hasher.hash(sent))

    async def wrap_imported(self, imported: ImportedHash) -> str:
        """Wrap an imported password hash in argon2id. It bypasses the log-in queue: no request waits for it."""
        return await self._run_in_pool(lambda: format_wrapped(imported.salt, _hasher.hash(imported.hash)))

    async def is_right(self, sent: str, stored: str | None) -> bool:
        return await self.verify_and_upgrade(sent, stored) is not None

    async def verify_and_upgrade(self, sent: str, stored: str | None) -> str | None:
        """Check a password; return the hash to store: the same one, or argon2id for an imported one. None: wrong.

        A wrong password and an unknown account take the same time. With a full queue all checks are refused, even for
        cached passwords, because wrong guesses are not counted then.
        """
        self._require_room()
        if stored is None or stored == NO_PASSWORD:
            await self._run_queued(lambda: _verify_argon2(self._dummy_hash, sent))
            return None
        if self._cache.get(self.make_fingerprint(sent, stored), 0) > time.monotonic():
            return stored
        kept = await self._run_queued(lambda: self._verify_stored(sent, stored))
        if kept is not None:
            self._remember(self.make_fingerprint(sent, kept))
        return kept

    def close(self) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _verify_stored(self, sent: str, stored: str) -> str | None:
        """Check a password with one argon2 run, right or wrong; a second run replaces an imported hash once."""
        imported = parse_imported_hash(stored)
        if imported is None:
            return stored if _verify_argon2(stored, sent) else None
        theirs = hash_as_intersect(sent, imported.salt)
        if imported.wrapped:
            right = _verify_argon2(imported.hash, theirs)
        else:
            right = hmac.compare_digest(imported.hash.encode(), theirs.encode())
        if right and imported.salt.strip():  # in Intersect no password matches a blank salt
            return _hasher.hash(sent)
        if not imported.wrapped:
            _verify_argon2(self._dummy_hash, sent)
        return None

    def _remember(self, fingerprint: bytes) -> None:
        if len(self._cache) >= CACHE_ENTRIES:
            self._cache.clear()
        self._cache[fingerprint] = time.monotonic() + CACHE_SECONDS

    def make_fingerprint(self, sent: str, stored: str) -> bytes:
        """Make the key under which this process remembers a checked password: an HMAC with a random secret."""
        return hmac.digest(self._secret, f"{stored}\n{sent}".encode(), "sha256")

    def _require_room(self) -> None:
        if self._queue_length >= self._longest_queue:
            raise Overloaded

    async def _run_queued(self, work: Callable[[], T]) -> T:
        self._require_room()
        self._queue_length += 1
        try:
            return await self._run_in_pool(work)
        finally:
            self._queue_length -= 1

    async def _run_in_pool(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._pool, work)


@functools.cache
def _hash_random_password() -> str:
    """Make a hash that no password matches: log-ins to unknown accounts check it and so take the usual time."""
    return _hasher.hash(secrets.token_hex(32))


def _verify_argon2(stored: str, sent: str) -> bool:
    try:
        return _hasher.verify(stored, sent)
    except (VerificationError, InvalidHashError):
        return False


def _lower_priority() -> None:
    if sys.platform == "linux":  # only Linux can set the priority of a single thread
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICENESS)


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
