"""Extend the databases of `make_intersect.make` by what players and guilds have besides: guilds, text, friends, logs.

Every era gets the tables and columns that it has, and some broken rows. Programs call `extend`.
"""

from collections.abc import Mapping
from pathlib import Path
from uuid import UUID

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
    File,
    compact,
    guid,
    variable,
)

MIN_PLAYERS = 6  # players that the rows of this module need
HUGE = 2**62 + 1  # an integer that a double cannot hold exactly
RED, OTHER, EMPTY, MISSING = (guid("guild", number) for number in range(4))
WINS, MOTTO, TAX, OPEN = (guid("guild variable", number) for number in range(4))
DOUBLE_XP, RATE, MESSAGE, BONUS, MIXED, UNSET, BIG = (guid("server variable", number) for number in range(7))
VOTES, NICK = (guid("user variable", number) for number in range(2))
HUNT = guid("quest", 0)
NEVER = "0001-01-01 00:00:00"
PLAYERS = [guid("player", number) for number in range(MIN_PLAYERS)]


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
ITEM_COLUMNS: Mapping[str, str | int | float | UUID] = {
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
    "Spell": STRIKE,
}
SQL_TYPES: Mapping[type, str] = {str: "TEXT", int: "INTEGER", float: "REAL"}
NAMED_TABLES = ("Animations", "Projectiles", "Resources", "Shops", "CraftingTables", "Crafts", "Tilesets")
HUES = [{"A": 204, "R": 0, "G": 0, "B": 64}, {"A": 0, "R": 255, "G": 255, "B": 255}]


TIME = -8586599203473051578


def extend_game(file: File) -> None:
    era = file.era
    for column, value in ITEM_COLUMNS.items():
        file.db.execute(f"ALTER TABLE Items ADD COLUMN {column} {SQL_TYPES.get(type(value), era.guid_type)}")
        file.update("Items", SWORD, **{column: value})
    file.db.execute("ALTER TABLE Npcs ADD COLUMN Level INTEGER NOT NULL DEFAULT 4")
    file.db.execute("ALTER TABLE Npcs ADD COLUMN Drops TEXT")
    for number in range(3):
        drops = compact([{"Chance": 12.5, "ItemId": str(COIN), "Quantity": 3}])
        file.update("Npcs", guid("npc", number), Drops=drops)
    task = {"Id": str(guid("task", 0)), "Objective": 2, "TargetId": str(guid("npc", 0)), "Quantity": 5}
    file.add(
        "Quests",
        "KEY, Name TEXT, Folder TEXT, StartDescription TEXT, Tasks TEXT, Repeatable INTEGER, StartEvent GUID, "
        "TimeCreated INTEGER",
        [(HUNT, "Rat hunt", "Town", "Kill five rats", compact([task]), 1, guid("event", 0), TIME)],
    )
    file.add(
        "Events",
        "KEY, Name TEXT, Folder TEXT, MapId GUID, SpawnX INTEGER, SpawnY INTEGER, CommonEvent INTEGER, Global INTEGER, "
        "Pages TEXT, TimeCreated INTEGER",
        [
            (guid("event", 0), "Greet", "", ZERO, -1, -1, 1, 0, "[]", TIME),
            (guid("event", 1), "Door", "", MEADOW, 3, 4, 0, 1, "[{}]", TIME),
        ],
    )
    for table in NAMED_TABLES:
        rows = [(guid(table, number), f"{table} {number}", TIME) for number in range(2)]
        file.add(table, "KEY, Name TEXT, TimeCreated INTEGER", rows)
    hues = [(guid("time", 0), compact(HUES), 720, 2.0, 0)]
    file.add("Time", "KEY, DaylightHues TEXT, RangeInterval INTEGER, Rate REAL, SyncTime INTEGER", hues)
    _add_variables(file)


def _add_variables(file: File) -> None:
    era = file.era
    file.db.execute("DROP TABLE ServerVariables")
    if not era.typed:
        columns = "KEY, Name TEXT, TextId TEXT, Value INTEGER"
        file.add("ServerVariables", columns, [(RATE, "Rate", "rate", 10), (BIG, "Big", "big", HUGE)])
        file.add("ServerSwitches", columns, [(DOUBLE_XP, "Double XP", "dxp", 1)])
        return
    declared = "KEY, Name TEXT, TextId TEXT, Folder TEXT"
    rows = [(own, name, name.lower(), "Town", kind, value, 5) for own, name, kind, value in SERVER_VARIABLES]
    file.add("ServerVariables", f"{declared}, {era.typed} INTEGER, Value TEXT, TimeCreated INTEGER", rows)
    if era.guild_variables:
        kinds = (("GuildVariables", era.typed, GUILD_VARIABLES), ("UserVariables", "DataType", USER_VARIABLES))
        for table, column, known in kinds:
            rows = [(own, name, name.lower(), "", kind, 6) for own, name, kind in known]
            file.add(table, f"{declared}, {column} INTEGER, TimeCreated INTEGER", rows)


# --- the players' data ---------------------------------------------------------------------------------------------


