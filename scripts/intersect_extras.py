"""Extend the databases of `make_intersect.make` by what players and guilds have besides: guilds, text, friends, logs.

Every era gets the tables and columns that it has, and some broken rows. Programs call `extend`.
"""

from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import apsw

import intersect_logs
from make_intersect import (
    BY_NAME,
    COIN,
    HEAL,
    HELMET,
    MEADOW,
    RATIO,
    SACK,
    STRIKE,
    SWORD,
    TITLE,
    ZERO,
    Era,
    compact,
    create,
    fill,
    guid,
)

MIN_PLAYERS = 6  # players that the rows of this module need
HUGE = 2**62 + 1  # an integer that a double cannot hold exactly
RED, OTHER, EMPTY, MISSING = (guid("guild", number) for number in range(4))
WINS, MOTTO, TAX, OPEN = (guid("guild variable", number) for number in range(4))
DOUBLE_XP, RATE, MESSAGE, BONUS, MIXED, UNSET, BIG = (guid("server variable", number) for number in range(7))
VOTES, NICK = (guid("user variable", number) for number in range(2))
HUNT = guid("quest", 0)
NEVER = "0001-01-01 00:00:00"


def variable(kind: int, value: object) -> str:
    return compact({"Type": kind, "Value": value})


# --- the game's data -----------------------------------------------------------------------------------------------

SERVER_VARIABLES = [
    (DOUBLE_XP, "Double XP", 1, variable(1, value=True)),
    (RATE, "Rate", 2, variable(2, 10)),
    (MESSAGE, "Message of the day", 3, variable(3, "Hëllo 'you'")),
    (BONUS, "Bonus", 4, variable(4, 1.5)),
    (MIXED, "Mixed", 2, variable(4, 2.5)),  # declared as an integer, holds a fraction
    (UNSET, "Unset", 2, variable(0, None)),
    (BIG, "Big", 2, variable(2, HUGE)),
]
GUILD_VARIABLES = [(WINS, "Wins", 2), (MOTTO, "Motto", 3), (TAX, "Tax", 4), (OPEN, "Open", 1)]
USER_VARIABLES = [(VOTES, "Votes", 2), (NICK, "Nickname", 3)]
# columns of Items that the importer keeps as they are, with the sword's values
ITEM_COLUMNS: Mapping[str, Any] = {
    "Folder": "Weapons",
    "Description": "Sharp on both sides",
    "Rarity": 3,
    "Price": 250,
    "EquipmentSlot": 2,
    "TwoHanded": 1,
    "Damage": 7,
    "CanBank": 1,
    "StatsGiven": "[1,2,3,4,5]",
    "PercentageStatsGiven": "[0,0,0,0,10]",
    "Consumable_Type": 0,
    "Consumable_Value": 0,
    "Consumable_Percentage": 0,
    "UsageRequirements": "[]",
    "Speed": 12,
    "CritMultiplier": 1.25,
    "TimeCreated": -8586599203473051578,
}
NAMED_TABLES = ("Animations", "Projectiles", "Resources", "Shops", "CraftingTables", "Crafts", "Tilesets")
HUES = [{"A": 204, "R": 0, "G": 0, "B": 64}, {"A": 0, "R": 255, "G": 255, "B": 255}]


