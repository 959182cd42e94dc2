"""Convert Intersect's accounts, bans and mutes."""

import re
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache, partial
from typing import NamedTuple, cast

from gamekeeper.game.access import passwords
from gamekeeper.game.access.passwords import NO_PASSWORD
from gamekeeper.game.accounts.changes import UsersLoaded
from gamekeeper.game.core import lookup
from gamekeeper.game.core import values as accounts
from gamekeeper.game.core.lookup import fold
from gamekeeper.game.core.refusals import BadField
from gamekeeper.game.world.loads import PAUSE_LISTS, RESUME_LISTS
from gamekeeper.intersect import values
from gamekeeper.intersect.import_run import ImportBatch, ImportRun, RowsByTable
from gamekeeper.intersect.sources import Row
from gamekeeper.store.access.roles import Powers
from gamekeeper.store.accounts import users
from gamekeeper.store.accounts.moderation import ImposedPenalty
from gamekeeper.store.accounts.users import User
from gamekeeper.store.core import ledger

Note = Callable[[str], None]  # function that lists a row in the import's report, with the given reason
NAME_CLASH = "another name differs only in case: imported; find it by its id or its exact spelling"
UNUSABLE_EMAIL = "the email is empty, invalid or used by another account: stored, but no account is found by it"
DELETED_HERE = "it was deleted in Gamekeeper"
NO_ACCOUNT = "its account is missing"
NO_END = "its end cannot be read: ban or mute the account again if needed"
BAD_HASH = "the password has no salt or is not a hash, so log-in is impossible: set a new password"
PENALTY_TABLES = ("bans", "mutes")
_HASH = re.compile(r"[0-9A-F]{64}", re.ASCII | re.IGNORECASE)
# pattern of ordinary email addresses, which need no full check: that is slow
_PLAIN_EMAIL = re.compile(
    r"[a-z0-9]+([._+-][a-z0-9]+){0,4}@([a-z0-9]{1,30}\.){1,4}[a-z]{2,12}", re.ASCII | re.IGNORECASE
)
_PLAIN_EMAIL_LENGTH = 60


async def import_users(run: ImportRun) -> None:
    await run.process_batches(
        "users", ("users", *PENALTY_TABLES), partial(_build_batch, re.compile(run.settings.name_pattern))
    )


async def _build_batch(pattern: re.Pattern[str], read: RowsByTable, batch: ImportBatch) -> None:
    known = await batch.find(users.find_known_ids, read["users"])
    deleted = await batch.find(ledger.find_deleted_users, read["users"].keys() - known)
    new: list[ImportedUser] = []
    for own_id, rows in read["users"].items():
        if own_id in deleted:
            batch.skip("users", own_id, DELETED_HERE)
        elif own_id not in known:
            new.append(read_user(rows[0], pattern, partial(batch.note, "users", own_id)))
        batch.skip_doubled("users", own_id, rows)
    batch.count("users").taken, batch.count("users").there = len(new), len(known)
    clashing = await batch.find_clashes(users.find_known_folds, {each.user.id: each.fold for each in new})
    addressed = {each.user.id: each.email_fold for each in new if each.email_fold is not None}
    unaddressed = {each.user.id for each in new} - addressed.keys() | await batch.find_clashes(
        users.find_known_emails, addressed
    )
    for each in sorted(clashing):
        batch.note("users", each, NAME_CLASH)
    for each in sorted(unaddressed):
        batch.note("users", each, UNUSABLE_EMAIL)
    bans, mutes = (_read_penalties(batch, noun, read[noun], known, deleted) for noun in PENALTY_TABLES)
    if new:
        batch.add_known(users.find_known_ids, [each.user.id for each in new])
        loaded = UsersLoaded([each.user for each in new], clashing, unaddressed, bans, mutes)
        batch.changes += [PAUSE_LISTS, loaded, RESUME_LISTS]


def _read_penalties(
    batch: ImportBatch, noun: str, read: Mapping[str, list[Row]], known: set[str], deleted: set[str]
) -> list[ImposedPenalty]:
    new = [rows for own_id, rows in read.items() if own_id not in known | deleted]
    found = [(rows[0], read_penalty(rows)) for rows in new]
    taken = [each for _, each in found if each]
    batch.count(noun).taken, batch.count(noun).there = len(taken), len(read.keys() & known)
    unusable = [(row, NO_END) for row, each in found if not each]
    unusable += [(read[each][0], NO_ACCOUNT) for each in read if each in deleted]
    unusable += [(row, "its account has another one") for rows in read.values() for row in rows[1:]]
    for row, reason in unusable:
        batch.skip(noun, row[1], reason)
    return taken


class ImportedUser(NamedTuple):
    user: User
    fold: str
    email_fold: str | None  # folded email address for lookups; None: the address is invalid


def read_user(row: Row, pattern: re.Pattern[str], note: Note) -> ImportedUser:
    own_id, raw_name, raw_email, salt, raw_password, power, registered = row
    name = read_name(own_id, raw_name, pattern, note)
    email, password = values.clean_text(raw_email), _read_password(salt, raw_password, note)
    powers, problem = _parse_powers(power if isinstance(power, str | bytes) else None)
    if problem:
        note(problem)
    found = User(own_id, name, email, password, powers, values.parse_time(registered) or 0, None, None)
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


@lru_cache(maxsize=256)
def _parse_powers(raw: str | bytes | None) -> tuple[Powers, str]:
    power = values.decode_object(raw)
    if power is None:
        return Powers(), "" if raw is None else "the permissions cannot be read: imported without any"
    given = power.get("ApiRoles")
    roles = cast("dict[str, object]", given if isinstance(given, dict) else {})
    query = roles.get("UserQuery") is True or power.get("PersonalInformation") is True
    manage = roles.get("UserManage") is True
    flags = {name: power.get(name.title()) is True for name in ("editor", "ban", "kick", "mute", "api")}
    powers = Powers(**flags, users_query=query, users_manage=manage and query)
    return powers, "it has UserManage without UserQuery: imported without both" if manage and not query else ""


def _is_email(email: str) -> bool:
    if len(email) <= _PLAIN_EMAIL_LENGTH and _PLAIN_EMAIL.fullmatch(email):
        return True
    try:
        accounts.require_email(email, "")
    except BadField:
        return False
    return True
