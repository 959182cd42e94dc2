"""Write the methods of the Python client: one for each operation, and an iterator for each list in parts."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import python_names as names
from client_model import NO_DEFAULT, Operation, Paging, Parameter, Shape
from client_types import Choice, ListOf, OneOf, Reference, Simple, list_references
from python_types import (
    ANY_VALUE,
    MANY,
    Speller,
    lower_first,
    spell,
    spell_path_parameter,
    spell_shape,
    translate,
    write_docstring,
)

WHOLE = "The fields to set; they are the body of the request."
FEW = 4  # fields of an answer that a docstring lists
GENERIC_PAGES = ("Paged", "EnginePage", "SortedEnginePage")


@dataclass
class Argument:
    """An argument of a method. `sent`: the code of the value that is sent; None is not."""

    parameter: Parameter
    name: str
    type: str
    default: str  # empty: required
    sent: str
    about: str
    is_positional: bool
    is_always_sent: bool  # it has a value to send in any case, so that None means null

    @property
    def rank(self) -> tuple[bool, bool]:
        """The place among the arguments: those by position first, and of them those that are required."""
        return not self.is_positional, self.is_positional and bool(self.default)

    @property
    def declaration(self) -> str:
        return f"{self.name}: {self.type}" + (f" = {self.default}" if self.default else "")


def write_operation(operation: Operation, shapes: Mapping[str, Shape], speller: Speller) -> list[str]:
    arguments = sorted(_list_arguments(operation, shapes, speller), key=lambda each: each.rank)
    positional = [each for each in arguments if each.is_positional]
    others = [each for each in arguments if not each.is_positional]
    declared = ["self", *(each.declaration for each in positional)]
    declared += ["*", *(each.declaration for each in others)] if others else []
    declared += ["**options: Unpack[WriteOptions]"] if operation.is_repeatable else []
    answer, code, only = _spell_answer(operation, shapes, speller)
    token = "" if operation.permissions is not None else ", needs_token=False"
    path = operation.path
    for each in operation.parameters:
        if each.place == "path":
            path = path.replace(f"{{{each.name}}}", f"{{{spell_path_parameter(each.name, operation.path)}}}")
    lines = [
        f'    @operation("{operation.method}", "{path}"{token})',
        f"    def {operation.name}({', '.join(declared)}) -> Payload[{answer}]:",
        *write_docstring(_describe(operation, arguments, shapes, only, answer), 8),
        f"        return Payload({', '.join([code, *_list_contents(operation, arguments, only)])})",
    ]
    return [*lines, "", *_write_iterator(operation, speller)]


def _list_arguments(operation: Operation, shapes: Mapping[str, Shape], speller: Speller) -> Iterator[Argument]:
    whole = names.WHOLE_BODIES.get(operation.body.name) if isinstance(operation.body, Reference) else None
    queried = [each.name for each in operation.parameters if each.place == "query"]
    left_out = names.NO_PARAMETERS | ({"limit"} if "pageSize" in queried else set[str]())
    for each in operation.parameters:
        is_reason = each.place == "body" and each.name == "reason" and operation.is_repeatable
        is_known = each.name not in left_out if each.place == "query" else not (each.place == "body" and whole)
        if is_known and not is_reason and (operation.name, each.name) not in names.LEFT_OUT_FIELDS:
            yield _make_argument(each, operation, shapes, speller)
    if whole and operation.body:
        parameter = Parameter(whole, operation.body, NO_DEFAULT, is_required=True, description=WHOLE, place="body")
        yield _make_argument(parameter, operation, shapes, speller)


def _make_argument(
    parameter: Parameter, operation: Operation, shapes: Mapping[str, Shape], speller: Speller
) -> Argument:
    name, key = parameter.name, (operation.name, parameter.name)
    spelt = spell_path_parameter(name, operation.path) if parameter.place == "path" else spell(name)
    kind = names.TYPES.get(key) or speller.spell_parameter(parameter.type)
    is_required = parameter.is_required or key in names.REQUIRED
    default = names.DEFAULTS.get(key) or ("" if is_required else _find_default(parameter, operation))
    if key in names.REQUIRED:
        kind = kind.removesuffix(" | None")
    if default == "None" and not kind.endswith("None"):
        kind += " | None"
    about = parameter.description or next((shapes[each].about for each in list_references(parameter.type)), "")
    sent = names.SENT.get(key, "{0}").format(spelt)
    if parameter.type == Simple("text", "sha256"):
        about, sent = names.PASSWORDS[name], f"hash_password({spelt})"
    elif key in names.ALWAYS_SENT:
        sent = f"list({spelt})"
    elif default == "()" or (default == "False" and parameter.place == "query"):
        sent = f"{spelt} or None"
    positional = (_find_position(operation), "count", *names.POSITIONAL.get(operation.name, ()))
    is_positional = not default or name in positional
    is_always_sent = default not in {"None", "()"} or key in names.ALWAYS_SENT
    return Argument(parameter, spelt, kind, default, sent, names.ABOUTS.get(key, about), is_positional, is_always_sent)


def _find_position(operation: Operation) -> str:
    """Find the parameter that says which part of a list is read."""
    return operation.paging.position if operation.paging else "page"


def _find_default(parameter: Parameter, operation: Operation) -> str:
    """Write a parameter's default. None: it is not sent, and the server uses its own."""
    by_pages = operation.paging is None or operation.paging.by == "pages"
    is_page = parameter.name in {"page", "count"} and by_pages
    if parameter.place == "query" and parameter.type != Simple("boolean") and not is_page:
        return "None"
    default = parameter.default
    if default is NO_DEFAULT or default is None or isinstance(default, list):
        return "None"
    return "None" if isinstance(default, str) else repr(default)


