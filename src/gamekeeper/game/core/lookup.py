"""Finding players and accounts by key: a guid is an id, any other text a name in any case. An exact name wins."""

import itertools
import math
import re
import unicodedata
import uuid
from collections.abc import Callable, Coroutine, Iterable
from typing import Any, NamedTuple, TypeVar

from gamekeeper.game.core.refusals import NoSuchPlayer, NoSuchUser, NotFound
from gamekeeper.store.accounts import moderation, users
from gamekeeper.store.engine.interface import Locking, Reading
from gamekeeper.store.engine.statements import CLASH
from gamekeeper.store.players import players

T = TypeVar("T")
FindById = Callable[[Reading, str], Coroutine[Any, Any, T | None]]
# function that finds a player or account by the folded and the exact name
FindByName = Callable[[Reading, str, str], Coroutine[Any, Any, T | None]]
Lookup = Coroutine[Any, Any, T]  # returned by the plain functions below, which saves one coroutine per lookup
ZERO_GUID = "00000000-0000-0000-0000-000000000000"
LONGEST_NAME = 255
MAX_SPELLINGS = 2**14  # of the names of one account, in any case: 14 letters beyond ASCII in a single name
SHORTEST_GUID = 32
_HYPHENED = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
_CANONICAL = re.compile(_HYPHENED, re.ASCII)
_GUID = re.compile(rf"{_HYPHENED}|[0-9a-f]{{32}}|\{{{_HYPHENED}\}}|\{{[0-9a-f]{{32}}\}}", re.IGNORECASE | re.ASCII)
_UNNAMEABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff\ufffd]")


class LookupKey(NamedTuple):
    by: str  # what `text` is: "id" or "name"
    text: str


def parse_guid(text: str) -> str | None:
    """Return a guid in its canonical form, lower case with hyphens; None: the text is not a guid."""
    if len(text) < SHORTEST_GUID:
        return None
    if _CANONICAL.fullmatch(text):
        return text
    return str(uuid.UUID(text)) if _GUID.fullmatch(text) else None


def new_guid() -> str:
    return str(uuid.uuid4())


def fold(name: str) -> str:
    """Return the folded form of a name, by which names are compared: case-folded, with accents composed (NFC)."""
    return unicodedata.normalize("NFC", name.casefold())


def list_spellings(names: Iterable[str]) -> list[str]:
    """Return how SQL's lower() may spell these names, in any case: SQLite changes ASCII letters only.

    A name with too many other letters has only its usual spellings: as it is, in lower and in upper case.
    """
    given = set(filter(None, names))
    most = MAX_SPELLINGS // max(1, len(given))
    found = {spelt for each in given for form in {each, fold(each)} for spelt in _list_cases(form, most)}
    return sorted(found | {each.lower() for each in given})


def _list_cases(name: str, most: int) -> set[str]:
    """List the cases of a name's letters beyond ASCII, at most `most` spellings; letters of ASCII are in lower case."""
    cases = [sorted({form for form in (each, each.lower(), each.upper()) if len(form) == 1}) for each in name]
    letters = [[each.lower()] if each.isascii() else forms for each, forms in zip(name, cases, strict=True)]
    if math.prod(map(len, letters)) <= most:
        return {"".join(spelt) for spelt in itertools.product(*letters)}
    return {_lower_ascii(form) for form in (name, name.lower(), name.upper())}


def _lower_ascii(name: str) -> str:
    return "".join(each.lower() if each.isascii() else each for each in name)


def make_clashing_fold(name: str, own_id: str) -> str:
    """Return a fold for the second holder of a name, with its id as suffix: it sorts after the first holder's.

    Only the exact name finds the second holder.
    """
    return f"{fold(name)}{CLASH}{own_id}"


def strip_clash(folded: str) -> str:
    """Return a folded name without the suffix of a taken name."""
    return folded.partition(CLASH)[0]


def parse_key(text: str) -> LookupKey:
    found = parse_guid(text)
    return LookupKey("name", text) if found is None else LookupKey("id", found)


def is_nameable(name: str) -> bool:
    """Tell whether a text can be a name. No stored name fails this check, so no query is needed for such a text."""
    return 0 < len(name) <= LONGEST_NAME and not _UNNAMEABLE.search(name)


def find_player_record(tx: Reading, text: str) -> Lookup[players.StoredPlayer]:
    return _find(tx, text, players.find_record_by_id, players.find_record_by_fold, NoSuchPlayer)


def find_player_id(tx: Reading, text: str) -> Lookup[str]:
    return _find(tx, text, players.find_id, players.find_id_by_fold, NoSuchPlayer)


def find_rank_key(tx: Reading, text: str) -> Lookup[players.RankKey]:
    return _find(tx, text, players.find_rank_key_by_id, players.find_rank_key_by_fold, NoSuchPlayer)


async def lock_player(tx: Locking, text: str) -> players.LockedPlayer:
    """Find a player, and lock it until the transaction ends."""
    found = await players.read_locked(tx, await hold_player(tx, text))
    if found is None:
        raise make_no_such_player(text)
    return found


async def hold_player(tx: Locking, text: str) -> str | None:
    """Lock a player until the transaction ends. Only a statement that begins after this may read its rows.

    Returns what such statements name the player by, also if there is none; see `Locking.lock`.
    """
    guid = parse_guid(text)
    if guid is not None:
        return await players.hold_by_id(tx, guid)
    if not is_nameable(text):
        raise NoSuchPlayer(by="name", key=text)
    return await players.hold_by_fold(tx, fold(text), text)


def make_no_such_player(text: str) -> NoSuchPlayer:
    by, key = parse_key(text)
    return NoSuchPlayer(by=by, key=key)


def find_owner(tx: Reading, text: str) -> Lookup[moderation.PlayerOwner]:
    """Find the account that owns a player."""
    return _find(tx, text, moderation.find_owner_by_id, moderation.find_owner_by_fold, NoSuchPlayer)


def find_user(tx: Reading, text: str) -> Lookup[users.User]:
    return _find(tx, text, users.find_by_id, users.find_by_fold, NoSuchUser)


def find_user_record(tx: Reading, text: str) -> Lookup[users.User]:
    """Find an account with its play time, as the API shows it."""
    return _find(tx, text, users.find_record_by_id, users.find_record_by_fold, NoSuchUser)


async def lock_user(tx: Reading, text: str) -> users.User:
    return await find_user(tx, await _lock_user_id(tx, text))


async def lock_user_record(tx: Reading, text: str) -> users.User:
    return await find_user_record(tx, await _lock_user_id(tx, text))


async def _lock_user_id(tx: Reading, text: str) -> str:
    found = await find_user(tx, text)
    await users.lock(tx, found.id)
    return found.id


async def _find(tx: Reading, text: str, by_id: FindById[T], by_fold: FindByName[T], missing: type[NotFound]) -> T:
    guid = parse_guid(text)
    if guid is not None:
        found = await by_id(tx, guid)
    else:
        found = await by_fold(tx, fold(text), text) if is_nameable(text) else None
    if found is None:
        by, key = parse_key(text)
        raise missing(by=by, key=key)
    return found
