"""Find the caller of a request by its bearer token or API key, or tell why it is denied.

Active tokens and keys are cached for a few seconds. A denial is the error_description of RFC 6750, for the header
WWW-Authenticate of a 401. `load_requester` finds the account that asked for a change which is carried out later: an
approved request, or a bulk job.
"""

import time
from hashlib import sha256
from typing import Protocol

from msgspec import Struct

from gamekeeper.game.access import api_keys, permissions
from gamekeeper.game.access import tokens as token_rules
from gamekeeper.game.access.permissions import API
from gamekeeper.game.access.refusals import PermissionMissing
from gamekeeper.game.access.roles import ITEMS_GIVE, find_daily_limit
from gamekeeper.game.access.second_factors import DEFAULT_POLICY, Policy
from gamekeeper.game.access.security_log import MAX_ADDRESSES, CredentialUse
from gamekeeper.game.access.tokens import ACCESS_PREFIX, hash_token
from gamekeeper.game.audit.refusals import RequesterLostAccess
from gamekeeper.game.core import lookup
from gamekeeper.game.core.change import Actor
from gamekeeper.game.core.refusals import Denied, PowerMissing, RoleMissing
from gamekeeper.game.core.request import EVERY_OTHER_ITEM, NO_LIMITS, DailyLimit, GiftLimits
from gamekeeper.http.server.rate_limits import CallingKey, KeyGuard, make_calling_key
from gamekeeper.store.access import api_keys as stored_api_keys
from gamekeeper.store.access import roles, tokens
from gamekeeper.store.access.api_keys import ApiKey, KeyCallerRow
from gamekeeper.store.access.roles import Grants
from gamekeeper.store.access.tokens import CallerRow
from gamekeeper.store.accounts import users
from gamekeeper.store.accounts.users import User
from gamekeeper.store.engine.interface import Reading, Store
from gamekeeper.store.players import items as items_rows

MALFORMED = "Malformed: send 'Authorization: Bearer' and the access token or API key as you got it"
UNKNOWN = "Unknown: the token was changed on its way, or expired long ago"
EXPIRED = "Expired: log in again, or refresh the token"
REVOKED = "Revoked: log in again, unless the account was banned"
BARRED = "The account is suspended or has no role, so its tokens and API keys do not work"
KEY_EXPIRED = "Expired: create another API key"
KEY_ROTATED = "Expired: the API key was rotated and has a new text"
KEY_REVOKED = "Revoked: create another API key"
KEY_SUSPENDED = "Suspended: an administrator can let the API key work again"
OWNER_BARRED = "The owner of the API key is banned or suspended, or has no role"


async def explain_token(store: Store, access_hash: str) -> Denied:
    end = await store.row(tokens.TokenEnd, tokens.SQL.end, access_hash)
    if end is None:
        return Denied(UNKNOWN)
    if end.is_revoked:
        return Denied(REVOKED)
    return Denied(EXPIRED if end.is_expired else BARRED)


async def explain_key(store: Store, text_hash: str) -> Denied:
    end = await store.row(stored_api_keys.KeyEnd, stored_api_keys.SQL.end, text_hash)
    if end is None:
        return Denied(UNKNOWN)
    if end.is_revoked:
        return Denied(KEY_REVOKED)
    if end.is_expired:
        return Denied(KEY_EXPIRED)
    if end.is_rotated:
        return Denied(KEY_ROTATED)
    return Denied(KEY_SUSPENDED if end.is_suspended else OWNER_BARRED)


