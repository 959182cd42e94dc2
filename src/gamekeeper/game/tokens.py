"""Token pairs: issued, refreshed by rotation, revoked. Only their hashes are stored."""

import hashlib
import secrets
from collections.abc import Callable, Collection, Coroutine
from dataclasses import dataclass
from typing import Any

from gamekeeper.game import credentials, guesses, lookup
from gamekeeper.game.changes import Decision
from gamekeeper.game.effects import Untraced
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

PREFIX = "gka_"
MINUTE_MS = 60_000
DAY_MS = 24 * 60 * MINUTE_MS


@dataclass(frozen=True, slots=True)
class Pair:
    """The only time a token's text is known."""

    id: str
    access: str
    refresh: str | None
    issued_at: int
    expires_at: int


def digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


async def log_in(
    keeper: Keeper, name: str, sent: str, address: str, *, read_only: bool = False, session: bool = False
) -> Pair:
    """An unknown account and a wrong password get the same answer in the same time.

    The name may be an id: it is the only way in for accounts whose name is found as another's. A session is a person's
    in a browser: nothing renews it, and it ends when they rest.
    """
    user = await _if_any(lookup.user(keeper.store, name))
    guess = guesses.from_address(user.id if user else None, lookup.fold(lookup.key_of(name).text), address)

    async def issue(tx: Writing, proven: User) -> Pair | LogInRefusal:
        current = await _if_any(lookup.locked_user(tx, proven.id))
        if current is None or current.password != proven.password:
            raise InvalidGrant  # it changed since it was checked, and that ended all it had opened
        if barred := _barred(current):
            return barred  # not raised here: the password was right all the same
        if session:
            return await _open_session(tx, keeper, current)
        return await _issue(tx, keeper, current, lookup.new_guid(), read_only=read_only)

    issued = await credentials.tried(keeper, guess, user, sent, issue)
    if issued is None:
        raise InvalidGrant
    if isinstance(issued, LogInRefusal):
        raise issued
    return issued


async def refresh(keeper: Keeper, token: str, revoked: Callable[[], None]) -> Pair:
    """Rotates; an exchanged token still works for the grace period, and after that ends its whole family."""
    presented = lookup.guid(token)

    async def rotate(tx: Writing) -> Pair | None:
        owner = await tokens.find_refresh_owner(tx, digest(presented or ""))
        # the user before the token: whoever revokes waits for this, and then sees the new pair
        if owner is None or not await users.lock(tx, owner):
            raise InvalidGrant
        row = await tokens.lock_refresh(tx, digest(presented or ""))
        if row is None or row.revoked or row.expired:
            raise InvalidGrant
        if row.exchanged and row.exchanged_ms_ago > keeper.settings.refresh_grace_seconds * 1000:
            tokens.revoke_family(tx, row.family_id)
            return None
        user = await lookup.user(tx, row.user_id)
        if barred := _barred(user):
            raise barred
        tokens.mark_exchanged(tx, row.id)
        return await _issue(tx, keeper, user, row.family_id, read_only=row.read_only)

    pair = await keeper.store.write(rotate)
    if pair is None:
        revoked()
        raise InvalidGrant
    return pair


async def issue_for_service(keeper: Keeper, user: User, hours: int, *, read_only: bool) -> Pair:
    """An access token with a life of its own and nothing to refresh it with."""

    async def issue(tx: Writing) -> Pair:
        if barred := _barred(await lookup.locked_user(tx, user.id)):
            raise barred
        now = await clock.now(tx)
        pair = Pair(lookup.new_guid(), _access(), None, now, now + hours * 60 * MINUTE_MS)
        _insert(tx, pair, user, pair.id, read_only=read_only, refresh_ms=0)
        return pair

    return await keeper.store.write(issue)


async def revoke_all(tx: Reading, name: str) -> Decision[User]:
    user = await lookup.locked_user(tx, name)

    async def revoke(tx: Writing) -> None:
        tokens.revoke_all_of_user(tx, user.id)

    return Decision([Untraced(revoke)], user, about=(None, user.id))


async def revoke_sessions(tx: Reading, name: str) -> Decision[User]:
    """What people have open in browsers; programs go on."""
    user = await lookup.locked_user(tx, name)

    async def revoke(tx: Writing) -> None:
        tokens.revoke_sessions(tx, user.id)

    return Decision([Untraced(revoke)], user, about=(None, user.id))


async def revoke_one(tx: Reading, name: str, token: str) -> Decision[User]:
    """By its refresh token or its public id."""
    user = await lookup.locked_user(tx, name)
    wanted = lookup.guid(token) or lookup.ZERO
    found = await tokens.find_of_user(tx, user.id, wanted, digest(wanted))
    if found is None:
        raise NoSuchToken(name=user.name, id=token)

    async def revoke(tx: Writing) -> None:
        tokens.revoke_one(tx, found)

    return Decision([Untraced(revoke)], user, about=(None, user.id))


async def note_use(store: Store, ids: Collection[str]) -> None:
    """At most once a minute for each: a list of tokens need not know it better."""

    async def note(tx: Writing) -> None:
        tokens.note_use(tx, ids, MINUTE_MS)

    if ids:
        await store.write(note)


async def _if_any(looking: Coroutine[Any, Any, User]) -> User | None:
    try:
        return await looking
    except NoSuchUser:
        return None


def _barred(user: User) -> LogInRefusal | None:
    if user.ban_reason is not None:
        return AccountBanned(name=user.name)
    return None if user.powers.api else UnauthorizedClient(name=user.name)


async def _issue(tx: Writing, keeper: Keeper, user: User, family_id: str, *, read_only: bool) -> Pair:
    now = await clock.now(tx)
    life = keeper.settings.access_minutes * MINUTE_MS
    pair = Pair(lookup.new_guid(), _access(), lookup.new_guid(), now, now + life)
    refresh_ms = keeper.settings.refresh_days * DAY_MS
    _insert(tx, pair, user, family_id, read_only=read_only, refresh_ms=refresh_ms)
    return pair


async def _open_session(tx: Writing, keeper: Keeper, user: User) -> Pair:
    now = await clock.now(tx)
    pair = Pair(lookup.new_guid(), _access(), None, now, now + keeper.settings.console_hours * 60 * MINUTE_MS)
    idle_ms = keeper.settings.console_idle_minutes * MINUTE_MS
    _insert(tx, pair, user, pair.id, read_only=False, refresh_ms=0, idle_ms=idle_ms)
    return pair


def _insert(
    tx: Writing, pair: Pair, user: User, family_id: str, *, read_only: bool, refresh_ms: int, idle_ms: int | None = None
) -> None:
    row = tokens.NewToken(
        id=pair.id,
        family_id=family_id,
        user_id=user.id,
        access_hash=digest(pair.access),
        refresh_hash=digest(pair.refresh) if pair.refresh else None,
        read_only=read_only,
        access_ms=pair.expires_at - pair.issued_at,
        refresh_ms=refresh_ms,
        idle_ms=idle_ms,
    )
    tokens.insert(tx, row)


def _access() -> str:
    return PREFIX + secrets.token_urlsafe(32)
