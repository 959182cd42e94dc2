"""Convert columns of Intersect's game data to the fields that the engine sends: details of catalogue entries."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

import msgspec

from gamekeeper.intersect import values
from gamekeeper.intersect.source import Row

MAX_BYTES = 65_536  # size of the details of one entry, the same as for entries that a game publishes
TOO_LARGE = "its further fields are too large: imported without them"
# columns that Gamekeeper sends itself
OWN_FIELDS = frozenset(
    {"id", "name", "icon", "pic", "stackable", "maxstack", "maxinventorystack", "maxbankstack", "slotcount", "bagslots"}
)
VARIABLE_FIELDS = OWN_FIELDS | {"type", "datatype", "value"}
# columns whose name is not that of the field, by table
RENAMED: Mapping[str, Mapping[str, str]] = {
    "items": {
        "Animation": "AnimationId",
        "AttackAnimation": "AttackAnimationId",
        "EquipmentAnimation": "EquipmentAnimationId",
        "Spell": "SpellId",
        "Event": "EventId",
        "Projectile": "ProjectileId",
        "DestroySpell": "SingleUse",
    },
    "known_spells": {"CastRequirements": "CastingRequirements"},
    "classes": {
        "BaseStats": "BaseStat",
        "BaseVitals": "BaseVital",
        "StatIncreases": "StatIncrease",
        "VitalIncreases": "VitalIncrease",
        "SpawnMap": "SpawnMapId",
    },
    "maps": {"NpcSpawns": "Spawns", "WeatherAnimation": "WeatherAnimationId", "Events": "EventIds"},
    "all_quests": {"StartEvent": "StartEventId", "EndEvent": "EndEventId"},
    "npcs": {"OnDeathEvent": "OnDeathEventId"},
    "shops": {"DefaultCurrency": "DefaultCurrencyId"},
}
# boolean fields; SQLite stores them as 0 and 1
FLAGS = frozenset(
    {
        *("TwoHanded", "SingleUse", "QuickCast", "IgnoreGlobalCooldown", "IgnoreCooldownReduction", "Bound", "CanDrop"),
        *("CanTrade", "CanSell", "CanBank", "CanGuildBank", "CanBag", "IncreasePercentage", "Locked", "IsIndoors"),
        *("PlayerLightExpand", "Aggressive", "AttackAllies", "Swarm", "Quitable", "Repeatable", "LogAfterComplete"),
        *("LogBeforeOffer", "CommonEvent", "Global", "WalkableBefore", "WalkableAfter", "BuyingWhitelist", "SyncTime"),
        *("IgnoreMapBlocks", "IgnoreActiveResources", "IgnoreExhaustedResources", "IgnoreZDimension", "GrappleHook"),
        *("Friendly", "HoTDoT"),
    }
)
TEXTS = frozenset(
    {
        *("Folder", "Description", "TextId", "StartDescription", "BeforeDescription", "InProgressDescription"),
        "EndDescription",
    }
)


class TooLargeError(ValueError):
    """The further fields of an entry are larger than MAX_BYTES."""


def encode_details(noun: str, columns: Sequence[str | None], row: Row, own: frozenset[str] = OWN_FIELDS) -> str | None:
    """Encode the fields of a row as a JSON object; None if there are none."""
    fields: dict[str, Any] = {}
    renamed = RENAMED.get(noun, {})
    for column, raw in zip(columns, row[1:], strict=True):
        if column is None or column.lower() in own:
            continue
        name = renamed.get(column, column)
        whole, _, part = name.partition("_")
        value = _convert(part or name, raw)
        if part:
            fields.setdefault(whole, {})[part] = value
        else:
            fields[name] = value
    if noun == "items":
        _tell_droppable(fields)
    encoded = msgspec.json.encode(fields)
    if len(encoded) > MAX_BYTES:
        raise TooLargeError
    return encoded.decode() if fields else None


def _tell_droppable(fields: dict[str, Any]) -> None:
    """Set CanDrop. The column Bound has held it since CanTrade exists; before that it meant the opposite."""
    if "Bound" in fields:
        bound = fields["Bound"] if "CanTrade" not in fields else not fields["Bound"]
        fields |= {"Bound": bound, "CanDrop": not bound}


def _convert(name: str, raw: object) -> object:
    if name in FLAGS:
        return values.parse_flag(raw)
    if raw is None or isinstance(raw, int | float):
        return raw
    guid = values.parse_guid(raw)
    if guid or name in TEXTS:
        return guid or values.clean_text(raw)
    text = values.clean_text(raw)
    found = values.decode_json(text) if text[:1] in ("[", "{") else None
    if name.endswith("Requirements"):  # the engine sends its lists of requirements as text inside an object
        return found if _has_lists(found) else {"Lists": text}
    return text if found is None else found


def _has_lists(found: object) -> bool:
    return isinstance(found, dict) and isinstance(cast("dict[str, object]", found).get("Lists"), str)
