"""Carry out a call: log in, renew tokens, retry. Written once, for both clients.

A flow is a generator. It yields a step (`Send`, `Wait`, `Renew`) and receives its outcome; the clients only carry out
the steps, one by blocking and one by awaiting.

A failed log-in counts as a failed attempt of the call that needs the token: the same limits apply, the error has the
call's key, and no other call waits for a token during the pause.
"""

import random
import re
import time
from collections.abc import Generator
from dataclasses import dataclass
from typing import Any, TypeVar

from gamekeeper_client.call import Call
from gamekeeper_client.errors import (
    Denied,
    GamekeeperError,
    IdempotencyInProgress,
    InvalidGrant,
    NotUnderstood,
    Refused,
    TooManyRequests,
    Unavailable,
    Unreachable,
    make_refusal,
)
from gamekeeper_client.tokens import LOG_IN, TOKEN, Token, Tokens, hash_password

T = TypeVar("T")
RENEW_EARLY_SHARE = 0.1  # share of a token's lifetime
RENEW_EARLY_MAX_SECONDS = 60.0  # seconds; long-lived tokens are not renewed earlier than this
VISIBLE_ASCII = re.compile(r"[\x21-\x7e]+")  # ASCII, as a header needs it
RETRIABLE_ERRORS = (Unreachable, Unavailable, TooManyRequests, IdempotencyInProgress)


@dataclass(frozen=True, slots=True)
class Send:
    call: Call[Any]
    token: str | None


@dataclass(frozen=True, slots=True)
class Wait:
    seconds: float


@dataclass(frozen=True, slots=True)
class Renew:
    """Get a new token in place of this one, unless another call has got it already."""

    stale: str | None


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    content: bytes
    retry_after: str | None

    @property
    def is_success(self) -> bool:
        return self.status // 100 == 2  # noqa: PLR2004 - 2xx


@dataclass(frozen=True, slots=True)
class NoAnswer:
    problem: Exception
    permanent: bool  # a retry would fail in the same way


Outcome = Answer | NoAnswer | GamekeeperError | None  # the error: of a Renew that failed
Flow = Generator[Send | Wait | Renew, Outcome, T]


@dataclass(frozen=True, slots=True)
class Patience:
    """Limits of retries. Pauses in seconds double from `first` to `longest`, with random jitter."""

    retries: int = 6
    first: float = 0.1
    longest: float = 5.0
    longest_retry_after: float = 30.0  # longer: the error is raised; `follow_changes` waits this long

    def pause(self, problem: GamekeeperError, attempt: int, *, endless: bool) -> float | None:
        """Seconds until the next attempt; None: do not retry."""
        permanent = isinstance(problem, Unreachable) and problem.permanent
        if permanent or not isinstance(problem, RETRIABLE_ERRORS) or (attempt >= self.retries and not endless):
            return None
        asked = (problem.retry_after if isinstance(problem, Refused) else None) or 0.0
        if asked > self.longest_retry_after and not endless:
            return None
        own = min(self.longest, self.first * 2 ** min(attempt, 16)) * random.uniform(0.5, 1)  # noqa: S311 - jitter is no secret
        return max(own, min(asked, self.longest_retry_after))


class Session:
    """The client's token, and how to renew it."""

    def __init__(self, username: str | None, password: str | None, token: str | None, *, read_only: bool) -> None:
        if (token is None) == (username is None) or (username is None) != (password is None):
            raise ValueError("A client needs either token=…, or username=… and password=….")
        if token is not None and not VISIBLE_ASCII.fullmatch(token):
            raise ValueError("A token has visible ASCII characters only, without spaces and line ends.")
        self.access = token
        self._refresh: str | None = None
        self._renew_at = float("inf") if token else 0.0
        self._username = username
        self._password_hash = None if password is None else hash_password(password)
        self._read_only = read_only

    @property
    def is_renewable(self) -> bool:
        return self._username is not None

    @property
    def is_stale(self) -> bool:
        return time.monotonic() >= self._renew_at

    def renew(self, stale: str | None) -> Flow[None]:
        if self.access != stale:
            return
        if self._refresh:
            try:
                self._adopt((yield from _attempt(Tokens.refresh_token.call(self._refresh), self)))
            except InvalidGrant:
                self._refresh = None  # expired or revoked: log in with the password
            else:
                return
        log_in = LOG_IN.call(self._username or "", self._password_hash or "", read_only=self._read_only)
        self._adopt((yield from _attempt(log_in, self)))

    def forget_refresh_token(self) -> None:
        """Log in with the password next time: the server revokes all tokens when a refresh token is used twice."""
        self._refresh = None

    def _adopt(self, pair: Token) -> None:
        self.access, self._refresh = pair.access_token, pair.refresh_token
        early = min(pair.expires_in * RENEW_EARLY_SHARE, RENEW_EARLY_MAX_SECONDS)
        self._renew_at = time.monotonic() + pair.expires_in - early


def exchange(call: Call[T], session: Session, patience: Patience) -> Flow[T]:
    attempt = 0
    while True:
        try:
            return (yield from _attempt(call, session))
        except GamekeeperError as problem:
            problem.idempotency_key = call.key
            pause = patience.pause(problem, attempt, endless=call.endless)
            if pause is None:
                raise
        attempt += 1
        yield Wait(pause)


def _attempt(call: Call[T], session: Session) -> Flow[T]:
    if not call.needs_token:
        return (yield from _send(call, None))
    if session.is_stale:
        yield from _renew(session.access)
    token = session.access
    try:
        return (yield from _send(call, token))
    except Denied:
        if not session.is_renewable:
            raise
    yield from _renew(token)
    return (yield from _send(call, session.access))


def _renew(stale: str | None) -> Flow[None]:
    failed = yield Renew(stale)
    if isinstance(failed, GamekeeperError):
        raise failed


def _send(call: Call[T], token: str | None) -> Flow[T]:
    outcome = yield Send(call, token)
    if isinstance(outcome, Answer):
        if outcome.is_success:
            return _read(call, outcome)
        raise make_refusal(outcome.status, outcome.content, outcome.retry_after)
    cause, permanent = (outcome.problem, outcome.permanent) if isinstance(outcome, NoAnswer) else (None, False)
    what = f"No answer to {_describe_call(call)}: {str(cause) or type(cause).__name__}"
    raise Unreachable(what, permanent=permanent) from cause


def _describe_call(call: Call[Any]) -> str:
    """Name the call in an error. A token to revoke is left out: errors are logged, and it may still be valid."""
    revokes = call.path.startswith(f"{TOKEN}/")
    return f"{call.method} {TOKEN}/…" if revokes else f"{call.method} {call.path}"


def _read(call: Call[T], answer: Answer) -> T:
    try:
        return call.read(answer.content)
    except (ValueError, RecursionError) as error:  # not only msgspec.DecodeError: wrong UTF-8, too deep
        raise NotUnderstood(
            f"The answer to {_describe_call(call)} is not what this client knows: {error}. "
            "Check the address, and that client and server are of the same version."
        ) from error
