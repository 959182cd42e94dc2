"""Send short requests over keep-alive connections in a closed loop, and print how many were answered.

    python -m battery.steady_load URL TOKEN PATH SECONDS CLIENTS

Runs as a separate process, so that no other event loop delays it.
"""

import asyncio
import subprocess
import sys
import time
from urllib.parse import urlsplit

HEAD_END = b"\r\n\r\n"
LENGTH = b"\r\ncontent-length:"


def start(url: str, token: str, path: str, seconds: float, clients: int) -> "subprocess.Popen[str]":
    command = [sys.executable, "-m", "battery.steady_load", url, token, path, str(seconds), str(clients)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def count(load: "subprocess.Popen[str]") -> int:
    said, _ = load.communicate()
    if load.returncode:
        raise RuntimeError(f"the load ended with {load.returncode}")
    return int(said)


async def _ask(url: str, token: str, path: str, until: float) -> int:
    place = urlsplit(url)
    reader, writer = await asyncio.open_connection(place.hostname, place.port)
    head = f"GET {path} HTTP/1.1\r\nHost: {place.hostname}\r\nAuthorization: Bearer {token}\r\n\r\n".encode()
    answered = 0
    while time.monotonic() < until:
        writer.write(head)
        answer = (await reader.readuntil(HEAD_END)).lower()
        await reader.readexactly(int(answer.partition(LENGTH)[2].partition(b"\r\n")[0]))
        answered += b" 200 " in answer[:16]
    writer.close()
    return answered


async def _ask_all(url: str, token: str, path: str, seconds: float, clients: int) -> int:
    until = time.monotonic() + seconds
    return sum(await asyncio.gather(*[_ask(url, token, path, until) for _ in range(clients)]))


if __name__ == "__main__":
    url, token, path, seconds, clients = sys.argv[1:]
    print(asyncio.run(_ask_all(url, token, path, float(seconds), int(clients))))
