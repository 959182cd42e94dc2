"""Generate databases like those of Intersect servers of five eras, for tests and measurements; same seed, same data.

    .venv/bin/python scripts/make_intersect.py --era 0.7.1 --players 1000 --into /somewhere

Every account `Hero<n>` has the password `sword <n>`. Programs call `make`.
"""

import argparse
import hashlib
import json
import random
import re
import uuid
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import apsw

ZERO = uuid.UUID(int=0)
INVENTORY, BANK, SPELLS = 35, 100, 35
Row = tuple[Any, ...]


@dataclass(frozen=True)
class Era:
    """Differences between the database schemas of Intersect's eras."""

    name: str
    owner: str = "Player"  # word for the player in the names of tables and columns of this era
    account: str = "UserId"
    text_guids: bool = False
    stats: str = "ItemProperties"
    dated: bool = True  # whether this era has the columns RegistrationDate, CreationDate and PlayTimeSeconds
    # name of the column with a variable's type; empty: this era has none, and keeps switches in their own table
    typed: str = "Type"
    stacks: bool = True  # whether this era has the column MaxInventoryStack
    guilds: bool = True  # whether this era has guilds and logs of its players
    guild_variables: bool = True  # whether this era has variables of guilds and accounts
    migration: str = "20221119214350_ItemProperties"

    @property
    def guid_type(self) -> str:
        return "TEXT" if self.text_guids else "BLOB"

    def guid(self, value: uuid.UUID) -> str | bytes:
        return str(value).upper() if self.text_guids else value.bytes_le

    def spell(self, row: Row) -> Row:
        """Write the guids of a row as this era stores them."""
        return tuple(self.guid(each) if isinstance(each, uuid.UUID) else each for each in row)

    def declare(self, columns: str) -> str:
        """Declare the columns of a table in SQLite's syntax: KEY stands for the primary key, GUID for the type."""
        return re.sub("^KEY", "Id GUID NOT NULL PRIMARY KEY", columns).replace("GUID", self.guid_type)

    def buffs(self, *values: int) -> str:
        return compact(values if self.stats == "StatBuffs" else {"StatModifiers": values})


_0_7_0 = Era("0.7.0", stats="StatBuffs", guild_variables=False, migration="20210510223205_PlayTimeAsUnsigned")
_0_6_2 = replace(
    _0_7_0, name="0.6.2", dated=False, stacks=False, guilds=False, migration="20190611170819_CombiningSwitchesVariables"
)
_0_6 = replace(
    _0_6_2,
    name="0.6",
    owner="Character",
    account="AccountId",
    typed="",
    migration="20190306223934_RefreshTokensAddTicketId",
)
_0_8 = Era("0.8", text_guids=True, typed="DataType", migration="20230930000000_Net7Upgrade")
BY_NAME = {each.name: each for each in (_0_6, _0_6_2, _0_7_0, Era("0.7.1"), _0_8)}
ERAS = tuple(BY_NAME)


def compact(value: object) -> str:
    return json.dumps(value, separators=(",", ":"))


def variable(kind: int, value: object) -> str:
    return compact({"Type": kind, "Value": value})


def guid(kind: str, number: int) -> uuid.UUID:
    return uuid.UUID(bytes=hashlib.blake2b(f"{kind} {number}".encode(), digest_size=16).digest())


def password(number: int) -> str:
    return f"sword {number}"


def hash_password(plain: str, salt: str) -> str:
    sent = hashlib.sha256(plain.encode()).hexdigest().upper()
    return hashlib.sha256((sent + salt).encode()).hexdigest().upper()


# --- the tables of each era ----------------------------------------------------------------------------------------


