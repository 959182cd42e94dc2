"""Convert Intersect's game data to the catalogue with its details, and to the values that players' vitals depend on.

Maximum health and mana, and experience to the next level, are computed: Intersect does not store them.
"""

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import Any, NamedTuple, TypeVar

import msgspec

from gamekeeper.game.core.lookup import ZERO_GUID
from gamekeeper.game.core.values import BOOLEAN, INTEGER, NUMBER, STRING
from gamekeeper.intersect import values
from gamekeeper.intersect.data import BAD_ID, Report
from gamekeeper.intersect.sources import Row, has_id
from gamekeeper.intersect.values import FIELDS, OWN, Field
from gamekeeper.store.world.catalogue import CatalogueEntry, CatalogueItem, CatalogueVariable, NamedEntry

E = TypeVar("E", bound=CatalogueEntry)
VITAL_COUNT = 2
UNKNOWN_CLASS_VITAL = 20  # health and mana of players whose class was deleted
MIN_VITALS = (1, 0)
NONE = (0, 0)


class ClassGrowth(NamedTuple):
    base: tuple[int, ...] = NONE
    increase: tuple[int, ...] = NONE
    by_percent: bool = False
    first_exp: int = 0
    exp_increase: int = 0  # growth of the experience needed, in percent per level
    overrides: Mapping[int, int] = {}

    def compute_vital(self, which: int, level: int) -> int:
        base, increase = self.base[which], self.increase[which]
        if self.by_percent:
            return _grow(base, increase, level)
        return base + increase * (level - 1)

    def compute_exp_to_next(self, level: int) -> int:
        """Return the experience needed from this level to the next."""
        if level in self.overrides:
            return self.overrides[level]
        return _grow(self.first_exp, self.exp_increase, level)


def _grow(base: int, percent: int, level: int) -> int:
    """Grow `base` by `percent` per level after the first, limited to 64 bits."""
    try:
        grown = int(base * (1 + percent / 100) ** (level - 1))
    except OverflowError:
        grown = values.MAX_LONG * base
    return max(-values.MAX_LONG, min(grown, values.MAX_LONG))


class ItemBonus(NamedTuple):
    """Health and mana that an equipped item adds."""

    given: tuple[int, ...] = NONE
    percent: tuple[int, ...] = NONE


class Vitals:
    def __init__(self, classes: Mapping[str, ClassGrowth], items: Mapping[str, ItemBonus], max_level: int) -> None:
        self._classes = classes
        self._items = items
        self._max_level = max_level
        self._bare = lru_cache(maxsize=65_536)(self._compute_base)

    def compute_max(self, class_id: str, level: int, worn: Iterable[str]) -> tuple[int, ...]:
        base = self._bare(class_id, level)
        bonus = [0] * VITAL_COUNT
        for item in worn:
            given, percent = self._items.get(item, ItemBonus())
            for which in range(VITAL_COUNT):
                bonus[which] += given[which] + int(percent[which] * base[which] / 100)
        return tuple(
            min(max(base[which] + bonus[which], MIN_VITALS[which]), values.MAX_INT) for which in range(VITAL_COUNT)
        )

    def compute_exp_to_next(self, class_id: str, level: int) -> int:
        known = self._classes.get(class_id)
        if level >= self._max_level:
            return -1
        return known.compute_exp_to_next(level) if known else 0

    def _compute_base(self, class_id: str, level: int) -> tuple[int, ...]:
        known = self._classes.get(class_id)
        if known is None:
            return (UNKNOWN_CLASS_VITAL,) * VITAL_COUNT
        return tuple(known.compute_vital(which, level) for which in range(VITAL_COUNT))


MAX_BYTES = 65_536  # size of the details of one entry, the same as for entries that a game publishes
TOO_LARGE = "its further fields are too large: imported without them"


def add_details(report: Report, noun: str, columns: Sequence[str | None], row: Row, entry: E) -> E:
    """Add all fields of a row to the entry that is made from it."""
    details = encode_details(noun, columns, row)
    if details and len(details.encode()) > MAX_BYTES:
        details = None
        report.note(noun, row[0], TOO_LARGE)
    if values.has_replacement(row):
        report.note(noun, row[0], values.NOT_UTF8)
    return entry._replace(details=details)


def encode_details(noun: str, columns: Sequence[str | None], row: Row) -> str | None:
    """Encode the fields of a row as a JSON object; None if there are none."""
    fields: dict[str, Any] = {}
    for column, raw in zip(columns, row[1:], strict=True):
        if column is None:
            continue
        known = FIELDS[noun].get(column)
        if known:
            _add_field(fields, known, raw)
        elif not isinstance(raw, bytes):  # a column of somebody's own version of the engine: its type is unknown
            fields[column] = values.clean_text(raw) if isinstance(raw, str) else raw
    if noun == "items":
        _tell_droppable(fields)
    return msgspec.json.encode(fields).decode() if fields else None


