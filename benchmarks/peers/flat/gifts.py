"""The parts of a gift that need no database: what was asked, what fits where, and the rows to write."""

import re
from collections.abc import Sequence
from hashlib import sha256
from typing import Any, NamedTuple
from unicodedata import normalize
from urllib.parse import unquote_to_bytes

import msgspec

from benchmarks.peers.flat.server import GIVE, PLAYERS, Believed, Headers
from gamekeeper.game.core.lookup import ZERO_GUID, is_nameable, parse_guid
from gamekeeper.game.core.player import BANK, INVENTORY, Capacity
from gamekeeper.http.contract.shapes import encode
from gamekeeper.http.players.player_shapes import GiveItem

ENDING = len(b"/items/give")
NO_BUFFS = "[0,0,0,0,0]"
KEY = re.compile(rb"[\x21-\x7e]{1,255}")
METHOD, ROUTE = GIVE.split()
_decode = msgspec.json.Decoder(GiveItem).decode


class Gift(NamedTuple):
    request_id: str
    account_id: str
    token_id: str
    key: str | None
    fingerprint: str
    reason: str | None
    guid: str | None  # the player's id, if the path has it
    name: str
    item_id: str
    quantity: int
    overflow: bool

    @property
    def fold(self) -> str:
        return normalize("NFC", self.name.casefold())


def read(request_id: str, caller: Believed, raw_path: bytes, headers: Headers, body: bytes) -> Gift | None:
    """Read a request for a gift; None: something in it is not valid."""
    part = raw_path[len(PLAYERS) : -ENDING]
    text = (unquote_to_bytes(part) if b"%" in part else part).decode("utf-8", "replace")
    asked, key, reason = _decode(body), headers.get(b"idempotency-key"), headers.get(b"x-reason")
    item_id, guid = parse_guid(asked.itemid), parse_guid(text)
    if caller[4] or item_id is None or not is_nameable(text) or (key is not None and not KEY.fullmatch(key)):
        return None
    asked.itemid = item_id
    fingerprint = sha256(encode([METHOD, ROUTE, [text], asked])).hexdigest() if key else ""
    return Gift(
        request_id,
        caller[2],
        caller[3],
        key.decode() if key else None,
        fingerprint,
        reason.decode() if reason else None,
        guid,
        text,
        item_id,
        asked.quantity,
        asked.bankoverflow,
    )


class Placed(NamedTuple):
    slots: str  # the changed slots, as `save_slots` in items.sql reads them
    before: str
    after: str
    answer: bytes


def place(gift: Gift, player_id: str, item: Sequence[Any], rows: Sequence[Any], room: Capacity) -> Placed | None:
    """Fill stacks in slot order, then free slots; then the bank, if that was asked for. None: they do not fit.

    `item`: stackable, max_stack, bag_slots; `rows`: the player's slots, as `slots_of_player` in items.sql reads them.
    """
    stackable, max_stack, bag_slots = item
    most = (max_stack or room.stack) if stackable else 1
    left = gift.quantity
    held = {INVENTORY: 0, BANK: 0}
    changed: dict[str, list[tuple[int, int, int, str]]] = {INVENTORY: [], BANK: []}  # slot, before, after, buffs
    taken: set[tuple[str, int]] = set()
    for where, slot, item_id, quantity, _, _ in rows:
        taken.add((where, slot))
        if item_id == gift.item_id and where in held:
            held[where] += quantity
    for where, size in ((INVENTORY, room.inventory), (BANK, room.bank))[: 1 + gift.overflow]:
        for place, slot, item_id, quantity, bag_id, buffs in rows if stackable else ():
            if left and place == where and item_id == gift.item_id and quantity < most and bag_id is None:
                added = min(left, most - quantity)
                changed[where].append((slot, quantity, quantity + added, buffs))
                held[where] += added
                left -= added
        for slot in range(size) if left else ():
            if (where, slot) not in taken:
                added = min(left, most)
                changed[where].append((slot, 0, added, NO_BUFFS))
                held[where] += added
                left -= added
                if not left:
                    break
    if left or bag_slots:
        return None
    slots = [
        {
            "player_id": player_id,
            "place": where,
            "slot": slot,
            "item_id": gift.item_id,
            "quantity": after,
            "bag_id": None,
            "buffs": buffs,
        }
        for where, found in changed.items()
        for slot, _, after, buffs in found
    ]
    return Placed(
        encode({str(number): slot for number, slot in enumerate(slots)}).decode(),
        _encode_side(gift.item_id, changed, 0),
        _encode_side(gift.item_id, changed, 1),
        b'{"id":"%b","quantity":{"total":%d,"bank":%d,"inventory":%d}}'
        % (gift.item_id.encode(), held[INVENTORY] + held[BANK], held[BANK], held[INVENTORY]),
    )


def _encode_side(item_id: str, changed: dict[str, list[tuple[int, int, int, str]]], side: int) -> str:
    """Encode the changed slots for the audit log: before (0) or after (1) the gift."""
    lists = [
        f'"{name}":['
        + ",".join([_encode_slot(slot, held[side], item_id, buffs) for slot, *held, buffs in sorted(found)])
        + "]"
        for name, found in (("Items", changed[INVENTORY]), ("Bank", changed[BANK]))
        if found
    ]
    return "{" + ",".join(lists) + "}"


def _encode_slot(slot: int, quantity: int, item_id: str, buffs: str) -> str:
    held = item_id if quantity else ZERO_GUID
    return f'{{"Slot":{slot},"BagId":null,"ItemId":"{held}","Quantity":{quantity},"StatBuffs":{buffs}}}'
