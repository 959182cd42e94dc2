"""Reject keyword arguments that a method does not have: Python itself does not check `**options: Unpack[…]`."""

import inspect
from collections.abc import Callable, Iterable
from difflib import get_close_matches
from functools import wraps
from typing import ParamSpec, TypeVar, get_args

P = ParamSpec("P")
T = TypeVar("T")


def check_keywords(function: Callable[P, T]) -> Callable[P, T]:
    """Make the function raise TypeError for an unknown keyword, before it does anything."""
    known = _names(function)

    @wraps(function)
    def checked(*args: P.args, **kwargs: P.kwargs) -> T:
        require_known(function.__name__, kwargs, known)
        return function(*args, **kwargs)

    return checked


def require_known(function: str, given: Iterable[str], known: Iterable[str]) -> None:
    for name in given:
        if name not in known:
            near = get_close_matches(name, known, 1)
            hint = f". Did you mean {near[0]!r}?" if near else ""
            raise TypeError(f"{function}() got an unexpected keyword argument {name!r}{hint}")


def _names(function: Callable[..., object]) -> list[str]:
    """All keywords of a function, including the keys of the TypedDict behind `**options`."""
    names: list[str] = []
    for each in inspect.signature(function).parameters.values():
        unpacked = each.kind is each.VAR_KEYWORD
        names += get_args(each.annotation)[0].__annotations__ if unpacked else [each.name]
    return names
