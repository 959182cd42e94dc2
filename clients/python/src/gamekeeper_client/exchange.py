"""Log in, send a call, renew tokens and retry: the logic of both clients, without I/O.

A flow is a generator. It yields a step (`Send`, `Wait`, `Renew`) and receives the step's outcome. The clients perform
the steps: `Client` by blocking, `AsyncClient` by awaiting.

A failed log-in counts as a failed attempt of the call that needs the token. So the call's retry limits apply, the error
has the call's key, and other calls do not wait during the pause.
"""

import random
import re
import time
from collections.abc import Generator
from dataclasses import dataclass
from http import HTTPStatus
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
from gamekeeper_client.log_in import LOG_IN, TOKEN, LogIn, hash_password
from gamekeeper_client.tokens import Token

T = TypeVar("T")
RENEW_EARLY_SHARE = 0.1  # renew a token when this share of its lifetime is left
# renew a token at most this many seconds before it expires, however long its lifetime is
RENEW_EARLY_MAX_SECONDS = 60.0
VISIBLE_ASCII = re.compile(r"[\x21-\x7e]+")  # a token that an HTTP header can carry
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
    """Step: replace the token `stale` by a new one, unless another call has already done it."""

    stale: str | None


@dataclass(frozen=True, slots=True)
class Response:
    status: int
    content: bytes
    retry_after: str | None

    @property
    def is_success(self) -> bool:
        # status 2xx; 202 means that the change waits for approval: nothing was changed
        return self.status // 100 == 2 and self.status != HTTPStatus.ACCEPTED  # noqa: PLR2004 - the class of a status


@dataclass(frozen=True, slots=True)
class NoResponse:
    problem: Exception
    permanent: bool  # True: a retry of the request would fail in the same way


# outcome of a step: Response or NoResponse of a Send; GamekeeperError: a Renew failed; None: a Wait or Renew ended
Outcome = Response | NoResponse | GamekeeperError | None
Flow = Generator[Send | Wait | Renew, Outcome, T]


@dataclass(frozen=True, slots=True)
class Patience:
    """Retry limits of a client. The pause between attempts doubles from `first` to `longest` seconds, with jitter."""

    retries: int = 6
    first: float = 0.1
    longest: float = 5.0
    longest_retry_after: float = 30.0  # seconds; a longer Retry-After raises the error, except in `follow_changes`

    def pause(self, problem: GamekeeperError, attempt: int, *, endless: bool) -> float | None:
        """Compute the seconds until the next attempt of a request; None means do not retry."""
        permanent = isinstance(problem, Unreachable) and problem.permanent
        if permanent or not isinstance(problem, RETRIABLE_ERRORS) or (attempt >= self.retries and not endless):
            return None
        asked = (problem.retry_after if isinstance(problem, Refused) else None) or 0.0
        if asked > self.longest_retry_after and not endless:
            return None
        own = min(self.longest, self.first * 2 ** min(attempt, 16)) * random.uniform(0.5, 1)  # noqa: S311 - jitter needs no secure random numbers
        return max(own, min(asked, self.longest_retry_after))


class Session:
    """Token of a client, with the credentials that renew it."""

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
                self._adopt((yield from _attempt(LogIn.refresh_token.call(self._refresh), self)))
            except InvalidGrant:
                self._refresh = None  # the refresh token is expired or revoked: use the password instead
            else:
                return
        log_in = LOG_IN.call(self._username or "", self._password_hash or "", read_only=self._read_only)
        self._adopt((yield from _attempt(log_in, self)))

    def forget_refresh_token(self) -> None:
        """Forget the refresh token, so that the next renewal uses the password.

        After a fork, parent and child would use the same refresh token; the server then revokes all tokens.
        """
        self._refresh = None

    def _adopt(self, pair: Token) -> None:
        self.access, self._refresh = pair.access_token, pair.refresh_token
        early = min(pair.expires_in * RENEW_EARLY_SHARE, RENEW_EARLY_MAX_SECONDS)
        self._renew_at = time.monotonic() + pair.expires_in - early


def exchange(call: Call[T], session: Session, patience: Patience) -> Flow[T]:
    """Send a call and retry it within the limits of `patience`; return its decoded response."""
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
    if isinstance(outcome, Response):
        if outcome.is_success:
            return _read(call, outcome)
        raise make_refusal(outcome.status, outcome.content, outcome.retry_after)
    cause, permanent = (outcome.problem, outcome.permanent) if isinstance(outcome, NoResponse) else (None, False)
    what = f"No response to {_describe_call(call)}: {str(cause) or type(cause).__name__}"
    raise Unreachable(what, permanent=permanent) from cause


def _describe_call(call: Call[Any]) -> str:
    """Describe a call for error messages, which may be logged: omit the token in the path of a revocation."""
    revokes = call.path.startswith(f"{TOKEN}/")
    return f"{call.method} {TOKEN}/…" if revokes else f"{call.method} {call.path}"


def _read(call: Call[T], response: Response) -> T:
    try:
        return call.read(response.content)
    except (ValueError, RecursionError) as error:  # the body is no JSON, is no valid UTF-8, or is nested too deeply
        raise NotUnderstood(
            f"The response to {_describe_call(call)} cannot be read by this client: {error}. "
            "Check the address, and that client and server have the same version."
        ) from error
