"""Rules for sign-ins with OpenID Connect: which account an identity belongs to, and which roles it gives and takes.

An identity is a person at a provider, by issuer and subject. It belongs to an account because its owner linked it, or
because its first sign-in made the account. It is never found by a name or an email address: others could choose these.
"""

import re
import secrets
from collections.abc import Iterable, Iterator
from functools import partial
from typing import NamedTuple

from gamekeeper.game.access import permissions, roles, tokens
from gamekeeper.game.access.changes import IdentitiesChanged, PowersChanged, RolesChanged, UserRegistered
from gamekeeper.game.access.console_refusals import (
    IdentityGivesRoles,
    IdentityTaken,
    NoSuchIdentity,
    NoUsableName,
    SignInUsed,
    TooManyIdentities,
    UnknownIdentity,
)
from gamekeeper.game.access.credentials import AccessKeeper
from gamekeeper.game.access.passwords import hash_for_wire
from gamekeeper.game.access.permissions import is_mapped_to_role, is_removable_identity, parse_role_mapping
from gamekeeper.game.access.refusals import LastManager
from gamekeeper.game.access.roles import RoleRequest
from gamekeeper.game.access.tokens import FirstStep, TokenPair
from gamekeeper.game.core import lookup, values
from gamekeeper.game.core.change import Change, Unlogged
from gamekeeper.game.core.lookup import fold
from gamekeeper.game.core.refusals import BadField, Refusal
from gamekeeper.game.core.request import SecurityEvent
from gamekeeper.game.core.writes import Decision, Intent
from gamekeeper.ground.settings import Settings
from gamekeeper.store.access import credentials as rows
from gamekeeper.store.access import roles as role_rows
from gamekeeper.store.access.credentials import Identity
from gamekeeper.store.access.roles import Powers
from gamekeeper.store.accounts import users
from gamekeeper.store.accounts.users import User
from gamekeeper.store.engine.interface import Reading, Writing

MAX_IDENTITIES = 10  # per account
MAX_NAMESAKES = 100  # names that are tried for a new account: ann, ann2, ann3 …
MAX_NAME = 16  # characters taken from the provider's name of a person; the rest of 20 is room for a number
REASON = "OpenID Connect sign-in"  # reason in the audit log of changes that a sign-in makes


class ProvenIdentity(NamedTuple):
    """What a provider says about a person who has just signed in there. Its signature was checked."""

    issuer: str
    subject: str
    provider: str  # host of the issuer, for messages
    name: str = ""  # claim preferred_username
    email: str = ""  # empty unless the provider verified it
    groups: frozenset[str] = frozenset()  # values of the claim of the setting `oidc_claim`
    second_factor: bool = False


async def find_unknown_roles(tx: Reading, settings: Settings) -> list[str]:
    """Return the roles that the setting `oidc_roles` names and that do not exist."""
    named = {role for _, role in parse_role_mapping(settings.oidc_roles)} if settings.oidc_issuer else set[str]()
    return sorted(named - (await role_rows.read_all(tx)).keys()) if named else []


async def sign_in(
    keeper: AccessKeeper, proven: ProvenIdentity, started_at: int, intent: Intent
) -> TokenPair | FirstStep:
    """Sign in with an identity: find or make its account, set its roles, and open a session.

    `started_at`: when the sign-in began; it works once, over all instances. `intent` has the request's id and origin.
    """
    known = await rows.find_identity(keeper.store, proven.issuer, proven.subject)
    user_id = known.user_id if known else lookup.new_guid()
    password = ""
    if known is None and is_mapped_to_role(proven.groups, keeper.settings):
        password = await keeper.passwords.hash_password(hash_for_wire(secrets.token_urlsafe(32)))
    decide = partial(
        admit, proven=proven, started_at=started_at, user_id=user_id, password=password, settings=keeper.settings
    )
    await keeper.changes.apply(
        Intent(intent.request_id, user_id, reason=REASON, find_origin=intent.find_origin), decide, lambda _: b""
    )
    origin = intent.find_origin() if intent.find_origin else tokens.UNKNOWN_ORIGIN
    return await tokens.open_session(keeper, user_id, origin, by=proven.issuer, second_factor=proven.second_factor)


async def admit(
    tx: Reading, proven: ProvenIdentity, started_at: int, user_id: str, password: str, settings: Settings
) -> Decision[User]:
    """Use up a sign-in, and set the roles of its account; make the account if the identity is unknown.

    `user_id`: the identity's account as it was read before, or the id for a new one, with a password that nobody knows.
    """
    found = await rows.find_identity(tx, proven.issuer, proven.subject)
    if found is None:
        return await _register(tx, proven, started_at, user_id, password, settings)
    if found.user_id != user_id:
        raise SignInUsed  # linked or made by another request meanwhile
    user = await lookup.lock_user(tx, user_id)
    if barred := tokens.find_bar(user):
        raise barred

    async def use(tx: Writing) -> None:
        if not await rows.note_identity_use(tx, found.id, started_at):
            raise SignInUsed

    changes, events = await _plan_roles(tx, user, proven.groups, settings)
    return Decision([Unlogged(use), *changes], user, subject=(None, user.id), events=events)


