"""Data of the demo: the catalogue, the classes, the accounts and their players, and the game's logs.

Ids and names are the same in every demo.
"""

import hashlib
import secrets
from typing import NamedTuple

import msgspec

from gamekeeper.game.core.values import BOOLEAN, INTEGER, STRING
from gamekeeper.store.access.roles import Powers
from gamekeeper.store.world.catalogue import CatalogueEntry, CatalogueItem, CatalogueVariable, NamedEntry
from gamekeeper.store.world.guild_variables import GuildVariableDeclaration
from gamekeeper.store.world.logs import NO_ID, ActivityEntry, TradeEntry
from gamekeeper.store.world.server_variables import ServerVariable

_NAMESPACE = bytes.fromhex("6f1c0a528f0e5c3b9a572d7e4b1f9c60")
_SYLLABLES = tuple(consonant + vowel for consonant in "bdghjlmnprstvwyz" for vowel in "aeiou")
_LENGTH = 4
MAX_NAMES = len(_SYLLABLES) ** _LENGTH
_FAMILIES = MAX_NAMES // len(_SYLLABLES)
# step from one family of names (they differ only in the last syllable) to the next one used; coprime to the number of
# families, so that each is used once
STRIDE = 228_077


def make_stable_id(kind: str, name: str) -> str:
    """Return a version 5 UUID; five times as fast as the uuid module."""
    digits = hashlib.sha1(_NAMESPACE + f"{kind}:{name}".encode(), usedforsecurity=False).hexdigest()
    variant = "89ab"[int(digits[16], 16) % 4]
    return f"{digits[:8]}-{digits[8:12]}-5{digits[13:16]}-{variant}{digits[17:20]}-{digits[20:32]}"


def make_numbered_id(kind: str, number: int) -> str:
    """Return a numbered player's UUID (version 8). It grows with the number, so a load appends to the indexes."""
    digits = hashlib.sha1(_NAMESPACE + f"{kind}:{number}".encode(), usedforsecurity=False).hexdigest()
    return f"{number:08x}-{digits[:4]}-8{digits[4:7]}-a{digits[7:10]}-{digits[10:22]}"


def make_numbered_name(number: int) -> str:
    """Return a numbered player's name, which is unique for numbers below MAX_NAMES.

    Names come in families that differ only in the last syllable, so a load touches few pages of the name indexes.
    """
    family, last = divmod(number, len(_SYLLABLES))
    left, syllables = family * STRIDE % _FAMILIES, [_SYLLABLES[last]]
    for _ in range(_LENGTH - 1):
        left, index = divmod(left, len(_SYLLABLES))
        syllables.insert(0, _SYLLABLES[index])
    return "".join(syllables).capitalize()


def generate_password() -> str:
    """Generate a password that is easy to type, with 38 random bits."""
    return "-".join(secrets.choice(_SYLLABLES) + secrets.choice(_SYLLABLES) for _ in range(3))


PLACES = (  # equipment without other details, in the order of the places that EquipmentSlot numbers
    ("Leather Cap", "Kettle Helm"),
    ("Quilted Coat", "Ringmail Shirt"),
    ("Rowan Staff", "Bell Mace", "Boar Spear"),
    ("Oak Buckler", "Tower Shield"),
    ("Felt Boots", "Riding Boots"),
)
TYPES = {  # items without other details, by ItemType
    0: ("Ashwood Arrow", "Moonfern", "Bog Iron Ore", "Drowned Gate Key"),
    2: ("Starwater Tonic", "Barley Loaf"),
    6: ("Traveller's Pack", "Herb Pouch", "Strongbox"),
}
# further fields of items, as JSON; ItemType: 0 other, 1 equipment, 2 consumable, 3 currency, 6 bag
DETAILS = {
    **{name: f'{{"ItemType":1,"EquipmentSlot":{number}}}' for number, names in enumerate(PLACES) for name in names},
    **{name: f'{{"ItemType":{number}}}' for number, names in TYPES.items() for name in names},
    "Silver Mark": '{"Description":"The coin of Harrowmere.","ItemType":3,"Rarity":0,"Price":1}',
    "Healing Draught": '{"Description":"Heals 40 health.","ItemType":2,"Rarity":1,"Price":25,"VitalsGiven":[40,0]}',
    "River Opal": '{"Description":"Jewellers pay well for it.","ItemType":0,"Rarity":3,"Price":300}',
    "Comet Shard": '{"Description":"Warm to the touch. Smiths trade for it.","ItemType":3,"Rarity":4,"Price":90}',
    "Recall Scroll": '{"Description":"Brings its reader home.","ItemType":2,"Rarity":1,"Price":15}',
    "Broadsword": (
        '{"Description":"Heavy, but it lasts.","ItemType":1,"EquipmentSlot":2,"Rarity":2,"Price":180,"Damage":14}'
    ),
    "Yew Bow": (
        '{"Description":"Needs arrows.","ItemType":1,"EquipmentSlot":2,"Rarity":2,"Price":160,"Damage":11,'
        '"TwoHanded":true}'
    ),
}


