"""Issues, refreshes and revokes tokens. Only their hashes are stored.

Every transaction that issues or revokes tokens locks their account first. Otherwise a token that is issued while the
tokens of its account are revoked would stay valid.
"""

import hashlib
import hmac
import secrets
from collections.abc import Callable, Collection, Coroutine
from functools import partial
from typing import Any, NamedTuple

from msgspec import Struct

from gamekeeper.game.access import credentials, guess_limits, permissions, second_factors, security_log
from gamekeeper.game.access.credentials import AccessKeeper
from gamekeeper.game.access.refusals import AccountSuspended, MfaRequired, WrongOtp
from gamekeeper.game.access.second_factors import UseFactor
from gamekeeper.game.access.security_log import CredentialUse
from gamekeeper.game.core import lookup
from gamekeeper.game.core.change import Unlogged
from gamekeeper.game.core.refusals import (
    AccountBanned,
    InvalidGrant,
    LogInRefusal,
    NoSuchToken,
    NoSuchUser,
    UnauthorizedClient,
)
from gamekeeper.game.core.request import UNKNOWN_ORIGIN, Origin, SecurityEvent
from gamekeeper.game.core.writes import Decision
from gamekeeper.ground.instants import DAY_MS, MINUTE_MS
from gamekeeper.store.access import second_factors as factor_rows
from gamekeeper.store.access import tokens
from gamekeeper.store.accounts import users
from gamekeeper.store.accounts.users import User
from gamekeeper.store.engine import clock
from gamekeeper.store.engine.interface import Reading, Store, Writing
from gamekeeper.store.engine.statements import as_column

ACCESS_PREFIX = "gka_"
CODE_MISSING = "This account has a second factor: send its code, or a recovery code, in the field 'otp'."
LOG_IN_AGAIN = "This account has a second factor by now: log in again, with its code in the field 'otp'."
SET_UP = "The role '{role}' requires a second factor: sign in at /console and set it up there first."


class TokenPair(Struct, frozen=True):
    """A new access token with its refresh token, in plain text: the database has only their hashes."""

    id: str
    access: str
    refresh: str | None
    issued_at: int
    expires_at: int


