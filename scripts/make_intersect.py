"""Generate databases like those of Intersect servers of five eras, for tests and measurements; same seed, same data.

    .venv/bin/python scripts/make_intersect.py --era 0.7.1 --players 1000 --into /somewhere

Every account `Hero<n>` has the password `sword <n>`. Programs call `make`.
"""

import argparse
import hashlib
import json
import random
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import apsw

ERAS = ("0.6", "0.6.2", "0.7.0", "0.7.1", "0.8")
ZERO = uuid.UUID(int=0)
INVENTORY, BANK, SPELLS = 35, 100, 35
NO_BUFFS = [0, 0, 0, 0, 0]
SOME = 10_000
Row = Sequence[Any]


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

    def guid(self, value: uuid.UUID | None) -> str | bytes | None:
        if value is None:
            return None
        return str(value).upper() if self.text_guids else value.bytes_le

    def buffs(self, values: Sequence[int]) -> str:
        return compact(list(values)) if self.stats == "StatBuffs" else compact({"StatModifiers": list(values)})


BY_NAME = {
    "0.6": Era(
        "0.6",
        owner="Character",
        account="AccountId",
        stats="StatBuffs",
        dated=False,
        typed="",
        stacks=False,
        guilds=False,
        guild_variables=False,
        migration="20190306223934_RefreshTokensAddTicketId",
    ),
    "0.6.2": Era(
        "0.6.2",
        stats="StatBuffs",
        dated=False,
        stacks=False,
        guilds=False,
        guild_variables=False,
        migration="20190611170819_CombiningSwitchesVariables",
    ),
    "0.7.0": Era("0.7.0", stats="StatBuffs", guild_variables=False, migration="20210510223205_PlayTimeAsUnsigned"),
    "0.7.1": Era("0.7.1"),
    "0.8": Era("0.8", text_guids=True, typed="DataType", migration="20230930000000_Net7Upgrade"),
}


def compact(value: object) -> str:
    return json.dumps(value, separators=(",", ":"))


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
    g, owner = era.guid_type, f"{era.owner}Id"
    key = f"Id {g} NOT NULL PRIMARY KEY"
    slot = f"Slot INTEGER NOT NULL, BagId {g}, ItemId {g} NOT NULL, Quantity INTEGER NOT NULL, {era.stats} TEXT"
    dated = ", CreationDate TEXT, PlayTimeSeconds INTEGER NOT NULL DEFAULT 0" if era.dated else ""
    registered = ", RegistrationDate TEXT, LastIp TEXT, PlayTimeSeconds INTEGER" if era.dated else ""
    prefix = era.owner
    tables = {
        "Users": f"{key}, Name TEXT, Email TEXT, Salt TEXT, Password TEXT, Power TEXT, PasswordResetCode TEXT"
        f"{registered}",
        f"{prefix}s": f"{key}, {era.account} {g} NOT NULL, Name TEXT, MapId {g}, X INTEGER, Y INTEGER, Z INTEGER, "
        f"Dir INTEGER, Sprite TEXT, Face TEXT, Level INTEGER, Exp INTEGER, ClassId {g}, Gender INTEGER, StatPoints "
        f"INTEGER, Vitals TEXT, BaseStats TEXT, StatPointAllocations TEXT, Equipment TEXT, LastOnline TEXT{dated}",
        f"{prefix}_Items": f"{key}, {owner} {g} NOT NULL, {slot}",
        f"{prefix}_Bank": f"{key}, {owner} {g} NOT NULL, {slot}",
        "Bags": f"{key}, SlotCount INTEGER NOT NULL",
        "Bag_Items": f"{key}, ParentBagId {g} NOT NULL, {slot}",
        f"{prefix}_Spells": f"{key}, {owner} {g} NOT NULL, Slot INTEGER NOT NULL, SpellId {g} NOT NULL",
        f"{prefix}_Variables": f"{key}, {owner} {g} NOT NULL, VariableId {g} NOT NULL, Value TEXT",
        f"{prefix}_Hotbar": f"{key}, {owner} {g} NOT NULL, Slot INTEGER NOT NULL",
        "Bans": f"{key}, PlayerId {g} NOT NULL, Ip TEXT, StartTime TEXT, EndTime TEXT, Reason TEXT, Banner TEXT",
        "Mutes": f"{key}, PlayerId {g} NOT NULL, Ip TEXT, StartTime TEXT, EndTime TEXT, Reason TEXT, Muter TEXT",
        "RefreshTokens": key,
    }
    if not era.typed:
        tables[f"{prefix}_Switches"] = f"{key}, {owner} {g} NOT NULL, SwitchId {g} NOT NULL, Value INTEGER NOT NULL"
        tables[f"{prefix}_Variables"] = f"{key}, {owner} {g} NOT NULL, VariableId {g} NOT NULL, Value INTEGER NOT NULL"
    return tables