# seconds for which an active token is cached: a revocation by another process takes effect within 5 s
CACHE_SECONDS = 4.0
MAX_CACHED_TOKENS = 10_000
MAX_TOKEN_LENGTH = 255
# the scheme as most clients spell it, and its length
BEARER, BEARER_LENGTH = b"Bearer ", 7
# permissions whose refusals have codes of their own, since versions without other permissions: clients know them
POWERS = frozenset({"moderation.ban", "moderation.kick", "moderation.mute"})
NO_PERMISSIONS = frozenset[str]()
CANNOT_WRITE = "This token can only read. Use a token that can write."
ROLES_CANNOT_WRITE = "Your roles are read-only. Ask an administrator for a role that can write."
KEY_CANNOT_WRITE = "This API key can only read: its role, or the roles of its owner, are read-only."
ROLES = frozenset({"users.query", "users.manage", "game.link"})


class Caller(Struct, frozen=True):
    account_id: str
    name: str
    token_id: str
    read_only: bool
    permissions: frozenset[str]  # all permissions of the caller, see game/access/permissions.py
    is_session: bool = False  # the token is of a console session, which expires when idle
    gift_limits: GiftLimits | None = None  # limits of its gifts; None: no limit
    key: CallingKey | None = None  # the API key and its limits; None: the caller has a token
    # role that requires a second factor which the account does not have; such a session can only set one up
    unmet_role: str = ""
    has_read_only_roles: bool = False  # the token could write, but not with these roles

    @property
    def read_only_problem(self) -> str:
        """Tell why the caller cannot write, and what to do."""
        if self.key is not None:
            return KEY_CANNOT_WRITE
        return ROLES_CANNOT_WRITE if self.has_read_only_roles else CANNOT_WRITE

    @property
    def sees_reset_codes(self) -> bool:
        """Tell whether the caller can set passwords anyway: with users.manage and a token that can write."""
        return "users.manage" in self.permissions and not self.read_only

    @property
    def actor(self) -> Actor:
        """The caller as the rules of the game know it."""
        is_limited = self.gift_limits is not None and self.gift_limits != NO_LIMITS
        return Actor(self.account_id, self.name, self.permissions, self.require, is_limited)

    def require(self, needs: frozenset[str]) -> None:
        if needs <= self.permissions:
            return
        missing = needs - self.permissions
        if missing & POWERS:
            raise PowerMissing(power=name_power(min(missing & POWERS)))
        if missing & ROLES:
            raise RoleMissing(role=min(missing & ROLES))
        raise PermissionMissing(permission=min(missing))


class Client(Protocol):
    """The sender of a request. The address is found only when it is needed."""

    @property
    def address(self) -> str: ...