def extend_game(db: apsw.Connection, era: Era) -> None:
    key = f"Id {era.guid_type} NOT NULL PRIMARY KEY"
    made = -8586599203473051578
    for column, value in ITEM_COLUMNS.items():
        kind = {str: "TEXT", int: "INTEGER", float: "REAL"}[type(value)]
        db.execute(f"ALTER TABLE Items ADD COLUMN {column} {kind}")
        db.execute(f"UPDATE Items SET {column} = ? WHERE Id = ?", (value, era.guid(SWORD)))  # noqa: S608 - names from here
    db.execute(f"ALTER TABLE Items ADD COLUMN Spell {era.guid_type}")
    db.execute("UPDATE Items SET Spell = ? WHERE Id = ?", (era.guid(STRIKE), era.guid(SWORD)))
    db.execute("ALTER TABLE Npcs ADD COLUMN Level INTEGER NOT NULL DEFAULT 4")
    db.execute("ALTER TABLE Npcs ADD COLUMN Drops TEXT")
    drops = compact([{"Chance": 12.5, "ItemId": str(COIN), "Quantity": 3}])
    db.execute("UPDATE Npcs SET Drops = ?", (drops,))
    db.execute(
        f"CREATE TABLE Quests ({key}, Name TEXT, Folder TEXT, StartDescription TEXT, Tasks TEXT, Repeatable "
        f"INTEGER, StartEvent {era.guid_type}, TimeCreated INTEGER)"
    )
    task = {"Id": str(guid("task", 0)), "Objective": 2, "TargetId": str(guid("npc", 0)), "Quantity": 5}
    quest = ("Rat hunt", "Town", "Kill five rats", compact([task]), 1, era.guid(guid("event", 0)), made)
    fill(db, "Quests", [(era.guid(HUNT), *quest)])
    db.execute(
        f"CREATE TABLE Events ({key}, Name TEXT, Folder TEXT, MapId {era.guid_type}, SpawnX INTEGER, SpawnY "
        "INTEGER, CommonEvent INTEGER, Global INTEGER, Pages TEXT, TimeCreated INTEGER)"
    )
    fill(
        db,
        "Events",
        [
            (era.guid(guid("event", 0)), "Greet", "", era.guid(ZERO), -1, -1, 1, 0, "[]", made),
            (era.guid(guid("event", 1)), "Door", "", era.guid(MEADOW), 3, 4, 0, 1, "[{}]", made),
        ],
    )
    for table in NAMED_TABLES:
        db.execute(f"CREATE TABLE {table} ({key}, Name TEXT, TimeCreated INTEGER)")
        fill(db, table, [(era.guid(guid(table, number)), f"{table} {number}", made) for number in range(2)])
    db.execute(f"CREATE TABLE Time ({key}, DaylightHues TEXT, RangeInterval INTEGER, Rate REAL, SyncTime INTEGER)")
    fill(db, "Time", [(era.guid(guid("time", 0)), compact(HUES), 720, 2.0, 0)])
    _add_variables(db, era, key)


def _add_variables(db: apsw.Connection, era: Era, key: str) -> None:
    db.execute("DROP TABLE ServerVariables")
    if not era.typed:
        db.execute(f"CREATE TABLE ServerVariables ({key}, Name TEXT, TextId TEXT, Value INTEGER)")
        db.execute(f"CREATE TABLE ServerSwitches ({key}, Name TEXT, TextId TEXT, Value INTEGER)")
        fill(db, "ServerVariables", [(era.guid(RATE), "Rate", "rate", 10), (era.guid(BIG), "Big", "big", HUGE)])
        fill(db, "ServerSwitches", [(era.guid(DOUBLE_XP), "Double XP", "dxp", 1)])
        return
    declared = f"{key}, Name TEXT, TextId TEXT, Folder TEXT"
    db.execute(f"CREATE TABLE ServerVariables ({declared}, {era.typed} INTEGER, Value TEXT, TimeCreated INTEGER)")
    rows = [(era.guid(own), name, name.lower(), "Town", kind, value, 5) for own, name, kind, value in SERVER_VARIABLES]
    fill(db, "ServerVariables", rows)
    if era.guild_variables:
        for table, column, known in (
            ("GuildVariables", era.typed, GUILD_VARIABLES),
            ("UserVariables", "DataType", USER_VARIABLES),
        ):
            db.execute(f"CREATE TABLE {table} ({declared}, {column} INTEGER, TimeCreated INTEGER)")
            fill(db, table, [(era.guid(own), name, name.lower(), "", kind, 6) for own, name, kind in known])


# --- the players' data ---------------------------------------------------------------------------------------------