def player_indexes(era: Era) -> list[tuple[str, str]]:
    owned = [f"{era.owner}_{each}" for each in ("Items", "Bank", "Spells", "Variables", "Hotbar")]
    pairs = [(table, f"{era.owner}Id") for table in owned]
    pairs += [(table, "BagId") for table in (*owned[:2], "Bag_Items")]
    return [*pairs, ("Bag_Items", "ParentBagId"), ("Bans", "PlayerId"), ("Mutes", "PlayerId")]


def game_tables(era: Era) -> dict[str, str]:
    key = f"Id {era.guid_type} NOT NULL PRIMARY KEY"
    stacks = ", MaxInventoryStack INTEGER, MaxBankStack INTEGER" if era.stacks else ""
    tables = {
        "Items": f"{key}, Name TEXT, Icon TEXT, ItemType INTEGER, Stackable INTEGER, SlotCount INTEGER, Bound INTEGER, "
        f"VitalsGiven TEXT, PercentageVitalsGiven TEXT{stacks}",
        "Spells": f"{key}, Name TEXT",
        "PlayerVariables": f"{key}, Name TEXT{f', {era.typed} INTEGER' if era.typed else ''}",
        "ServerVariables": f"{key}, Name TEXT",
        "Classes": f"{key}, Name TEXT, BaseVitals TEXT, VitalIncreases TEXT, IncreasePercentage INTEGER, BaseExp "
        "INTEGER, ExpIncrease INTEGER, ExperienceOverrides TEXT",
        "Maps": f"{key}, Name TEXT, Revision INTEGER",
        "Npcs": f"{key}, Name TEXT",
    }
    if not era.typed:
        tables["PlayerSwitches"] = f"{key}, Name TEXT"
    return tables


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
        return (era.guid(own), name, f"{name.lower()}.png", kind, stackable, slots, 0, given, percent, *caps)

    variables = [(KILLS, "Kills", 2), (TITLE, "Title", 3), (DONE, "Tutorial done", 1), (RATIO, "Luck", 4)]
    rows: dict[str, list[Row]] = {
        "Items": [
            item(COIN, "Coin", 3, 0, 0, "[0,0]", "[0,0]"),
            item(SWORD, "Sword", 1, 1, 0, "[5,0]", "[0,0]"),
            item(HELMET, "Helmet", 1, 0, 0, "[10,2]", "[10,0]"),
            item(SACK, "Sack", 6, 1, 8, "[0,0]", "[0,0]"),
            item(HERB, "Herb", 2, 1, 0, "[0,0]", "[0,0]"),
        ],
        "Spells": [(era.guid(STRIKE), "Strike"), (era.guid(HEAL), "Heal")],
        "Classes": [
            (era.guid(WARRIOR), "Warrior", "[100,20]", "[10,2]", 0, 100, 50, '{"3":777}'),
            (era.guid(MAGE), "Mage", "[50,80]", "[5,10]", 1, 100, 25, None),
        ],
        "Maps": [(era.guid(MEADOW), "Meadow", 3)],
        "ServerVariables": [(era.guid(guid("server variable", 0)), "Rate")],
        "Npcs": [(era.guid(guid("npc", number)), f"Rat {number}") for number in range(3)],
    }
    if era.typed:
        rows["PlayerVariables"] = [(era.guid(own), name, kind) for own, name, kind in variables]
    else:
        rows["PlayerVariables"] = [(era.guid(KILLS), "Kills")]
        rows["PlayerSwitches"] = [(era.guid(DONE), "Tutorial done")]
    return rows