def player_tables(era: Era) -> dict[str, str]:
    """Return the tables of the player database with their columns, in SQLite's syntax."""
    owner, prefix = f"{era.owner}Id GUID NOT NULL", era.owner
    slot = f"Slot INTEGER NOT NULL, BagId GUID, ItemId GUID NOT NULL, Quantity INTEGER NOT NULL, {era.stats} TEXT"
    dated = ", CreationDate TEXT, PlayTimeSeconds INTEGER NOT NULL DEFAULT 0" if era.dated else ""
    registered = ", RegistrationDate TEXT, LastIp TEXT, PlayTimeSeconds INTEGER" if era.dated else ""
    ends = "KEY, PlayerId GUID NOT NULL, Ip TEXT, StartTime TEXT, EndTime TEXT, Reason TEXT"
    value = "Value TEXT" if era.typed else "Value INTEGER NOT NULL"
    tables = {
        "Users": "KEY, Name TEXT, Email TEXT, Salt TEXT, Password TEXT, Power TEXT, PasswordResetCode TEXT"
        + registered,
        f"{prefix}s": f"KEY, {era.account} GUID NOT NULL, Name TEXT, MapId GUID, X INTEGER, Y INTEGER, Z INTEGER, "
        "Dir INTEGER, Sprite TEXT, Face TEXT, Level INTEGER, Exp INTEGER, ClassId GUID, Gender INTEGER, StatPoints "
        f"INTEGER, Vitals TEXT, BaseStats TEXT, StatPointAllocations TEXT, Equipment TEXT, LastOnline TEXT{dated}",
        f"{prefix}_Items": f"KEY, {owner}, {slot}",
        f"{prefix}_Bank": f"KEY, {owner}, {slot}",
        "Bags": "KEY, SlotCount INTEGER NOT NULL",
        "Bag_Items": f"KEY, ParentBagId GUID NOT NULL, {slot}",
        f"{prefix}_Spells": f"KEY, {owner}, Slot INTEGER NOT NULL, SpellId GUID NOT NULL",
        f"{prefix}_Variables": f"KEY, {owner}, VariableId GUID NOT NULL, {value}",
        f"{prefix}_Hotbar": f"KEY, {owner}, Slot INTEGER NOT NULL",
        "Bans": f"{ends}, Banner TEXT",
        "Mutes": f"{ends}, Muter TEXT",
        "RefreshTokens": "KEY",
    }
    if not era.typed:
        tables[f"{prefix}_Switches"] = f"KEY, {owner}, SwitchId GUID NOT NULL, Value INTEGER NOT NULL"
    return {name: era.declare(columns) for name, columns in tables.items()}


def player_indexes(era: Era) -> list[tuple[str, str]]:
    owned = [f"{era.owner}_{each}" for each in ("Items", "Bank", "Spells", "Variables", "Hotbar")]
    pairs = [(table, f"{era.owner}Id") for table in owned]
    pairs += [(table, "BagId") for table in (*owned[:2], "Bag_Items")]
    return [*pairs, ("Bag_Items", "ParentBagId"), ("Bans", "PlayerId"), ("Mutes", "PlayerId")]


def game_tables(era: Era) -> dict[str, str]:
    stacks = ", MaxInventoryStack INTEGER, MaxBankStack INTEGER" if era.stacks else ""
    tables = {
        "Items": "KEY, Name TEXT, Icon TEXT, ItemType INTEGER, Stackable INTEGER, SlotCount INTEGER, Bound INTEGER, "
        f"VitalsGiven TEXT, PercentageVitalsGiven TEXT{stacks}",
        "Spells": "KEY, Name TEXT",
        "PlayerVariables": f"KEY, Name TEXT{f', {era.typed} INTEGER' if era.typed else ''}",
        "ServerVariables": "KEY, Name TEXT",
        "Classes": "KEY, Name TEXT, BaseVitals TEXT, VitalIncreases TEXT, IncreasePercentage INTEGER, BaseExp "
        "INTEGER, ExpIncrease INTEGER, ExperienceOverrides TEXT",
        "Maps": "KEY, Name TEXT, Revision INTEGER",
        "Npcs": "KEY, Name TEXT",
    }
    if not era.typed:
        tables["PlayerSwitches"] = "KEY, Name TEXT"
    return {name: era.declare(columns) for name, columns in tables.items()}


# --- rows of the tables --------------------------------------------------------------------------------------------

COIN, SWORD, HELMET, SACK, HERB = (guid("item", number) for number in range(5))
STRIKE, HEAL = (guid("spell", number) for number in range(2))
KILLS, TITLE, DONE, RATIO = (guid("variable", number) for number in range(4))
WARRIOR, MAGE = (guid("class", number) for number in range(2))
MEADOW = guid("map", 0)
POWER = {"Editor": False, "Ban": False, "Kick": False, "Mute": False, "Api": True}
ADMIN = {**POWER, "Editor": True, "Ban": True, "ApiRoles": {"UserQuery": True, "UserManage": True}}


