"""Find the caller of a request by its bearer token or API key. Active ones are cached for a few seconds."""

import time
from dataclasses import dataclass
from hashlib import sha256
from typing import Protocol

from gamekeeper.game import api_keys, permissions
from gamekeeper.game.actors import Actor
from gamekeeper.game.gifts import EVERY_OTHER_ITEM, NO_LIMITS, DailyLimit, GiftLimits, find_daily_limit
from gamekeeper.game.permissions import API
from gamekeeper.game.refusals import Denied, PowerMissing, RoleMissing
from gamekeeper.game.role_refusals import PermissionMissing
from gamekeeper.game.second_factors import DEFAULT_POLICY, Policy
from gamekeeper.game.security import MAX_ADDRESSES, CredentialUse
from gamekeeper.game.tokens import ACCESS_PREFIX, hash_token
from gamekeeper.http import denials
from gamekeeper.http.key_guard import CallingKey, KeyGuard, make_calling_key
from gamekeeper.store import api_keys as key_rows
from gamekeeper.store import gifts, tokens
from gamekeeper.store.api_keys import KeyCallerRow
from gamekeeper.store.engine import Store
from gamekeeper.store.powers import Grants
from gamekeeper.store.tokens import CallerRow

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


@dataclass(frozen=True, slots=True)
class Caller:
    account_id: str
    name: str
    token_id: str
    read_only: bool
    permissions: frozenset[str]  # all permissions of the caller, see game/permissions.py
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

    def take_uses(self) -> list[CredentialUse]:
        """Return the uses of tokens since the last call. The caller must record them in the database."""
        uses, self._uses = self._uses, {}
        return [use for by_address in uses.values() for use in by_address.values()]

    def admit_key(self, caller: Caller, key: CallingKey, address: str) -> None:
        """Check the limits of an API key for a request from this address, and note its use."""
        self._guard.check(key, address)
        self._used_keys[key.id] = address
        self._collect(CredentialUse(key.id, key.id, caller.account_id, address))

    def take_used_keys(self) -> dict[str, str]:
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
            raise await denials.explain_token(self._store, access_hash)
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
        row = await key_rows.find_caller(self._store, text_hash)
        if row is None:
            raise await denials.explain_key(self._store, text_hash)
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
        quotas = await gifts.read_quotas_of_role(self._store, row.role) if row.has_quotas and row.role else {}
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
        raise Denied(denials.MALFORMED if authorization.strip() else "")
    return token
