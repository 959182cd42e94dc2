"""Names of tables and columns in the supported versions of Intersect."""

from collections.abc import Mapping
from typing import NamedTuple

from gamekeeper.intersect.fields import FIELDS, Kind

ColumnsByTable = Mapping[str, list[str]]  # the tables of a database, each with its columns
NET7_MIGRATION = "20230930000000_Net7Upgrade"


class BadSource(Exception):
    """The Intersect database cannot be imported; the message says why and what to do."""


class TableSpec(NamedTuple):
    """A table that the import reads. `|` separates the names of a table or column in different versions."""

    names: str
    key: str  # column with the id of the row's owner
    needed: str
    more: str = ""  # optional columns, which some versions of Intersect lack
    blank: str = ""  # column that is all zeros in rows of empty slots
    may_miss: bool = False
    whole: bool = False  # True: the other columns of the table are read too, after the named ones


class SourceTable(NamedTuple):
    name: str
    key: str
    columns: tuple[str | None, ...]  # the required columns, then the optional ones; None: the source lacks this column
    blank: str | None
    last_names: tuple[str, ...] = ()  # names of the last columns: those that are read because of `whole`


OWNER_COLUMN = "PlayerId|CharacterId"
SLOT_COLUMNS = "Id Slot ItemId Quantity BagId StatBuffs|ItemProperties"
DECLARED_COLUMNS = "DataType|Type TextId Folder TimeCreated"
PLAYER_TABLES: Mapping[str, TableSpec] = {
    "users": TableSpec("Users", "Id", "Name Email Salt Password Power", "RegistrationDate"),
    "bans": TableSpec("Bans", "PlayerId|UserId", "Id StartTime EndTime Reason Banner"),
    "mutes": TableSpec("Mutes", "PlayerId|UserId", "Id StartTime EndTime Reason Muter"),
    "players": TableSpec(
        "Players|Characters",
        "Id",
        "UserId|AccountId Name MapId X Y Z Dir Sprite Face Level Exp ClassId Gender StatPoints Vitals BaseStats "
        "StatPointAllocations Equipment",
        "LastOnline CreationDate PlayTimeSeconds DbGuildId|GuildId GuildRank GuildJoinDate",
    ),
    "inventory": TableSpec("Player_Items|Character_Items", OWNER_COLUMN, SLOT_COLUMNS, blank="ItemId"),
    "bank": TableSpec("Player_Bank|Character_Bank", OWNER_COLUMN, SLOT_COLUMNS, blank="ItemId"),
    "spells": TableSpec("Player_Spells|Character_Spells", OWNER_COLUMN, "Id Slot SpellId", blank="SpellId"),
    "variables": TableSpec("Player_Variables|Character_Variables", OWNER_COLUMN, "Id VariableId Value"),
    "switches": TableSpec("Player_Switches|Character_Switches", OWNER_COLUMN, "Id SwitchId Value", may_miss=True),
    "bags": TableSpec("Bags", "Id", "SlotCount"),
    "bag_slots": TableSpec("Bag_Items", "ParentBagId", SLOT_COLUMNS, blank="ItemId"),
    "friends": TableSpec("Player_Friends|Character_Friends", "OwnerId", "", whole=True, may_miss=True),
    "quests": TableSpec("Player_Quests|Character_Quests", OWNER_COLUMN, "", whole=True, may_miss=True),
    "hotbars": TableSpec(
        "Player_Hotbar|Character_Hotbar", OWNER_COLUMN, "", blank="ItemOrSpellId", whole=True, may_miss=True
    ),
    "guilds": TableSpec("Guilds", "Id", "Name", "FoundingDate BankSlotsCount GuildInstanceId", may_miss=True),
    "guild_values": TableSpec("Guild_Variables", "GuildId", "VariableId Value", "Id", may_miss=True),
    "guild_bank": TableSpec("Guild_Bank", "GuildId", "", blank="ItemId", whole=True, may_miss=True),
    "user_variables": TableSpec("User_Variables", "UserId", "", whole=True, may_miss=True),
}
# the other columns of a map, such as its tiles, are large, and no client reads them
MAP_COLUMNS = " ".join(column for column, field in FIELDS["maps"].items() if field.kind is not Kind.OWN)


class ObjectTable(NamedTuple):
    name: str
    kind: str  # kind of the catalogue's entries


