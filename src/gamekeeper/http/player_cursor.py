"""Cursors of filtered lists of players, as texts: an order and a key in it, in URL-safe Base64."""

import base64
import binascii
from collections.abc import Mapping
from typing import Annotated

import msgspec
from msgspec import Meta

from gamekeeper.game import lookup
from gamekeeper.game.player_filters import Cursor
from gamekeeper.game.player_walks import ACCOUNT, LEVEL, NAME, QUANTITY, SEEN, Order
from gamekeeper.game.refusals import BadField

Int32 = Annotated[int, Meta(ge=0, le=2**31 - 1)]
Int64 = Annotated[int, Meta(ge=-1, le=2**63 - 1)]
# keys of the orders; an id of 36 characters is checked below
KEYS: Mapping[str, type[tuple[int | str, ...]]] = {
    NAME: tuple[Annotated[str, Meta(max_length=400)]],
    LEVEL: tuple[Int32, Int64, str],
    SEEN: tuple[Annotated[int, Meta(ge=0, le=2)], Int64, str],
    QUANTITY: tuple[Int64, str],
    ACCOUNT: tuple[str, str],
}
LONGEST = 2000  # characters


def encode(cursor: Cursor) -> str:
    order = ("-" if cursor.order.descending else "") + cursor.order.by
    return base64.urlsafe_b64encode(msgspec.json.encode([order, *cursor.key])).decode().rstrip("=")


def read(text: str, name: str) -> Cursor:
    try:
        return _decode(text)
    except (LookupError, ValueError, binascii.Error, msgspec.MsgspecError):
        raise BadField(field=name, problem="must be the Next of the previous page") from None


def _decode(text: str) -> Cursor:
    raw = base64.b64decode(text.encode("ascii") + b"=" * (-len(text) % 4), altchars=b"-_", validate=True)
    order, *key = msgspec.json.decode(raw, type=list[int | str])
    by = str(order).removeprefix("-")
    found: tuple[int | str, ...] = msgspec.convert(key, KEYS[by])
    ids = [each for each in found if isinstance(each, str) and by != NAME]
    if len(text) > LONGEST or any(lookup.parse_guid(each) != each for each in ids) or "\x00" in str(found[0]):
        raise ValueError
    return Cursor(Order(by, descending=str(order).startswith("-")), tuple(found))