def _build_stack(name: str, most: int | None = None) -> CatalogueItem:
    icon, details = _name_icon(name), DETAILS.get(name)
    return CatalogueItem(make_stable_id("item", name), name, True, most, 0, icon, details)


def _build_piece(name: str, bag_slots: int = 0) -> CatalogueItem:
    icon, details = _name_icon(name), DETAILS.get(name)
    return CatalogueItem(make_stable_id("item", name), name, False, None, bag_slots, icon, details)


def _name_icon(name: str) -> str:
    return name.lower().replace(" ", "-") + ".png"


def _build_named(kind: str, *names: str) -> tuple[NamedEntry, ...]:
    return tuple(NamedEntry(make_stable_id(kind, name), name) for name in names)


COIN = _build_stack("Silver Mark")
DRAUGHT = _build_stack("Healing Draught", 20)
TONIC = _build_stack("Starwater Tonic", 20)
BREAD = _build_stack("Barley Loaf", 50)
ARROW = _build_stack("Ashwood Arrow", 250)
HERB = _build_stack("Moonfern")
ORE = _build_stack("Bog Iron Ore", 100)
GEM = _build_stack("River Opal", 100)
SCROLL = _build_stack("Recall Scroll", 10)
KEY = _build_piece("Drowned Gate Key")
# found in the game's last 60 days only: nobody has one at first, so sample players are the same without it
SHARD = _build_stack("Comet Shard")
STACKS = (COIN, DRAUGHT, TONIC, BREAD, ARROW, HERB, ORE, GEM, SCROLL)

HELMETS = (_build_piece("Leather Cap"), _build_piece("Kettle Helm"))
ARMORS = (_build_piece("Quilted Coat"), _build_piece("Ringmail Shirt"))
SHIELDS = (_build_piece("Oak Buckler"), _build_piece("Tower Shield"))
BOOTS = (_build_piece("Felt Boots"), _build_piece("Riding Boots"))
SWORD, STAFF, BOW, MACE, SPEAR = (
    _build_piece(name) for name in ("Broadsword", "Rowan Staff", "Yew Bow", "Bell Mace", "Boar Spear")
)
PACK = _build_piece("Traveller's Pack", bag_slots=12)
POUCH = _build_piece("Herb Pouch", bag_slots=6)
CHEST = _build_piece("Strongbox", bag_slots=24)
PIECES = (KEY, *HELMETS, *ARMORS, *SHIELDS, *BOOTS, SWORD, STAFF, BOW, MACE, SPEAR, PACK, POUCH, CHEST)

SPELLS = _build_named(
    "spell",
    *("Ember Lance", "Frost Veil", "Stone Skin", "Mending Light", "Gust Step", "Thorn Snare"),
    *("Battle Cry", "Silent Tread", "Hawk Sight", "Chain Spark", "Dawn Ward", "Soul Anchor"),
)
MAPS = _build_named(
    "map",
    *("Harrowmere", "Gullhaven Docks", "The Amber Wood", "Saltmarsh Road"),
    *("Drowned Gate", "Highfell Pass", "Lantern Quarter", "Old Quarry"),
)
CLASS_NAMES = _build_named("class", "Warden", "Spellwright", "Outrider", "Bellkeeper", "Skirmisher")

DRAGONS, REPUTATION, STREAK, FISHING = (
    CatalogueVariable(make_stable_id("variable", name), name, INTEGER)
    for name in ("Dragons Slain", "Guild Reputation", "Daily Streak", "Fishing Skill")
)
TUTORIAL, BRIDGE, PARDON = (
    CatalogueVariable(make_stable_id("variable", name), name, BOOLEAN)
    for name in ("Tutorial Finished", "Bridge Repaired", "Royal Pardon")
)
CATALOGUE: dict[str, list[CatalogueEntry]] = {
    "items": [*STACKS, SHARD, *PIECES],
    "spells": [*SPELLS],
    "variables": [DRAGONS, REPUTATION, STREAK, FISHING, TUTORIAL, BRIDGE, PARDON],
    "classes": [*CLASS_NAMES],
    "maps": [*MAPS],
}