# tables of objects that no rule depends on
OBJECT_TABLES: Mapping[str, ObjectTable] = {
    "animations": ObjectTable("Animations", "animations"),
    "npcs": ObjectTable("Npcs", "npcs"),
    "projectiles": ObjectTable("Projectiles", "projectiles"),
    "all_quests": ObjectTable("Quests", "quests"),
    "resources": ObjectTable("Resources", "resources"),
    "shops": ObjectTable("Shops", "shops"),
    "crafting_tables": ObjectTable("CraftingTables", "crafttables"),
    "crafts": ObjectTable("Crafts", "crafts"),
    "events": ObjectTable("Events", "events"),
    "tilesets": ObjectTable("Tilesets", "tilesets"),
    "known_user_variables": ObjectTable("UserVariables", "uservariables"),
    "time": ObjectTable("Time", "time"),
}
GAME_TABLES: Mapping[str, TableSpec] = {
    "items": TableSpec(
        "Items",
        "Id",
        "Name ItemType Stackable",
        "Icon|Pic SlotCount MaxInventoryStack VitalsGiven PercentageVitalsGiven",
        whole=True,
    ),
    "known_spells": TableSpec("Spells", "Id", "Name", whole=True),
    "known_variables": TableSpec("PlayerVariables", "Id", "Name", "DataType|Type", whole=True),
    "known_switches": TableSpec("PlayerSwitches", "Id", "Name", "DataType|Type", whole=True, may_miss=True),
    "classes": TableSpec(
        "Classes",
        "Id",
        "Name BaseVitals VitalIncreases IncreasePercentage",
        "BaseExp ExpIncrease ExperienceOverrides",
        whole=True,
    ),
    "maps": TableSpec("Maps", "Id", "Name", MAP_COLUMNS, may_miss=True),
    "server_variables": TableSpec("ServerVariables", "Id", "Name", DECLARED_COLUMNS + " Value", may_miss=True),
    "server_switches": TableSpec("ServerSwitches", "Id", "Name", DECLARED_COLUMNS + " Value", may_miss=True),
    "guild_variables": TableSpec("GuildVariables", "Id", "Name", DECLARED_COLUMNS, may_miss=True),
    **{
        noun: TableSpec(table.name, "Id", "" if noun == "time" else "Name", whole=True, may_miss=True)
        for noun, table in OBJECT_TABLES.items()
    },
}
LOG_TABLES: Mapping[str, TableSpec] = {
    "activity": TableSpec("UserActivityHistory", "Id", "TimeStamp UserId PlayerId Action Peer Ip Meta", may_miss=True),
    "trades": TableSpec(
        "TradeHistory", "Id", "TradeId TimeStamp UserId PlayerId TargetId Ip Items TargetItems", may_miss=True
    ),
    # never read, because its rows contain bearer tokens; the log of every version has this table
    "requests": TableSpec("RequestLogs", "Id", "", may_miss=True),
}
TABLES_OF_OTHER_FILE = {
    "player": ("Items", "Classes"),
    "game": ("Users", "Bags"),
    "logging": ("Users", "Bags"),
}  # tables that reveal whether the user swapped the two database files


def match_tables(
    name: str, role: str, wanted: Mapping[str, TableSpec], there: ColumnsByTable
) -> dict[str, SourceTable]:
    """Find the tables of an Intersect database and their columns; return them by Gamekeeper's names."""
    known = {each.lower(): each for each in there}
    first = next(iter(wanted.values()))
    if not _find_first(first.names, known) and all(other.lower() in known for other in TABLES_OF_OTHER_FILE[role]):
        options = "--players and --logs" if role == "logging" else "--players and --game"
        raise BadSource(f"{name} is not Intersect's {role} database. Were {options} swapped?")
    if not any(_find_first(want.names, known) for want in wanted.values()):
        raise BadSource(
            f"{name} is not Intersect's {role} database: it has none of its tables. Check the file name or URL."
        )
    found = {noun: _match_table(name, want, known, there) for noun, want in wanted.items()}
    return {noun: table for noun, table in found.items() if table}


def detect_version(there: ColumnsByTable, migrations: set[str]) -> str:
    """Return the version of Intersect, for display only; the import itself looks at the tables."""
    columns = {table.lower(): {each.lower() for each in names} for table, names in there.items()}
    if "characters" in columns:
        return "0.6, before March 2019"
    if NET7_MIGRATION in migrations:
        return "0.8"
    if "itemproperties" in columns["player_items"]:
        return "0.7.1"
    return "0.7.0" if "registrationdate" in columns["users"] else "0.6"


def _match_table(name: str, want: TableSpec, known: Mapping[str, str], there: ColumnsByTable) -> SourceTable | None:
    table = _find_first(want.names, known)
    if table is None:
        if want.may_miss:
            return None
        raise BadSource(
            f"{name} has no table {_join_names(want.names)}. Check that it is a complete Intersect database."
        )
    columns = {each.lower(): each for each in there[table]}
    names = [_require_column(name, table, each, columns) for each in f"{want.key} {want.needed}".split()]
    more = [_find_first(each, columns) for each in want.more.split()]
    rest = [each for each in there[table] if want.whole and each not in names and each not in more]
    return SourceTable(table, names[0], (*names[1:], *more, *rest), _find_first(want.blank, columns), tuple(rest))


def _require_column(name: str, table: str, names: str, columns: Mapping[str, str]) -> str:
    found = _find_first(names, columns)
    if found is None:
        raise BadSource(
            f"{name} has no column {_join_names(names)} in {table}, so its version of Intersect is not supported (0.6 "
            "to 0.8 are). Start the game's own server with it once, which updates it, then import again."
        )
    return found


def _find_first(names: str, known: Mapping[str, str]) -> str | None:
    return next((known[each.lower()] for each in names.split("|") if each.lower() in known), None)


def _join_names(names: str) -> str:
    return names.replace("|", " or ")
