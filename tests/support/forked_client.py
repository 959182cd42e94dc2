"""Program that forks and uses a client in both processes: `forked_client.py CASE blocking|awaiting URL`."""

import asyncio
import os
import sys
import threading
import time
import traceback
from collections.abc import Callable
from typing import Any

import httpx

from gamekeeper_client import AsyncClient, Client, Patience

NO_RETRY = Patience(retries=0)


class Program:
    def __init__(self, url: str, *, awaiting: bool) -> None:
        self.url = url
        self.kind: Any = AsyncClient if awaiting else Client
        self.make_http: Any = httpx.AsyncClient if awaiting else httpx.Client
        self.loop = asyncio.new_event_loop() if awaiting else None

    def connect(self, **options: Any) -> Any:
        return self.kind(self.url, username="Root", password="x", timeout=60, patience=NO_RETRY, **options)

    def ask(self, client: Any, name: str) -> None:
        """Send a request whose path contains this name, by which the server's log identifies it."""
        self.wait_for(client.get_inventory(name))

    def wait_for(self, answer: Any) -> None:
        if self.loop is not None:
            self.loop.run_until_complete(answer)

    def fork(self, act: Callable[[], None]) -> None:
        """Run the function `act` in a forked process, and exit if that process fails."""
        if (child := os.fork()) == 0:
            try:
                self.loop = self.loop and asyncio.new_event_loop()
                act()
                os._exit(0)
            except BaseException:  # noqa: BLE001 - a forked process must end here, whatever happened
                traceback.print_exc()
                os._exit(1)
        deadline = time.monotonic() + 180
        while (ended := os.waitpid(child, os.WNOHANG)) == (0, 0):
            if time.monotonic() > deadline:
                os.kill(child, 9)
                sys.exit("the forked process hangs")
            time.sleep(0.01)
        if ended[1]:
            sys.exit("the forked process failed")

    def use_before_and_after(self) -> None:
        """Use one client before the fork, then in both processes; the child also closes it."""
        client = self.connect()
        self.ask(client, "before")

        def act() -> None:
            self.wait_for(client.close())  # closing the client in the child must not close the parent's connections
            self.ask(client, "child")
            self.fork(lambda: self.ask(client, "grandchild"))
            self.wait_for(client.close())

        self.fork(act)
        self.ask(client, "after")
        self.wait_for(client.close())

    def fork_during_refresh(self) -> None:
        """Fork the process while another thread refreshes the client's token."""
        client = self.connect()
        self.ask(client, "before")
        threading.Thread(target=client.get_inventory, args=("thread",), daemon=True).start()
        while not client._connections.renewing.locked():  # noqa: SLF001 - no other sign of it
            time.sleep(0.01)
        self.fork(lambda: self.ask(client, "child"))


if __name__ == "__main__":
    case, kind, address = sys.argv[1:]
    getattr(Program(address, awaiting=kind == "awaiting"), case)()