def _add_field(fields: dict[str, Any], known: Field, raw: object) -> None:
    if known.kind == OWN:
        return
    *outer, name = known.path
    for each in outer:
        fields = fields.setdefault(each, {})
    fields[name] = READERS[known.kind](raw)


def _tell_droppable(fields: dict[str, Any]) -> None:
    """Set CanDrop. The column Bound has held it since CanTrade exists; before that it meant the opposite."""
    if "Bound" in fields:
        bound = fields["Bound"] if "CanTrade" not in fields else not fields["Bound"]
        fields |= {"Bound": bound, "CanDrop": not bound}


# --- readers of one value: what the engine cannot have stored becomes the value of a new object ---------------------


def _read_integer(raw: object) -> int:
    return int(_read_number(raw)) if isinstance(raw, float) else raw if values.is_integer(raw) else 0


def _read_number(raw: object) -> float:
    return float(raw) if isinstance(raw, int | float) and math.isfinite(raw) else 0.0


def _read_integers(raw: object, count: int) -> list[int]:
    found = [_read_integer(each) for each in (values.decode_list(raw) or [])[:count]]
    return found + [0] * (count - len(found))


# types of fields.toml
READERS: Mapping[str, Callable[[object], object]] = {
    "flag": values.parse_flag,
    "integer": _read_integer,  # also enumerations, which the engine sends as numbers
    "number": _read_number,
    "text": lambda raw: None if raw is None else values.clean_text(raw),
    "guid": lambda raw: values.parse_guid(raw) or ZERO_GUID,
    "colour": lambda raw: values.decode_object(raw) or {"A": 255, "R": 255, "G": 255, "B": 255},
    "list": lambda raw: values.decode_list(raw) or [],  # JSON in the database, as are the types below
    "object": lambda raw: values.decode_object(raw) or {},
    "vitals": partial(_read_integers, count=VITAL_COUNT),
    "stats": partial(_read_integers, count=values.STAT_COUNT),
    "conditions": lambda raw: {"Lists": values.clean_text(raw) or "[]"},  # JSON as text in an object, as it is sent
}


EQUIPMENT, CURRENCY, BAG = 1, 3, 6  # values of Intersect's enum ItemType
TYPES = {1: BOOLEAN, 2: INTEGER, 3: STRING, 4: NUMBER}  # Intersect's numbers for the data types of variables
_LEVEL = re.compile(r"[0-9]{1,10}", re.ASCII)


@dataclass(slots=True)
class GameData:
    """Game data of an Intersect server in memory, used while players are converted."""

    report: Report
    entries: dict[str, dict[str, CatalogueEntry]] = field(
        default_factory=dict[str, dict[str, CatalogueEntry]]
    )  # Gamekeeper's name of an Intersect table → id → catalogue entry
    classes: dict[str, ClassGrowth] = field(default_factory=dict[str, ClassGrowth])
    # item id → what the item adds while it is equipped
    bonuses: dict[str, ItemBonus] = field(default_factory=dict[str, ItemBonus])

    def list_ids(self, *nouns: str) -> set[str]:
        return {each for noun in nouns for each in self.entries.get(noun, {})}

    def list_variable_types(self) -> dict[str, str]:
        """Return the types of all variables in the game data, by id."""
        found = (self.entries.get(noun, {}).values() for noun in ("known_variables", "known_switches"))
        return {entry.id: entry.type for entries in found for entry in entries if isinstance(entry, CatalogueVariable)}

    def add(self, noun: str, rows: Iterable[Row], columns: Sequence[str | None]) -> None:
        entries = self.entries.setdefault(noun, {})
        for row in rows:
            if not has_id(row) or row[0] in entries:
                self.report.skip(noun, row[0] or "", BAD_ID)
                continue
            entry = entries[row[0]] = add_details(self.report, noun, columns, row, self._read_entry(noun, row))
            if isinstance(entry, CatalogueItem) and entry.bag_slots == values.MAX_SLOTS != row[5]:
                self.report.note(noun, row[0], f"its SlotCount is {row[5]}: changed to {entry.bag_slots}")

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
    found = values.decode_object(raw) or {}
    pairs = ((level, values.parse_number(exp, 0, values.MAX_LONG)) for level, exp in found.items())
    return {int(level): exp for level, exp in pairs if _LEVEL.fullmatch(level) and exp is not None}
