"""Helpers of the tests of undo: make a change, undo it, and read the state."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import guild_rows
import guild_values
from audit_log import last
from described import BY_NAME, hold
from expectations import everything, refused, unchanged
from game_server import newcomer, put_player, stack
from gamekeeper.game.access import roles
from gamekeeper.store.access.roles import Powers
from people import ANN, ANNS_POUCH, ARROW, COIN, DOUBLE_XP, FIREBALL, HEAL, KILLS, POUCH, SWORD, USER_IDS
from world import Answer, World

CHANGES = "/api/keeper/v1/changes"
LEFT_ALONE = {
    *("ledger", "epoch", "list_changes", "list_blocks", "lists", "tokens", "token_rounds", "idempotency_keys"),
    "security_events",
}
Act = Callable[[World], Answer]


def undone(world: World, seq: int, query: str = "", **more: Any) -> Answer:
    answer = world.post(f"{CHANGES}/{seq}/undo{query}", **more)
    if answer.status == 200:
        hold(BY_NAME["undo_change"], answer, 200)
    return answer


def number_of(world: World, answer: Answer) -> int:
    """Require that a request succeeded; return the number of its change, the last one if there are several."""
    answer.accepted()
    return last(world)


def row(world: World, seq: int) -> Any:
    return world.get(f"{CHANGES}?before={seq + 1}&limit=1").json["Changes"][0]


def state(world: World) -> Mapping[str, list[str]]:
    """Return all rows that undoable changes can affect: players, their items, spells and variables, and accounts."""
    return {table: rows for table, rows in everything(world).items() if table not in LEFT_ALONE}


def conflict(world: World, seq: int, part: str) -> None:
    with unchanged(world):
        refused(undone(world, seq), 409, "undo_conflict", part)


def items(world: World, what: str, item: str, quantity: int = 1, name: str = "Ann", **more: Any) -> Answer:
    return world.give(name, quantity, item, act=what, **more)


def read_slot(world: World, place: str, slot: int, name: str = "Ann") -> tuple[str, int]:
    found = world.get(f"/api/v1/players/{name}/items/{place}").json[slot]
    return found["ItemId"], found["Quantity"]


def slots(world: World, what: str, container: str, slot: int, item: str, quantity: int, to: int = -1) -> Answer:
    body = {"Container": container, "Slot": slot, "ItemId": item, "Quantity": quantity}
    target = {} if to < 0 else {"ToContainer": "inventory", "ToSlot": to}
    return world.post(f"/api/keeper/v1/players/Ann/items/slots/{what}", body | target)


def grant(world: World, name: str, powers: Powers) -> Answer:
    """Set an account's permissions like the command line, without a permission check."""
    world.apply(partial(roles.set_powers, key=USER_IDS[name], powers=powers))
    return Answer(200, {}, b"{}")


def moderate(world: World, act: str) -> Answer:
    return world.post(f"/api/v1/users/Bob/admin/{act}", {"reason": "rude", "duration": 3, "moderator": "Root"})


def set_fame(world: World, value: int) -> Answer:
    """Create a guild with a variable, and set it."""
    guild_rows.insert(world, {ANN.id: 0})
    guild_values.insert(world)
    return world.post(FAME, {"value": value})