# --- the request ------------------------------------------------------------------------------------------------


def _list_contents(operation: Operation, arguments: list[Argument], only: str) -> Iterator[str]:
    if only:
        yield f'field="{only}"'
    queried = [f'"{each.parameter.name}": {each.sent}' for each in arguments if each.parameter.place == "query"]
    if queried:
        yield f"query={{{', '.join(queried)}}}"
    if not isinstance(operation.body, Reference):
        return
    sent = [each for each in arguments if each.parameter.place == "body"]
    if operation.body.name in names.WHOLE_BODIES:
        yield f"body={sent[0].name}"
        return
    always = [f'"{each.parameter.name}": {each.sent}' for each in sent if each.is_always_sent]
    optional = [f'"{each.parameter.name}": {each.sent}' for each in sent if not each.is_always_sent]
    has_reason = any(each.place == "body" and each.name == "reason" for each in operation.parameters)
    always += ['"reason": options.get("reason", "")'] if has_reason and operation.is_repeatable else []
    yield f"body={{{', '.join(always)}}}"
    if optional:
        yield f"optional={{{', '.join(optional)}}}"


def _spell_answer(operation: Operation, shapes: Mapping[str, Shape], speller: Speller) -> tuple[str, str, str]:
    """Spell an answer's type, the code that decodes it, and the only field that the method returns."""
    answer = operation.answer
    if isinstance(answer, Reference) and answer.name in names.ONLY_FIELDS:
        only = names.ONLY_FIELDS[answer.name]
        kind = next(each.type for each in shapes[answer.name].fields if each.name == only)
        spelt = speller.use("call", "Value") if kind == ANY_VALUE else speller.spell_type(kind)
        return spelt, speller.use("call", "ANY") if isinstance(kind, OneOf) else spelt, only
    if isinstance(answer, Reference) and answer.name in names.RAW:
        return "dict[str, Any]", "dict[str, Any]", ""
    assert answer is not None  # noqa: S101 - operations without JSON have no method
    spelt = speller.spell_type(answer)
    return spelt, spelt, ""


# --- docstrings -------------------------------------------------------------------------------------------------


def _describe(
    operation: Operation, arguments: list[Argument], shapes: Mapping[str, Shape], only: str, answer: str
) -> Iterator[str]:
    yield translate(operation.summary)
    yield ""
    if operation.permissions:
        plural = "s" if len(operation.permissions) > 1 else ""
        yield f"Needs the permission{plural} {_join(operation.permissions)}."
        yield ""
    for each in arguments:
        yield f"{each.name}: {lower_first(translate(each.about))}{_list_choices(each.parameter)}"
    yield f"Returns {_describe_answer(operation, shapes, only, answer)}"
    raised = [each for each in operation.errors if each in names.NAMED_ERRORS or each in operation.telling_errors]
    if raised:
        yield f"Raises {', '.join(raised)}."


def _join(parts: tuple[str, ...]) -> str:
    *first, last = parts
    return f"{', '.join(first)} and {last}" if first else last


def _list_choices(parameter: Parameter) -> str:
    options = parameter.type.options if isinstance(parameter.type, OneOf) else (parameter.type,)
    values = [str(value) for each in options if isinstance(each, Choice) for value in each.values]
    is_listed = 1 < len(values) <= MANY and not all(each in parameter.description for each in values)
    return f" One of {', '.join(values)}." if is_listed else ""


def _describe_answer(operation: Operation, shapes: Mapping[str, Shape], only: str, answer: str) -> str:
    kind = operation.answer
    if only:
        return f"the field `{only}` of the answer."
    if operation.paging and operation.paging.by == "cursor":
        return f"the `{spell(operation.paging.records)}`, and `next` for the next page; None at the end."
    if operation.paging or (isinstance(kind, Reference) and kind.name in {"Legacy", *GENERIC_PAGES}):
        return "the page, with the total number of records."
    if isinstance(kind, ListOf) and isinstance(kind.item, Reference):
        return f"a list of `{spell_shape(kind.item.name)}`."
    if isinstance(kind, Reference) and kind.name in shapes and kind.name not in names.RAW:
        shape = shapes[kind.name]
        first = translate(shape.about).partition(". ")[0].rstrip(".")
        few = [f"`{spell(each.name)}`" for each in shape.fields] if len(shape.fields) <= FEW else []
        about = lower_first(first) or ("its " + _join(tuple(few)) if few else "")
        return f"`{spell_shape(kind.name)}`" + (f": {about}." if about else ".")
    return f"`{answer}`."


# --- iterators --------------------------------------------------------------------------------------------------


def _write_iterator(operation: Operation, speller: Speller) -> list[str]:
    paging, answer = operation.paging, operation.answer
    is_page = isinstance(answer, Reference) and answer.name in GENERIC_PAGES
    if paging is None or (paging.by == "pages" and not is_page) or "NoEntry" in repr(answer):
        return []
    name = names.ITERATORS.get(operation.name, operation.name.replace("list_", "iterate_"))
    summary = translate(operation.summary).replace("List ", "Iterate over ", 1).replace(", in pages", "")
    if paging.by == "pages":
        return [f'    {name} = iterate_pages({operation.name}, "{summary}")', ""]
    return [f"    {name} = iterate_cursor({', '.join(_list_cursor(operation, paging, summary, speller))})", ""]


def _list_cursor(operation: Operation, paging: Paging, summary: str, speller: Speller) -> Iterator[str]:
    yield operation.name
    yield speller.spell_type(paging.record)
    yield f"lambda page: page.{spell(paging.records)}"
    yield f'"{summary}"'
    if paging.position != "before":
        yield f'position="{spell(paging.position)}"'
    if paging.size != "limit":
        yield f'size="{spell(paging.size)}"'
