"""Table of all writes to players and over the link: a valid call, and its changes in the audit log."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

import pytest

from game_server import LINK, heartbeat, join
from gamekeeper.game.access import tokens
from gamekeeper.game.core.lookup import ZERO_GUID
from gamekeeper.http.contract import examples
from gamekeeper.store.accounts import users
from gamekeeper.store.world.catalogue import NamedEntry
from guild_rows import GUILD_ID, insert
from people import ANN, ARROW, BOB, COIN, FIREBALL, HEAL, KILLS, POUCH, SWORD, WARRIOR, ZOE, guid
from world import PLAYERS, World

NEW = guid(0x900)


@dataclass(frozen=True)
class Case:
    """One write operation, with the path and body of a valid call."""

    route: str  # method and path of the operation in its route, with placeholders like [lookupKey]
    path: str
    body: object = None
    rows: Mapping[str, tuple[object, object]] = field(default_factory=dict[str, tuple[object, object]])
    player: str | None = None
    user: str | None = None  # id of the account that the audit log must name, if the call creates or deletes a player


def slot(number: int, item_id: str = ZERO_GUID, quantity: int = 0, **more: object) -> dict[str, object]:
    buffs = [0, 0, 0, 0, 0]
    return {"Slot": number, "BagId": None, "ItemId": item_id, "Quantity": quantity, "StatBuffs": buffs} | more


def anns_sword(number: int) -> dict[str, object]:
    return slot(number, SWORD.id, 1, StatBuffs=[1, 2, 3, 4, 5])


# sides of changes in the audit log


def in_slots(*held: object) -> dict[str, object]:
    return {"Items": [*held]}


def wielding(number: int) -> dict[str, object]:
    return {"Equipment": [-1, -1, number, -1, -1]}


def spell(number: int, spell_id: str) -> dict[str, object]:
    return {"Spells": [{"Slot": number, "SpellId": spell_id}]}


def kills(value: int) -> dict[str, object]:
    return {"Variables": [{"VariableId": KILLS.id, "Value": value}]}


def picture(item_id: str, content_hash: str | None) -> dict[str, object]:
    return {"ItemId": item_id, "Hash": content_hash}


# bodies of requests


def items(item_id: str, quantity: object) -> dict[str, object]:
    return {"itemid": item_id, "quantity": quantity}


def in_slot(number: int, item_id: str, quantity: int, **more: object) -> dict[str, object]:
    return {"Container": "inventory", "Slot": number, "ItemId": item_id, "Quantity": quantity, **more}


def equipping(number: int) -> dict[str, object]:
    return {"Slot": number, "ItemId": ARROW.id, "Place": "weapon"}


def swords_way(number: int) -> dict[str, object]:
    return in_slot(2, SWORD.id, 1, ToContainer="inventory", ToSlot=number)


def learn(entry: NamedEntry) -> dict[str, object]:
    return {"spellid": entry.id}


GIVE, TEACH = f"{PLAYERS}/Ann/items/give", f"{PLAYERS}/Ann/spells/teach"
KEEPER_PLAYERS = "/api/keeper/v1/players"
POUCHED = slot(6, POUCH.id, 1, BagId=NEW)
EMPTY_BAG: dict[str, object] = {"Id": NEW, "SlotCount": 8, "Slots": list[object]()}
FROST = {"Id": NEW, "Name": "Frost"}
GUILD: dict[str, object] = {
    "Name": "Red Hand",
    "FoundingDate": "2021-06-01T10:00:00.000Z",
    "Members": [{"PlayerId": BOB.id, "Rank": 0, "JoinedAt": None}],
}
ACTIVITY: dict[str, object] = {
    "Id": NEW,
    "TimeStamp": "2026-01-31T12:00:00Z",
    "UserId": ANN.user_id,
    "PlayerId": ANN.id,
    "Action": "Login",
}
TRADE: dict[str, object] = {
    "Id": NEW,
    "TradeId": NEW,
    "TimeStamp": "2026-01-31T12:00:00Z",
    "UserId": ANN.user_id,
    "PlayerId": ANN.id,
    "TargetId": BOB.id,
    "Items": list[object](),
    "TargetItems": list[object](),
}


def of_ann(act: str, body: object, route: str = PLAYERS, **rows: tuple[object, object]) -> Case:
    """Return the case of an act on Ann."""
    return Case(f"POST {route}/[lookupKey]/{act}", f"{route}/Ann/{act}", body, rows, ANN.id)


def over_link(operation: str, end: str, body: object = None, **rows: tuple[object, object]) -> Case:
    """Return the case of an operation of the link, with the end of the path after its first part."""
    method, path = operation.split()
    return Case(f"{method} {LINK}/{path}", f"{LINK}/{path.partition('[')[0]}{end}", body, rows)


CASES = (
    Case(
        f"POST {PLAYERS}/[lookupKey]/variables/[variableId]",
        f"{PLAYERS}/Ann/variables/{KILLS.id}",
        {"value": 8},
        {"variables_set": (kills(7), kills(8))},
        ANN.id,
    ),
    of_ann(
        "items/give",
        items(ARROW.id, 45),
        items_given=(in_slots(slot(1, ARROW.id, 60), slot(4)), in_slots(slot(1, ARROW.id, 100), slot(4, ARROW.id, 5))),
    ),
    of_ann(
        "items/take",
        items(SWORD.id, 1),
        items_taken=(in_slots(anns_sword(2)), in_slots(slot(2))),
        player_changed=(wielding(2), wielding(-1)),
    ),
    of_ann(
        "items/slots/take",
        in_slot(0, COIN.id, 50),
        KEEPER_PLAYERS,
        items_taken=(in_slots(slot(0, COIN.id, 250)), in_slots(slot(0, COIN.id, 200))),
    ),
    of_ann(
        "items/slots/set",
        in_slot(1, ARROW.id, 90),
        KEEPER_PLAYERS,
        items_given=(in_slots(slot(1, ARROW.id, 60)), in_slots(slot(1, ARROW.id, 90))),
    ),
    of_ann("items/slots/equip", equipping(1), KEEPER_PLAYERS, player_changed=(wielding(2), wielding(1))),
    of_ann(
        "items/slots/unequip",
        {"Slot": 2, "ItemId": SWORD.id},
        KEEPER_PLAYERS,
        player_changed=(wielding(2), wielding(-1)),
    ),
    of_ann(
        "items/slots/move",
        swords_way(0),
        KEEPER_PLAYERS,
        items_set=(in_slots(slot(0, COIN.id, 250), anns_sword(2)), in_slots(anns_sword(0), slot(2, COIN.id, 250))),
        player_changed=(wielding(2), wielding(0)),
    ),
    of_ann("spells/teach", learn(HEAL), spell_taught=(spell(1, ZERO_GUID), spell(1, HEAL.id))),
    of_ann("spells/forget", learn(FIREBALL), spell_forgotten=(spell(0, FIREBALL.id), spell(0, ZERO_GUID))),
    of_ann("name", {"name": "Annie"}, player_changed=({"Name": "Ann"}, {"Name": "Annie"})),
    of_ann("level", {"level": 13}, player_changed=({"Level": 12, "Exp": 345}, {"Level": 13, "Exp": 0})),
    Case(
        f"POST {PLAYERS}/[lookupKey]/class",
        f"{PLAYERS}/Bob/class",
        {"classid": WARRIOR.id},
        {"player_changed": ({"ClassId": BOB.class_id}, {"ClassId": WARRIOR.id})},
        BOB.id,
    ),
    Case(
        f"DELETE {PLAYERS}/[lookupKey]",
        *(f"{PLAYERS}/Bob", None, {"player_deleted": (..., None)}, BOB.id, BOB.user_id),
    ),
    over_link(
        "PUT guilds/[guildId]",
        *(NEW, GUILD),
        guild_saved=(None, GUILD | {"GuildId": NEW, "BankSlotsCount": 0, "InstanceId": None}),
    ),
    over_link("DELETE guilds/[guildId]", GUILD_ID, guild_deleted=(..., None)),
    over_link(
        "PUT catalogue/[kind]",
        *("spells", [FROST, {"Id": HEAL.id, "Name": "Cure"}]),
        catalogue_put=(
            {"Spells": [{"Id": HEAL.id, "Name": "Heal"}]},
            {"Spells": [FROST, {"Id": HEAL.id, "Name": "Cure"}]},
        ),
    ),
    over_link(
        "PUT items/[itemId]/picture",
        *(f"{COIN.id}/picture", {"Picture": examples.PICTURE}),
        item_picture_put=(picture(COIN.id, None), picture(COIN.id, examples.PICTURE_HASH)),
    ),
    over_link(
        "DELETE items/[itemId]/picture",
        f"{SWORD.id}/picture",
        item_picture_put=(picture(SWORD.id, "00ff"), picture(SWORD.id, None)),
    ),
    Case(
        f"PUT {LINK}/players/[id]",
        f"{LINK}/players/{BOB.id}",
        {"Level": 4, "Items": [POUCHED], "Bags": [EMPTY_BAG]},
        {
            "player_changed": ({"Level": 3}, {"Level": 4}),
            "items_set": (in_slots(slot(6)), in_slots(POUCHED) | {"Bags": [EMPTY_BAG]}),
        },
        BOB.id,
    ),
    Case(
        f"DELETE {LINK}/players/[id]",
        f"{LINK}/players/{BOB.id}",
        None,
        {"player_deleted": (..., None)},
        BOB.id,
        BOB.user_id,
    ),
    over_link("PUT servers/[server]", "two", {"Lease": 60}),
    over_link("POST servers/[server]/joined", "one/joined", {"Players": [ANN.id]}),
    over_link("POST servers/[server]/left", "one/left", {"Players": [ZOE.id]}),
    over_link("DELETE servers/[server]", "one"),
    over_link("POST servers/[server]/acks", "one/acks", {"Acks": [{"Seq": 4711, "State": "applied"}]}),
    over_link("POST logs/activity", "", {"Entries": [ACTIVITY]}),
    over_link("POST logs/trades", "", {"Entries": [TRADE]}),
)
every_write = pytest.mark.parametrize("case", CASES, ids=[re.sub(r"[][]|/api/", "", case.route) for case in CASES])
COINS = items(COIN.id, 5)


def prepare(world: World) -> None:
    """Put Zoe online on server one, send it a command, and add guilds and a picture for the write cases."""
    world.insert("deliveries", seq=4711, server="one", state="waiting", queued_at=0)
    heartbeat(world)
    join(world, ZOE.id)
    for guild_id in (GUILD_ID, guid(72)):
        insert(world, {}, guild_id)
    world.insert("item_pictures", item_id=SWORD.id, hash="00ff", content="")


def token_of(world: World, name: str, *, read_only: bool = False) -> tokens.TokenPair:
    user = world.run(users.find_by_fold(world.keeper.store, name.lower()))
    assert user
    return world.run(tokens.issue_for_service(world.keeper, user, 1, read_only=read_only))


def count_keys(world: World) -> int:
    return len(world.sql("SELECT key FROM idempotency_keys"))
