"""Write the shapes of the Python client: classes of msgspec."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

import msgspec

import python_names as names
from client_model import NO_DEFAULT, Field, Shape
from client_types import NULL, ListOf, OneOf, Reference, list_references
from python_types import Speller, spell, spell_shape, translate, write_comment, write_docstring


class Shapes:
    """The API's shapes that become classes of the client. A parent that no operation uses itself becomes none."""

    def __init__(self, shapes: Iterable[Shape], roots: Iterable[str]) -> None:
        self.all = {each.name: each for each in shapes}
        self.names = self._collect(roots)

    def _collect(self, roots: Iterable[str]) -> list[str]:
        """Collect the shapes that others refer to, each after those that it refers to."""
        return _list_in_order(roots, self._list_fields)

    def _list_fields(self, name: str) -> list[str]:
        return [inner for each in self.all[name].fields for inner in list_references(each.type)]

    def _list_parents(self, name: str) -> list[str]:
        parent = self.all[name].parent
        return [parent, *self._list_parents(parent)] if parent else []

    def find_parent(self, name: str) -> Shape | None:
        return next((self.all[each] for each in self._list_parents(name) if each in self.names), None)

    def order(self, names: Iterable[str]) -> list[str]:
        """Order shapes of a module: each after its parent and the shapes that it refers to."""
        wanted = list(names)

        def list_needed(name: str) -> list[str]:
            parent = self.find_parent(name)
            needed = [*([parent.name] if parent else []), *self._list_fields(name)]
            return [each for each in needed if each in wanted]

        return _list_in_order(wanted, list_needed)


def _list_in_order(names: Iterable[str], list_needed: Callable[[str], Iterable[str]]) -> list[str]:
    """List names and those that they need, each after those that it needs."""
    found: dict[str, None] = {}

    def visit(name: str) -> None:
        if name not in found:
            for each in list_needed(name):
                visit(each)
            found[name] = None

    for each in names:
        visit(each)
    return list(found)


def write_shape(shape: Shape, parent: Shape | None, speller: Speller) -> list[str]:
    inherited = {each.name for each in parent.fields} if parent else set[str]()
    defaults = {**names.LATER_FIELDS.get(shape.name, {}), **names.UNSPELT.get(shape.name, {})}
    own = [
        replace(each, is_required=each.is_required and each.name not in defaults)
        for each in shape.fields
        if each.name not in inherited
    ]
    spelt = {each.name: each.name if shape.name in names.UNSPELT else spell(each.name) for each in own}
    style, renamed = find_style(spelt)
    options = [f'rename="{style}"'] if style else []
    # a field without a default cannot follow one with a default
    has_defaults = parent is not None and (
        not all(each.is_required for each in parent.fields) or parent.name in names.LATER_FIELDS
    )
    if has_defaults and any(each.is_required for each in own):
        options.append("kw_only=True")
    base = speller.spell_name(parent.name) if parent else "Struct"
    generic = [f"Generic[{', '.join(shape.variables)}]"] if shape.variables else []
    about = translate(shape.about)
    lines = [f"class {spell_shape(shape.name)}({', '.join([base, *generic, *options])}):"]
    lines += [*write_docstring(_split_sentences(about), 4), ""] if about else []
    for each in _order_fields(own):
        lines += write_comment(translate(each.description), 4) if each.description else []
        wire = f'name="{each.name}"' if each.name in renamed else ""
        default = defaults.get(each.name) or _write_default(each, wire)
        kind = speller.spell_type(each.type) if each.name in defaults else _write_type(each, speller)
        lines.append(f"    {spelt[each.name]}: {kind}{f' = {default}' if default else ''}")
    return lines if own or about else [*lines, "    pass"]


def _split_sentences(text: str) -> list[str]:
    first, dot, rest = text.partition(". ")
    return [first + dot.strip(), "", rest] if rest and len(text) > 100 else [text]  # noqa: PLR2004 - fits one line


def _order_fields(fields: list[Field]) -> list[Field]:
    return sorted(fields, key=lambda each: not each.is_required)


def find_style(spelt: Mapping[str, str]) -> tuple[str, set[str]]:
    """Find how msgspec renames most fields of a shape, and the fields in JSON for which this is wrong."""
    found: dict[str, set[str]] = {}
    for style in ("", "pascal", "camel"):
        made = msgspec.defstruct("Made", [(each, int) for each in spelt.values()], rename=style or None)  # pyright: ignore[reportArgumentType] - its three values
        found[style] = {wire for wire, name in zip(spelt, made.__struct_encode_fields__, strict=True) if wire != name}
    return min(found.items(), key=lambda each: len(each[1]))


def _write_type(field: Field, speller: Speller) -> str:
    kind = speller.spell_type(field.type)
    if field.is_required or field.default is not NO_DEFAULT:
        return kind
    options = field.type.options if isinstance(field.type, OneOf) else ()
    return kind.replace(" | None", " | UnsetType | None") if NULL in options else f"{kind} | UnsetType"


def _write_default(field: Field, wire: str) -> str:
    """Write what follows the type of a field. `wire`: the argument for its name in JSON, if it has one."""
    if field.is_required:
        return f"field({wire})" if wire else ""
    given: Any = field.default
    match field.type, given:
        case Reference(), dict():
            return f"field({', '.join(filter(None, [f'default_factory={spell_shape(field.type.name)}', wire]))})"
        case ListOf(item=Reference()), list():
            value = "[]"
        case ListOf(), list() if given:
            return f"field({', '.join(filter(None, [f'default_factory=lambda: {given}', wire]))})"
        case _, str():
            value = f'"{given}"'
        case _:
            value = "UNSET" if given is NO_DEFAULT else repr(given)
    return f"field(default={value}, {wire})" if wire else value
