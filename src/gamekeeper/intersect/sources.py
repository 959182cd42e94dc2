"""Read-only access to Intersect's databases: names of tables and columns in all supported versions, batches of rows.

Rows are sorted by our ids and come from one consistent snapshot.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

from gamekeeper.game.core.lookup import ZERO_GUID
from gamekeeper.intersect.values import FIELDS, OWN

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
    owner: str = ""  # Gamekeeper's name of the table with the owners of its rows, or of this table
    kind: str = ""  # kind of the catalogue's entries that are made from its rows


class SourceTable(NamedTuple):
    name: str
    key: str
    columns: tuple[str | None, ...]  # the required columns, then the optional ones; None: the source lacks this column
    blank: str | None
    last_names: tuple[str, ...] = ()  # names of the last columns: those that are read because of `whole`


SLOT_COLUMNS = "Id Slot ItemId Quantity BagId StatBuffs|ItemProperties"
DECLARED_COLUMNS = "DataType|Type TextId Folder TimeCreated"


def _define_owned(name: str, needed: str, blank: str = "", *, whole: bool = False, may_miss: bool = False) -> TableSpec:
    """Define a table of players' rows. Before March 2019 players were called characters."""
    names = f"Player_{name}|Character_{name}"
    return TableSpec(names, "PlayerId|CharacterId", needed, "", blank, may_miss, whole, "players")


PLAYER_TABLES: Mapping[str, TableSpec] = {
    "users": TableSpec("Users", "Id", "Name Email Salt Password Power", "RegistrationDate", owner="users"),
    "bans": TableSpec("Bans", "PlayerId|UserId", "Id StartTime EndTime Reason Banner", owner="users"),
    "mutes": TableSpec("Mutes", "PlayerId|UserId", "Id StartTime EndTime Reason Muter", owner="users"),
    "players": TableSpec(
        "Players|Characters",
        "Id",
        "UserId|AccountId Name MapId X Y Z Dir Sprite Face Level Exp ClassId Gender StatPoints Vitals BaseStats "
        "StatPointAllocations Equipment",
        "LastOnline CreationDate PlayTimeSeconds DbGuildId|GuildId GuildRank GuildJoinDate",
        owner="players",
    ),
    "inventory": _define_owned("Items", SLOT_COLUMNS, "ItemId"),
    "bank": _define_owned("Bank", SLOT_COLUMNS, "ItemId"),
    "spells": _define_owned("Spells", "Id Slot SpellId", "SpellId"),
    "variables": _define_owned("Variables", "Id VariableId Value"),
    "switches": _define_owned("Switches", "Id SwitchId Value", may_miss=True),
    "bags": TableSpec("Bags", "Id", "SlotCount", owner="bags"),
    "bag_slots": TableSpec("Bag_Items", "ParentBagId", SLOT_COLUMNS, blank="ItemId", owner="bags"),
    "friends": _define_owned("Friends", "", whole=True, may_miss=True)._replace(key="OwnerId"),
    "quests": _define_owned("Quests", "", whole=True, may_miss=True),
    "hotbars": _define_owned("Hotbar", "", "ItemOrSpellId", whole=True, may_miss=True),
    "guilds": TableSpec(
        "Guilds", "Id", "Name", "FoundingDate BankSlotsCount GuildInstanceId", may_miss=True, owner="guilds"
    ),
    "guild_values": TableSpec("Guild_Variables", "GuildId", "VariableId Value", "Id", may_miss=True, owner="guilds"),
    "guild_bank": TableSpec("Guild_Bank", "GuildId", "", blank="ItemId", whole=True, may_miss=True, owner="guilds"),
    "user_variables": TableSpec("User_Variables", "UserId", "", whole=True, may_miss=True, owner="users"),
}
# the other columns of a map, such as its tiles, are large, and no client reads them
MAP_COLUMNS = " ".join(column for column, field in FIELDS["maps"].items() if field.kind != OWN)