SERVER_VARIABLES = tuple(
    ServerVariable(make_stable_id("server variable", name), name, kind, text_id, folder, value, 0)
    for name, kind, text_id, folder, value in (
        ("Double Experience", INTEGER, "dxp", "Events", "10"),
        ("Harbour Open", BOOLEAN, "harbour", "", "true"),
        ("Message of the Day", STRING, "motd", "", None),
    )
)

GUILD_VARIABLES = (
    GuildVariableDeclaration(make_stable_id("guild variable", "Guild Fame"), "Guild Fame", INTEGER, "fame", "", 0),
)


class DemoClass(NamedTuple):
    id: str
    health: tuple[int, int]  # health of a class at level 0, and gain per level
    mana: tuple[int, int]
    stats: tuple[int, ...]  # base stats of a class: attack, ability power, defense, magic resist, speed
    weapon: CatalogueItem
    spells: tuple[NamedEntry, ...]  # spells of the class, in the order in which players learn them


CLASSES = (
    DemoClass(CLASS_NAMES[0].id, (120, 14), (20, 2), (14, 4, 16, 8, 8), SWORD, (SPELLS[6], SPELLS[2], SPELLS[10])),
    DemoClass(
        CLASS_NAMES[1].id, (70, 6), (90, 11), (4, 18, 6, 14, 8), STAFF, (SPELLS[0], SPELLS[1], SPELLS[9], SPELLS[4])
    ),
    DemoClass(CLASS_NAMES[2].id, (90, 9), (40, 4), (15, 6, 8, 7, 14), BOW, (SPELLS[8], SPELLS[5], SPELLS[7])),
    DemoClass(
        CLASS_NAMES[3].id, (100, 10), (70, 8), (9, 13, 11, 12, 5), MACE, (SPELLS[3], SPELLS[10], SPELLS[2], SPELLS[6])
    ),
    DemoClass(CLASS_NAMES[4].id, (95, 10), (30, 3), (16, 3, 9, 6, 16), SPEAR, (SPELLS[7], SPELLS[4], SPELLS[6])),
)

API_ACCOUNT = "keeper"
NO_POWERS = Powers()
API_POWERS = Powers(
    editor=True, ban=True, kick=True, mute=True, api=True, users_query=True, users_manage=True, game_link=True
)

# Staff among the players' accounts
STAFF_ROLES = {"Ottoline": "game master", "Tobiah": "moderator"}
SHOP_KEY = "Harbour Store"  # name of the API key of a shop

# Two names that a keyboard of another language types: a search must find them by a part.
CYRILLIC_NAME, ACCENTED_NAME = "Серафима", "Zéphyrine"
# Accounts and their players. Aldwyn has items of every kind, Corvane has no free slot, Nim has no items.
ACCOUNTS: dict[str, tuple[str, ...]] = {
    "Marlow": ("Aldwyn", "Brisela", "Corvane"),
    "Sunniva": ("Dorrick", "Elowen"),
    "Pettigrew": ("Farrokh",),
    "Ottoline": ("Gwendry", "Halvard", "Isaura"),
    "Tobiah": ("Jorunn", "Kestrin"),
    "Wilhelmina": ("Lysander", "Maelis"),
    "Quillon": ("Nim",),
    "Rosamund": ("Orsolya", "Peregrin", "Quenna"),
    "Ludovic": ("Ragnfrid", CYRILLIC_NAME),
    "Anselma": ("Thessaly", "Ulfgar"),
    "Bertram": ("Vashti", "Wynstan"),
    "Clementine": ("Xanthe", "Yorick", ACCENTED_NAME),
    "Dagobert": ("Ambrosine", "Balthus"),
    "Evangeline": ("Caelith", "Drustan"),
    "Fitzroy": ("Emrys",),
    "Grizelda": ("Fenwick", "Ghislain"),
    "Horatio": ("Hollis", "Ingrith"),
    "Isolde": ("Jaspar", "Kerensa"),
    "Jocasta": ("Leofric",),
    "Kasimir": ("Morwenna", "Nestor"),
    "Leopold": ("Ondine", "Pascoe"),
    "Mirabel": ("Rosalind",),
    "Nathaniel": ("Sigrun", "Tamsin"),
    "Octavia": ("Undrel", "Verity", "Wulfric"),
}
# Guilds with their members; the first one owns the guild.
GUILDS: dict[str, tuple[str, ...]] = {
    "Harbour Watch": ("Aldwyn", "Dorrick", "Gwendry", "Jorunn", "Maelis", "Orsolya", "Ulfgar"),
    "The Lantern Company": ("Farrokh", "Elowen", "Lysander", "Vashti"),
    "Thornwood Rangers": ("Kestrin", "Thessaly", "Wynstan", "Emrys", "Sigrun", "Tamsin"),
    "Salt and Silver": ("Yorick", "Balthus"),
}
MUTED = {"Grizelda": "Sold the same Strongbox to eleven people in the Lantern Quarter."}
BANNED = {"Leopold": "Collected the toll on a bridge that is not his."}
# bans and mutes of the last 60 days; most are over
PENALTIES = {
    "Horatio": "Shouted in capitals at the Gullhaven auction for an hour.",
    "Ludovic": "Used a script that fished all night.",
    "Anselma": "Sold accounts in the Lantern Quarter.",
    "Evangeline": "Insulted new players at the Drowned Gate.",
    "Dagobert": "Duplicated Comet Shards in the trade window.",
    "Fitzroy": "Advertised another game in every channel.",
}

