"""Rules for accounts: names, email addresses, passwords and permissions."""

import re
from collections.abc import Collection

from gamekeeper.game.access import guesses, permissions
from gamekeeper.game.accounts.account_changes import (
    EmailChanged,
    PasswordChanged,
    PowersChanged,
    UserRegistered,
    UserRenamed,
)
from gamekeeper.game.core import lookup, values
from gamekeeper.game.core.lookup import fold
from gamekeeper.game.core.refusals import BadField, EmailTaken, ReservedName, UsernameTaken, WrongPassword
from gamekeeper.game.core.writes import Decision
from gamekeeper.ground.settings import Settings
from gamekeeper.store.access.roles import Powers
from gamekeeper.store.accounts import users
from gamekeeper.store.accounts.users import User
from gamekeeper.store.engine.interface import Reading

RESERVED_NAMES = frozenset({"rank", "online", "bag", "register"})
ROLES = {"users.query": "users_query", "users.manage": "users_manage", "game.link": "game_link"}
SYNONYMS = {"userquery": "users.query", "usermanage": "users.manage"}
POWERS = ("editor", "ban", "kick", "mute")
FLAGS = {**ROLES, **{flag: flag for flag in Powers._fields}}


def require_name(name: str, field: str, settings: Settings) -> str:
    """Check a name for a new or renamed account or player."""
    if fold(name) in RESERVED_NAMES:
        raise ReservedName(name=name)
    if lookup.parse_guid(name):
        raise BadField(field=field, problem="must not look like an id")
    if not re.fullmatch(settings.name_pattern, name) or not lookup.is_nameable(name):
        raise BadField(field=field, problem=values.explain_name_pattern(settings.name_pattern))
    return name


def require_email(email: str, field: str) -> str:
    """Check an email address. Return it as it was sent, not normalised: clients compare it with the answer."""
    from gamekeeper.game.accounts import email_addresses  # noqa: PLC0415 - it loads slowly, and few commands check an address

    try:
        email_addresses.validate_email(email, check_deliverability=False)
    except email_addresses.EmailNotValidError as error:
        raise BadField(field=field, problem=f"is not an email address: {error}".rstrip(".")) from None
    return email


def find_role(name: str) -> str | None:
    """Return the canonical name of a role; None: there is no such role."""
    found = SYNONYMS.get(name.lower(), name.lower())
    return found if found in ROLES else None


def grant(powers: Powers, right: str) -> Powers:
    """Add a role or permission to an account. `users.manage` includes `users.query`."""
    wider = powers._replace(**{FLAGS[right]: True})
    return wider._replace(users_query=wider.users_query or wider.users_manage)


def revoke(powers: Powers, right: str) -> Powers:
    narrower = powers._replace(**{FLAGS[right]: False})
    return narrower._replace(users_manage=narrower.users_manage and narrower.users_query)


async def register(
    tx: Reading, name: str, email: str, password: str, powers: Powers, held: Collection[str] = ()
) -> Decision[User]:
    """Register an account. `held`: its roles; `api` among them sets the flag that stands for it."""
    if await users.find_by_fold(tx, fold(name)):
        raise UsernameTaken(name=name)
    if await users.find_id_by_email_fold(tx, fold(email)):
        raise EmailTaken(email=email, advice="")
    user = User(lookup.new_guid(), name, email, password, powers, 0, None, None)
    if held:
        user = await permissions.add_roles(tx, user, held)
    return Decision([UserRegistered(user)], user)


async def rename(tx: Reading, key: str, name: str) -> Decision[User]:
    """Rename an account. The name must be free; the account's own name in another case counts as free."""
    user = await lookup.lock_user_record(tx, key)
    owner = await users.find_by_fold(tx, fold(name))
    if owner and owner.id != user.id:
        raise UsernameTaken(name=name)
    if owner and user.name == name:
        return Decision([], user, subject=(None, user.id))
    return Decision([UserRenamed(user, name)], user._replace(name=name))


async def change_email(tx: Reading, key: str, email: str, proven: str | None) -> Decision[User]:
    """Change an account's email. `proven`: stored hash that the sent password matched; None: no password is needed."""
    user = await _lock_user(tx, key, proven)
    owner = await users.find_id_by_email_fold(tx, fold(email))
    if owner not in (None, user.id):
        raise EmailTaken(email=email, advice="")
    if owner and user.email == email:
        return Decision([], user, subject=(None, user.id))
    return Decision(
        [EmailChanged(user, email, is_proven=proven is not None)], user._replace(email=email, reset_code=None)
    )


async def change_password(tx: Reading, key: str, password: str, proven: str | None) -> Decision[User]:
    user = await _lock_user(tx, key, proven)
    change = PasswordChanged(user, password, is_proven=proven is not None)
    return Decision([change, guesses.forget_known_callers(user.id)], user)


async def change_powers(tx: Reading, key: str, powers: Powers) -> Decision[User]:
    """Change the flags of an account."""
    user = await permissions.lock_if_staff(tx, await lookup.lock_user(tx, key))
    after = await permissions.apply_powers(tx, user, powers)
    await permissions.require_manager_left(tx, user, after)
    changes = [PowersChanged(user, powers)] if user.powers != powers else []
    return Decision(changes, after, subject=(None, user.id))


async def _lock_user(tx: Reading, key: str, proven: str | None) -> User:
    user = await lookup.lock_user_record(tx, key)
    if proven is not None and user.password != proven:
        raise WrongPassword  # the password was changed after the caller's password was checked
    return user
