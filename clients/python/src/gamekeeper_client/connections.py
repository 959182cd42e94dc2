"""The connections of a client, and what a fork does to them.

A forked process inherits the open connections of its parent. Both would send on the same connection, and read each
other's answers. So each process opens connections of its own.
"""

import os
from collections.abc import Callable
from typing import Generic, TypeVar

from gamekeeper_client.exchange import Session

Http = TypeVar("Http")  # httpx.Client or httpx.AsyncClient
Lock = TypeVar("Lock")


class Connections(Generic[Http, Lock]):
    """The httpx client of this process, and the lock to hold while its token is renewed."""

    def __init__(self, given: Http | None, make_http: Callable[[], Http], make_lock: Callable[[], Lock]) -> None:
        self._is_given = given is not None
        self._make_http, self._make_lock = make_http, make_lock
        self.http, self.renewing = make_http() if given is None else given, make_lock()
        self._pid: int | None = None  # of the process that used them; None: not used yet
        # Not closed and not collected: an async connection would deregister from the event loop that the parent uses.
        self._inherited: list[Http] = []

    def claim(self, session: Session) -> None:
        """Open new connections if another process used these. Call it before each use."""
        pid = os.getpid()
        if self._pid not in {None, pid}:
            if self._is_given:
                raise RuntimeError(
                    "The httpx client of this Gamekeeper client was used before the fork. "
                    "Make both in the process that uses them."
                )
            self._inherited.append(self.http)
            self.http, self.renewing = self._make_http(), self._make_lock()  # a thread of the parent may hold the lock
            session.forget_refresh_token()
        self._pid = pid  # last: other threads must not use the old connections meanwhile

    @property
    def is_closable(self) -> bool:
        return not self._is_given and self._pid in {None, os.getpid()}