FULLEST, BUSIEST, NEWCOMER = "Corvane", "Aldwyn", "Nim"
DEAD, BANKING = "Ulfgar", "Brisela"
WITH_A_PACK = ("Aldwyn", "Elowen", "Halvard", "Lysander", "Quenna", "Vashti", "Emrys", "Verity")
GAME_SERVERS = {
    "realm-1": ("Aldwyn", "Brisela", "Elowen", "Halvard", "Jorunn", "Maelis", "Quenna"),
    "realm-2": ("Thessaly", "Vashti", "Yorick", "Emrys", "Sigrun"),
}


HOUR_MS = 60 * 60 * 1000
LOG_IN_DAYS = 3  # days with a log-in of each account
SHARED_ADDRESS = "203.0.113.40"  # two accounts play from the same house
SHARERS = frozenset({"Marlow", "Sunniva"})
# party, other party, what the party gave and what it got
TRADES: tuple[tuple[str, str, tuple[CatalogueItem, int], tuple[CatalogueItem, int]], ...] = (
    ("Aldwyn", "Dorrick", (DRAUGHT, 2), (COIN, 40)),
    ("Elowen", "Aldwyn", (HERB, 12), (COIN, 18)),
    ("Farrokh", "Brisela", (GEM, 1), (SWORD, 1)),
)


def build_logs(now_ms: int) -> tuple[list[ActivityEntry], list[TradeEntry]]:
    """Build the entries of both logs, up to an hour before now."""
    owners = {player: name for name, held in ACCOUNTS.items() for player in held}
    activity = [
        entry
        for number, (name, held) in enumerate(ACCOUNTS.items())
        for day in range(LOG_IN_DAYS)
        for entry in _build_session(name, held[day % len(held)], number, day, now_ms)
    ]
    trades = [
        entry
        for number, (one, other, gave, got) in enumerate(TRADES)
        for entry in (
            _build_side(number, owners[one], (one, other), gave, got, now_ms - (20 * number + 1) * HOUR_MS),
            _build_side(number, owners[other], (other, one), got, gave, now_ms - (20 * number + 1) * HOUR_MS),
        )
    ]
    failed_id, failed_at = make_stable_id("activity", "failed"), now_ms - 30 * HOUR_MS
    failed = ActivityEntry(failed_id, failed_at, NO_ID, None, "FailedLogin", "Client", "198.51.100.23", "Marlowe")
    return [*activity, failed], trades


def _build_session(name: str, player: str, number: int, day: int, now_ms: int) -> list[ActivityEntry]:
    start_ms = now_ms - (24 * day + 2 + number % 5) * HOUR_MS
    address = SHARED_ADDRESS if name in SHARERS else f"203.0.113.{100 + number}"
    user_id, player_id = make_stable_id("user", name), make_stable_id("player", player)
    return [
        ActivityEntry(
            make_stable_id("activity", f"{name} {day} {action}"),
            start_ms + minutes * 60_000,
            user_id,
            None if action == "Login" else player_id,
            action,
            "Client",
            address,
            None if action == "Login" else f"{name},{player}",
        )
        for minutes, action in ((0, "Login"), (1, "SelectPlayer"), (55, "DisconnectLogout"))
    ]


def _build_side(
    number: int,
    owner: str,
    parties: tuple[str, str],
    gave: tuple[CatalogueItem, int],
    got: tuple[CatalogueItem, int],
    at: int,
) -> TradeEntry:
    party, other = (make_stable_id("player", each) for each in parties)
    trade_id, entry_id = make_stable_id("trade", str(number)), make_stable_id("trade", f"{number} {parties[0]}")
    return TradeEntry(
        entry_id, trade_id, at, make_stable_id("user", owner), party, other, None, _encode(gave), _encode(got)
    )


def _encode(given: tuple[CatalogueItem, int]) -> str:
    item, quantity = given
    return msgspec.json.encode(
        [{"ItemId": item.id, "Quantity": quantity, "BagId": None, "StatBuffs": [0, 0, 0, 0, 0]}]
    ).decode()
