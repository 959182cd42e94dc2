"""Personal data of an account besides its record, for the export of a person's data; without secrets."""

from typing import NamedTuple

from gamekeeper.store.engine.interface import Reading
from gamekeeper.store.engine.statements import Statements

SQL = Statements(__file__)


class PersonPenalty(NamedTuple):
    kind: str  # kind of penalty: ban or mute
    reason: str
    moderator: str
    started_at: int
    ends_at: int | None


class PersonToken(NamedTuple):
    id: str
    read_only: bool
    issued_at: int
    access_expires: int
    refresh_expires: int
    exchanged_at: int | None
    revoked_at: int | None
    last_used: int | None


class PersonMail(NamedTuple):
    id: str
    kind: str
    address: str
    queued_at: int
    expires_at: int
    tries: int
    sent_at: int | None
    failed_at: int | None
    last_error: str | None


class PersonGuild(NamedTuple):
    player_id: str
    guild_id: str
    guild: str
    rank: int  # 0: the owner
    joined_at: int | None


class PersonRole(NamedTuple):
    """A role of the account, or a permission that was granted directly and has no flag of its own."""

    kind: str  # role or permission
    name: str
    given_at: int


class PersonApiKey(NamedTuple):
    id: str
    name: str
    created_at: int
    expires_at: int | None
    suspended_at: int | None
    revoked_at: int | None
    last_used: int | None
    last_address: str | None


class PersonFactor(NamedTuple):
    """A second factor, without its secret."""

    kind: str  # totp or passkey
    name: str
    added_at: int
    last_used: int | None


class PersonRecoveryCode(NamedTuple):
    """A recovery code, without the code."""

    made_at: int
    used_at: int | None


class PersonIdentity(NamedTuple):
    """An account of the person at an OpenID Connect provider."""

    issuer: str
    subject: str
    added_at: int
    last_used: int | None


class PersonCaller(NamedTuple):
    """A caller that recently sent the right password: an account's id, or a client address."""

    caller: str
    at: int


async def read_penalties(tx: Reading, user_id: str) -> list[PersonPenalty]:
    return [PersonPenalty(*row) for row in await tx.all(SQL.penalties, user_id)]


async def read_tokens(tx: Reading, user_id: str, issued_at: int, token_id: str, limit: int) -> list[PersonToken]:
    """Read the account's next tokens after the cursor (time of issue, id), oldest first."""
    rows = await tx.all(SQL.tokens, user_id, issued_at, token_id, limit)
    return [PersonToken(*row)._replace(read_only=bool(row[1])) for row in rows]


async def read_mails(tx: Reading, user_id: str) -> list[PersonMail]:
    return [PersonMail(*row) for row in await tx.all(SQL.mails, user_id)]


async def read_roles(tx: Reading, user_id: str) -> list[PersonRole]:
    return [PersonRole(*row) for row in await tx.all(SQL.roles, user_id)]


async def read_guilds(tx: Reading, user_id: str) -> list[PersonGuild]:
    """Read the memberships of an account's players."""
    return [PersonGuild(*row) for row in await tx.all(SQL.guilds, user_id)]


async def read_api_keys(tx: Reading, user_id: str) -> list[PersonApiKey]:
    return [PersonApiKey(*row) for row in await tx.all(SQL.api_keys, user_id)]


async def read_second_factors(tx: Reading, user_id: str) -> list[PersonFactor]:
    return [PersonFactor(*row) for row in await tx.all(SQL.second_factors, user_id)]


async def read_recovery_codes(tx: Reading, user_id: str) -> list[PersonRecoveryCode]:
    return [PersonRecoveryCode(*row) for row in await tx.all(SQL.recovery_codes, user_id)]


async def read_identities(tx: Reading, user_id: str) -> list[PersonIdentity]:
    return [PersonIdentity(*row) for row in await tx.all(SQL.identities, user_id)]


async def read_callers(tx: Reading, user_id: str) -> list[PersonCaller]:
    return [PersonCaller(*row) for row in await tx.all(SQL.callers, user_id)]