def extend_players(db: apsw.Connection, era: Era) -> None:
    g, owner = era.guid_type, era.owner
    key = f"Id {g} NOT NULL PRIMARY KEY"
    players = [era.guid(guid("player", number)) for number in range(MIN_PLAYERS)]
    db.execute(f"CREATE TABLE {owner}_Friends ({key}, OwnerId {g} NOT NULL, TargetId {g})")
    pairs = [(0, 1), (1, 0), (2, 3)]  # two rows per friendship; a lone row is a broken one
    friends = [(era.guid(guid("friend", place)), players[a], players[b]) for place, (a, b) in enumerate(pairs)]
    fill(db, f"{owner}_Friends", [*friends, (era.guid(guid("friend", 9)), players[0], None)])
    db.execute(
        f"CREATE TABLE {owner}_Quests ({key}, {owner}Id {g} NOT NULL, QuestId {g} NOT NULL, TaskId {g} NOT NULL, "
        "TaskProgress INTEGER NOT NULL, Completed INTEGER NOT NULL)"
    )
    progress = [(0, guid("task", 0), 3, 0), (1, ZERO, 0, 1)]
    quests = [
        (era.guid(guid("player quest", n)), players[n], era.guid(HUNT), era.guid(task), done, completed)
        for n, task, done, completed in progress
    ]
    lost = (era.guid(guid("player quest", 8)), era.guid(guid("player", 99)), era.guid(HUNT), era.guid(ZERO), 0, 0)
    fill(db, f"{owner}_Quests", [*quests, lost])
    db.execute(f"DROP TABLE {owner}_Hotbar")
    db.execute(
        f"CREATE TABLE {owner}_Hotbar ({key}, {owner}Id {g} NOT NULL, Slot INTEGER NOT NULL, ItemOrSpellId {g}, "
        f"BagId {g}, PreferredStatBuffs TEXT)"
    )
    shown = [(0, 0, SWORD), (0, 1, HEAL), (0, 2, ZERO), (1, 0, STRIKE)]
    fill(
        db,
        f"{owner}_Hotbar",
        [
            (era.guid(guid("hotbar", place)), players[number], slot, era.guid(what), None, "[0,0,0,0,0]")
            for place, (number, slot, what) in enumerate(shown)
        ],
    )
    if era.typed:
        _add_values(db, era, players)
    if era.guilds:
        _add_guilds(db, era, players)


def _add_values(db: apsw.Connection, era: Era, players: Sequence[Any]) -> None:
    """Add players' variables with text and fractions. The value of player 3 has another type than its variable."""
    given = [
        (0, TITLE, variable(3, "The Bold")),
        (1, TITLE, variable(3, "")),
        (0, RATIO, variable(4, 0.25)),
        (2, TITLE, variable(0, None)),
        (4, RATIO, variable(2, 3)),
    ]
    rows = [
        (era.guid(guid("text", place)), players[number], era.guid(own), value)
        for place, (number, own, value) in enumerate(given)
    ]
    fill(db, f"{era.owner}_Variables", rows)
    kills = (variable(3, "many"), era.guid(guid("kills", 3)))
    db.execute(f"UPDATE {era.owner}_Variables SET Value = ? WHERE Id = ?", kills)  # noqa: S608 - names from here