async def _plan_roles(
    tx: Reading, user: User, groups: frozenset[str], settings: Settings
) -> tuple[list[Change], list[SecurityEvent]]:
    """Give the roles of the person's groups, and take the other roles that the mapping names.

    Roles that the mapping does not name stay. So do those without which no account could manage staff.
    """
    mapping = parse_role_mapping(settings.oidc_roles)
    if not mapping:
        return [], []
    await role_rows.lock_staff(tx)
    user, table = await lookup.find_user(tx, user.id), await role_rows.read_all(tx)
    held, wanted = {*permissions.list_roles(user)}, _find_roles(mapping, groups, table)
    after, kept = roles.apply_request(user, RoleRequest(give=wanted - held), table), list[str]()
    for each in sorted({role for _, role in mapping} & held - wanted):
        narrower = roles.apply_request(after, RoleRequest(take=[each]), table)
        try:
            await permissions.require_manager_left(tx, user, narrower)
            after = narrower
        except LastManager:
            kept.append(each)
    changes = list[Change]()
    if after.powers != user.powers:
        changes.append(PowersChanged(user, after.powers))
    if after.grants.roles != user.grants.roles:
        changes.append(RolesChanged(user, after))
    return changes, [SecurityEvent("roles_kept", user.id, details={"Kept": kept})] if kept else []


def _find_roles(mapping: Iterable[tuple[str, str]], groups: frozenset[str], known: Iterable[str]) -> set[str]:
    return {role for group, role in mapping if group in groups} & {*known}


async def _register(
    tx: Reading, proven: ProvenIdentity, started_at: int, user_id: str, password: str, settings: Settings
) -> Decision[User]:
    """Make an account for an identity that a mapped role admits."""
    given = _find_roles(parse_role_mapping(settings.oidc_roles), proven.groups, await role_rows.read_all(tx))
    if not given or not password:  # no password: the identity's account was erased meanwhile
        raise UnknownIdentity(provider=proven.provider)
    await role_rows.lock_staff(tx)
    name = await _find_free_name(tx, proven, settings)
    user = User(user_id, name, await _find_free_email(tx, proven.email), password, Powers(), 0, None, None)
    user = await permissions.add_roles(tx, user, given)
    identity = Identity(lookup.new_guid(), user_id, proven.issuer, proven.subject, started_at)
    return Decision([UserRegistered(user), IdentitiesChanged(user, (), added=identity)], user)


async def _find_free_name(tx: Reading, proven: ProvenIdentity, settings: Settings) -> str:
    for name in _list_names(proven.name):
        try:
            values.require_name(name, "name", settings)
        except Refusal:
            continue
        if await users.find_by_fold(tx, fold(name)) is None:
            return name
    raise NoUsableName(provider=proven.provider)


def _list_names(wanted: str) -> Iterator[str]:
    """Yield names for a new account: the person's name, then only its ASCII letters and digits, then with a number."""
    yield wanted
    plain = re.sub("[^A-Za-z0-9]", "", wanted.partition("@")[0])[:MAX_NAME]
    if plain:
        yield plain
        yield from (f"{plain}{number}" for number in range(2, MAX_NAMESAKES))


async def _find_free_email(tx: Reading, email: str) -> str:
    """Return the email address if it is valid and free, else an empty text: the account then has none."""
    try:
        values.require_email(email, "email")
    except BadField:
        return ""
    return "" if await users.find_id_by_email_fold(tx, fold(email)) else email


async def link(tx: Reading, user_id: str, proven: ProvenIdentity, started_at: int) -> Decision[User]:
    """Link an identity to the caller's account."""
    user = await lookup.lock_user(tx, user_id)
    found, held = await rows.find_identity(tx, proven.issuer, proven.subject), await rows.read_identities(tx, user.id)
    if found and found.user_id != user.id:
        raise IdentityTaken(provider=proven.provider)
    if found:
        return Decision([], user, subject=(None, user.id))
    if len(held) >= MAX_IDENTITIES:
        raise TooManyIdentities(most=MAX_IDENTITIES)
    added = Identity(lookup.new_guid(), user.id, proven.issuer, proven.subject, started_at)
    return Decision([IdentitiesChanged(user, held, added=added)], user)


async def remove(tx: Reading, user_id: str, identity_id: str, settings: Settings) -> Decision[User]:
    """Remove an identity of the caller's account."""
    user = await lookup.lock_user(tx, user_id)
    held = await rows.read_identities(tx, user.id)
    found = next((each for each in held if each.id == identity_id), None)
    if found is None:
        raise NoSuchIdentity
    if not is_removable_identity(found, settings):
        raise IdentityGivesRoles
    return Decision([IdentitiesChanged(user, held, removed=found)], user)
