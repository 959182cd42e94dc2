"""Convert Intersect's game data to the catalogue, and to the values that players' vitals depend on."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import cast

from gamekeeper.game.lookup import ZERO_GUID
from gamekeeper.game.values import BOOLEAN, INTEGER, NUMBER, STRING
from gamekeeper.intersect import details, values
from gamekeeper.intersect.report import ReportEntry
from gamekeeper.intersect.source import Row
from gamekeeper.intersect.vitals import NONE, VITAL_COUNT, ClassGrowth, ItemBonus
from gamekeeper.store.catalogue import CatalogueEntry, CatalogueItem, CatalogueVariable, NamedEntry

EQUIPMENT, CURRENCY, BAG = 1, 3, 6  # values of Intersect's enum ItemType
TYPES = {1: BOOLEAN, 2: INTEGER, 3: STRING, 4: NUMBER}  # Intersect's numbers for the data types of variables
_LEVEL = re.compile(r"[0-9]{1,10}", re.ASCII)
KINDS = {
    "items": "items",
    "known_spells": "spells",
    "known_variables": "variables",
    "known_switches": "variables",
    "classes": "classes",
    "maps": "maps",
}  # Gamekeeper's name of an Intersect table → kind of the catalogue entries made from its rows


@dataclass(slots=True)
class GameData:
    """Game data of an Intersect server in memory, used while players are converted."""

    entries: dict[str, dict[str, CatalogueEntry]] = field(
        default_factory=dict[str, dict[str, CatalogueEntry]]
    )  # Gamekeeper's name of an Intersect table → id → catalogue entry
    classes: dict[str, ClassGrowth] = field(default_factory=dict[str, ClassGrowth])
    # item id → what the item adds while it is equipped
    bonuses: dict[str, ItemBonus] = field(default_factory=dict[str, ItemBonus])
    report_entries: list[ReportEntry] = field(default_factory=list[ReportEntry])

    def list_ids(self, *nouns: str) -> set[str]:
        return {each for noun in nouns for each in self.entries.get(noun, {})}

    def list_variable_types(self) -> dict[str, str]:
        """Return the types of all variables in the game data, by id."""
        found = (self.entries.get(noun, {}).values() for noun in ("known_variables", "known_switches"))
        return {entry.id: entry.type for entries in found for entry in entries if isinstance(entry, CatalogueVariable)}

    def add(self, noun: str, table: str, rows: Iterable[Row], columns: Sequence[str | None] = ()) -> None:
        entries = self.entries.setdefault(noun, {})
        for row in rows:
            if row[0] is None or row[0] == ZERO_GUID or row[0] in entries:
                self.report_entries.append(ReportEntry(table, row[0] or "", "its id is not a guid, or is a duplicate"))
                continue
            entry = self._read_entry(noun, row)
            if columns:
                try:
                    entry = entry._replace(details=details.encode_details(noun, columns, row))
                except details.TooLargeError:
                    self.report_entries.append(ReportEntry(table, row[0], details.TOO_LARGE, taken=True))
            entries[row[0]] = entry
            self.report_entries += [
                ReportEntry(table, row[0], reason, taken=True) for reason in _describe_changes(row, entry)
            ]

    def _read_entry(self, noun: str, row: Row) -> CatalogueEntry:
        if noun == "items":
            self._read_bonus(row)
            return read_item(row)
        if noun == "classes":
            self.classes[row[0]] = read_class(row)
        if noun in ("known_variables", "known_switches"):
            return read_variable(row, INTEGER if noun == "known_variables" else BOOLEAN)
        return NamedEntry(row[0], values.clean_text(row[1]))

    def _read_bonus(self, row: Row) -> None:
        given, percent = (values.parse_numbers(each, VITAL_COUNT) or NONE for each in row[7:9])
        if any(given) or any(percent):
            self.bonuses[row[0]] = ItemBonus(given, percent)


def _describe_changes(row: Row, entry: CatalogueEntry) -> Iterator[str]:
    """Yield how a catalogue entry differs from its row in the Intersect database."""
    if values.has_replacement(row):
        yield values.NOT_UTF8
    if isinstance(entry, CatalogueItem) and entry.bag_slots == values.MAX_SLOTS != row[5]:
        yield f"its SlotCount is {row[5]}: changed to {entry.bag_slots}"


def read_item(row: Row) -> CatalogueItem:
    """Convert an item of Intersect's game data. Currency is always stackable; equipment and bags never are."""
    own_id, name, kind, stackable, icon, slots, most = row[:7]
    stacks = (kind == CURRENCY or values.parse_flag(stackable)) and kind not in (EQUIPMENT, BAG)
    cap = values.parse_number(most, 1) if stacks else None
    size = values.clamp_bag_size(slots) if kind == BAG else 0
    return CatalogueItem(own_id, values.clean_text(name), stacks, cap, size, values.clean_text(icon) or None)


def read_variable(row: Row, usual: str) -> CatalogueVariable:
    """Convert a variable of Intersect's game data.

    Old versions of Intersect have no type column: the table determines the type (`usual`).
    """
    own_id, name, *said = row
    return CatalogueVariable(own_id, values.clean_text(name), TYPES.get(said[0], usual) if said else usual)


def read_class(row: Row) -> ClassGrowth:
    _, _, base, increase, by_percent, first_exp, exp_increase, overrides = row[:8]
    return ClassGrowth(
        values.parse_numbers(base, VITAL_COUNT) or NONE,
        values.parse_numbers(increase, VITAL_COUNT) or NONE,
        values.parse_flag(by_percent),
        values.parse_number(first_exp, 0, values.MAX_LONG) or 0,
        values.parse_number(exp_increase, 0) or 0,
        _read_overrides(overrides),
    )


def _read_overrides(raw: object) -> dict[int, int]:
    found = values.decode_json(raw)
    if not isinstance(found, dict):
        return {}
    pairs = (
        (level, values.parse_number(exp, 0, values.MAX_LONG)) for level, exp in cast("dict[str, object]", found).items()
    )
    return {int(level): exp for level, exp in pairs if _LEVEL.fullmatch(level) and exp is not None}
