"""Items of players for tests: give, take and read them."""

from collections.abc import Mapping

from gamekeeper.game.core.lookup import ZERO_GUID
from people import ANNS_POUCH, ARROW, COIN, POUCH, SWORD
from world import Answer, World

ANN, BOB = "/api/v1/players/Ann/items", "/api/v1/players/Bob/items"
BAG = "/api/v1/players/bag"
NO_BUFFS = [0, 0, 0, 0, 0]
EMPTY = {"BagId": None, "ItemId": ZERO_GUID, "Quantity": 0, "StatBuffs": NO_BUFFS, "ItemName": "ERR_DELETED"}
NAMES = {item.id: {"ItemName": item.name} for item in (COIN, ARROW, SWORD, POUCH)}


def slots(size: int, occupied: Mapping[int, Mapping[str, object]]) -> list[dict[str, object]]:
    held = [occupied.get(slot, {}) for slot in range(size)]
    return [{"Slot": slot, **EMPTY, **each, **NAMES.get(str(each.get("ItemId")), {})} for slot, each in enumerate(held)]


INVENTORY = slots(
    35,
    {
        0: {"ItemId": COIN.id, "Quantity": 250},
        1: {"ItemId": ARROW.id, "Quantity": 60},
        2: {"ItemId": SWORD.id, "Quantity": 1, "StatBuffs": [1, 2, 3, 4, 5]},
        3: {"BagId": ANNS_POUCH, "ItemId": POUCH.id, "Quantity": 1},
    },
)


def give(world: World, items: str, item_id: str, quantity: int, **more: object) -> Answer:
    return world.post(f"{items}/give", {"itemid": item_id, "quantity": quantity, **more})


def take(world: World, items: str, item_id: str, quantity: int) -> Answer:
    return world.post(f"{items}/take", {"itemid": item_id, "quantity": quantity})


def read_slots(world: World, items: str, place: str = "inventory") -> dict[int, tuple[str, int]]:
    """Return item and quantity of each occupied inventory slot."""
    listed = world.get(f"{items}/{place}").json
    return {each["Slot"]: (each["ItemId"], each["Quantity"]) for each in listed if each["ItemId"] != ZERO_GUID}