def extend_players(file: File) -> None:
    era, owner = file.era, file.era.owner
    pairs = [(0, 1), (1, 0), (2, 3)]  # two rows per friendship; a lone row is a broken one
    friends = [(guid("friend", place), PLAYERS[a], PLAYERS[b]) for place, (a, b) in enumerate(pairs)]
    friends += [(guid("friend", 9), PLAYERS[0], None)]
    file.add(f"{owner}_Friends", "KEY, OwnerId GUID NOT NULL, TargetId GUID", friends)
    file.add(
        f"{owner}_Quests",
        f"KEY, {owner}Id GUID NOT NULL, QuestId GUID NOT NULL, TaskId GUID NOT NULL, TaskProgress INTEGER NOT NULL, "
        "Completed INTEGER NOT NULL",
        [
            (guid("player quest", 0), PLAYERS[0], HUNT, guid("task", 0), 3, 0),
            (guid("player quest", 1), PLAYERS[1], HUNT, ZERO, 0, 1),
            (guid("player quest", 8), guid("player", 99), HUNT, ZERO, 0, 0),
        ],
    )
    file.db.execute(f"DROP TABLE {owner}_Hotbar")
    shown = [(0, 0, SWORD), (0, 1, HEAL), (0, 2, ZERO), (1, 0, STRIKE)]
    file.add(
        f"{owner}_Hotbar",
        f"KEY, {owner}Id GUID NOT NULL, Slot INTEGER NOT NULL, ItemOrSpellId GUID, BagId GUID, PreferredStatBuffs TEXT",
        [
            (guid("hotbar", place), PLAYERS[number], slot, what, None, "[0,0,0,0,0]")
            for place, (number, slot, what) in enumerate(shown)
        ],
    )
    if era.typed:
        _add_values(file)
    if era.guilds:
        _add_guilds(file)


def _add_values(file: File) -> None:
    """Add players' variables with text and fractions. The value of player 3 has another type than its variable."""
    given = [
        (0, TITLE, variable(3, "The Bold")),
        (1, TITLE, variable(3, "")),
        (0, RATIO, variable(4, 0.25)),
        (2, TITLE, variable(0, None)),
        (4, RATIO, variable(2, 3)),
    ]
    table = f"{file.era.owner}_Variables"
    file.fill(table, [(guid("text", place), PLAYERS[at], own, value) for place, (at, own, value) in enumerate(given)])
    file.update(table, guid("kills", 3), Value=variable(3, "many"))


def _add_guilds(file: File) -> None:
    """Add two guilds with members, one without, a member of a missing guild, and a guild without an owner."""
    era = file.era
    # names may differ only in case before 0.8
    names = ("Red Hand", "Blue Hand" if era.text_guids else "red hand", "Empty")
    zones = ((guid("instance", 0),), (ZERO,), (ZERO,)) if era.guild_variables else ((), (), ())
    file.add(
        "Guilds",
        "KEY, Name TEXT, FoundingDate TEXT, BankSlotsCount INTEGER" + ", GuildInstanceId GUID" * era.guild_variables,
        [
            (guid("guild", number), name, f"2021-06-0{number + 1} 10:00:00", 50, *zone)
            for number, (name, zone) in enumerate(zip(names, zones, strict=True))
        ],
    )
    column = "GuildId" if era.text_guids else "DbGuildId"
    columns = [f"{column} GUID", "GuildRank INTEGER NOT NULL DEFAULT 0", "GuildJoinDate TEXT"]
    columns += ["PendingGuildInviteFromId GUID", "PendingGuildInviteToId GUID"] if era.text_guids else []
    for each in columns:
        file.db.execute(f"ALTER TABLE Players ADD COLUMN {era.declare(each)}")
    members = [
        (RED, 0, "2021-06-01 10:00:00"),
        (RED, 1, "2021-07-01 00:00:00.1234567"),
        (RED, 3, NEVER),
        (OTHER, 2, "2021-08-01 00:00:00"),
        (MISSING, 0, "2021-09-01 00:00:00"),
    ]
    for player, (guild, rank, joined) in zip(PLAYERS, members, strict=False):
        file.update("Players", player, **{column: guild, "GuildRank": rank, "GuildJoinDate": joined})
    bank = [(RED, 0, COIN, 500), (RED, 1, HELMET, 1), (RED, 2, ZERO, 0), (MISSING, 0, SACK, 1)]
    file.add(
        "Guild_Bank",
        f"KEY, GuildId GUID NOT NULL, Slot INTEGER NOT NULL, ItemId GUID, Quantity INTEGER NOT NULL, BagId GUID, "
        f"{era.stats} TEXT",
        [(guid("guild slot", place), *slot, None, era.buffs(1, 0, 0, 0, 0)) for place, slot in enumerate(bank)],
    )
    if era.guild_variables:
        _add_guild_values(file)


def _add_guild_values(file: File) -> None:
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
    file.add(
        "Guild_Variables",
        "KEY, GuildId GUID NOT NULL, VariableId GUID NOT NULL, Value TEXT",
        [(guid("guild value", place), *value) for place, value in enumerate(held)],
    )
    votes = [(0, VOTES, variable(2, 12)), (0, NICK, variable(3, "Zed")), (1, VOTES, variable(2, 1))]
    has_key = file.era.text_guids
    file.add(
        "User_Variables",
        "KEY, " * has_key + "VariableId GUID NOT NULL, UserId GUID NOT NULL, Value TEXT",
        [
            (*(guid("user value", place),) * has_key, own, guid("user", number), value)
            for place, (number, own, value) in enumerate(votes)
        ],
    )


# --- all files -----------------------------------------------------------------------------------------------------


def extend(folder: Path, era_name: str, trades: int = 3) -> None:
    """Extend the databases of `make_intersect.make` in this folder, and write logging.db."""
    era = BY_NAME[era_name]
    with File(folder / "gamedata.db", era) as game, File(folder / "playerdata.db", era) as players:
        extend_game(game)
        extend_players(players)
    with File(folder / "logging.db", era) as logs:
        logs.create(intersect_logs.tables(era))
        for table, rows in intersect_logs.rows(era, trades).items():
            logs.fill(table, rows)
