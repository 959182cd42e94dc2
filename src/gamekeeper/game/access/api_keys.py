"""API keys for programs: who may create and change them, and what they may do.

Keys lose permissions when their owner is demoted, suspended or banned.
"""

import ipaddress
import secrets
from collections.abc import Callable, Collection, Coroutine, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from gamekeeper.game.access import permissions
from gamekeeper.game.access import roles as game_roles
from gamekeeper.game.access.changes import PowersChanged, RolesChanged, UserSuspended
from gamekeeper.game.access.permissions import ADMIN, make_outranked, read_permissions
from gamekeeper.game.access.refusals import BadAddressRange, KeyBeyondQuota, KeyOutOfReach, KeyRevoked, NoSuchKey
from gamekeeper.game.access.tokens import MINUTE_MS, hash_token
from gamekeeper.game.core import lookup, values
from gamekeeper.game.core.change import Actor, Unlogged
from gamekeeper.game.core.refusals import BadField, NoSuchUser
from gamekeeper.game.core.request import SecurityEvent
from gamekeeper.game.core.writes import Decision
from gamekeeper.store.access import api_keys as rows
from gamekeeper.store.access import roles
from gamekeeper.store.access.api_keys import ApiKey, KeyLimits
from gamekeeper.store.access.roles import Role
from gamekeeper.store.accounts import users
from gamekeeper.store.accounts.users import User
from gamekeeper.store.engine import clock
from gamekeeper.store.engine.interface import Reading, Store, Writing

PREFIX = "gkk_"
MAX_NAME = 100  # characters of a key's name
# permissions that a key has only if it names them: users.manage includes them for people, not for programs
NAMED_ONLY = frozenset({"keys.manage", "staff.manage"})


class KeyDraft(NamedTuple):
    """A key as a caller wants it."""

    name: str
    permissions: Collection[str] = ()
    role: str | None = None
    expires_at: int | None = None
    limits: KeyLimits = KeyLimits()
    replaces: str | None = None  # id of a key, or name or id of an account, whose Idempotency-Keys it takes over
    owner: str | None = None  # name or id of the owner; None: the caller


class KeyEdit(NamedTuple):
    """What to change about a key. None: as it is."""

    name: str | None = None
    owner: str | None = None
    suspended: bool | None = None


class IssuedKey(NamedTuple):
    """A key with its text, which is shown once. None: the text is not known any more."""

    key: ApiKey
    text: str | None
    held: frozenset[str]  # permissions that the key has now
    lacking: frozenset[str] = frozenset()  # permissions of the key that its owner does not have


def include(named: Iterable[str], role: str | None = None) -> frozenset[str]:
    """Return the permissions of an API key with those that they include, without the limit by its owner."""
    if role == ADMIN:
        return permissions.ALL
    found = frozenset(named)
    return (permissions.include(found) - NAMED_ONLY) | found


def find_held(key: ApiKey, owner: User | None, table: Mapping[str, Role]) -> frozenset[str]:
    """Return the permissions that a key has now: its own, as far as its owner has them."""
    if not key.live or owner is None or not _is_usable(owner):
        return frozenset()
    return list_own(key, table) & permissions.list_held(owner)


def _is_usable(owner: User) -> bool:
    return owner.ban_reason is None and not owner.suspended and permissions.can_log_in(owner)


def list_own(key: ApiKey, table: Mapping[str, Role]) -> frozenset[str]:
    """Return the permissions of an API key or of its role, without the limit by its owner."""
    return include(key.permissions if key.role is None else table[key.role].permissions, key.role)


async def find(tx: Reading, key_id: str) -> ApiKey:
    found = await rows.find(tx, key_id)
    if found is None:
        raise NoSuchKey
    return found


async def find_by_text(tx: Reading, text: str) -> tuple[ApiKey, bool]:
    """Find a key by its text; tell also whether that text still works."""
    hashed = hash_token(text.strip())
    found = await rows.find_by_hash(tx, hashed)
    if found is None:
        raise NoSuchKey
    return found, found.live and await rows.is_text_active(tx, hashed)