class Callers:
    def __init__(self, store: Store, policy: Policy = DEFAULT_POLICY) -> None:
        self._store = store
        self._policy = policy
        # cache of callers by the token's hash, so that no token is in memory
        self._cache: dict[str, tuple[Caller, float]] = {}
        self._uses: dict[str, dict[str, CredentialUse]] = {}  # by token or API key, then by address
        self._guard = KeyGuard()
        self._used_keys: dict[str, str] = {}  # id of an API key → address of its last use

    @property
    def cached_tokens(self) -> int:
        """Number of cached tokens; some of them may have expired in the cache."""
        return len(self._cache)

    def get_cached(self, authorization: bytes) -> Caller | None:
        """Return the caller if its token is cached. None: not cached, or spelled unusually; then use `find_caller`."""
        if not authorization.startswith(BEARER):
            return None
        found = self._cache.get(sha256(authorization[BEARER_LENGTH:]).hexdigest())
        return found[0] if found is not None and found[1] > time.monotonic() else None

    async def find_caller(self, authorization: bytes | None, used_by: Client | None = None) -> Caller:
        """Find the caller by its token. `used_by`: record this use of the token; None: only check that it is active."""
        token = _read_token(authorization or b"")
        access_hash = hash_token(token)
        found = self._cache.get(access_hash)
        if found is not None and found[1] > time.monotonic():
            return found[0]
        if token.startswith(api_keys.PREFIX):
            return await self._load_key(access_hash)
        return await self._load_caller(access_hash, used_by)

    def clear_cache(self) -> None:
        """Clear the token cache after a revocation. A lookup already under way stores its result in the old cache."""
        self._cache = {}

    async def note_use(self) -> None:
        """Store when and from where credentials were used. A background job does it: no request waits for it."""
        await token_rules.note_use(self._store, self.take_uses())
        await api_keys.note_use(self._store, self._take_used_keys())

    def take_uses(self) -> list[CredentialUse]:
        """Return the uses of tokens since the last call. The caller must record them in the database."""
        uses, self._uses = self._uses, {}
        return [use for by_address in uses.values() for use in by_address.values()]

    def admit_key(self, caller: Caller, key: CallingKey, address: str) -> None:
        """Check the limits of an API key for a request from this address, and note its use."""
        self._guard.check(key, address)
        self._used_keys[key.id] = address
        self._collect(CredentialUse(key.id, key.id, caller.account_id, address))

    def _take_used_keys(self) -> dict[str, str]:
        """Return the API keys used since the last call, with the address of their last use."""
        used, self._used_keys = self._used_keys, {}
        return used

    def _collect(self, use: CredentialUse) -> None:
        """Collect a use until the next write, with a bounded number of addresses per credential."""
        addresses = self._uses.setdefault(use.credential_id, {})
        if len(addresses) <= MAX_ADDRESSES:  # one more than are stored, so that the surplus is noticed
            addresses[use.address] = use

    async def _load_caller(self, access_hash: str, used_by: Client | None) -> Caller:
        asked, believed = time.monotonic(), self._cache
        row = await tokens.find_caller(self._store, access_hash)
        if row is None:
            raise await explain_token(self._store, access_hash)
        unmet_role = self._find_unmet_role(row)
        held = NO_PERMISSIONS if unmet_role else self._find_permissions(row)
        has_read_only_roles = row.has_read_only_roles and held <= permissions.READING
        daily = await self._load_quotas(row.user_id, row.grants) if row.has_quotas else ()
        limits = GiftLimits(daily=daily) if daily else None
        caller = Caller(
            row.user_id,
            row.name,
            row.token_id,
            row.read_only or has_read_only_roles,
            held,
            row.session,
            limits,
            unmet_role=unmet_role,
            has_read_only_roles=has_read_only_roles,
        )
        if used_by is None:
            return caller  # not cached: a request whose caller is found in the cache does not record the token's use
        address = used_by.address
        self._collect(CredentialUse(row.token_id, row.user_id, row.user_id, address))
        _remember(believed, access_hash, caller, asked + min(CACHE_SECONDS, row.life_ms / 1000))
        return caller

    async def _load_key(self, text_hash: str) -> Caller:
        asked, believed = time.monotonic(), self._cache
        row = await self._store.row(KeyCallerRow, stored_api_keys.SQL.caller, text_hash)
        if row is None:
            raise await explain_key(self._store, text_hash)
        owners = permissions.find_effective(row.powers, row.grants)
        held = api_keys.include(row.permissions, row.role) & owners
        read_only = row.has_read_only_role or (row.has_read_only_owner and owners <= permissions.READING)
        limits = await self._make_gift_limits(row)
        caller = Caller(row.user_id, row.user, row.id, read_only, held, gift_limits=limits, key=make_calling_key(row))
        seconds = CACHE_SECONDS if row.life_ms is None else min(CACHE_SECONDS, row.life_ms / 1000)
        _remember(believed, text_hash, caller, asked + seconds)
        return caller

    async def _load_quotas(self, user_id: str, grants: Grants) -> tuple[DailyLimit, ...]:
        """Return the daily limit of an account by its roles, if it has one."""
        found = await find_daily_limit(self._store, user_id, grants)
        return () if found is None else (found,)

    async def _make_gift_limits(self, row: KeyCallerRow) -> GiftLimits | None:
        """Return the limits of an API key's gifts: its own, those of its role, and those of its owner."""
        own = row.limits
        daily = list(await self._load_quotas(row.user_id, row.grants)) if row.has_quotas else []
        quotas = await items_rows.read_quotas_of_role(self._store, row.role) if row.has_quotas and row.role else {}
        if own.most_per_day is not None:
            daily.append(DailyLimit(row.id, ({EVERY_OTHER_ITEM: own.most_per_day},)))
        if quotas:
            daily.append(DailyLimit(row.id, (quotas,)))
        if own.items is None and own.most_per_request is None and not daily:
            return None
        items = None if own.items is None else frozenset(own.items)
        return GiftLimits(items, own.most_per_request, tuple(daily))

    def _find_unmet_role(self, row: CallerRow) -> str:
        """Return a role that requires a second factor before the session can be used; empty: none.

        Tokens of programs stay valid until they expire: log_in and refresh give no new ones.
        """
        if not row.session or row.has_factor or row.second_factor:
            return ""
        return self._policy.find_required_role((*((API,) if row.powers.api else ()), *row.grants.roles))

    def _find_permissions(self, row: CallerRow) -> frozenset[str]:
        without_factor = not row.has_factor and self._policy.staff_without_factor
        guarded = row.session or row.second_factor or without_factor
        return permissions.find_effective(row.powers, row.grants, guarded=guarded)