# tables of objects that no rule depends on
OBJECT_TABLES: Mapping[str, TableSpec] = {
    noun: TableSpec(name, "Id", "" if noun == "time" else "Name", whole=True, may_miss=True, kind=kind)
    for noun, name, kind in (
        ("animations", "Animations", "animations"),
        ("npcs", "Npcs", "npcs"),
        ("projectiles", "Projectiles", "projectiles"),
        ("all_quests", "Quests", "quests"),
        ("resources", "Resources", "resources"),
        ("shops", "Shops", "shops"),
        ("crafting_tables", "CraftingTables", "crafttables"),
        ("crafts", "Crafts", "crafts"),
        ("events", "Events", "events"),
        ("tilesets", "Tilesets", "tilesets"),
        ("known_user_variables", "UserVariables", "uservariables"),
        ("time", "Time", "time"),
    )
}
# tables of the catalogue that a rule depends on
RULE_TABLES: Mapping[str, TableSpec] = {
    "items": TableSpec(
        "Items",
        "Id",
        "Name ItemType Stackable",
        "Icon|Pic SlotCount MaxInventoryStack VitalsGiven PercentageVitalsGiven",
        whole=True,
        kind="items",
    ),
    "known_spells": TableSpec("Spells", "Id", "Name", whole=True, kind="spells"),
    "known_variables": TableSpec("PlayerVariables", "Id", "Name", "DataType|Type", whole=True, kind="variables"),
    "known_switches": TableSpec(
        "PlayerSwitches", "Id", "Name", "DataType|Type", whole=True, may_miss=True, kind="variables"
    ),
    "classes": TableSpec(
        "Classes",
        "Id",
        "Name BaseVitals VitalIncreases IncreasePercentage",
        "BaseExp ExpIncrease ExperienceOverrides",
        whole=True,
        kind="classes",
    ),
    "maps": TableSpec("Maps", "Id", "Name", MAP_COLUMNS, may_miss=True, kind="maps"),
}
GAME_TABLES: Mapping[str, TableSpec] = {
    **RULE_TABLES,
    "server_variables": TableSpec("ServerVariables", "Id", "Name", DECLARED_COLUMNS + " Value", may_miss=True),
    "server_switches": TableSpec("ServerSwitches", "Id", "Name", DECLARED_COLUMNS + " Value", may_miss=True),
    "guild_variables": TableSpec("GuildVariables", "Id", "Name", DECLARED_COLUMNS, may_miss=True),
    **OBJECT_TABLES,
}
LOG_TABLES: Mapping[str, TableSpec] = {
    "activity": TableSpec(
        "UserActivityHistory", "Id", "TimeStamp UserId PlayerId Action Peer Ip Meta", may_miss=True, owner="activity"
    ),
    "trades": TableSpec(
        "TradeHistory",
        "Id",
        "TradeId TimeStamp UserId PlayerId TargetId Ip Items TargetItems",
        may_miss=True,
        owner="trades",
    ),
    # never read, because its rows contain bearer tokens; the log of every version has this table
    "requests": TableSpec("RequestLogs", "Id", "", may_miss=True),
}
# in the order in which orphan rows are reported: those of guilds last, then those of logs
OWNER_TABLES = {
    noun: spec.owner
    for tables in (sorted(PLAYER_TABLES.items(), key=lambda each: each[1].owner == "guilds"), LOG_TABLES.items())
    for noun, spec in tables
    if spec.owner
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


Row = tuple[Any, ...]
IDS_PER_QUERY = 300  # most ids that one query looks up; each spelling of an id is a parameter of the query


def has_id(row: Row) -> bool:
    return row[0] is not None and row[0] != ZERO_GUID


class KeySql(NamedTuple):
    """SQL fragments to join a table's rows (`t`) with the valid ids of their owners (`k`), sorted like our ids."""

    table: str
    id: str
    matches: str


class Source(ABC):
    """A database of Intersect. Every row that it returns starts with its owner's id, as a guid in our spelling."""

    name: str
    has_bad_text = False  # whether invalid UTF-8 was found in the database so far
    placeholder: str  # placeholder of a value in an SQL statement
    quote: str  # character around a name in an SQL statement
    tables_sql: str  # statement that selects all tables with their columns, in order
    _db: Any

    def read_tables(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for table, column in self.query(self.tables_sql):
            found.setdefault(table, []).append(column)
        return found

    @abstractmethod
    def index_ids(self, table: SourceTable) -> None:
        """Prepare to read tables whose rows belong to rows of this table, in the order of this table's ids."""

    @abstractmethod
    def query(self, text: str, *given: object) -> Iterator[Row]:
        """Yield the rows of a query one by one: they may be larger than memory."""

    def close(self) -> None:
        self._db.close()

    def quote_name(self, name: str) -> str:
        return f"{self.quote}{name.replace(self.quote, 2 * self.quote)}{self.quote}"

    @abstractmethod
    def make_key_sql(self, owners: SourceTable, column: str) -> KeySql: ...

    @abstractmethod
    def make_guid_sql(self, expression: str) -> str:
        """Return SQL that converts a column to a guid in Gamekeeper's spelling, or to NULL if it is no guid."""

    def list_guid_spellings(self, guid: str) -> Sequence[object]:
        """Return all spellings of a guid that an Intersect database may contain."""
        return (guid,)

    def read_migrations(self) -> set[str]:
        history = next((each for each in self.read_tables() if each.lower() == "__efmigrationshistory"), None)
        if history is None:
            return set()
        column, table = self.quote_name("MigrationId"), self.quote_name(history)
        return {row[0] for row in self.query(f"SELECT {column} FROM {table}")}  # noqa: S608 - names from the schema

    def read_ids(self, table: SourceTable, after: str, limit: int) -> list[str]:
        keys = self.make_key_sql(table, table.key)
        text = f"SELECT {keys.id} FROM {keys.table} k WHERE k.id > {self.placeholder} ORDER BY k.id LIMIT {limit:d}"  # noqa: S608 - names from the schema
        return [row[0] for row in self.query(text, after)]

    def read_rows(self, owners: SourceTable, table: SourceTable, first: str, last: str) -> list[Row]:
        """Return the rows of owners from the first to the last id, sorted by owner."""
        keys, name, mark = self.make_key_sql(owners, table.key), self.quote_name(table.name), self.placeholder
        text = (
            f"SELECT {keys.id}, {self._make_columns_sql(table)} FROM {keys.table} k CROSS JOIN {name} t "  # noqa: S608 - names from the schema
            f"WHERE {keys.matches} AND k.id >= {mark} AND k.id <= {mark}{self._fill_sql(table)} ORDER BY k.id"
        )
        return list(self.query(text, first, last))

    def read_rows_of(self, table: SourceTable, ids: Iterable[str]) -> Iterator[Row]:
        """Yield the rows of these owners, in any order."""
        waiting, key = iter(ids), self._make_column_sql(table.key)
        while some := list(islice(waiting, IDS_PER_QUERY)):
            forms = [form for each in some for form in self.list_guid_spellings(each)]
            marks = ", ".join([self.placeholder] * len(forms))
            what = f"{self.make_guid_sql(key)}, {self._make_columns_sql(table)}"
            yield from self._select(what, table, f"WHERE {key} IN ({marks}){self._fill_sql(table)}", *forms)

    def read_table(self, table: SourceTable) -> Iterator[Row]:
        key = self.make_guid_sql(self._make_column_sql(table.key))
        return self._select(f"{key}, {self._make_columns_sql(table)}", table, "ORDER BY 1")

    def read_orphans(self, owners: SourceTable, table: SourceTable) -> Iterator[Row]:
        """Yield id and owner of rows without a valid owner. For a table of owners, yield rows with an invalid id."""
        keys = self.make_key_sql(owners, table.key)
        key = self._make_column_sql(table.key)
        first = key if table is owners else self._make_column_sql(table.columns[0] or table.key)
        found = f"SELECT 1 FROM {keys.table} k WHERE k.id = {self.make_guid_sql(key)} AND {keys.matches}"  # noqa: S608 - names from the schema
        return self._select(f"{first}, {key}", table, f"WHERE NOT EXISTS ({found}){self._fill_sql(table)}")

    def read_first(self, table: SourceTable, wanted: int, by: int, least: int, most: int) -> object:
        """Return the smallest value of column `wanted` in rows whose column `by` is from `least` to below `most`."""
        value, number = (self._make_column_sql(table.columns[each] or "") for each in (wanted, by))
        between = f"WHERE {number} >= {self.placeholder} AND {number} < {self.placeholder}"
        return next(self._select(f"MIN({value})", table, between, least, most))[0]

    def read_distinct(self, table: SourceTable, wanted: str, zero: str) -> Iterator[Row]:
        """Yield the different values of a column that is not null, in rows whose column `zero` is 0."""
        value, number = self._make_column_sql(wanted), self._make_column_sql(zero)
        return self._select(f"DISTINCT {value}", table, f"WHERE {value} IS NOT NULL AND {number} = 0")

    def count_rows(self, table: SourceTable) -> Row:
        """Count the rows of a table, and those that are not empty slots."""
        filled = f"COUNT(CASE WHEN true{self._fill_sql(table)} THEN 1 END)"
        return next(self._select(f"COUNT(*), {filled}", table))

    def _select(self, what: str, table: SourceTable, rest: str = "", *given: object) -> Iterator[Row]:
        return self.query(f"SELECT {what} FROM {self.quote_name(table.name)} t {rest}", *given)  # noqa: S608 - names from the schema

    def count_all(self, name: str) -> int:
        return next(self.query(f"SELECT COUNT(*) FROM {self.quote_name(name)}"))[0]  # noqa: S608 - name from the schema

    def _fill_sql(self, table: SourceTable) -> str:
        if table.blank is None:
            return ""
        forms = self.list_guid_spellings(ZERO_GUID)
        zeros = ", ".join(f"x'{form.hex()}'" if isinstance(form, bytes) else f"'{form}'" for form in forms)
        return f" AND {self._make_column_sql(table.blank)} NOT IN ({zeros})"

    def _make_columns_sql(self, table: SourceTable) -> str:
        return ", ".join(self._make_column_sql(each) if each else "NULL" for each in table.columns)

    def _make_column_sql(self, name: str) -> str:
        return f"t.{self.quote_name(name)}"
