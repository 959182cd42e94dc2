"""A TCP proxy on loopback that imitates network failures on demand."""

import asyncio
import random
import socket
import struct
import threading
from collections.abc import Coroutine
from contextlib import suppress
from types import TracebackType
from typing import Any, Self

RESET, BLACK_HOLE, CUT_ANSWER = "reset", "black hole", "cut answer"
LATE, HALF_OPEN, TRICKLE = "200 ms late", "half open", "trickle"
MODES = (RESET, BLACK_HOLE, CUT_ANSWER, LATE, HALF_OPEN, TRICKLE)
CHUNK = 65_536
# share of received data pieces at which the connection is broken; low enough to hit every step of a transaction
SPOILT = 0.1
LATE_SECONDS = 0.2
TRICKLE_BYTES, TRICKLE_SECONDS = 64, 0.02
Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class FaultyWire:
    """TCP proxy to a port, or to a Unix socket given by its path, that imitates network failures."""

    def __init__(self, to: int | str, seed: int) -> None:
        self._to = to
        self._chance = random.Random(seed)
        self._mode = ""
        self._healthy = asyncio.Event()
        # Client connection: the proxy's connection to the server
        self._pairs: dict[asyncio.StreamWriter, asyncio.StreamWriter] = {}
        # client connections without a server connection ("half open"): they stay open and get no further bytes
        self._forgotten: set[asyncio.StreamWriter] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._loop = asyncio.new_event_loop()
        self.port = 0

    def __enter__(self) -> Self:
        threading.Thread(target=self._loop.run_forever, daemon=True).start()
        self._do(self._listen())
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._do(self._close())
        self._loop.call_soon_threadsafe(self._loop.stop)

    def spoil(self, mode: str) -> None:
        self._do(self._spoil(mode))

    def heal(self) -> None:
        self._do(self._heal())

    def _do(self, work: Coroutine[Any, Any, None]) -> None:
        asyncio.run_coroutine_threadsafe(work, self._loop).result()

    async def _listen(self) -> None:
        self._healthy.set()
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]

    async def _close(self) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _spoil(self, mode: str) -> None:
        self._mode = mode
        if mode == BLACK_HOLE:
            self._healthy.clear()
        if mode == HALF_OPEN:
            for caller, server in self._pairs.items():
                self._forgotten.add(caller)
                _reset(server)

    async def _heal(self) -> None:
        self._mode = ""
        self._healthy.set()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        if task:
            self._tasks.add(task)
        try:
            with suppress(OSError):
                await self._carry(reader, writer)
        finally:
            _reset(writer)
            if task:
                self._tasks.discard(task)

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._mode == HALF_OPEN:
            self._forgotten.add(writer)
            await self._swallow(reader)
            return
        there, away = await self._connect()
        self._pairs[writer] = away
        try:
            async with asyncio.TaskGroup() as both:
                both.create_task(self._pass_on(reader, away, writer, answer=False))
                both.create_task(self._pass_on(there, writer, writer, answer=True))
        except* OSError:
            pass
        finally:
            del self._pairs[writer]
            _reset(away)
        if writer in self._forgotten:
            await self._swallow(reader)

    async def _connect(self) -> Streams:
        if isinstance(self._to, str):
            return await asyncio.open_unix_connection(self._to)
        return await asyncio.open_connection("127.0.0.1", self._to)

    async def _pass_on(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, caller: asyncio.StreamWriter, *, answer: bool
    ) -> None:
        while data := await reader.read(CHUNK):
            await self._healthy.wait()
            if caller in self._forgotten:
                raise ConnectionResetError
            spoilt = self._mode in {RESET, CUT_ANSWER} and self._chance.random() < SPOILT
            if spoilt and (self._mode == CUT_ANSWER) == answer:
                writer.write(data[: len(data) // 2] if answer else b"")
                with suppress(OSError):
                    await writer.drain()
                raise ConnectionResetError
            await self._write(writer, data)
        raise ConnectionResetError  # one side has closed the connection, so the proxy closes the other

    async def _write(self, writer: asyncio.StreamWriter, data: bytes) -> None:
        if self._mode == LATE:
            await asyncio.sleep(LATE_SECONDS)
        while self._mode == TRICKLE and data:
            writer.write(data[:TRICKLE_BYTES])
            data = data[TRICKLE_BYTES:]
            await asyncio.sleep(TRICKLE_SECONDS)
        writer.write(data)
        await writer.drain()

    async def _swallow(self, reader: asyncio.StreamReader) -> None:
        """Read and drop all bytes of a connection without a reset, like a firewall that has lost the connection."""
        while await reader.read(CHUNK):
            pass


def _reset(writer: asyncio.StreamWriter) -> None:
    """Close a connection with a TCP reset (RST): bytes in flight are lost, and the peer sees an error at once."""
    with suppress(OSError):
        writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()