async def create(tx: Reading, draft: KeyDraft, actor: Actor | None) -> Decision[IssuedKey]:
    """Create a key. `actor`: the caller; None: the command line."""
    _require_name(draft.name)
    game_roles.require_known(draft.permissions)
    if bool(draft.permissions) == (draft.role is not None):
        raise BadField(field="Permissions", problem="or Role must be given, and not both")
    if draft.owner is None and actor is None:
        raise BadField(field="Owner", problem="is missing")
    owner = await lookup.lock_user(tx, draft.owner or (actor.id if actor else ""))
    if draft.role is not None:
        permissions.require_roles((draft.role,), await roles.read_all(tx))
    now = await clock.now(tx)
    if draft.expires_at is not None and draft.expires_at <= now:
        raise BadField(field="ExpiresAt", problem="must be in the future")
    key_id = lookup.new_guid()
    limits = draft.limits._replace(addresses=_parse_addresses(draft.limits.addresses))
    key = ApiKey(
        id=key_id,
        user_id=owner.id,
        user=owner.name,
        created_by=actor.id if actor else None,
        scope_id=key_id,
        name=draft.name,
        role=draft.role,
        permissions=frozenset(draft.permissions),
        limits=limits,
        created_at=now,
        expires_at=draft.expires_at,
    )
    await _require_reach(tx, key, owner, actor)
    await _require_no_quota(tx, key, owner, actor)
    if draft.replaces is not None:
        key = key._replace(scope_id=await _find_scope(tx, draft.replaces, actor))
    text = _make_text()

    async def insert(tx: Writing) -> None:
        rows.insert(tx, key)
        rows.insert_text(tx, key.id, hash_token(text), key.created_by)

    return await _decide(tx, key, owner, text, insert, _note("key_created", key))


async def rotate(tx: Reading, key_id: str, grace_minutes: int, actor: Actor | None) -> Decision[IssuedKey]:
    """Give a key a new text. The old text works for `grace_minutes` more."""
    key, owner = await _lock(tx, key_id, actor)
    await _require_no_quota(tx, key, owner, actor)
    text, rotated_by = _make_text(), actor.id if actor else None

    async def replace(tx: Writing) -> None:
        rows.end_texts(tx, key.id, grace_minutes * MINUTE_MS)
        rows.insert_text(tx, key.id, hash_token(text), rotated_by)

    ends_at = await clock.now(tx) + grace_minutes * MINUTE_MS if grace_minutes else None
    key = key._replace(old_text_ends_at=ends_at, rotated_by=rotated_by)
    return await _decide(tx, key, owner, text, replace, _note("key_rotated", key))


async def edit(tx: Reading, key_id: str, wanted: KeyEdit, actor: Actor | None) -> Decision[IssuedKey]:
    """Rename a key, give it another owner, suspend it or let it work again."""
    next_id = None if wanted.owner is None else (await lookup.find_user(tx, wanted.owner)).id
    key, owner = await _lock(tx, key_id, actor, next_id)
    before = key
    if wanted.name is not None:
        key = key._replace(name=_require_name(wanted.name))
    if next_id is not None:
        await _require_no_quota(tx, key, owner, actor)  # it could rotate a key of its own, and have it given back
        owner = await lookup.find_user(tx, next_id)
        key = key._replace(user_id=owner.id, user=owner.name)
        await _require_reach(tx, key, owner, actor)
        await _require_no_quota(tx, key, owner, actor)
    suspended = key.suspended_at is not None if wanted.suspended is None else wanted.suspended
    now = await clock.now(tx)
    key = key._replace(
        suspended_at=(key.suspended_at or now) if suspended else None,
        live=not suspended and (key.expires_at is None or key.expires_at > now),
    )

    async def update(tx: Writing) -> None:
        rows.update(tx, key.id, key.name, key.user_id, suspended=suspended)

    changed = {
        "Name": before.name != key.name,
        "Owner": before.user_id != key.user_id,
        "Suspended": (before.suspended_at is not None) != suspended,
    }
    names = [name for name, differs in changed.items() if differs]
    events = _note("key_changed", key, Changed=names) if names else ()
    return await _decide(tx, key, owner, None, update, events)


async def revoke(tx: Reading, key_id: str) -> Decision[IssuedKey]:
    """Revoke a key for good. A second revocation changes nothing."""
    key = await find(tx, key_id)
    await users.lock(tx, key.user_id)
    await rows.lock(tx, key_id)
    key = await find(tx, key_id)
    owner = await users.find_by_id(tx, key.user_id)
    revoked_at = key.revoked_at or await clock.now(tx)

    async def write(tx: Writing) -> None:
        rows.revoke(tx, key.id)

    events = _note("key_revoked", key) if key.revoked_at is None else ()
    return await _decide(tx, key._replace(revoked_at=revoked_at, live=False), owner, None, write, events)


async def note_use(store: Store, uses: dict[str, str]) -> None:
    """Store when and from which address keys were last used: id of the key → address."""

    async def note(tx: Writing) -> None:
        rows.note_use(tx, uses)

    if uses:
        await store.write(note)


async def _decide(
    tx: Reading,
    key: ApiKey,
    owner: User | None,
    text: str | None,
    effect: Callable[[Writing], Coroutine[Any, Any, None]],
    events: Sequence[SecurityEvent],
) -> Decision[IssuedKey]:
    table = await roles.read_all(tx)
    lacking = list_own(key, table) - permissions.list_held(owner) if owner else frozenset[str]()
    issued = IssuedKey(key, text, find_held(key, owner, table), lacking)
    # the text must not be stored: a retry gets the answer without it
    kept = issued._replace(text=None)
    return Decision([Unlogged(effect)], issued, subject=(None, key.user_id), stored_result=kept, events=events)


