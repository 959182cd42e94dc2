"""Connections of a client, replaced after a fork.

A forked process inherits the open connections of its parent. If both used them, each could read the other's responses.
So each process opens its own connections.
"""

import os
from collections.abc import Callable
from typing import Generic, TypeVar

from gamekeeper_client.exchange import Session

Http = TypeVar("Http")  # type of the HTTP client: httpx.Client or httpx.AsyncClient
Lock = TypeVar("Lock")


class Connections(Generic[Http, Lock]):
    """The httpx client of this process, and the lock to hold while its token is renewed."""

    def __init__(self, given: Http | None, make_http: Callable[[], Http], make_lock: Callable[[], Lock]) -> None:
        self._is_given = given is not None
        self._make_http, self._make_lock = make_http, make_lock
        self.http, self.renewing = make_http() if given is None else given, make_lock()
        self._pid: int | None = None  # the process that has used the connections; None: not used yet
        # Connections of the parent process, never closed: closing one would deregister it from the parent's event loop.
        self._inherited: list[Http] = []

    def claim(self, session: Session) -> None:
        """Open new connections if a parent process used these. Call it before each use."""
        pid = os.getpid()
        if self._pid not in {None, pid}:
            if self._is_given:
                raise RuntimeError(
                    "The httpx client of this Gamekeeper client was used before the fork. "
                    "Make both in the process that uses them."
                )
            self._inherited.append(self.http)
            # a new lock too: another thread may have held the old one during the fork
            self.http, self.renewing = self._make_http(), self._make_lock()
            session.forget_refresh_token()
        self._pid = pid  # set the process id last, so that other threads do not use the old connections

    @property
    def is_closable(self) -> bool:
        return not self._is_given and self._pid in {None, os.getpid()}
