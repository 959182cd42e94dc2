"""The rules of signals, with their limits. The setting `signals` changes them."""

from collections.abc import Mapping
from typing import NamedTuple

from gamekeeper.ground.settings import BadSetting, variable

SUPPLY, GAIN, GIFT, BAG, CONSERVATION, REFUSALS, SILENT = (
    *("supply", "gain", "gift", "bag", "conservation", "refusals", "silent"),
)
ON, OFF = "on", "off"
MOST_LIMIT = 10**15
# subject of the signal for all that a rule finds beyond the most open signals; no game server has an empty name
BEYOND = ""


class Rule(NamedTuple):
    about: str
    limit: int | None  # default; None: the rule has no limit, and is on or off
    least: int = 1


RULES: Mapping[str, Rule] = {
    SUPPLY: Rule("An item's supply has grown by more than this factor within an hour.", 3, 2),
    GAIN: Rule("One player got more than this many of an item within an hour.", 10_000),
    GIFT: Rule("Staff or an API key gave more than this many of an item at once.", 10_000),
    BAG: Rule("A game server reports a bag that another player has.", None),
    CONSERVATION: Rule("Quantities of an item do not add up.", None),
    REFUSALS: Rule("This many times more requests than usual were refused in ten minutes.", 5, 2),
    SILENT: Rule("A game server has been silent for this many minutes.", 5),
}


class Limits(NamedTuple):
    """The limits of all rules; None: the rule is off."""

    supply: int | None
    gain: int | None
    gift: int | None
    bag: int | None  # 1: on
    conservation: int | None  # 1: on
    refusals: int | None
    silent: int | None


DEFAULTS = Limits(**{name: rule.limit or 1 for name, rule in RULES.items()})


def parse_limits(text: str) -> Limits:
    """Parse the setting `signals`, such as `gain=50000, silent=off`. Rules that it does not name keep their default."""
    found: dict[str, int | None] = {}
    for each in filter(None, (part.strip() for part in text.split(","))):
        name, _, value = (part.strip().lower() for part in each.partition("="))
        if name not in RULES:
            raise BadSetting(f"{variable('signals')} has '{each}'; the rules are {', '.join(RULES)}.")
        if name in found:
            raise BadSetting(f"{variable('signals')} has the rule {name} twice.")
        found[name] = _parse_limit(each, RULES[name], value)
    return DEFAULTS._replace(**found)


def _parse_limit(text: str, rule: Rule, value: str) -> int | None:
    if value == OFF:
        return None
    if rule.limit is None:
        if value != ON:
            raise BadSetting(f"{variable('signals')} has '{text}'; this rule is on or off.")
        return 1
    if not (value.isascii() and value.isdigit() and rule.least <= int(value[:20]) <= MOST_LIMIT):
        raise BadSetting(
            f"{variable('signals')} has '{text}'; the limit must be a number from {rule.least} to {MOST_LIMIT}, or off."
        )
    return int(value)
