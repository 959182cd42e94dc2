"""Items of players: slots, bags, and daily totals of gifts with the quotas of roles."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from gamekeeper.store.engine.interface import Reading, Row, Writing
from gamekeeper.store.engine.statements import Statements, as_column, as_table

SQL = Statements(__file__)


class SlotRow(NamedTuple):
    place: str
    slot: int
    item_id: str
    quantity: int
    bag_id: str | None
    buffs: str


class Holdings(NamedTuple):
    """A locked player's slots, and an item of the catalogue."""

    player_id: str
    stackable: bool | None  # None: the item is not in the catalogue
    max_stack: int | None
    bag_slots: int | None
    is_unknown: bool  # whether the item is missing in a catalogue that has items
    slots: list[Row]  # the fields of SlotRow, as plain tuples: a NamedTuple costs more than a row itself


class BagRow(NamedTuple):
    player_id: str
    slot_count: int


class PlayerSlot(NamedTuple):
    player_id: str
    place: str
    slot: int
    item_id: str
    quantity: int
    bag_id: str | None
    buffs: str


class PlayerBag(NamedTuple):
    id: str
    player_id: str
    slot_count: int


async def read_slots_of_player(tx: Reading, player_id: str) -> list[SlotRow]:
    return await tx.rows(SlotRow, SQL.slots_of_player, player_id)


async def read_holdings(tx: Reading, locked: str | None, item_id: str) -> Holdings | None:
    """Read the slots of a player that `Locking.lock` locked, and an item; None: there is no such player."""
    rows = await tx.all(SQL.holdings, locked, item_id)
    if not rows:
        return None
    player_id, stackable, max_stack, bag_slots, is_unknown = rows[0][:5]
    held = [row[5:] for row in rows if row[5] is not None]
    return Holdings(player_id, stackable, max_stack, bag_slots, bool(is_unknown), held)


async def read_slots_of_place(tx: Reading, player_id: str, place: str) -> list[SlotRow]:
    return await tx.rows(SlotRow, SQL.slots_of_place, player_id, place)


async def read_named_slots_of_player(tx: Reading, player_id: str) -> tuple[list[SlotRow], dict[str, str]]:
    """Read a player's slots, and map the ids of items that are in the catalogue to their names."""
    return _split_names(await tx.all(SQL.named_slots_of_player, player_id))


async def read_named_slots_of_place(tx: Reading, player_id: str, place: str) -> tuple[list[SlotRow], dict[str, str]]:
    return _split_names(await tx.all(SQL.named_slots_of_place, player_id, place))


def _split_names(rows: Sequence[Row]) -> tuple[list[SlotRow], dict[str, str]]:
    slots = [SlotRow(*row[:-1]) for row in rows]
    return slots, {slot.item_id: row[-1] for slot, row in zip(slots, rows, strict=True) if row[-1] is not None}


async def find_bag(tx: Reading, bag_id: str) -> BagRow | None:
    return await tx.row(BagRow, SQL.bag, bag_id)


async def find_known_bags(tx: Reading, ids: Iterable[str]) -> set[str]:
    return {row[0] for row in await tx.all(SQL.known_bags, as_column("id", ids))}


async def read_bags_of_player(tx: Reading, player_id: str) -> dict[str, int]:
    return {row[0]: row[1] for row in await tx.all(SQL.bags_of_player, player_id)}


def save_slots(tx: Writing, slots: Sequence[PlayerSlot]) -> None:
    if len(slots) == 1:
        tx.defer(SQL.save_slot, *slots[0])
    else:
        tx.defer(SQL.save_slots, as_table(each._asdict() for each in slots))


def load_slots(tx: Writing, slots: Iterable[Row]) -> None:
    """Insert many slots; the values are in the order of PlayerSlot."""
    tx.load(SQL.load_slots, slots)


def clear_slots(tx: Writing, player_id: str, spots: Iterable[tuple[str, int]]) -> None:
    tx.defer(SQL.clear_slots, player_id, as_table({"place": place, "slot": slot} for place, slot in spots))


def insert_bags(tx: Writing, bags: Iterable[PlayerBag]) -> None:
    tx.defer(SQL.insert_bags, as_table(each._asdict() for each in bags))


def load_bags(tx: Writing, bags: Iterable[Row]) -> None:
    """Insert many bags; the values are in the order of PlayerBag."""
    tx.load(SQL.load_bags, bags)


def resize_bags(tx: Writing, bags: Iterable[PlayerBag]) -> None:
    tx.defer(SQL.resize_bags, as_table(each._asdict() for each in bags))


def delete_bags(tx: Writing, bag_ids: Iterable[str]) -> None:
    tx.defer(SQL.delete_bags, as_column("id", bag_ids))


async def sum_quantities(tx: Reading) -> dict[str, int]:
    return {row[0]: int(row[1]) for row in await tx.all(SQL.sums)}


async def find_stray_bags(tx: Reading) -> list[Row]:
    """Find bags that are not in exactly one slot."""
    return list(await tx.all(SQL.stray_bags))


async def find_orphan_slots(tx: Reading) -> list[Row]:
    """Find slots in a bag that does not belong to the slot's player."""
    return list(await tx.all(SQL.homeless_slots))


async def read_slots_between(tx: Reading, first: str, last: str) -> list[PlayerSlot]:
    """Read the occupied slots of all players between two player ids."""
    return await tx.rows(PlayerSlot, SQL.slots_between, first, last)


async def count_slots_beyond(tx: Reading, inventory: int, bank: int) -> list[Row]:
    """Count occupied slots beyond the sizes configured for inventory and bank; return a row (place, count) for each."""
    return list(await tx.all(SQL.slots_beyond, inventory, bank))


RoleQuotas = dict[str, int]  # id of an item → the most of it per UTC day


class Gift(NamedTuple):
    giver_id: str  # an account or an API key
    item_id: str
    quantity: int


class GiftTotal(NamedTuple):
    giver_id: str
    item_id: str
    quantity: int  # given today, with the gifts of this transaction
    ends_at: int  # end of the UTC day, in milliseconds since 1970


async def add_gifts(tx: Writing, gifts: Iterable[Gift]) -> list[GiftTotal]:
    """Add gifts to the totals of today. Locks their rows, in the order of givers and items."""
    table = ({"giver": each.giver_id, "item": each.item_id, "quantity": each.quantity} for each in sorted(gifts))
    return [GiftTotal(*row) for row in await tx.returning(SQL.add, as_table(table))]


def give_back_gifts(tx: Writing, seq: int, item_id: str, quantity: int) -> None:
    """Take items off the totals of the giver and of the day of the gift with number `seq`, if it was counted."""
    tx.defer(SQL.give_back, seq, item_id, quantity)


def delete_old_gifts(tx: Writing, before_ms: int) -> None:
    tx.defer(SQL.delete_old, before_ms)


async def read_quotas_of_user(tx: Reading, user_id: str) -> list[RoleQuotas]:
    """Read the quotas of each role by which an account may give items."""
    return list(_group(await tx.all(SQL.quotas_of_user, user_id)).values())


async def read_quotas_of_role(tx: Reading, role: str) -> RoleQuotas:
    return _group(await tx.all(SQL.quotas_of_role, role)).get(role, {})


def _group(rows: Iterable[Row]) -> dict[str, RoleQuotas]:
    found: dict[str, RoleQuotas] = {}
    for role, item_id, most in rows:
        quotas = found.setdefault(role, {})
        if item_id is not None:
            quotas[item_id] = most
    return found
