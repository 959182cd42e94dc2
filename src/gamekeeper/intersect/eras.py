"""Which era of Intersect a database is of: what its tables and columns are called there."""

from collections.abc import Mapping
from typing import NamedTuple

Tables = Mapping[str, list[str]]  # those of a database, with their columns
NET7 = "20230930000000_Net7Upgrade"


class BadSource(Exception):
    """What there is cannot be imported; the message says what to do."""


class Want(NamedTuple):
    """A table as an import needs it; `|` stands between names that one thing had in different eras."""

    names: str
    key: str  # the column that says whose a row is
    needed: str
    more: str = ""  # not there in every era
    blank: str = ""  # the column that is all zeros in an empty slot
    may_miss: bool = False


class Table(NamedTuple):
    name: str
    key: str
    columns: tuple[str | None, ...]  # the needed ones, then the others; None: not there
    blank: str | None


OWNER = "PlayerId|CharacterId"
SLOT = "Id Slot ItemId Quantity BagId StatBuffs|ItemProperties"
PLAYERS: Mapping[str, Want] = {
    "users": Want("Users", "Id", "Name Email Salt Password Power", "RegistrationDate"),
    "bans": Want("Bans", "PlayerId|UserId", "Id StartTime EndTime Reason Banner"),
    "mutes": Want("Mutes", "PlayerId|UserId", "Id StartTime EndTime Reason Muter"),
    "players": Want(
        "Players|Characters",
        "Id",
        "UserId|AccountId Name MapId X Y Z Dir Sprite Face Level Exp ClassId Gender StatPoints Vitals BaseStats "
        "StatPointAllocations Equipment",
        "LastOnline CreationDate PlayTimeSeconds",
    ),
    "inventory": Want("Player_Items|Character_Items", OWNER, SLOT, blank="ItemId"),
    "bank": Want("Player_Bank|Character_Bank", OWNER, SLOT, blank="ItemId"),
    "spells": Want("Player_Spells|Character_Spells", OWNER, "Id Slot SpellId", blank="SpellId"),
    "variables": Want("Player_Variables|Character_Variables", OWNER, "Id VariableId Value"),
    "switches": Want("Player_Switches|Character_Switches", OWNER, "Id SwitchId Value", may_miss=True),
    "bags": Want("Bags", "Id", "SlotCount"),
    "bag_slots": Want("Bag_Items", "ParentBagId", SLOT, blank="ItemId"),
}
GAME: Mapping[str, Want] = {
    "items": Want(
        "Items",
        "Id",
        "Name ItemType Stackable",
        "Icon|Pic SlotCount MaxInventoryStack VitalsGiven PercentageVitalsGiven",
    ),
    "known_spells": Want("Spells", "Id", "Name"),
    "known_variables": Want("PlayerVariables", "Id", "Name", "DataType|Type"),
    "known_switches": Want("PlayerSwitches", "Id", "Name", may_miss=True),
    "classes": Want(
        "Classes",
        "Id",
        "Name BaseVitals VitalIncreases IncreasePercentage",
        "BaseExp ExpIncrease ExperienceOverrides",
    ),
    "maps": Want("Maps", "Id", "Name", may_miss=True),
}
OTHERS = {"player": ("Items", "Classes"), "game": ("Users", "Bags")}  # what the other file would have


def layout(name: str, role: str, wanted: Mapping[str, Want], there: Tables) -> dict[str, Table]:
    """The tables by our names for them."""
    known = {each.lower(): each for each in there}
    first = next(iter(wanted.values()))
    if not _first(first.names, known) and all(other.lower() in known for other in OTHERS[role]):
        raise BadSource(f"{name} is not the {role}data. Have --players and --game been swapped?")
    if not any(_first(want.names, known) for want in wanted.values()):
        raise BadSource(f"{name} is no {role}data of Intersect: it has none of its tables. Is it the right one?")
    found = {noun: _table(name, want, known, there) for noun, want in wanted.items()}
    return {noun: table for noun, table in found.items() if table}


def era(there: Tables, migrations: set[str]) -> str:
    """For people to read: what differs is looked up in the tables themselves."""
    columns = {table.lower(): {each.lower() for each in names} for table, names in there.items()}
    if "characters" in columns:
        return "0.6, before March 2019"
    if NET7 in migrations:
        return "0.8"
    if "itemproperties" in columns["player_items"]:
        return "0.7.1"
    return "0.7.0" if "registrationdate" in columns["users"] else "0.6"


def _table(name: str, want: Want, known: Mapping[str, str], there: Tables) -> Table | None:
    table = _first(want.names, known)
    if table is None:
        if want.may_miss:
            return None
        raise BadSource(f"{name} has no table {_either(want.names)}. Is it whole, and Intersect's?")
    columns = {each.lower(): each for each in there[table]}
    names = [_needed(name, table, each, columns) for each in f"{want.key} {want.needed}".split()]
    more = [_first(each, columns) for each in want.more.split()]
    return Table(table, names[0], (*names[1:], *more), _first(want.blank, columns))


def _needed(name: str, table: str, names: str, columns: Mapping[str, str]) -> str:
    found = _first(names, columns)
    if found is None:
        raise BadSource(
            f"{name} has no column {_either(names)} in {table}, so it is of no era of Intersect that is known here "
            "(0.6 to 0.8). Start the game's own server on it once: that brings it up to date."
        )
    return found


def _first(names: str, known: Mapping[str, str]) -> str | None:
    return next((known[each.lower()] for each in names.split("|") if each.lower() in known), None)


def _either(names: str) -> str:
    return names.replace("|", " or ")