def accounts(era: Era, count: int) -> Iterator[Row]:
    for number in range(count):
        salt = hashlib.sha256(f"salt {number}".encode()).hexdigest().upper()
        power = compact(POWER if number else ADMIN)
        plain = (era.guid(guid("user", number)), f"Hero{number}", f"hero{number}@example.test", salt)
        dated = (f"2021-03-{number % 28 + 1:02} 10:20:30.1234567", "127.0.0.1", 60) if era.dated else ()
        yield (*plain, hash_password(password(number), salt), power, None, *dated)


def characters(era: Era, count: int) -> Iterator[Row]:
    for number in range(count):
        kind = (WARRIOR, MAGE)[number % 2]
        looks = (number % 50, number % 40, 0, number % 4, f"hero{number % 7}.png", "")
        state = (1 + number % 60, number * 7, era.guid(kind), number % 2, number % 5)
        lists = (f"[{50 + number % 50},{20 + number % 10}]", "[10,11,12,13,14]", "[1,2,3,4,5]", "[-1,-1,0,-1,-1]")
        dated = (f"2021-04-{number % 28 + 1:02} 08:00:00", 3600 + number) if era.dated else ()
        owner = (era.guid(guid("player", number)), era.guid(guid("user", number)), f"Knight{number}")
        yield (*owner, era.guid(MEADOW), *looks, *state, *lists, f"2022-05-{number % 28 + 1:02} 21:00:00", *dated)


def slots(era: Era, kind: str, players: range, size: int, filled: int) -> Iterator[Row]:
    """Yield all item slots of a player as rows: the first ones are filled, the first inventory item is a sword."""
    usual, sword = era.buffs(NO_BUFFS), era.buffs([3, 0, -1, 0, 0])
    coin, blade, herb, nothing = (era.guid(each) for each in (COIN, SWORD, HERB, ZERO))
    for number in players:
        owner = era.guid(guid("player", number))
        dice = random.Random(f"{kind} {number}")
        for slot in range(size):
            own = era.guid(uuid.UUID(int=dice.getrandbits(128)))
            if slot >= filled:
                yield own, owner, slot, None, nothing, 0, usual
            elif slot == 0:
                yield own, owner, slot, None, blade, 1, sword
            else:
                yield own, owner, slot, None, (coin, herb)[slot % 2], 1 + (number + slot) % 1000, usual


def spells(era: Era, players: range) -> Iterator[Row]:
    for number in players:
        for slot in range(3):
            spell = (STRIKE, HEAL, ZERO)[slot]
            yield (
                era.guid(guid("known spell", number * 3 + slot)),
                era.guid(guid("player", number)),
                slot,
                era.guid(spell),
            )


def variables(era: Era, players: range) -> Iterator[Row]:
    for number in players:
        own, owner = era.guid(guid("kills", number)), era.guid(guid("player", number))
        yield own, owner, era.guid(KILLS), compact({"Type": 2, "Value": number * 3}) if era.typed else number * 3
        if era.typed:
            yield era.guid(guid("done", number)), owner, era.guid(DONE), compact({"Type": 1, "Value": number % 2 == 0})


def switches(era: Era, players: range) -> Iterator[Row]:
    for number in players:
        yield era.guid(guid("done", number)), era.guid(guid("player", number)), era.guid(DONE), int(number % 2 == 0)


# --- writing the database files ------------------------------------------------------------------------------------

Execute = Callable[[str, Sequence[Row]], object]


def fill(db: apsw.Connection, table: str, rows: Iterator[Row] | Sequence[Row]) -> None:
    for row in rows:
        db.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(row))})", row)  # noqa: S608 - names from here


def fill_quickly(db: apsw.Connection, table: str, width: int, rows: Iterator[Row]) -> None:
    db.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * width)})", rows)  # noqa: S608 - names from here