FAME = f"/api/v1/guilds/{guild_rows.GUILD_ID}/variables/{guild_values.FAME.id}"
BAG: Mapping[str, object] = {"Id": ANNS_POUCH, "SlotCount": 9, "Slots": [stack(8, ARROW.id, 3)]}
EMPTY: Mapping[str, object] = {"Id": ANNS_POUCH, "SlotCount": 8, "Slots": []}
ACTS: Mapping[str, Act] = {
    "items_given": lambda world: items(world, "give", ARROW.id, 60),
    "items_given of a bag": lambda world: items(world, "give", POUCH.id, 2),
    "items_taken": lambda world: items(world, "take", COIN.id, 250),
    "items_taken in part": lambda world: items(world, "take", ARROW.id, 6),
    "items_set": lambda world: put_player(world, ANN.id, {"Items": [stack(0, SWORD.id), stack(7, COIN.id, 4)]}),
    "items_set of a bag": lambda world: put_player(world, ANN.id, {"Items": [{"Slot": 3}]}),
    "items_set of a larger bag": lambda world: put_player(world, ANN.id, {"Bags": [BAG]}),
    "items_taken from a slot of the bank": lambda world: slots(world, "take", "bank", 0, COIN.id, 30),
    "items_taken by emptying a slot": lambda world: slots(world, "set", "inventory", 1, ARROW.id, 0),
    "items_given into a slot of a bag": lambda world: slots(world, "set", ANNS_POUCH, 5, POUCH.id, 1),
    "items_set by swapping": lambda world: slots(world, "move", "inventory", 2, SWORD.id, 1, 0),
    "items_set by merging": lambda world: slots(world, "move", ANNS_POUCH, 1, ARROW.id, 3, 1),
    "items_set by moving a full bag": lambda world: slots(world, "move", "inventory", 3, POUCH.id, 1, 30),
    "items_set by moving a bag": lambda world: put_player(
        world, ANN.id, {"Items": [{"Slot": 3}, stack(9, POUCH.id, BagId=ANNS_POUCH)]}
    ),
    "spell_taught": lambda world: world.post("/api/v1/players/Ann/spells/teach", {"spellid": HEAL.id}),
    "spell_forgotten": lambda world: world.post("/api/v1/players/Ann/spells/forget", {"spellid": FIREBALL.id}),
    "spells_set": lambda world: put_player(
        world, ANN.id, {"Spells": [{"Slot": 0, "SpellId": HEAL.id}, {"Slot": 3, "SpellId": FIREBALL.id}]}
    ),
    "variables_set": lambda world: world.post(f"/api/v1/players/Ann/variables/{KILLS.id}", {"value": 8}),
    "variables_set for the first time": lambda world: world.post(
        f"/api/v1/players/Bob/variables/{KILLS.id}", {"value": 0}
    ),
    "server_variables_set": lambda world: world.post(f"/api/v1/variables/global/{DOUBLE_XP.id}", {"value": 11}),
    "guild_variables_set": lambda world: world.post(FAME, {"value": 11}),
    "player_changed": lambda world: world.post("/api/v1/players/Ann/level", {"level": 20}),
    "player_changed by name": lambda world: world.post("/api/v1/players/Ann/name", {"name": "Anna"}),
    "player_changed by a game": lambda world: put_player(
        world, ANN.id, {"UserId": USER_IDS["Bob"], "Vitals": [1, 2], "Equipment": [-1, -1, -1, -1, -1], "X": 9}
    ),
    "player_created": lambda world: put_player(
        world, *newcomer(1, Items=[stack(1, COIN.id, 5), stack(0, POUCH.id)], CreationDate="2026-01-31T12:00:00Z")
    ),
    "player_deleted": lambda world: world.call("DELETE", "/api/v1/players/Ann"),
    "email_changed": lambda world: world.post("/api/v1/users/Ann/manage/email/change", {"new": "other@example.test"}),
    "user_renamed": lambda world: world.post("/api/v1/users/Ann/name", {"name": "Annabel"}),
    "powers_changed": lambda world: grant(world, "Ann", Powers(api=True, users_query=True)),
    "roles_changed": lambda world: world.post(
        "/api/keeper/v1/users/Ann/roles", {"give": ["moderator"], "grant": ["items.give"]}
    ),
    "user_banned": lambda world: moderate(world, "ban"),
    "user_unbanned": lambda world: moderate(world, "unban"),
    "user_muted": lambda world: moderate(world, "mute"),
    "user_unmuted": lambda world: moderate(world, "unmute"),
    "user_suspended": lambda world: world.post("/api/keeper/v1/users/Ann/suspend"),
    "user_resumed": lambda world: world.post("/api/keeper/v1/users/Ann/resume"),
}
EARLIER: Mapping[str, Act] = {
    "guild_variables_set": lambda world: set_fame(world, 10),
    "user_unbanned": lambda world: moderate(world, "ban"),
    "user_unmuted": lambda world: moderate(world, "mute"),
    "user_resumed": lambda world: world.post("/api/keeper/v1/users/Ann/suspend"),
}
