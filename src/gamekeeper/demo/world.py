"""Data of the demo: the catalogue, the classes, the accounts and their players, and the game's logs.

Most of it is in world.toml. Ids and names are the same in every demo.
"""

import hashlib
import secrets
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from gamekeeper.game.core.values import BOOLEAN, INTEGER, STRING
from gamekeeper.ground.instants import HOUR_MS
from gamekeeper.store.access.roles import Powers
from gamekeeper.store.world.catalogue import (
    CatalogueEntry,
    CatalogueItem,
    CatalogueVariable,
    NamedEntry,
    ServerVariable,
)
from gamekeeper.store.world.guilds import GuildVariableDeclaration
from gamekeeper.store.world.logs import NO_ID, ActivityEntry, TradeEntry

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


class ClassData(msgspec.Struct):
    health: tuple[int, int]
    mana: tuple[int, int]
    stats: tuple[int, ...]
    weapon: str
    spells: list[str]


class WorldData(msgspec.Struct):
    """The file world.toml, which explains its tables."""

    stacks: dict[str, dict[str, Any]]
    pieces: dict[str, dict[str, Any]]
    names: dict[str, list[str]]
    variables: dict[str, str]
    classes: dict[str, ClassData]
    accounts: dict[str, tuple[str, ...]]
    guilds: dict[str, tuple[str, ...]]
    game_servers: dict[str, tuple[str, ...]]
    staff_roles: dict[str, str]
    muted: dict[str, str]
    banned: dict[str, str]
    penalties: dict[str, str]
    colours: dict[str, str]
    pictures: dict[str, list[str]]


DATA = msgspec.toml.decode(Path(__file__).with_name("world.toml").read_bytes(), type=WorldData)


def _build_item(name: str, fields: dict[str, Any], *, stacks: bool) -> CatalogueItem:
    most, slots = fields.pop("most", None), fields.pop("slots", 0)
    icon, details = name.lower().replace(" ", "-") + ".png", msgspec.json.encode(fields).decode()
    return CatalogueItem(make_stable_id("item", name), name, stacks, most, slots, icon, details)


def _build_named(kind: str, names: Iterable[str]) -> tuple[NamedEntry, ...]:
    return tuple(NamedEntry(make_stable_id(kind, name), name) for name in names)


# Comet Shards are found in the game's last 60 days only: nobody has one at first, so sample players are the same
# without them
*STACKS, SHARD = (_build_item(name, fields, stacks=True) for name, fields in DATA.stacks.items())
COIN, DRAUGHT, TONIC, BREAD, ARROW, HERB, ORE, GEM, SCROLL = STACKS
PIECES = tuple(_build_item(name, fields, stacks=False) for name, fields in DATA.pieces.items())
KEY, SWORD, PACK, POUCH, CHEST = PIECES[0], PIECES[9], *PIECES[-3:]
HELMETS, ARMORS, SHIELDS, BOOTS = (PIECES[first : first + 2] for first in (1, 3, 5, 7))
ITEMS = (*STACKS, SHARD, *PIECES)
SPELLS, MAPS = (_build_named(kind, DATA.names[kind]) for kind in ("spell", "map"))
VARIABLES = [CatalogueVariable(make_stable_id("variable", name), name, kind) for name, kind in DATA.variables.items()]
DRAGONS, REPUTATION, STREAK, FISHING, TUTORIAL, BRIDGE, PARDON = VARIABLES
CATALOGUE: dict[str, list[CatalogueEntry]] = {
    "items": [*ITEMS],
    "spells": [*SPELLS],
    "variables": [*VARIABLES],
    "classes": [*_build_named("class", DATA.classes)],
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
    stats: tuple[int, ...]
    weapon: CatalogueItem
    spells: tuple[NamedEntry, ...]  # spells of the class, in the order in which players learn them


CLASSES = tuple(
    DemoClass(
        make_stable_id("class", name),
        each.health,
        each.mana,
        each.stats,
        next(item for item in PIECES if item.name == each.weapon),
        _build_named("spell", each.spells),
    )
    for name, each in DATA.classes.items()
)

API_ACCOUNT = "keeper"
NO_POWERS = Powers()
API_POWERS = Powers(
    editor=True, ban=True, kick=True, mute=True, api=True, users_query=True, users_manage=True, game_link=True
)
SHOP_KEY = "Harbour Store"  # name of the API key of a shop

# Two names that a keyboard of another language types: a search must find them by a part.
CYRILLIC_NAME, ACCENTED_NAME = "Серафима", "Zéphyrine"
ACCOUNTS, GUILDS, GAME_SERVERS, STAFF_ROLES = DATA.accounts, DATA.guilds, DATA.game_servers, DATA.staff_roles
MUTED, BANNED, PENALTIES = DATA.muted, DATA.banned, DATA.penalties
FULLEST, BUSIEST, NEWCOMER = "Corvane", "Aldwyn", "Nim"
DEAD, BANKING = "Ulfgar", "Brisela"
WITH_A_PACK = ("Aldwyn", "Elowen", "Halvard", "Lysander", "Quenna", "Vashti", "Emrys", "Verity")

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
