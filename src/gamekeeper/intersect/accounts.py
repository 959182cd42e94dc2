"""Convert Intersect's accounts, bans and mutes."""

import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any, NamedTuple, cast

from gamekeeper.game.access import passwords
from gamekeeper.game.access.passwords import NO_PASSWORD
from gamekeeper.game.accounts import accounts
from gamekeeper.game.core import lookup
from gamekeeper.game.core.lookup import fold
from gamekeeper.game.core.refusals import BadField
from gamekeeper.intersect import values
from gamekeeper.intersect.sources import Row
from gamekeeper.store.access.roles import Powers
from gamekeeper.store.accounts.moderation import ImposedPenalty
from gamekeeper.store.accounts.users import User

Note = Callable[[str], None]  # function that lists a row in the import's report, with the given reason
NAME_CLASH = "another name differs only in case: imported; find it by its id or its exact spelling"
UNUSABLE_EMAIL = "the email is empty, invalid or used by another account: stored, but no account is found by it"
BAD_HASH = "the password has no salt or is not a hash, so log-in is impossible: set a new password"
_HASH = re.compile(r"[0-9A-F]{64}", re.ASCII | re.IGNORECASE)
# pattern of ordinary email addresses, which need no full check: that is slow
_PLAIN_EMAIL = re.compile(
    r"[a-z0-9]+([._+-][a-z0-9]+){0,4}@([a-z0-9]{1,30}\.){1,4}[a-z]{2,12}", re.ASCII | re.IGNORECASE
)
_PLAIN_EMAIL_LENGTH = 60


class ImportedUser(NamedTuple):
    user: User
    fold: str
    email_fold: str | None  # folded email address for lookups; None: the address is invalid


def read_user(row: Row, pattern: re.Pattern[str], note: Note) -> ImportedUser:
    own_id, raw_name, raw_email, salt, password, power, registered = row
    name = read_name(own_id, raw_name, pattern, note)
    email = values.clean_text(raw_email)
    made = values.parse_time(registered) or 0
    found = User(own_id, name, email, _read_password(salt, password, note), _read_powers(power, note), made, None, None)
    return ImportedUser(found, fold(name), fold(email) if _is_email(email) else None)


def read_name(own_id: str, raw: object, pattern: re.Pattern[str], note: Note) -> str:
    """Return the name of an account or a player, and note it if new accounts could not have that name."""
    name = raw if isinstance(raw, str) else ""
    if not lookup.is_nameable(name):
        note("the name is empty, too long or has invalid characters: replaced by the id")
        return own_id
    if fold(name) in accounts.RESERVED_NAMES:
        note(f"the name '{name}' is reserved by the API: kept; find it by its id")
    elif lookup.parse_guid(name):
        note(f"the name '{name}' looks like an id: kept; find it by its id")
    elif not pattern.fullmatch(name):
        note(f"the name '{name}' does not match the setting name_pattern: kept")
    return name


def read_penalty(rows: Iterable[Row]) -> ImposedPenalty | None:
    """Convert an account's first ban or mute; further ones are ignored. None if its end cannot be read."""
    user_id, _, started, ends, reason, moderator = next(iter(rows))
    try:
        until = values.parse_end(ends)
    except ValueError:
        return None
    return ImposedPenalty(
        user_id, values.clean_text(reason), values.clean_text(moderator), values.parse_time(started) or 0, until
    )


def _read_password(salt: object, password: object, note: Note) -> str:
    usable = isinstance(salt, str) and salt.strip() and "\x00" not in salt  # PostgreSQL cannot store NUL characters
    if not usable or not isinstance(password, str) or not _HASH.fullmatch(password):
        note(BAD_HASH)
        return NO_PASSWORD
    return passwords.format_imported(str(salt), password.upper())


def _read_powers(raw: object, note: Note) -> Powers:
    powers, problem = _parse_powers(raw if isinstance(raw, str | bytes) else None)
    if problem:
        note(problem)
    return powers


@lru_cache(maxsize=256)
def _parse_powers(raw: str | bytes | None) -> tuple[Powers, str]:
    found = values.decode_json(raw)
    if not isinstance(found, dict):
        return Powers(), "" if raw is None else "the permissions cannot be read: imported without any"
    power = cast("dict[str, Any]", found)
    given = power.get("ApiRoles")
    roles = cast("dict[str, Any]", given if isinstance(given, dict) else {})
    query = _is_true(roles.get("UserQuery")) or _is_true(power.get("PersonalInformation"))
    manage = _is_true(roles.get("UserManage"))
    powers = Powers(
        editor=_is_true(power.get("Editor")),
        ban=_is_true(power.get("Ban")),
        kick=_is_true(power.get("Kick")),
        mute=_is_true(power.get("Mute")),
        api=_is_true(power.get("Api")),
        users_query=query,
        users_manage=manage and query,
    )
    return powers, "it has UserManage without UserQuery: imported without both" if manage and not query else ""


def _is_true(value: object) -> bool:
    return value is True


def _is_email(email: str) -> bool:
    if len(email) <= _PLAIN_EMAIL_LENGTH and _PLAIN_EMAIL.fullmatch(email):
        return True
    try:
        accounts.require_email(email, "")
    except BadField:
        return False
    return True