def _note(kind: str, key: ApiKey, **details: object) -> Sequence[SecurityEvent]:
    return (SecurityEvent(kind, key.user_id, credential_id=key.id, details=details or None),)


async def _lock(tx: Reading, key_id: str, actor: Actor | None, next_id: str | None = None) -> tuple[ApiKey, User]:
    """Lock a key's owner, its next owner and the key; refuse callers that may not change it.

    Accounts are locked in the order of their ids, so that two keys which change their owners crosswise do not deadlock.
    """
    owner_id = (await find(tx, key_id)).user_id
    for each in sorted({owner_id, next_id or owner_id}):
        await users.lock(tx, each)
    await rows.lock(tx, key_id)
    key = await find(tx, key_id)
    if key.revoked_at is not None:
        raise KeyRevoked(name=key.name)
    owner = await lookup.find_user(tx, key.user_id)
    await _require_reach(tx, key, owner, actor)
    return key, owner


async def _require_reach(tx: Reading, key: ApiKey, owner: User, actor: Actor | None) -> None:
    """Refuse callers that lack a permission of the key, and callers that its owner outranks."""
    if actor is None:
        return
    held = await read_permissions(tx, actor)
    if actor.id != owner.id and not permissions.can_act_on(held, owner):
        raise make_outranked(owner)
    if lacking := list_own(key, await roles.read_all(tx)) - held:
        raise KeyOutOfReach(permission=min(lacking))


async def _require_no_quota(tx: Reading, key: ApiKey, owner: User, actor: Actor | None) -> None:
    """Refuse a key of another account that gives items to callers whose own gifts have a daily limit.

    Gifts of a key count for its owner: with its text the caller could give more than its quota. A role may get the
    permission to give items later, so keys by a role are refused too.
    """
    if (
        actor is None
        or actor.id == owner.id
        or (key.role is None and game_roles.ITEMS_GIVE not in include(key.permissions))
    ):
        return
    caller = await lookup.find_user(tx, actor.id)
    if await game_roles.find_daily_limit(tx, caller.id, caller.grants) is not None:
        raise KeyBeyondQuota(name=key.name)


async def _find_scope(tx: Reading, replaces: str, actor: Actor | None) -> str:
    """Return the id under which the Idempotency-Keys of a key or an account are stored."""
    guid = lookup.parse_guid(replaces)
    key = await rows.find(tx, guid) if guid else None
    try:
        owner = await lookup.find_user(tx, key.user_id if key else replaces)
    except NoSuchUser:
        raise BadField(
            field="Replaces", problem="must be the id of an API key, or the name or id of an account"
        ) from None
    if actor and actor.id != owner.id and not permissions.can_act_on(await read_permissions(tx, actor), owner):
        raise make_outranked(owner)
    return key.scope_id if key else owner.id


def _require_name(name: str) -> str:
    if not name.strip():
        raise BadField(field="Name", problem="must not be empty")
    return values.require_text(name, "Name", MAX_NAME)


def _parse_addresses(given: tuple[str, ...] | None) -> tuple[str, ...] | None:
    return None if given is None else tuple(_parse_network(each) for each in given)


def _parse_network(text: str) -> str:
    try:
        return str(ipaddress.ip_network(text.strip()))
    except ValueError:
        raise BadAddressRange(range=text) from None


def _make_text() -> str:
    return PREFIX + secrets.token_urlsafe(32)


Rule = Callable[[Reading], Coroutine[Any, Any, Decision[User]]]
DEMOTIONS = PowersChanged | RolesChanged | UserSuspended


class KeyLoss(NamedTuple):
    key: ApiKey
    lost: frozenset[str]  # permissions that the key loses


class ChangedOwner(NamedTuple):
    """An account after a change, and its API keys that the change weakens."""

    user: User
    losses: list[KeyLoss]


async def decide_with_losses(tx: Reading, rule: Rule) -> Decision[ChangedOwner]:
    """Decide a change of an account's permissions or its suspension, and find the keys that lose something."""
    made = await rule(tx)
    before = next((each.user for each in made.changes if isinstance(each, DEMOTIONS)), made.result)
    changed = ChangedOwner(made.result, await find_losses(tx, before, made.result))
    return Decision(made.changes, changed, subject=made.subject, events=made.events)


async def find_losses(tx: Reading, before: User, after: User) -> list[KeyLoss]:
    """Find the keys of an account that lose permissions when the account changes, in order of their names."""
    owned = await rows.read_live_of_user(tx, before.id) if before != after else []
    if not owned:
        return []
    table = await roles.read_all(tx)
    losses = [KeyLoss(key, find_held(key, before, table) - find_held(key, after, table)) for key in owned]
    return [each for each in losses if each.lost]


async def find_keys_stopped_by_ban(tx: Reading, user: User) -> list[KeyLoss]:
    """Find the keys that stop working when their owner is banned."""
    return await find_losses(tx, user, user._replace(ban_reason=""))