def game_rows(era: Era) -> dict[str, list[Row]]:
    caps = (1000, 1000) if era.stacks else ()

    def item(own: uuid.UUID, name: str, kind: int, stackable: int, slots: int, given: str, percent: str) -> Row:
        return (own, name, f"{name.lower()}.png", kind, stackable, slots, 0, given, percent, *caps)

    variables = [(KILLS, "Kills", 2), (TITLE, "Title", 3), (DONE, "Tutorial done", 1), (RATIO, "Luck", 4)]
    rows: dict[str, list[Row]] = {
        "Items": [
            item(COIN, "Coin", 3, 0, 0, "[0,0]", "[0,0]"),
            item(SWORD, "Sword", 1, 1, 0, "[5,0]", "[0,0]"),
            item(HELMET, "Helmet", 1, 0, 0, "[10,2]", "[10,0]"),
            item(SACK, "Sack", 6, 1, 8, "[0,0]", "[0,0]"),
            item(HERB, "Herb", 2, 1, 0, "[0,0]", "[0,0]"),
        ],
        "Spells": [(STRIKE, "Strike"), (HEAL, "Heal")],
        "Classes": [
            (WARRIOR, "Warrior", "[100,20]", "[10,2]", 0, 100, 50, '{"3":777}'),
            (MAGE, "Mage", "[50,80]", "[5,10]", 1, 100, 25, None),
        ],
        "Maps": [(MEADOW, "Meadow", 3)],
        "ServerVariables": [(guid("server variable", 0), "Rate")],
        "Npcs": [(guid("npc", number), f"Rat {number}") for number in range(3)],
    }
    if era.typed:
        return rows | {"PlayerVariables": variables}
    return rows | {"PlayerVariables": [(KILLS, "Kills")], "PlayerSwitches": [(DONE, "Tutorial done")]}


def accounts(era: Era, count: int) -> Iterator[Row]:
    for number in range(count):
        salt = hashlib.sha256(f"salt {number}".encode()).hexdigest().upper()
        power = compact(POWER if number else ADMIN)
        plain = (guid("user", number), f"Hero{number}", f"hero{number}@example.test", salt)
        dated = (f"2021-03-{number % 28 + 1:02} 10:20:30.1234567", "127.0.0.1", 60) if era.dated else ()
        yield (*plain, hash_password(password(number), salt), power, None, *dated)


def characters(era: Era, count: int) -> Iterator[Row]:
    for number in range(count):
        looks = (number % 50, number % 40, 0, number % 4, f"hero{number % 7}.png", "")
        state = (1 + number % 60, number * 7, (WARRIOR, MAGE)[number % 2], number % 2, number % 5)
        lists = (f"[{50 + number % 50},{20 + number % 10}]", "[10,11,12,13,14]", "[1,2,3,4,5]", "[-1,-1,0,-1,-1]")
        dated = (f"2021-04-{number % 28 + 1:02} 08:00:00", 3600 + number) if era.dated else ()
        owner = (guid("player", number), guid("user", number), f"Knight{number}")
        yield (*owner, MEADOW, *looks, *state, *lists, f"2022-05-{number % 28 + 1:02} 21:00:00", *dated)


def slots(era: Era, kind: str, players: range, size: int, filled: int) -> Iterator[Row]:
    """Yield all item slots of a player as rows: the first ones are filled, the first inventory item is a sword."""
    usual, sword = era.buffs(0, 0, 0, 0, 0), era.buffs(3, 0, -1, 0, 0)
    for number in players:
        owner = guid("player", number)
        dice = random.Random(f"{kind} {number}")
        for slot in range(size):
            own = uuid.UUID(int=dice.getrandbits(128))
            if slot >= filled:
                yield own, owner, slot, None, ZERO, 0, usual
            elif slot == 0:
                yield own, owner, slot, None, SWORD, 1, sword
            else:
                yield own, owner, slot, None, (COIN, HERB)[slot % 2], 1 + (number + slot) % 1000, usual


def spells(players: range) -> Iterator[Row]:
    for number in players:
        for slot, spell in enumerate((STRIKE, HEAL, ZERO)):
            yield guid("known spell", number * 3 + slot), guid("player", number), slot, spell


def variables(era: Era, players: range) -> Iterator[Row]:
    for number in players:
        own, owner = guid("kills", number), guid("player", number)
        yield own, owner, KILLS, variable(2, number * 3) if era.typed else number * 3
        if era.typed:
            yield guid("done", number), owner, DONE, variable(1, value=number % 2 == 0)


def switches(players: range) -> Iterator[Row]:
    for number in players:
        yield guid("done", number), guid("player", number), DONE, int(number % 2 == 0)


def bags(era: Era, players: range) -> dict[str, list[Row]]:
    """Give every fourth player a bag in the bank that contains another bag."""
    rows: dict[str, list[Row]] = {"Bags": [], "Bag_Items": [], f"{era.owner}_Bank": []}
    usual = era.buffs(0, 0, 0, 0, 0)
    for number in players[::4]:
        outer, inner = guid("bag", 2 * number), guid("bag", 2 * number + 1)
        rows["Bags"] += [(outer, 8), (inner, 8)]
        held = [
            (outer, 0, None, HERB, 5),
            (outer, 3, inner, SACK, 1),
            (inner, 7, None, COIN, 9),
            (inner, 1, None, ZERO, 0),
        ]
        rows["Bag_Items"] += [(guid("bag slot", 4 * number + at), *slot, usual) for at, slot in enumerate(held)]
        rows[f"{era.owner}_Bank"] += [(guid("sack", number), guid("player", number), 99, outer, SACK, 1, usual)]
    return rows


