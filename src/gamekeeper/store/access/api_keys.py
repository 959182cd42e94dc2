"""API keys of programs. Their texts are stored as hashes."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import msgspec

from gamekeeper.store.access.roles import Grants, Powers, parse_grants
from gamekeeper.store.core.person import PersonRows
from gamekeeper.store.engine.interface import Reading, Row, Writing
from gamekeeper.store.engine.statements import Statements, as_column, as_table

SQL = Statements(__file__)
LIST_LIMIT = 1000
_decode_list = msgspec.json.Decoder(list[str]).decode


class KeyLimits(NamedTuple):
    """What a key is limited to. None: no limit."""

    addresses: tuple[str, ...] | None = None  # networks from which it may be used
    per_minute: int | None = None  # requests per minute and process
    items: tuple[str, ...] | None = None  # ids of items that it may give
    most_per_request: int | None = None  # most of an item in one gift
    most_per_day: int | None = None  # most of an item on one UTC day
    servers: tuple[str, ...] | None = None  # names of game servers that it may speak for


class ApiKey(NamedTuple):
    id: str
    user_id: str  # the owner
    user: str
    created_by: str | None
    scope_id: str  # its Idempotency-Keys are stored under this id
    name: str
    role: str | None
    permissions: frozenset[str]  # empty if the key has a role
    limits: KeyLimits
    created_at: int
    expires_at: int | None
    suspended_at: int | None = None
    revoked_at: int | None = None
    last_used: int | None = None
    last_address: str | None = None
    old_text_ends_at: int | None = None  # when the text before the last rotation stops working
    live: bool = True
    rotated_by: str | None = None  # the account that made the present text; None: not rotated, or the command line


class KeyMaker(NamedTuple):
    """An account that created or rotated a key, so that it knows a text of it."""

    key_id: str
    id: str
    name: str | None  # None: the account was deleted


class KeyEnd(NamedTuple):
    """Why an API key does not work. None of these: because of its owner."""

    is_revoked: bool
    is_suspended: bool
    is_expired: bool
    is_rotated: bool  # this text has ended


class KeyCallerRow(NamedTuple):
    id: str
    name: str
    scope_id: str
    role: str | None
    permissions: frozenset[str]  # of the key, or of its role
    limits: KeyLimits
    life_ms: int | None  # milliseconds until the key or its text expires; None: never
    has_read_only_role: bool  # the key's role is read-only
    has_read_only_owner: bool  # all roles of the owner are read-only
    user_id: str
    user: str
    powers: Powers
    grants: Grants
    has_quotas: bool  # a role has a quota, perhaps that of the key or one of the owner


async def find_caller(tx: Reading, text_hash: str) -> KeyCallerRow | None:
    row = await tx.one(SQL.caller, text_hash)
    if row is None:
        return None
    key_id, name, scope_id, role, listed = row[:5]
    expires, text_expires, of_role, read_only_role, read_only_owner, user_id, user = row[11:18]
    return KeyCallerRow(
        id=key_id,
        name=name,
        scope_id=scope_id,
        role=role,
        permissions=frozenset(_decode_list(listed) if role is None else filter(None, (of_role or "").split(","))),
        limits=_make_limits(row[5:11]),
        life_ms=min((each for each in (expires, text_expires) if each is not None), default=None),
        has_read_only_role=bool(read_only_role),
        has_read_only_owner=bool(read_only_owner),
        user_id=user_id,
        user=user,
        powers=Powers._make(map(bool, row[18:26])),
        grants=parse_grants(row[26]),
        has_quotas=bool(row[27]),
    )


async def find_end(tx: Reading, text_hash: str) -> KeyEnd | None:
    """Find out why a key does not work. None: it is unknown."""
    return await tx.row(KeyEnd, SQL.end, text_hash)


async def read_list(tx: Reading, user_id: str | None = None) -> list[ApiKey]:
    """Read the newest keys, of one account or of all, at most LIST_LIMIT."""
    if user_id is None:
        return [_to_key(row) for row in await tx.all(SQL.newest, LIST_LIMIT)]
    return [_to_key(row) for row in await tx.all(SQL.newest_of_user, user_id, LIST_LIMIT)]


async def read_live_of_user(tx: Reading, user_id: str) -> list[ApiKey]:
    """Read all keys of an account that work at present, in order of their names."""
    return [_to_key(row) for row in await tx.all(SQL.live_of_user, user_id)]


async def read_ids_of_user(tx: Reading, user_id: str) -> list[str]:
    """Read the ids of all keys of an account."""
    return [row[0] for row in await tx.all(SQL.ids_of_user, user_id)]


async def find(tx: Reading, key_id: str) -> ApiKey | None:
    row = await tx.one(SQL.find, key_id)
    return _to_key(row) if row else None


async def is_any_key(tx: Reading, *ids: str | None) -> bool:
    """Tell whether one of these ids of tokens and API keys is that of a key."""
    return any([await find(tx, each) for each in ids if each])


async def find_by_hash(tx: Reading, text_hash: str) -> ApiKey | None:
    """Find a key by the hash of its text, also of one that no longer works."""
    row = await tx.one(SQL.find_by_hash, text_hash)
    return _to_key(row) if row else None


async def read_makers(tx: Reading, key_ids: Iterable[str]) -> list[KeyMaker]:
    """Read the accounts that created or rotated these keys."""
    return await tx.rows(KeyMaker, SQL.makers, as_column("id", key_ids))


async def is_text_active(tx: Reading, text_hash: str) -> bool:
    return await tx.one(SQL.is_text_active, text_hash) is not None


async def lock(tx: Reading, key_id: str) -> None:
    await tx.one(SQL.lock, key_id)


async def has_role(tx: Reading, role: str) -> bool:
    """Tell whether a key has this role."""
    return await tx.one(SQL.has_role, role) is not None


def insert(tx: Writing, key: ApiKey) -> None:
    limits = key.limits
    tx.defer(
        SQL.insert,
        *(key.id, key.user_id, key.created_by, key.scope_id, key.name, key.role, _encode_list(sorted(key.permissions))),
        *(_encode_list(limits.addresses), limits.per_minute, _encode_list(limits.items)),
        *(limits.most_per_request, limits.most_per_day, _encode_list(limits.servers), key.expires_at),
    )


def backdate(tx: Writing, key: ApiKey) -> None:
    """Store creation and last use of a key that is loaded as an earlier one."""
    tx.defer(SQL.backdate, key.id, key.created_at, key.last_used, key.last_address)


def insert_text(tx: Writing, key_id: str, text_hash: str, made_by: str | None) -> None:
    tx.defer(SQL.insert_text, text_hash, key_id, made_by)


def end_texts(tx: Writing, key_id: str, after_ms: int) -> None:
    """Let the present texts of a key work for `after_ms` milliseconds more."""
    tx.defer(SQL.end_texts, key_id, after_ms)


def update(tx: Writing, key_id: str, name: str, user_id: str, *, suspended: bool) -> None:
    tx.defer(SQL.update, key_id, name, user_id, suspended)


def revoke(tx: Writing, key_id: str) -> None:
    tx.defer(SQL.revoke, key_id)


def note_use(tx: Writing, uses: Mapping[str, str]) -> None:
    """Store the time and the client address of the last use: id of the key → address."""
    tx.defer(SQL.note_use, as_table({"id": key, "address": address} for key, address in uses.items()))


def _to_key(row: Row) -> ApiKey:
    key_id, user_id, user, created_by, scope_id, name, role, listed = row[:8]
    created_at, expires_at, suspended_at, revoked_at, last_used, last_address, old_text_ends_at, live = row[14:22]
    rotated_by = row[22]
    return ApiKey(
        id=key_id,
        user_id=user_id,
        user=user,
        created_by=created_by,
        scope_id=scope_id,
        name=name,
        role=role,
        permissions=frozenset(_decode_list(listed)),
        limits=_make_limits(row[8:14]),
        created_at=created_at,
        expires_at=expires_at,
        suspended_at=suspended_at,
        revoked_at=revoked_at,
        last_used=last_used,
        last_address=last_address,
        old_text_ends_at=old_text_ends_at,
        live=bool(live),
        rotated_by=rotated_by,
    )


def _make_limits(row: Row) -> KeyLimits:
    addresses, per_minute, items, most_per_request, most_per_day, servers = row
    return KeyLimits(
        _parse_list(addresses), per_minute, _parse_list(items), most_per_request, most_per_day, _parse_list(servers)
    )


def _parse_list(text: str | None) -> tuple[str, ...] | None:
    return None if text is None else tuple(_decode_list(text))


def _encode_list(names: Iterable[str] | None) -> str | None:
    return None if names is None else msgspec.json.encode(list(names)).decode()


PERSON = (PersonRows(50, "api_keys", SQL.of_person),)
