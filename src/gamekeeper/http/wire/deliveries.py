"""JSON shapes of acknowledgements and deliveries of commands."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from gamekeeper.http.wire.scalars import GameText, LongNatural, PlainInt64

MAX_ACKS = 1_000  # acknowledgements in one request


class Ack(Struct):
    Seq: LongNatural
    State: Literal["applied", "failed", "unknown"]
    Reason: GameText | None = None


class Acks(Struct):
    Acks: Annotated[list[Ack], Meta(max_length=MAX_ACKS)]


class StandingAck(Struct):
    Seq: PlainInt64
    State: str


class StandingAcks(Struct):
    Acks: list[StandingAck]
