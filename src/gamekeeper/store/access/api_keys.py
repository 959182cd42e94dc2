"""API keys of programs. Their texts are stored as hashes."""

from collections.abc import Iterable
from typing import Annotated, NamedTuple

import msgspec

from gamekeeper.store.access.roles import Names, Powers, StoredGrants
from gamekeeper.store.core.person import PersonRows
from gamekeeper.store.engine.interface import ReadAs, Reading, Writing
from gamekeeper.store.engine.statements import Statements, as_column

SQL = Statements(__file__)
LIST_LIMIT = 1000
_decode_list = msgspec.json.Decoder(list[str]).decode


def _parse_list(text: str | None) -> tuple[str, ...] | None:
    return None if text is None else tuple(_decode_list(text))


List = Annotated[tuple[str, ...] | None, ReadAs(_parse_list)]
Listed = Annotated[frozenset[str], ReadAs(lambda text: frozenset(_decode_list(text)))]


class KeyLimits(NamedTuple):
    """What a key is limited to. None: no limit."""

    addresses: List = None  # networks from which it may be used
    per_minute: int | None = None  # requests per minute and process
    items: List = None  # ids of items that it may give
    most_per_request: int | None = None  # most of an item in one gift
    most_per_day: int | None = None  # most of an item on one UTC day
    servers: List = None  # names of game servers that it may speak for


class ApiKey(NamedTuple):
    id: str
    user_id: str  # the owner
    user: str
    created_by: str | None
    scope_id: str  # its Idempotency-Keys are stored under this id
    name: str
    role: str | None
    permissions: Listed  # empty if the key has a role
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
    named: Listed  # permissions of a key without a role
    limits: KeyLimits
    key_ms: int | None  # milliseconds until the key expires; None: never
    text_ms: int | None  # milliseconds until its text expires
    of_role: Names  # permissions of the role
    has_read_only_role: bool  # the key's role is read-only
    has_read_only_owner: bool  # all roles of the owner are read-only
    user_id: str
    user: str
    powers: Powers
    grants: StoredGrants
    has_quotas: bool  # a role has a quota, perhaps that of the key or one of the owner

    @property
    def permissions(self) -> frozenset[str]:
        return self.named if self.role is None else self.of_role

    @property
    def life_ms(self) -> int | None:
        """Milliseconds until the key or its text expires; None: never."""
        return min((each for each in (self.key_ms, self.text_ms) if each is not None), default=None)


async def read_list(tx: Reading, user_id: str | None = None) -> list[ApiKey]:
    """Read the newest keys, of one account or of all, at most LIST_LIMIT."""
    if user_id is None:
        return await tx.rows(ApiKey, SQL.newest, LIST_LIMIT)
    return await tx.rows(ApiKey, SQL.newest_of_user, user_id, LIST_LIMIT)


async def read_live_of_user(tx: Reading, user_id: str) -> list[ApiKey]:
    """Read all keys of an account that work at present, in order of their names."""
    return await tx.rows(ApiKey, SQL.live_of_user, user_id)


async def read_ids_of_user(tx: Reading, user_id: str) -> list[str]:
    """Read the ids of all keys of an account."""
    return [row[0] for row in await tx.all(SQL.ids_of_user, user_id)]


async def find(tx: Reading, key_id: str) -> ApiKey | None:
    return await tx.row(ApiKey, SQL.find, key_id)


async def is_any_key(tx: Reading, *ids: str | None) -> bool:
    """Tell whether one of these ids of tokens and API keys is that of a key."""
    return any([await find(tx, each) for each in ids if each])


async def read_makers(tx: Reading, key_ids: Iterable[str]) -> list[KeyMaker]:
    """Read the accounts that created or rotated these keys."""
    return await tx.rows(KeyMaker, SQL.makers, as_column("id", key_ids))


async def lock(tx: Reading, key_id: str) -> None:
    await tx.one(SQL.lock, key_id)


def insert(tx: Writing, key: ApiKey) -> None:
    limits = key.limits
    tx.defer(
        SQL.insert,
        *(key.id, key.user_id, key.created_by, key.scope_id, key.name, key.role, _encode_list(sorted(key.permissions))),
        *(_encode_list(limits.addresses), limits.per_minute, _encode_list(limits.items)),
        *(limits.most_per_request, limits.most_per_day, _encode_list(limits.servers), key.expires_at),
    )


def insert_text(tx: Writing, key_id: str, text_hash: str, made_by: str | None) -> None:
    tx.defer(SQL.insert_text, text_hash, key_id, made_by)


def _encode_list(names: Iterable[str] | None) -> str | None:
    return None if names is None else msgspec.json.encode(list(names)).decode()


PERSON = (PersonRows(50, "api_keys", SQL.of_person),)
