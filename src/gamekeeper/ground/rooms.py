"""The rooms, which each of the floors `store`, `game`, `http` and `console` has, and what their modules register."""

from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType
from typing import Any

# from the lowest to the highest: a room imports only rooms before it
ROOMS = ("access", "players", "accounts", "world", "audit", "lists", "insight")


@cache
def import_modules(floor: str, name: str = "") -> list[ModuleType]:
    """Import all modules of the rooms of a floor, in the order of the rooms and of the names in a room.

    `name`: import only the modules of this name. They are listed once: an upgrade replaces the files beside a running
    server, which must not miss what its own version registers.
    """
    return [module for room in ROOMS for module in import_all(f"gamekeeper.{floor}.{room}", name)]


@cache
def import_all(package: str, name: str = "") -> list[ModuleType]:
    """Import the modules of a package, in the order of their names."""
    names = sorted(each.name for each in iter_modules(import_module(package).__path__))
    return [import_module(f"{package}.{each}") for each in names if name in {"", each}]


def collect(floor: str, name: str) -> list[Any]:
    """Collect what the modules of the rooms of a floor register: the values of their tuples of that name."""
    return [value for module in import_modules(floor) for value in vars(module).get(name, ())]
