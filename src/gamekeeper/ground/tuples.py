"""`NamedTuple`, as in `typing`, but made in a fraction of the time: each process makes four hundred when it starts.

`typing.NamedTuple` compiles the source of a constructor for each class, and checks the types of its fields. Here
classes with equally many fields share the compiled code, and the types are only for the type checker.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import NamedTuple
else:
    from _collections import _tuplegetter
    from collections import namedtuple
    from functools import cache
    from types import FunctionType
    from typing import Any, Self

    @cache
    def _make_pattern(count: int) -> type:
        """Make a class with so many fields, from which others with as many fields get their constructors."""
        return namedtuple("_", [f"field{place}" for place in range(count)])  # noqa: PYI024 - its fields have no types

    class _Maker(type):
        def __new__(cls, name: str, bases: tuple[type, ...], body: dict[str, Any]) -> type:
            if fields := tuple(body.get("__annotations__", ())):
                defaults = {each: body.pop(each) for each in fields if each in body}
                pattern = _make_pattern(len(fields))
                code = pattern.__new__.__code__.replace(co_varnames=("_cls", *fields))
                body |= {each: _tuplegetter(place, "") for place, each in enumerate(fields)}
                body["__new__"] = FunctionType(code, pattern.__new__.__globals__, "__new__", tuple(defaults.values()))
                body["_make"] = classmethod(pattern._make.__func__)
                body |= {"_fields": fields, "_field_defaults": defaults, "__match_args__": fields}
            return super().__new__(cls, name, bases, {"__slots__": (), **body})

    class NamedTuple(tuple, metaclass=_Maker):
        """The methods of all named tuples, as in `collections.namedtuple`."""

        __slots__ = ()

        def _replace(self, /, **changed: object) -> Self:
            result = self._make(map(changed.pop, self._fields, self))
            if changed:
                raise ValueError(f"there are no fields {list(changed)}")
            return result

        def _asdict(self) -> dict[str, Any]:
            return dict(zip(self._fields, self, strict=True))

        def __repr__(self) -> str:
            return f"{type(self).__name__}({', '.join(f'{name}={each!r}' for name, each in self._asdict().items())})"

        def __getnewargs__(self) -> tuple[Any, ...]:
            return tuple(self)


__all__ = ["NamedTuple"]
