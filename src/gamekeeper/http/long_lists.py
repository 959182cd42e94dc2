"""Answers with all that one player, guild, account or approval has. Above MOST_AT_ONCE rows, through the gate."""

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from gamekeeper.game.history import Pause
from gamekeeper.http.answered_rows import MOST_AT_ONCE
from gamekeeper.http.request import Request

R = TypeVar("R")
PIECE_ROWS = 250  # rows that are encoded before the next pause: less than a millisecond


async def encode_rows(request: Request, rows: Sequence[R], encode: Callable[[Sequence[R]], bytes]) -> bytes:
    """Encode a list. `encode` encodes some of its rows as a JSON array."""
    return await join_pieces(request, len(rows), encode_pieces(rows, encode))


def encode_pieces(rows: Sequence[R], encode: Callable[[Sequence[R]], bytes]) -> Iterator[bytes]:
    """Yield a JSON array in pieces."""
    yield b"["
    for start in range(0, len(rows), PIECE_ROWS):
        yield (b"," if start else b"") + encode(rows[start : start + PIECE_ROWS])[1:-1]
    yield b"]"


async def join_pieces(request: Request, rows: int, pieces: Iterator[bytes]) -> bytes:
    """Join the pieces of an answer. `rows`: their number in all; above MOST_AT_ONCE it runs through the gate."""
    if rows <= MOST_AT_ONCE:
        return b"".join(pieces)

    async def join(rest: Pause) -> bytes:
        made = list[bytes]()
        for each in pieces:
            made.append(each)
            await rest()
        return b"".join(made)

    return await request.services.gate.run(request.caller.account_id, join)
