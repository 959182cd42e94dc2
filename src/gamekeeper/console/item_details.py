"""What an item is, in words: the further fields that games publish for items, with labels instead of their names.

A field without a label, and a number that stands for no known word, are listed as the game published them.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple, cast

import msgspec

from gamekeeper.console.catalogue import DetailField, list_details
from gamekeeper.console.change_fields import PARTS
from gamekeeper.console.formats import format_number, format_rounded, format_signed
from gamekeeper.console.texts import PerLanguage, gettext, pgettext
from gamekeeper.game import equipment

DESCRIPTION, RARITY = "Description", "Rarity"
WORDS = PerLanguage[Mapping[str, Mapping[int, str]]](
    lambda: {  # fields whose numbers stand for words, with the numbers of the Intersect engine
        equipment.TYPE: {
            0: pgettext("type of items", "Other"),
            equipment.EQUIPMENT: gettext("Equipment"),
            2: pgettext("type of items", "Consumable"),
            3: pgettext("type of items", "Currency"),
            4: gettext("Spell"),
            5: gettext("Event"),
            6: gettext("Bag"),
        },
        equipment.DETAIL: dict(enumerate(PARTS()["equipment"])),
        RARITY: {
            0: pgettext("rarity", "None"),
            1: pgettext("rarity", "Common"),
            2: pgettext("rarity", "Uncommon"),
            3: pgettext("rarity", "Rare"),
            4: pgettext("rarity", "Epic"),
            5: pgettext("rarity", "Legendary"),
        },
    }
)
LABELS = PerLanguage[Mapping[str, str]](
    lambda: {  # in the order of the page
        equipment.TYPE: gettext("Type"),
        equipment.DETAIL: gettext("Equipment place"),
        RARITY: gettext("Rarity"),
        "Price": gettext("Price"),
        "Damage": gettext("Damage"),
        "VitalsGiven": gettext("Effect on health and mana"),
        "StatsGiven": gettext("Effect on stats"),
        "TwoHanded": gettext("Needs both hands"),
        "CanDrop": gettext("Can be dropped"),
        "CanTrade": gettext("Can be traded"),
        "CanSell": gettext("Can be sold"),
        "CanBank": gettext("Can be put into a bank"),
        "CanGuildBank": gettext("Can be put into a guild's bank"),
        "CanBag": gettext("Can be put into a bag"),
    }
)
_decoder = msgspec.json.Decoder(dict[str, object])
LISTS = {"VitalsGiven": "vitals", "StatsGiven": "base_stats"}  # field with a number for each part of a player's field


class ItemDetails(NamedTuple):
    description: str
    facts: Sequence[DetailField]
    further: Sequence[DetailField]


def describe(details: str | None) -> ItemDetails:
    """Describe an item by the further fields of its catalogue entry."""
    fields = _decoder.decode(details) if details else {}
    listed = {each.name: each for each in list_details(details)}
    description = listed.pop(DESCRIPTION).value if isinstance(fields.get(DESCRIPTION), str) else ""
    facts: list[DetailField] = []
    for name, label in LABELS().items():
        if name in fields and (text := _describe_value(name, fields)):
            facts.append(DetailField(label, text))
            del listed[name]
    return ItemDetails(description, facts, list(listed.values()))


def _describe_value(name: str, fields: Mapping[str, object]) -> str:
    """Return the value of a field as text; empty if it means nothing that is known."""
    value = fields[name]
    if name == equipment.DETAIL and fields.get(equipment.TYPE) != equipment.EQUIPMENT:
        return ""  # the engine has place 0 for items of any type
    if isinstance(value, bool):
        return gettext("yes") if value else gettext("no")
    if name in WORDS():
        return WORDS()[name].get(value, "") if isinstance(value, int) else ""
    if name in LISTS:
        return _describe_parts(value, PARTS()[LISTS[name]])
    if isinstance(value, int):  # of any size: as a float it would be rounded, or too large
        return format_number(value)
    return format_rounded(value) if isinstance(value, float) else ""


def _describe_parts(values: object, labels: tuple[str, ...]) -> str:
    if not isinstance(values, list):
        return ""
    numbers = cast("list[object]", values)
    if len(numbers) > len(labels) or not all(isinstance(each, int) for each in numbers):
        return ""
    pairs = zip(labels, cast("list[int]", numbers), strict=False)
    return ", ".join(f"{label} {format_signed(each)}" for label, each in pairs if each)