def hash_token(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


class FirstStep(NamedTuple):
    """A log-in whose first step was right, and which still needs the second factor."""

    user_id: str
    password_digest: str  # a new password in between ends the log-in
    by: str = ""  # issuer that proved the first step with OpenID Connect; empty: the password did


class Grant(NamedTuple):
    """What a log-in asks for: a session is for a browser, has no refresh token and expires when idle."""

    read_only: bool = False
    session: bool = False


async def log_in(
    keeper: AccessKeeper,
    name: str,
    sent: str,
    origin: Origin,
    *,
    otp: str = "",
    read_only: bool = False,
    session: bool = False,
) -> TokenPair:
    """Log in by name and password, and by a code if the account has a second factor."""
    grant = Grant(read_only, session)
    begun = await begin_log_in(keeper, name, sent, origin, grant)
    if isinstance(begun, TokenPair):
        return begun
    if not otp:
        raise MfaRequired(problem=CODE_MISSING)
    use_code = partial(second_factors.use_code, keeper=keeper, user_id=begun.user_id, sent=otp, origin=origin)
    return await finish_log_in(keeper, begun, use_code, origin, grant)


async def begin_log_in(
    keeper: AccessKeeper, name: str, sent: str, origin: Origin, grant: Grant
) -> TokenPair | FirstStep:
    """Check name and password. An unknown account and a wrong password get the same answer in the same time.

    The name may be an id: accounts with a taken name can log in only by id. An account with a second factor gets no
    token yet. One that needs a factor and has none gets only a session, in which it sets one up.
    """
    user = await _find_or_none(lookup.find_user(keeper.store, name))
    guess = guess_limits.make_address_guess(
        user.id if user else None, lookup.fold(lookup.parse_key(name).text), origin.address or ""
    )

    async def issue(tx: Writing, proven: User) -> TokenPair | FirstStep | LogInRefusal:
        current = await _find_or_none(lookup.lock_user(tx, proven.id))
        if current is None or current.password != proven.password:
            raise InvalidGrant  # the password changed after it was checked, which revoked all tokens
        if barred := _find_refusal(current):
            return barred  # a ban is returned, not raised: the password was right, so the transaction must commit
        if await factor_rows.has_any(tx, current.id):
            return FirstStep(current.id, _digest_password(current))
        if not grant.session and (unmet := await second_factors.find_missing_role(tx, keeper.settings, current)):
            return MfaRequired(problem=SET_UP.format(role=unmet))
        return await _issue(tx, keeper, current, grant, origin, second_factor=False)

    issued = await credentials.run_if_password_right(keeper, guess, user, sent, issue)
    if issued is None:
        raise InvalidGrant
    if isinstance(issued, LogInRefusal):
        raise issued
    return issued


async def finish_log_in(
    keeper: AccessKeeper, step: FirstStep, use_factor: UseFactor, origin: Origin, grant: Grant
) -> TokenPair:
    """Check the second factor, which counts as a guess like a password, and issue the token."""

    async def check_and_issue(tx: Writing) -> TokenPair | None:
        user = await _find_or_none(lookup.lock_user(tx, step.user_id))
        if user is None or not hmac.compare_digest(_digest_password(user), step.password_digest):
            raise InvalidGrant
        if barred := _find_refusal(user):
            raise barred
        issuing = partial(_issue, tx, keeper, user, grant, origin, second_factor=True, by=step.by)
        return await issuing() if await use_factor(tx) else None

    issued = await second_factors.run_as_guess(keeper, step.user_id, origin, check_and_issue)
    if issued is None:
        raise WrongOtp
    return issued


async def open_session(
    keeper: AccessKeeper, user_id: str, origin: Origin, *, by: str, second_factor: bool
) -> TokenPair | FirstStep:
    """Open a session for an account whose owner an OpenID Connect provider has proven.

    `by`: its issuer. `second_factor`: whether it says that it used one; else the account's own one is still needed.
    """

    async def issue(tx: Writing) -> TokenPair | FirstStep:
        user = await lookup.lock_user(tx, user_id)
        if barred := _find_refusal(user):
            raise barred
        if not second_factor and await factor_rows.has_any(tx, user.id):
            return FirstStep(user.id, _digest_password(user), by)
        return await _issue(tx, keeper, user, Grant(session=True), origin, second_factor=second_factor, by=by)

    return await keeper.store.write(issue)


async def refresh(
    keeper: AccessKeeper, token: str, revoked: Callable[[], None], origin: Origin = UNKNOWN_ORIGIN
) -> TokenPair:
    """Exchange a refresh token for a new pair. A second use after the grace period revokes the log-in's tokens."""
    presented = lookup.parse_guid(token)

    async def rotate(tx: Writing) -> TokenPair | None:
        owner = await tx.value(tokens.SQL.owner_of_refresh, hash_token(presented or ""))
        # lock the account before the refresh token: a revocation then waits, and revokes the new pair too
        if owner is None or not await users.lock(tx, owner):
            raise InvalidGrant
        row = await tx.row(tokens.RefreshRow, tokens.SQL.lock_refresh, hash_token(presented or ""))
        if row is None or row.revoked or row.expired:
            raise InvalidGrant
        if row.exchanged and row.exchanged_ms_ago > keeper.settings.refresh_grace_seconds * 1000:
            tx.defer(tokens.SQL.revoke_family, row.family_id)
            security_log.record(tx, SecurityEvent("token_reused", row.user_id, None, origin, row.id))
            return None
        user = await lookup.find_user(tx, row.user_id)
        if barred := _find_refusal(user):
            raise barred
        await _require_factor_used(tx, keeper, user, used=row.second_factor)
        tx.defer(tokens.SQL.mark_exchanged, row.id)
        grant = Grant(row.read_only)
        pair = await _issue_pair(tx, keeper, user, row.family_id, grant, second_factor=row.second_factor)
        security_log.record(
            tx, SecurityEvent("token_issued", user.id, user.id, origin, pair.id, {"By": "refresh token"})
        )
        return pair

    pair = await keeper.store.write(rotate)
    if pair is None:
        revoked()
        raise InvalidGrant
    return pair


async def issue_for_service(keeper: AccessKeeper, user: User, hours: int, *, read_only: bool) -> TokenPair:
    """Issue an access token for a program, with its own lifetime and without a refresh token."""

    async def issue(tx: Writing) -> TokenPair:
        if barred := _find_refusal(await lookup.lock_user(tx, user.id)):
            raise barred
        pair = await _insert(tx, user, hours * 60 * MINUTE_MS, read_only=read_only)
        details = {"By": security_log.COMMAND_LINE, "ReadOnly": read_only}
        security_log.record(tx, SecurityEvent("token_issued", user.id, credential_id=pair.id, details=details))
        return pair

    return await keeper.store.write(issue)


async def revoke_all(tx: Reading, name: str) -> Decision[User]:
    user = await lookup.lock_user(tx, name)
    event = SecurityEvent("tokens_revoked", user.id)
    return _revoke(user, event, partial(tokens.revoke_all_of_user, user_id=user.id))


async def revoke_sessions(tx: Reading, name: str) -> Decision[User]:
    """Revoke the browser sessions of an account; its other tokens stay valid."""
    user = await lookup.lock_user(tx, name)
    event = SecurityEvent("tokens_revoked", user.id, details={"Sessions": True})
    return _revoke(user, event, partial(tokens.revoke_sessions, user_id=user.id))


async def revoke_one(tx: Reading, name: str, token: str) -> Decision[User]:
    """Revoke one token, found by its refresh token or its public id."""
    user = await lookup.lock_user(tx, name)
    wanted = lookup.parse_guid(token) or lookup.ZERO_GUID
    found = await tx.value(tokens.SQL.find_of_user, user.id, wanted, hash_token(wanted))
    if found is None:
        raise NoSuchToken(name=user.name, id=token)
    event = SecurityEvent("token_revoked", user.id, credential_id=found)
    return _revoke(user, event, lambda tx: tx.defer(tokens.SQL.revoke_one, found))


def _revoke(user: User, event: SecurityEvent, revoke: Callable[[Writing], None]) -> Decision[User]:
    async def effect(tx: Writing) -> None:
        revoke(tx)

    return Decision([Unlogged(effect)], user, subject=(None, user.id), events=[event])


async def note_use(store: Store, uses: Collection[CredentialUse]) -> None:
    """Store when tokens were last used, at most once a minute per token, and from where."""

    async def note(tx: Writing) -> None:
        tx.defer(tokens.SQL.note_use, as_column("id", {each.credential_id for each in uses}), MINUTE_MS)
        await security_log.note_uses(tx, uses)

    if uses:
        await store.write(note)


async def _find_or_none(looking: Coroutine[Any, Any, User]) -> User | None:
    try:
        return await looking
    except NoSuchUser:
        return None


def find_bar(user: User) -> LogInRefusal | None:
    """Return the ban or the suspension of an account as a refusal."""
    if user.ban_reason is not None:
        return AccountBanned(name=user.name)
    return AccountSuspended(name=user.name) if user.suspended else None


def _find_refusal(user: User) -> LogInRefusal | None:
    return find_bar(user) or (None if permissions.can_log_in(user) else UnauthorizedClient(name=user.name))


async def _require_factor_used(tx: Reading, keeper: AccessKeeper, user: User, *, used: bool) -> None:
    """Refuse to renew a token got without the account's second factor, or if a role requires one that is missing."""
    if not used and await factor_rows.has_any(tx, user.id):
        raise MfaRequired(problem=LOG_IN_AGAIN)
    if unmet := await second_factors.find_missing_role(tx, keeper.settings, user):
        raise MfaRequired(problem=SET_UP.format(role=unmet))


def _digest_password(user: User) -> str:
    """Return a digest of the stored password hash, which changes with the password."""
    return hashlib.sha256(user.password.encode()).hexdigest()


async def _issue(
    tx: Writing, keeper: AccessKeeper, user: User, grant: Grant, origin: Origin, *, second_factor: bool, by: str = ""
) -> TokenPair:
    """Issue what a log-in asks for, and record the sign-in. `by`: issuer that proved the first step, if one did."""
    opening = (
        _open_session(tx, keeper, user, second_factor=second_factor)
        if grant.session
        else _issue_pair(tx, keeper, user, lookup.new_guid(), grant, second_factor=second_factor)
    )
    pair = await opening
    details = {"Session": grant.session, "ReadOnly": grant.read_only, "SecondFactor": second_factor}
    details |= {"By": by} if by else {}
    security_log.record(tx, SecurityEvent("sign_in", user.id, user.id, origin, pair.id, details))
    return pair


async def _issue_pair(
    tx: Writing, keeper: AccessKeeper, user: User, family_id: str, grant: Grant, *, second_factor: bool
) -> TokenPair:
    """Issue an access token and its refresh token."""
    proven = {"read_only": grant.read_only, "second_factor": second_factor}
    life, refresh_ms = keeper.settings.access_minutes * MINUTE_MS, keeper.settings.refresh_days * DAY_MS
    return await _insert(tx, user, life, lookup.new_guid(), family_id=family_id, refresh_ms=refresh_ms, **proven)


async def _open_session(tx: Writing, keeper: AccessKeeper, user: User, *, second_factor: bool) -> TokenPair:
    idle_ms = keeper.settings.console_idle_minutes * MINUTE_MS
    life = keeper.settings.console_hours * 60 * MINUTE_MS
    return await _insert(tx, user, life, idle_ms=idle_ms, second_factor=second_factor)


async def _insert(tx: Writing, user: User, life_ms: int, refresh: str | None = None, **more: Any) -> TokenPair:  # noqa: ANN401 - fields of the row
    """Store the hashes of a new token. `more`: the fields of its row that are not the usual ones."""
    now = await clock.now(tx)
    pair = TokenPair(lookup.new_guid(), ACCESS_PREFIX + secrets.token_urlsafe(32), refresh, now, now + life_ms)
    hashes = hash_token(pair.access), hash_token(refresh) if refresh else None
    row = tokens.NewToken(pair.id, pair.id, user.id, *hashes, access_ms=life_ms)
    tokens.insert(tx, row._replace(**more))
    return pair
