"""Compute values that Intersect does not store: maximum health and mana, and experience to the next level."""

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import NamedTuple

from gamekeeper.intersect import values

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
