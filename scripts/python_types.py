"""Spell names, types and docstrings of the model in Python, and collect what a module must import for them."""

import keyword
import re
import textwrap
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache

import python_names as names
from client_model import Model, Operation, Shape, read_model
from client_types import NULL, Choice, ListOf, MapOf, OneOf, Reference, Simple, Type, Variable

SIMPLE = {
    "text": "str",
    "integer": "int",
    "number": "float",
    "boolean": "bool",
    "null": "None",
    "anything": "Any",
}
# a value of any type: JSON does not tell whole numbers from decimals, so a decoder must not convert it
ANY_VALUE = OneOf((Simple("text"), Simple("number", "double"), Simple("boolean"), NULL))
WIDTH = 120
MANY = 12  # a choice with more values is not listed


def spell(name: str) -> str:
    """Spell a name of the API in Python: MaxVitals as max_vitals."""
    plain = name.lstrip(".")
    found = names.WORDS.get(plain) or re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", plain).lower()
    return names.WORDS.get(found, f"{found}_" if keyword.iskeyword(found) else found)


def spell_path_parameter(name: str, path: str) -> str:
    return next((word for (part, each), word in names.PATH_WORDS.items() if each == name and part in path), spell(name))


def spell_shape(name: str) -> str:
    return names.SHAPES.get(name, name)


def find_module_of_group(title: str) -> str:
    return names.MODULES.get(title, title.lower().replace(" ", "_"))


def find_choices(model: Model) -> dict[Type, tuple[str, str]]:
    """Find the choices that have a name: type → name, and the operation or shape that names it."""
    parts: dict[str, Operation | Shape] = {each.name: each for each in model.shapes}
    parts |= {each.name: each for group in model.groups for each in group.operations}
    found: dict[Type, tuple[str, str]] = {}
    for (owner, name), word in names.CHOICES.items():
        part = parts[owner]
        fields = part.parameters if isinstance(part, Operation) else part.fields
        found[next(each.type for each in fields if each.name == name)] = (word, owner)
    return found


@dataclass
class Speller:
    """Spells types for one module, and collects the names that it imports: (module, name)."""

    module: str
    places: Mapping[str, str]  # shape → its module
    choices: Mapping[Type, tuple[str, str]]  # type of a choice → its name and its module
    imports: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])

    def use(self, module: str, name: str) -> str:
        if module != self.module:
            self.imports.add((module, name))
        return name

    def spell_type(self, kind: Type) -> str:
        """Spell the type of a field or of an answer."""
        if kind in self.choices:
            name, module = self.choices[kind]
            return self.use(module, name)
        match kind:
            case ListOf():
                return f"list[{self.spell_type(kind.item)}]"
            case MapOf():
                return f"dict[str, {self.spell_type(kind.value)}]"
            case OneOf():
                return self._spell_union(kind, self.spell_type)
            case Reference():
                return self._spell_reference(kind)
            case _:
                return _spell_single(kind)

    def spell_parameter(self, kind: Type) -> str:
        """Spell the type of a parameter, which accepts more than the type of a field: any sequence and any text."""
        match kind:
            case ListOf():
                return f"Sequence[{self.spell_parameter(kind.item)}]"
            case Choice() if kind not in self.choices:
                return SIMPLE["text" if isinstance(kind.values[0], str) else "integer"]
            case OneOf() if kind == ANY_VALUE:
                return self.use("call", "Value")
            case OneOf():
                return self._spell_union(kind, self._spell_option)
            case _:
                return self.spell_type(kind)

    def _spell_option(self, kind: Type) -> str:
        return self.spell_type(kind) if isinstance(kind, Choice) else self.spell_parameter(kind)

    def _spell_union(self, kind: OneOf, spell_option: Callable[[Type], str]) -> str:
        if kind == ANY_VALUE:
            return "Any"
        return " | ".join(dict.fromkeys(spell_option(each) for each in kind.options))

    def spell_name(self, shape: str) -> str:
        return self.use(self.places[shape], spell_shape(shape))

    def _spell_reference(self, kind: Reference) -> str:
        name = self.spell_name(kind.name)
        arguments = ", ".join(self.spell_type(each) for each in kind.arguments)
        return f"{name}[{arguments}]" if arguments else name


def _spell_single(kind: Simple | Choice | Variable) -> str:
    if isinstance(kind, Choice):
        return f"Literal[{', '.join(_quote(each) for each in kind.values)}]"
    return SIMPLE[kind.kind] if isinstance(kind, Simple) else kind.name


def _quote(value: str | int) -> str:
    return f'"{value}"' if isinstance(value, str) else str(value)


@cache
def _list_field_names() -> frozenset[str]:
    model = read_model()
    parameters = (each for group in model.groups for operation in group.operations for each in operation.parameters)
    return frozenset(each.name for each in (*parameters, *(field for shape in model.shapes for field in shape.fields)))


def translate(text: str) -> str:
    """Replace what a description says in the words of JSON by those of Python: `BagId` and null."""
    words = {"null": "None", "true": "True", "false": "False", "also 200 if": "no error if"}
    text = re.sub(
        r"`(\w+)`", lambda found: f"`{spell(found[1]) if found[1] in _list_field_names() else found[1]}`", text
    )
    text = re.sub(r"\b(null|true|false|also 200 if)\b", lambda found: words[found[0]], text)
    return re.sub(r"; (with )?`format=csv`[^.]*", "", text)  # the client reads JSON


def lower_first(text: str) -> str:
    """Write the first word in lower case, unless it is spelt with more capitals, as SHA is."""
    return text[:1].lower() + text[1:] if text[1:2].islower() or text[1:2] == " " else text


def write_docstring(lines: Iterable[str], indent: int) -> list[str]:
    """Write a docstring. Each of its lines is wrapped."""
    room, margin = WIDTH - indent, " " * indent
    first, *others = lines
    wrapped = textwrap.wrap('"""' + first, room, break_on_hyphens=False)
    for each in others:
        wrapped += textwrap.wrap(each, room, break_on_hyphens=False) or [""]
    if len(wrapped) == 1 and len(wrapped[0]) + 3 <= room:
        return [f'{margin}{wrapped[0]}"""']
    if len(wrapped) == 1:
        wrapped = textwrap.wrap(wrapped[0], room - 3)  # else ruff would put the closing quotes on a line that is full
    return [f"{margin}{each}".rstrip() for each in [*wrapped, '"""']]


def write_comment(text: str, indent: int) -> list[str]:
    margin = " " * indent + "# "
    return [margin + each for each in textwrap.wrap(text, WIDTH - len(margin))]