def moderation() -> dict[str, list[Row]]:
    def row(kind: str, number: int, ends: str) -> Row:
        when = "2024-01-02 03:04:05"
        return (guid(kind, number), guid("user", number), "10.0.0.1", when, ends, f"{kind} for a reason", "Hero0")

    return {
        "Bans": [row("ban", 1, "9999-12-31 23:59:59.9999999"), row("ban", 2, "2024-02-01 00:00:00")],
        "Mutes": [row("mute", 1, "2099-01-01 00:00:00")],
    }


# --- writing the database files ------------------------------------------------------------------------------------


class File:
    """A database file of an era that is written in one transaction, without a journal: an error leaves it unusable."""

    def __init__(self, path: Path, era: Era) -> None:
        self.era = era
        self.db = apsw.Connection(str(path))
        self.db.pragma("synchronous", "OFF")
        self.db.pragma("journal_mode", "OFF")
        self.db.execute("BEGIN")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if not error:
            self.db.execute("COMMIT")
        self.db.close()

    def create(self, tables: Mapping[str, str]) -> None:
        self.add(
            "__EFMigrationsHistory", "MigrationId TEXT PRIMARY KEY, ProductVersion TEXT", [(self.era.migration, "2.1")]
        )
        for name, columns in tables.items():
            self.add(name, columns)

    def add(self, table: str, columns: str, rows: Iterable[Row] = ()) -> None:
        """Create a table with rows."""
        self.db.execute(f"CREATE TABLE {table} ({self.era.declare(columns)})")
        self.fill(table, rows)

    def fill(self, table: str, rows: Iterable[Row]) -> None:
        for row in map(self.era.spell, rows):
            self.db.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(row))})", row)  # noqa: S608 - names from here

    def update(self, table: str, own: uuid.UUID, **values: object) -> None:
        """Change columns of one row."""
        changes = ", ".join(f"{name} = ?" for name in values)
        self.db.execute(f"UPDATE {table} SET {changes} WHERE Id = ?", self.era.spell((*values.values(), own)))  # noqa: S608 - names from here


def make(folder: Path, era_name: str, players: int, filled: int = 3, size: int = INVENTORY) -> tuple[Path, Path]:
    """Write playerdata.db and gamedata.db with `players` accounts, each with a player with `filled` of `size` slots."""
    era, everybody = BY_NAME[era_name], range(players)
    with File(folder / "gamedata.db", era) as game:
        game.create(game_tables(era))
        for table, rows in game_rows(era).items():
            game.fill(table, rows)
    with File(folder / "playerdata.db", era) as file:
        file.create(player_tables(era))
        file.fill("Users", accounts(era, players))
        file.fill(f"{era.owner}s", characters(era, players))
        file.fill(f"{era.owner}_Items", slots(era, "Items", everybody, size, filled))
        file.fill(f"{era.owner}_Bank", slots(era, "Bank", everybody, min(filled, 2), min(filled, 2)))
        for table, rows in bags(era, everybody).items():
            file.fill(table, rows)
        file.fill(f"{era.owner}_Spells", spells(everybody))
        file.fill(f"{era.owner}_Variables", variables(era, everybody))
        if not era.typed:
            file.fill(f"{era.owner}_Switches", switches(everybody))
        for table, rows in moderation().items():
            file.fill(table, rows[: max(0, players - 1)])
        for table, column in player_indexes(era):
            file.db.execute(f"CREATE INDEX IX_{table}_{column} ON {table} ({column})")
    return folder / "playerdata.db", folder / "gamedata.db"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--era", choices=ERAS, default=ERAS[-1])
    parser.add_argument("--players", type=int, default=100)
    parser.add_argument("--filled", type=int, default=3, help="taken slots of each inventory")
    parser.add_argument("--into", type=Path, default=Path())
    given = parser.parse_args()
    for file in (given.into / "playerdata.db", given.into / "gamedata.db"):
        if file.exists():
            parser.error(f"{file} already exists; nothing was written. Delete it, or name another folder with --into.")
    print(*make(given.into, given.era, given.players, given.filled))


if __name__ == "__main__":
    main()
