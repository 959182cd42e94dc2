"""Token pairs: issued, refreshed by rotation, revoked. Only their hashes are stored."""

import hashlib
import secrets
from collections.abc import Callable, Collection, Coroutine
from dataclasses import dataclass
from typing import Any

from gamekeeper.game import credentials, guesses, lookup
from gamekeeper.game.changes import Decision
from gamekeeper.game.effects import Unlogged
from gamekeeper.game.keeper import Keeper
from gamekeeper.game.refusals import (
    AccountBanned,
    InvalidGrant,
    LogInRefusal,
    NoSuchToken,
    NoSuchUser,
    UnauthorizedClient,
)
from gamekeeper.store import clock, tokens, users
from gamekeeper.store.engine import Reading, Store, Writing
from gamekeeper.store.users import User

ACCESS_PREFIX = "gka_"
MINUTE_MS = 60_000
DAY_MS = 24 * 60 * MINUTE_MS


@dataclass(frozen=True, slots=True)
class TokenPair:
    """The only time a token's text is known."""

    id: str
    access: str
    refresh: str | None
    issued_at: int
    expires_at: int


def hash_token(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


async def log_in(
    keeper: Keeper, name: str, sent: str, address: str, *, read_only: bool = False, session: bool = False
) -> TokenPair:
    """An unknown account and a wrong password get the same answer in the same time.

    The name may be an id: it is the only way in for accounts whose name is found as another's. A session is a person's
    in a browser: nothing renews it, and it ends when they rest.
    """
    user = await _find_or_none(lookup.find_user(keeper.store, name))
    guess = guesses.make_address_guess(user.id if user else None, lookup.fold(lookup.parse_key(name).text), address)

    async def issue(tx: Writing, proven: User) -> TokenPair | LogInRefusal:
        current = await _find_or_none(lookup.lock_user(tx, proven.id))
        if current is None or current.password != proven.password:
            raise InvalidGrant  # it changed since it was checked, and that ended all it had opened
        if barred := _find_refusal(current):
            return barred  # not raised here: the password was right all the same
        if session:
            return await _open_session(tx, keeper, current)
        return await _issue_pair(tx, keeper, current, lookup.new_guid(), read_only=read_only)

    issued = await credentials.run_if_password_right(keeper, guess, user, sent, issue)
    if issued is None:
        raise InvalidGrant
    if isinstance(issued, LogInRefusal):
        raise issued
    return issued


async def refresh(keeper: Keeper, token: str, revoked: Callable[[], None]) -> TokenPair:
    """Rotates; an exchanged token still works for the grace period, and after that ends its whole family."""
    presented = lookup.parse_guid(token)

    async def rotate(tx: Writing) -> TokenPair | None:
        owner = await tokens.find_refresh_owner(tx, hash_token(presented or ""))
        # the user before the token: whoever revokes waits for this, and then sees the new pair
        if owner is None or not await users.lock(tx, owner):
            raise InvalidGrant
        row = await tokens.lock_refresh(tx, hash_token(presented or ""))
        if row is None or row.revoked or row.expired:
            raise InvalidGrant
        if row.exchanged and row.exchanged_ms_ago > keeper.settings.refresh_grace_seconds * 1000:
            tokens.revoke_family(tx, row.family_id)
            return None
        user = await lookup.find_user(tx, row.user_id)
        if barred := _find_refusal(user):
            raise barred
        tokens.mark_exchanged(tx, row.id)
        return await _issue_pair(tx, keeper, user, row.family_id, read_only=row.read_only)

    pair = await keeper.store.write(rotate)
    if pair is None:
        revoked()
        raise InvalidGrant
    return pair


async def issue_for_service(keeper: Keeper, user: User, hours: int, *, read_only: bool) -> TokenPair:
    """An access token with a life of its own and nothing to refresh it with."""

    async def issue(tx: Writing) -> TokenPair:
        if barred := _find_refusal(await lookup.lock_user(tx, user.id)):
            raise barred
        now = await clock.now(tx)
        pair = TokenPair(lookup.new_guid(), _make_access_token(), None, now, now + hours * 60 * MINUTE_MS)
        _insert_token(tx, pair, user, pair.id, read_only=read_only, refresh_ms=0)
        return pair

    return await keeper.store.write(issue)


async def revoke_all(tx: Reading, name: str) -> Decision[User]:
    user = await lookup.lock_user(tx, name)

    async def revoke(tx: Writing) -> None:
        tokens.revoke_all_of_user(tx, user.id)

    return Decision([Unlogged(revoke)], user, subject=(None, user.id))


async def revoke_sessions(tx: Reading, name: str) -> Decision[User]:
    """What people have open in browsers; programs go on."""
    user = await lookup.lock_user(tx, name)

    async def revoke(tx: Writing) -> None:
        tokens.revoke_sessions(tx, user.id)

    return Decision([Unlogged(revoke)], user, subject=(None, user.id))


async def revoke_one(tx: Reading, name: str, token: str) -> Decision[User]:
    """By its refresh token or its public id."""
    user = await lookup.lock_user(tx, name)
    wanted = lookup.parse_guid(token) or lookup.ZERO_GUID
    found = await tokens.find_of_user(tx, user.id, wanted, hash_token(wanted))
    if found is None:
        raise NoSuchToken(name=user.name, id=token)

    async def revoke(tx: Writing) -> None:
        tokens.revoke_one(tx, found)

    return Decision([Unlogged(revoke)], user, subject=(None, user.id))


async def note_use(store: Store, ids: Collection[str]) -> None:
    """At most once a minute for each: a list of tokens need not know it better."""

    async def note(tx: Writing) -> None:
        tokens.note_use(tx, ids, MINUTE_MS)

    if ids:
        await store.write(note)


async def _find_or_none(looking: Coroutine[Any, Any, User]) -> User | None:
    try:
        return await looking
    except NoSuchUser:
        return None


def _find_refusal(user: User) -> LogInRefusal | None:
    if user.ban_reason is not None:
        return AccountBanned(name=user.name)
    return None if user.powers.api else UnauthorizedClient(name=user.name)


async def _issue_pair(tx: Writing, keeper: Keeper, user: User, family_id: str, *, read_only: bool) -> TokenPair:
    now = await clock.now(tx)
    life = keeper.settings.access_minutes * MINUTE_MS
    pair = TokenPair(lookup.new_guid(), _make_access_token(), lookup.new_guid(), now, now + life)
    refresh_ms = keeper.settings.refresh_days * DAY_MS
    _insert_token(tx, pair, user, family_id, read_only=read_only, refresh_ms=refresh_ms)
    return pair


async def _open_session(tx: Writing, keeper: Keeper, user: User) -> TokenPair:
    now = await clock.now(tx)
    pair = TokenPair(
        lookup.new_guid(), _make_access_token(), None, now, now + keeper.settings.console_hours * 60 * MINUTE_MS
    )
    idle_ms = keeper.settings.console_idle_minutes * MINUTE_MS
    _insert_token(tx, pair, user, pair.id, read_only=False, refresh_ms=0, idle_ms=idle_ms)
    return pair


def _insert_token(
    tx: Writing,
    pair: TokenPair,
    user: User,
    family_id: str,
    *,
    read_only: bool,
    refresh_ms: int,
    idle_ms: int | None = None,
) -> None:
    row = tokens.NewToken(
        id=pair.id,
        family_id=family_id,
        user_id=user.id,
        access_hash=hash_token(pair.access),
        refresh_hash=hash_token(pair.refresh) if pair.refresh else None,
        read_only=read_only,
        access_ms=pair.expires_at - pair.issued_at,
        refresh_ms=refresh_ms,
        idle_ms=idle_ms,
    )
    tokens.insert(tx, row)


def _make_access_token() -> str:
    return ACCESS_PREFIX + secrets.token_urlsafe(32)
