"""Send log-ins with unknown names, each of which costs a full password check, in a closed or open loop.

    python -m battery.storm URL SEED SECONDS clients 8      closed loop: each client waits for its answer
    python -m battery.storm URL SEED SECONDS rate 400       open loop: this many a second

Prints the answers as JSON. Runs as a separate process, so that no other event loop delays it.
"""

import asyncio
import json
import subprocess
import sys
import time
from typing import NamedTuple
from urllib.parse import urlsplit

CHECKED, BUSY, NONE = 400, 503, 0  # statuses of a log-in: password checked, wrong; rejected for overload; no answer
PATIENCE_SECONDS = 8.0
PAUSE_SECONDS = 0.05
HEAD_END = b"\r\n\r\n"


class StormAnswer(NamedTuple):
    sent: float  # time of sending on the monotonic clock, which all processes share
    seconds: float
    status: int
    retry_after: bool

    @property
    def came(self) -> float:
        return self.sent + self.seconds


def start(url: str, seed: int, seconds: float, way: str, count: int) -> "subprocess.Popen[str]":
    command = [sys.executable, "-m", "battery.storm", url, str(seed), str(seconds), way, str(count)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def ask(url: str, seed: int, seconds: float, way: str, count: int) -> list[StormAnswer]:
    storm = start(url, seed, seconds, way, count)
    said, _ = storm.communicate()
    if storm.returncode:
        raise RuntimeError(f"the storm ended with {storm.returncode}")
    return [StormAnswer(*each) for each in json.loads(said)]


class _Storm:
    def __init__(self, url: str, seed: str, seconds: float) -> None:
        place = urlsplit(url)
        self._host, self._port = place.hostname or "", place.port or 80
        self._seed, self._number = seed, 0
        self._until = time.monotonic() + seconds
        self.answers: list[StormAnswer] = []

    async def in_a_closed_loop(self, clients: int) -> None:
        await asyncio.gather(*[self._client() for _ in range(clients)])

    async def in_an_open_loop(self, rate: int) -> None:
        under_way: set[asyncio.Task[None]] = set()
        due = time.monotonic()
        while due < self._until:
            await asyncio.sleep(due - time.monotonic())
            under_way.add(asyncio.create_task(self._once()))
            due += 1 / rate
        await asyncio.wait(under_way)

    async def _client(self) -> None:
        while time.monotonic() < self._until:
            await self._once()
            if self.answers[-1].status != CHECKED:
                await asyncio.sleep(PAUSE_SECONDS)

    async def _once(self) -> None:
        self._number += 1
        sent = time.monotonic()
        try:
            head = await asyncio.wait_for(self._exchange(self._number), PATIENCE_SECONDS)
        except (OSError, TimeoutError, asyncio.IncompleteReadError):
            head = b""
        status = int(head[9:12] or NONE)
        retry_after = b"\r\nretry-after:" in head.lower()
        self.answers.append(StormAnswer(sent, time.monotonic() - sent, status, retry_after))

    async def _exchange(self, number: int) -> bytes:
        """Log in over a new connection, because connecting is part of the load."""
        name = f"storm{self._seed}x{number}x{time.monotonic_ns()}"
        body = f'{{"grant_type": "password", "username": "{name}", "password": "{"0" * 64}"}}'
        head = f"POST /api/oauth/token HTTP/1.1\r\nHost: {self._host}\r\nConnection: close\r\n"
        head += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        reader, writer = await asyncio.open_connection(self._host, self._port)
        try:
            writer.write((head + body).encode())
            return await reader.readuntil(HEAD_END)
        finally:
            writer.close()


def main() -> None:
    url, seed, seconds, way, count = sys.argv[1:]
    storm = _Storm(url, seed, float(seconds))
    if way == "rate":
        asyncio.run(storm.in_an_open_loop(int(count)))
    else:
        asyncio.run(storm.in_a_closed_loop(int(count)))
    print(json.dumps(storm.answers))


if __name__ == "__main__":
    main()
