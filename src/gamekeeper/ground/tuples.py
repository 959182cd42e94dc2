"""`NamedTuple`, like that of `typing`, but made in a fraction of the time: every process makes four hundred at its start.

`typing.NamedTuple` compiles the source of a function for each class, and checks the types of its fields. Here classes
with the same number of fields share the compiled code, and their types are only for the type checker.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import NamedTuple
else:
    from _collections import _tuplegetter
    from functools import cache
    from types import FunctionType

    @cache
    def _compile_constructor(count):
        """Compile the constructor of tuples with so many fields: `lambda cls, f0, f1: create(cls, (f0, f1))`."""
        names = "".join(f"f{place}, " for place in range(count))
        return eval(f"lambda cls, {names}: create(cls, ({names}))").__code__  # noqa: S307 - only our own text

    class _Maker(type):
        def __new__(cls, name, bases, namespace):
            fields = tuple(namespace.get("__annotations__", ()))
            if fields:
                given = {each: namespace.pop(each) for each in fields if each in namespace}
                code = _compile_constructor(len(fields)).replace(co_varnames=("cls", *fields), co_name="__new__")
                create = FunctionType(code, {"create": tuple.__new__}, "__new__", tuple(given.values()))
                getters = {each: _tuplegetter(place, each) for place, each in enumerate(fields)}
                facts = {"_fields": fields, "_field_defaults": given, "__match_args__": fields, "__new__": create}
                namespace = namespace | getters | facts
            return super().__new__(cls, name, bases, {"__slots__": (), **namespace})

    class NamedTuple(tuple, metaclass=_Maker):
        """The methods of all named tuples, as in `collections.namedtuple`."""

        @classmethod
        def _make(cls, values):
            return cls(*values)

        def _replace(self, /, **changed):
            return type(self)(**(self._asdict() | changed))

        def _asdict(self):
            return dict(zip(self._fields, self, strict=True))

        def __repr__(self):
            return f"{type(self).__name__}({', '.join(f'{name}={each!r}' for name, each in self._asdict().items())})"

        def __getnewargs__(self):
            return tuple(self)


__all__ = ["NamedTuple"]