def _add_guilds(db: apsw.Connection, era: Era, players: Sequence[Any]) -> None:
    """Add two guilds with members, one without, a member of a missing guild, and a guild without an owner."""
    g = era.guid_type
    key = f"Id {g} NOT NULL PRIMARY KEY"
    instance = f", GuildInstanceId {g}" if era.guild_variables else ""
    db.execute(f"CREATE TABLE Guilds ({key}, Name TEXT, FoundingDate TEXT, BankSlotsCount INTEGER{instance})")
    twin = "Blue Hand" if era.text_guids else "red hand"  # names may differ only in case before 0.8
    for number, name in enumerate(("Red Hand", twin, "Empty")):
        zone = (era.guid(guid("instance", 0) if number == 0 else ZERO),) if instance else ()
        fill(db, "Guilds", [(era.guid(guid("guild", number)), name, f"2021-06-0{number + 1} 10:00:00", 50, *zone)])
    column = "GuildId" if era.text_guids else "DbGuildId"
    more = f"PendingGuildInviteFromId {g}|PendingGuildInviteToId {g}" if era.text_guids else ""
    for each in f"{column} {g}|GuildRank INTEGER NOT NULL DEFAULT 0|GuildJoinDate TEXT|{more}".split("|"):
        if each:
            db.execute(f"ALTER TABLE Players ADD COLUMN {each}")
    members = [
        (0, RED, 0, "2021-06-01 10:00:00"),
        (1, RED, 1, "2021-07-01 00:00:00.1234567"),
        (2, RED, 3, NEVER),
        (3, OTHER, 2, "2021-08-01 00:00:00"),
        (4, MISSING, 0, "2021-09-01 00:00:00"),
    ]
    for number, guild, rank, joined in members:
        db.execute(
            f"UPDATE Players SET {column} = ?, GuildRank = ?, GuildJoinDate = ? WHERE Id = ?",  # noqa: S608 - names from here
            (era.guid(guild), rank, joined, players[number]),
        )
    db.execute(
        f"CREATE TABLE Guild_Bank ({key}, GuildId {g} NOT NULL, Slot INTEGER NOT NULL, ItemId {g}, Quantity "
        f"INTEGER NOT NULL, BagId {g}, {era.stats} TEXT)"
    )
    bank = [(RED, 0, COIN, 500), (RED, 1, HELMET, 1), (RED, 2, ZERO, 0), (MISSING, 0, SACK, 1)]
    fill(
        db,
        "Guild_Bank",
        [
            (
                era.guid(guid("guild slot", place)),
                era.guid(guild),
                slot,
                era.guid(item),
                quantity,
                None,
                era.buffs([1, 0, 0, 0, 0]),
            )
            for place, (guild, slot, item, quantity) in enumerate(bank)
        ],
    )
    if era.guild_variables:
        _add_guild_values(db, era, key)


def _add_guild_values(db: apsw.Connection, era: Era, key: str) -> None:
    g = era.guid_type
    db.execute(f"CREATE TABLE Guild_Variables ({key}, GuildId {g} NOT NULL, VariableId {g} NOT NULL, Value TEXT)")
    held = [
        (RED, WINS, variable(2, 7)),
        (RED, MOTTO, variable(3, "Onward")),
        (RED, TAX, variable(4, 0.5)),
        (RED, OPEN, variable(1, value=True)),
        (OTHER, WINS, variable(3, "some")),
        (OTHER, TAX, variable(0, None)),
        (MISSING, WINS, variable(2, 1)),
        (OTHER, guid("guild variable", 77), variable(2, 5)),
    ]
    fill(
        db,
        "Guild_Variables",
        [
            (era.guid(guid("guild value", place)), era.guid(guild), era.guid(own), value)
            for place, (guild, own, value) in enumerate(held)
        ],
    )
    own_id = f"{key}, " if era.text_guids else ""
    db.execute(f"CREATE TABLE User_Variables ({own_id}VariableId {g} NOT NULL, UserId {g} NOT NULL, Value TEXT)")
    votes = [(0, VOTES, variable(2, 12)), (0, NICK, variable(3, "Zed")), (1, VOTES, variable(2, 1))]
    for place, (number, own, value) in enumerate(votes):
        first = (era.guid(guid("user value", place)),) if own_id else ()
        fill(db, "User_Variables", [(*first, era.guid(own), era.guid(guid("user", number)), value)])


# --- all files -----------------------------------------------------------------------------------------------------


def extend(folder: Path, era_name: str, trades: int = 3) -> Path:
    """Extend the databases of `make_intersect.make` in this folder, and write logging.db; return its path."""
    era = BY_NAME[era_name]
    for name, work in (("gamedata.db", extend_game), ("playerdata.db", extend_players)):
        with closing(apsw.Connection(str(folder / name))) as db, db:
            work(db, era)
    with closing(create(folder / "logging.db", intersect_logs.tables(era), era)) as db:
        for table, rows in intersect_logs.rows(era, trades).items():
            fill(db, table, rows)
        db.execute("COMMIT")
    return folder / "logging.db"
