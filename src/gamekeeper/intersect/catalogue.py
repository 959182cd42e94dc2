"""Gamedata as our catalogue, and what of it is needed to compute a character's record."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import cast

from gamekeeper.game.lookup import ZERO_GUID
from gamekeeper.game.rows import BOOLEAN, INTEGER
from gamekeeper.intersect import values
from gamekeeper.intersect.report import Line
from gamekeeper.intersect.source import Row
from gamekeeper.intersect.vitals import NONE, VITALS, Class, Worn
from gamekeeper.store.catalogue import CatalogueEntry, CatalogueItem, CatalogueVariable, NamedEntry

EQUIPMENT, CURRENCY, BAG = 1, 3, 6  # Intersect's types of items
TYPES = {1: BOOLEAN, 2: INTEGER, 3: "String", 4: "Number"}  # of variables
NOT_KEPT = "a variable of text or of fractions, which Gamekeeper does not keep"
_LEVEL = re.compile(r"[0-9]{1,10}", re.ASCII)
KINDS = {
    "items": "items",
    "known_spells": "spells",
    "known_variables": "variables",
    "known_switches": "variables",
    "classes": "classes",
    "maps": "maps",
}  # a table, by our name for it, and the kind of entry that its rows are


@dataclass(slots=True)
class Game:
    """What the catalogue has, while characters are read."""

    entries: dict[str, dict[str, CatalogueEntry]] = field(
        default_factory=dict[str, dict[str, CatalogueEntry]]
    )  # by table, by id
    classes: dict[str, Class] = field(default_factory=dict[str, Class])
    worn: dict[str, Worn] = field(default_factory=dict[str, Worn])  # what gives health or mana
    lines: list[Line] = field(default_factory=list[Line])  # rows that are no entry, or not as they were

    def ids(self, *nouns: str) -> set[str]:
        return {each for noun in nouns for each in self.entries.get(noun, {})}

    def types(self) -> dict[str, str]:
        """Of variables."""
        found = (self.entries.get(noun, {}).values() for noun in ("known_variables", "known_switches"))
        return {entry.id: entry.type for entries in found for entry in entries if isinstance(entry, CatalogueVariable)}

    def add(self, noun: str, table: str, rows: Iterable[Row]) -> None:
        entries = self.entries.setdefault(noun, {})
        for row in rows:
            if row[0] is None or row[0] == ZERO_GUID or row[0] in entries:
                self.lines.append(Line(table, row[0] or "", "its id is no guid, or another's"))
                continue
            entry = self._entry(noun, row)
            if entry:
                entries[row[0]] = entry
                self.lines += [Line(table, row[0], reason, taken=True) for reason in _odd(row, entry)]
            else:
                self.lines.append(Line(table, row[0], NOT_KEPT))

    def _entry(self, noun: str, row: Row) -> CatalogueEntry | None:
        if noun == "items":
            self._wear(row)
            return item(row)
        if noun == "classes":
            self.classes[row[0]] = class_of(row)
        if noun in ("known_variables", "known_switches"):
            return variable(row, INTEGER if noun == "known_variables" else BOOLEAN)
        return NamedEntry(row[0], values.text(row[1]))

    def _wear(self, row: Row) -> None:
        given, percent = (values.numbers(each, VITALS) or NONE for each in row[7:9])
        if any(given) or any(percent):
            self.worn[row[0]] = Worn(given, percent)


def _odd(row: Row, entry: CatalogueEntry) -> Iterator[str]:
    """In what it is not as it was."""
    if values.replaced(row):
        yield values.NOT_UTF8
    if isinstance(entry, CatalogueItem) and entry.bag_slots == values.MOST_SLOTS != row[5]:
        yield f"its SlotCount is {row[5]}: {entry.bag_slots} now"


def item(row: Row) -> CatalogueItem:
    """Currency is stackable whatever its flag says; what is worn or is a bag never is."""
    own_id, name, kind, stackable, icon, slots, most = row[:7]
    stacks = (kind == CURRENCY or values.flag(stackable)) and kind not in (EQUIPMENT, BAG)
    cap = values.number(most, 1) if stacks else None
    size = values.size(slots) if kind == BAG else 0
    return CatalogueItem(own_id, values.text(name), stacks, cap, size, values.text(icon) or None)


def variable(row: Row, usual: str) -> CatalogueVariable | None:
    """None: of a type that is not ours. Before there were types a table said it."""
    own_id, name, *said = row
    kind = TYPES.get(said[0], usual) if said else usual
    return CatalogueVariable(own_id, values.text(name), kind) if kind in (BOOLEAN, INTEGER) else None


def class_of(row: Row) -> Class:
    _, _, base, increase, by_percent, first_exp, exp_increase, overrides = row
    return Class(
        values.numbers(base, VITALS) or NONE,
        values.numbers(increase, VITALS) or NONE,
        values.flag(by_percent),
        values.number(first_exp, 0, values.MOST_LONG) or 0,
        values.number(exp_increase, 0) or 0,
        _levels(overrides),
    )


def _levels(raw: object) -> dict[int, int]:
    found = values.decoded(raw)
    if not isinstance(found, dict):
        return {}
    pairs = (
        (level, values.number(exp, 0, values.MOST_LONG)) for level, exp in cast("dict[str, object]", found).items()
    )
    return {int(level): exp for level, exp in pairs if _LEVEL.fullmatch(level) and exp is not None}
