"""The shapes of what keepers ask: history, undo, the outbox and the one search."""

from typing import Any

from msgspec import Struct

from gamekeeper_client.shapes import Bag, ItemSlot


class ToldChange(Struct, rename="pascal"):
    """A row of the ledger; `before` and `after` are JSON in the records' own spelling."""

    seq: int
    at: str
    kind: str
    player_id: str | None
    player: str | None
    user_id: str | None
    user: str | None
    actor_id: str | None
    by: str | None
    over_link: bool
    before: Any
    after: Any
    request_id: str
    reason: str | None
    undoes: int | None
    undone_by: int | None
    undoable: bool


class History(Struct, rename="pascal"):
    changes: list[ToldChange]
    next: int | None


class DoneChange(Struct, rename="pascal"):
    kind: str
    player_id: str | None
    user_id: str | None
    before: Any
    after: Any


class Undone(Struct, rename="pascal"):
    """What was taken back, and the changes that did it."""

    undoes: int
    kind: str
    changes: list[DoneChange]


class ItemsThen(Struct):
    inventory: list[ItemSlot]
    bank: list[ItemSlot]
    bags: list[Bag]


class Mail(Struct, rename="pascal"):
    """`state` is queued, sending, sent, failed or expired; `retriable` says whether you may try it again."""

    id: str
    user_id: str
    user: str
    kind: str
    email: str
    state: str
    queued_at: str
    expires_at: str
    tries: int
    next_try_at: str | None
    sent_at: str | None
    last_error: str | None
    retriable: bool


class Mails(Struct, rename="pascal"):
    mails: list[Mail]
    next: str | None


class Found(Struct, rename="pascal"):
    """Something that was found; `match` is id, exact, prefix, part or near."""

    kind: str
    id: str
    name: str
    detail: str
    match: str


class Finds(Struct, rename="pascal"):
    query: str
    found: list[Found]
