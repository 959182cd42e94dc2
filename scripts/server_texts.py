"""Find the texts of the rest of the server that the console shows, and translates.

They are those of refusals: the docstrings of their classes, and the words that the code fills into them. Others are the
descriptions of permissions, of the roles of a new database, and of settings that the page Health shows.
"""

import ast
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from gamekeeper.console.insight.health import RETENTION_SETTINGS
from gamekeeper.ground.settings import describe

PACKAGE = Path(__file__).parent.parent / "src" / "gamekeeper"
BASE = "Refusal"
KIND = "Kind"  # class of kinds of changes, which say why they cannot be undone
LETTERS, NAME = re.compile("[a-z]"), re.compile(r"[a-z]+\.[a-z]+")  # NAME: of a permission
TEXT_VALUES = {"problem", "advice", "why", "fate", "hint"}  # values of refusals that are sentences or parts of them
# functions that return, and constants that hold, such texts for a refusal elsewhere
TEXT_FUNCTIONS = {"explain_name_pattern", "describe_own_role", "make_hint", "_find_problem", "_describe_level"}
TEXT_CONSTANTS = {
    "PERMISSIONS",
    "_PATTERN_WORDS",
    "UNEXPLAINED",
    "KEY_CANNOT_WRITE",
    "ROLES_CANNOT_WRITE",
    "CANNOT_WRITE",
}
# functions and classes whose first argument is such a text
TEXT_CALLS = {"_make_refusal", "_make_unreachable", "Unreachable", "RoleDefinition"}
# folders and files whose problems no page shows: those of commands and of settings
WITHOUT = (
    *(
        "copies/",
        "cli/",
        "demo/",
        "doctor/",
        "intersect/",
        "http/accounts/mail_messages.py",
        "http/accounts/mails.py",
    ),
    *(
        "ground/settings.py",
        "http/server/response_headers.py",
        "http/server/proxies.py",
        "http/access/oidc_settings.py",
    ),
)


class ServerText(NamedTuple):
    file: str
    text: str  # with {name} for each value


class _Source(NamedTuple):
    file: str
    tree: ast.Module
    constants: Mapping[str, ast.expr]  # by name, of this module and those that it imports


def find_server_texts(package: Path = PACKAGE) -> list[ServerText]:
    """Find all texts, each once per file, in the order of the files."""
    trees = {
        file: ast.parse(path.read_text("utf-8"))
        for path in sorted(package.rglob("*.py"))
        if not (file := path.relative_to(package).as_posix()).startswith(WITHOUT)
    }
    classes = _find_refusals(trees)
    own = {file: _list_constants(tree) for file, tree in trees.items()}
    every = {name: value for constants in own.values() for name, value in constants.items()}
    found: dict[ServerText, None] = {}
    for file, tree in trees.items():
        source = _Source(file, tree, {**every, **own[file]})
        found |= dict.fromkeys(ServerText(file, text) for text in _find_in_file(source, classes))
    return list(found)


def list_settings() -> list[ServerText]:
    """List the descriptions of the settings that the page Health shows."""
    return [ServerText("ground/settings.py", describe(name)) for name in RETENTION_SETTINGS]


def _find_refusals(trees: Mapping[str, ast.Module]) -> set[str]:
    bases = {
        each.name: {ast.unparse(base).rpartition(".")[2] for base in each.bases}
        for tree in trees.values()
        for each in ast.walk(tree)
        if isinstance(each, ast.ClassDef)
    }
    found = {BASE}
    while more := {name for name, above in bases.items() if above & found} - found:
        found |= more
    return found


def _list_constants(tree: ast.Module) -> dict[str, ast.expr]:
    """List the constants of a module by name: strings, and dictionaries of strings."""
    found: dict[str, ast.expr] = {}
    for each in tree.body:
        if isinstance(each, ast.Assign) and isinstance(each.targets[0], ast.Name):
            found[each.targets[0].id] = each.value
        elif isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name) and each.value:
            found[each.target.id] = each.value
    return found


def _find_in_file(source: _Source, classes: set[str]) -> Iterator[str]:
    for each in ast.walk(source.tree):
        if isinstance(each, ast.ClassDef) and each.name in classes - {BASE}:
            text = " ".join((ast.get_docstring(each) or "").split())
            yield from [text] if text and text != "{problem}" else []
        else:
            for value in _list_values(each, classes):
                yield from _read_texts(value, source.constants)


def _list_values(node: ast.AST, classes: set[str]) -> Iterator[ast.expr]:
    """List the expressions of a node whose texts become a part of a refusal's message."""
    if isinstance(node, ast.Call):
        name = ast.unparse(node.func).rpartition(".")[2]
        if name in TEXT_CALLS:
            yield from node.args[:1]
        if name == KIND:
            yield from (each.value for each in node.keywords if each.arg == "why_not")
        if name in classes:
            yield from (each.value for each in node.keywords if each.arg in TEXT_VALUES)
    elif isinstance(node, ast.Assign | ast.AnnAssign) and node.value:
        target = node.target if isinstance(node, ast.AnnAssign) else node.targets[0]
        yield from [node.value] if ast.unparse(target) in TEXT_VALUES | TEXT_CONSTANTS else []
    elif isinstance(node, ast.FunctionDef) and node.name in TEXT_FUNCTIONS:
        parts = (each.value for each in ast.walk(node) if isinstance(each, ast.Return | ast.Assign))
        yield from (each for each in parts if each is not None)


def _read_texts(value: ast.expr, constants: Mapping[str, ast.expr]) -> Iterator[str]:
    """Read the texts that an expression can have, as far as they are written in the code."""
    if isinstance(value, ast.Constant):
        if isinstance(value.value, str) and LETTERS.search(value.value) and not NAME.fullmatch(value.value):
            yield value.value.strip()
    elif isinstance(value, ast.JoinedStr):
        yield _read_template(value)
    elif isinstance(value, ast.Name):
        if value.id in constants and value.id.isupper():
            yield from _read_texts(constants[value.id], {})
    else:
        for each in _list_parts(value):
            yield from _read_texts(each, constants)


def _list_parts(value: ast.expr) -> list[ast.expr]:
    """List the parts of an expression that can be its text."""
    match value:
        case ast.IfExp():
            return [value.body, value.orelse]
        case ast.Dict():
            return value.values
        case ast.Tuple():  # pairs of something and its description
            return [each.elts[1] for each in value.elts if isinstance(each, ast.Tuple)]
        # a method of a constant or of a text, such as TEXTS.get(kind, OTHER) or f"…".rstrip(".")
        case ast.Call(func=ast.Attribute(value=subject, attr="get" | "rstrip" | "format")):
            return [subject, *(each for each in value.args if not isinstance(each, ast.Constant))]
        case _:
            return []


def _read_template(text: ast.JoinedStr) -> str:
    """Return a text with {name} for each value. Values that are no plain names are called value1, value2 and so on."""
    parts: list[str] = []
    for number, part in enumerate(text.values):
        if isinstance(part, ast.FormattedValue):
            name = part.value.id.lower() if isinstance(part.value, ast.Name) else f"value{number}"
            parts.append(f"{{{name}}}")
        elif isinstance(part, ast.Constant):
            parts.append(str(part.value))
    return "".join(parts)