def bags(era: Era, players: range) -> Mapping[str, list[Row]]:
    """Give every fourth player a bag in the bank that contains another bag."""
    rows: dict[str, list[Row]] = {"Bags": [], "Bag_Items": [], "bank": []}
    usual = era.buffs(NO_BUFFS)
    for number in players:
        if number % 4:
            continue
        outer, inner = guid("bag", 2 * number), guid("bag", 2 * number + 1)
        rows["Bags"] += [(era.guid(outer), 8), (era.guid(inner), 8)]
        held = [
            (outer, 0, HERB, 5, None),
            (outer, 3, SACK, 1, inner),
            (inner, 7, COIN, 9, None),
            (inner, 1, ZERO, 0, None),
        ]
        for place, (bag, slot, item, quantity, contents) in enumerate(held):
            own = era.guid(guid("bag slot", 4 * number + place))
            things = (slot, era.guid(contents), era.guid(item), quantity, usual)
            rows["Bag_Items"].append((own, era.guid(bag), *things))
        owner = era.guid(guid("player", number))
        rows["bank"].append((era.guid(guid("sack", number)), owner, 99, era.guid(outer), era.guid(SACK), 1, usual))
    return rows


def moderation(era: Era) -> Mapping[str, list[Row]]:
    def row(kind: str, number: int, ends: str) -> Row:
        who, when = era.guid(guid("user", number)), "2024-01-02 03:04:05"
        return (era.guid(guid(kind, number)), who, "10.0.0.1", when, ends, f"{kind} for a reason", "Hero0")

    return {
        "Bans": [row("ban", 1, "9999-12-31 23:59:59.9999999"), row("ban", 2, "2024-02-01 00:00:00")],
        "Mutes": [row("mute", 1, "2099-01-01 00:00:00")],
    }


def create(path: Path, tables: Mapping[str, str], era: Era) -> apsw.Connection:
    db = apsw.Connection(str(path))
    db.pragma("synchronous", "OFF")
    db.pragma("journal_mode", "OFF")
    db.execute("BEGIN")
    db.execute("CREATE TABLE __EFMigrationsHistory (MigrationId TEXT PRIMARY KEY, ProductVersion TEXT)")
    db.execute("INSERT INTO __EFMigrationsHistory VALUES (?, '2.1')", (era.migration,))
    for name, columns in tables.items():
        db.execute(f"CREATE TABLE {name} ({columns})")
    return db


def make(folder: Path, era_name: str, players: int, filled: int = 3, size: int = INVENTORY) -> tuple[Path, Path]:
    """Write playerdata.db and gamedata.db with `players` accounts, each with a player with `filled` of `size` slots."""
    era, everybody = BY_NAME[era_name], range(players)
    game = create(folder / "gamedata.db", game_tables(era), era)
    for table, rows in game_rows(era).items():
        fill(game, table, rows)
    game.execute("COMMIT")
    game.close()
    db = create(folder / "playerdata.db", player_tables(era), era)
    fill(db, "Users", accounts(era, players))
    fill(db, f"{era.owner}s", characters(era, players))
    for kind in ("Items", "Bank"):
        taken = filled if kind == "Items" else min(filled, 2)
        rows = slots(era, kind, everybody, size if kind == "Items" else taken, taken)
        fill_quickly(db, f"{era.owner}_{kind}", 7, rows)
    held = bags(era, everybody)
    fill(db, "Bags", held["Bags"])
    fill(db, "Bag_Items", held["Bag_Items"])
    fill(db, f"{era.owner}_Bank", held["bank"])
    fill(db, f"{era.owner}_Spells", spells(era, everybody))
    fill(db, f"{era.owner}_Variables", variables(era, everybody))
    if not era.typed:
        fill(db, f"{era.owner}_Switches", switches(era, everybody))
    for table, rows in moderation(era).items():
        fill(db, table, rows[: max(0, players - 1)])
    for table, column in player_indexes(era):
        db.execute(f"CREATE INDEX IX_{table}_{column} ON {table} ({column})")
    db.execute("COMMIT")
    db.close()
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