def _remember(cache: dict[str, tuple[Caller, float]], text_hash: str, caller: Caller, until: float) -> None:
    if len(cache) >= MAX_CACHED_TOKENS:
        cache.clear()
    cache[text_hash] = caller, until


def name_power(permission: str) -> str:
    """Return the name of a moderator's permission in error messages: `moderation.ban` → `Ban`."""
    return permission.rpartition(".")[2].title()


def _read_token(authorization: bytes) -> str:
    scheme, _, token = authorization.decode("latin-1").strip().partition(" ")
    token = token.strip()
    if (
        scheme.lower() != "bearer"
        or not token.startswith((ACCESS_PREFIX, api_keys.PREFIX))
        or len(token) > MAX_TOKEN_LENGTH
        or not token.isascii()
    ):
        raise Denied(MALFORMED if authorization.strip() else "")
    return token


async def load_requester(tx: Reading, account_id: str, token_id: str | None) -> Caller:
    """Return the requester with the permissions of now: of the account, or of its API key."""
    user = await users.find_by_id(tx, account_id)
    if user is None or user.ban_reason is not None or user.suspended or not permissions.can_log_in(user):
        raise RequesterLostAccess
    held = permissions.list_held(user)
    key = await stored_api_keys.find(tx, token_id) if token_id else None
    if key is not None:
        held = api_keys.find_held(key, user, await roles.read_all(tx))
        if key.user_id != user.id:  # it belongs to another account now
            raise RequesterLostAccess
    limits = await _load_gift_limits(tx, user, key)
    return Caller(
        user.id, user.name, token_id or lookup.ZERO_GUID, read_only=False, permissions=held, gift_limits=limits
    )


async def _load_gift_limits(tx: Reading, user: User, key: ApiKey | None) -> GiftLimits:
    """Return the limits of the requester's gifts, which neither an approval nor a job lifts."""
    daily, own = list[DailyLimit](), key.limits if key else None
    quotas = [] if ITEMS_GIVE in user.grants.direct else await items_rows.read_quotas_of_user(tx, user.id)
    if quotas and all(quotas):
        daily.append(DailyLimit(user.id, tuple(quotas)))
    if key and key.role and (of_role := await items_rows.read_quotas_of_role(tx, key.role)):
        daily.append(DailyLimit(key.id, (of_role,)))
    if key and own and own.most_per_day is not None:
        daily.append(DailyLimit(key.id, ({EVERY_OTHER_ITEM: own.most_per_day},)))
    items = frozenset(own.items) if own and own.items is not None else None
    return GiftLimits(items, own.most_per_request if own else None, tuple(daily))
