"""Generate mutants of a module, each with one small change: a comparison, a number, an argument, a removed line."""

import ast
import copy
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, cast

SWAPPED: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.And: ast.Or,
    ast.Or: ast.And,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
}
OPPOSITES = {"min": "max", "max": "min", "all": "any", "any": "all"}


class Mutant(NamedTuple):
    line: int
    what: str
    tree: ast.Module


# description of a mutation, and the function that applies it to the syntax tree node
Edit = tuple[str, Callable[[], None]]


def mutants(tree: ast.Module) -> Iterator[Mutant]:
    """Yield mutated syntax trees of a module with one change each; types and docstrings stay as they are."""
    for number, node in enumerate(_nodes(tree)):
        for which, (what, _) in enumerate(_edits(node)):
            changed = copy.deepcopy(tree)
            twin = list(_nodes(changed))[number]
            _edits(twin)[which][1]()
            yield Mutant(getattr(node, "lineno", 0), what, changed)


def _nodes(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield the syntax tree nodes in a fixed order, without those that have no effect at run time."""
    for name, value in ast.iter_fields(tree):
        if name in {"annotation", "returns", "decorator_list"}:
            continue
        children = cast("list[Any]", value) if isinstance(value, list) else [value]
        for child in children:
            if isinstance(child, ast.AST) and not _has_no_effect(child):
                yield child
                yield from _nodes(child)


def _has_no_effect(node: ast.AST) -> bool:
    """Return whether the syntax tree node is an import, a docstring or a type alias."""
    if isinstance(node, ast.Expr | ast.Assign) and isinstance(node.value, ast.Call):
        return ast.unparse(node.value.func) == "TypeVar"
    return isinstance(node, ast.Import | ast.ImportFrom) or _is_docstring(node)


def _is_docstring(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _edits(node: ast.AST) -> list[Edit]:
    edits: list[Edit] = []
    if isinstance(operator := getattr(node, "op", None), ast.AST):
        edits += _of_operator(node, operator)
    if isinstance(test := getattr(node, "test", None), ast.expr):
        edits.append(_negate(node, test))
    match node:
        case ast.Compare(ops=ops):
            edits += [_put(ops, place, SWAPPED[type(op)]()) for place, op in enumerate(ops) if type(op) in SWAPPED]
        case ast.Constant():
            edits += _of_constant(node)
        case ast.Call():
            edits += _of_call(node)
        case ast.Return(value=ast.expr() as value) if ast.unparse(value) != "None":
            edits.append(("returns None", lambda: setattr(node, "value", ast.Constant(None))))
        case ast.comprehension(ifs=ifs):
            edits += [_put(ifs, place, ast.UnaryOp(ast.Not(), each)) for place, each in enumerate(ifs)]
        case _:
            pass
    return edits + _remove(node)


def _of_operator(node: ast.AST, operator: ast.AST) -> list[Edit]:
    if isinstance(node, ast.UnaryOp) and isinstance(operator, ast.Not):
        return []  # no mutant for `not`: another mutant negates the enclosing condition
    other = SWAPPED.get(type(operator))
    what = f"{type(operator).__name__} becomes {other.__name__}" if other else ""
    return [(what, lambda: setattr(node, "op", other()))] if other else []


def _negate(node: ast.AST, test: ast.expr) -> Edit:
    return f"not ({ast.unparse(test)})", lambda: setattr(node, "test", ast.UnaryOp(ast.Not(), test))


def _put(nodes: list[Any], place: int, new: ast.AST) -> Edit:
    return f"{type(nodes[place]).__name__} becomes {type(new).__name__}", lambda: nodes.__setitem__(place, new)


def _of_constant(node: ast.Constant) -> list[Edit]:
    value = node.value
    if isinstance(value, bool):
        return [_becomes(node, not value)]
    if isinstance(value, int):
        return [_becomes(node, value + 1)]
    return [_becomes(node, f"{value}?")] if isinstance(value, str) else []


def _becomes(node: ast.Constant, value: object) -> Edit:
    return f"{node.value!r} becomes {value!r}", lambda: setattr(node, "value", value)


def _of_call(node: ast.Call) -> list[Edit]:
    edits: list[Edit] = []
    for place, given in enumerate(node.args):
        if not isinstance(given, ast.Starred | ast.Constant):
            edits.append(
                (f"None for {ast.unparse(given)}", lambda at=place: node.args.__setitem__(at, ast.Constant(None)))
            )
    for each in node.keywords:
        if each.arg and not isinstance(each.value, ast.Constant):
            what = f"None for {each.arg}={ast.unparse(each.value)}"
            edits.append((what, lambda at=each: setattr(at, "value", ast.Constant(None))))
    if isinstance(node.func, ast.Name) and node.func.id in OPPOSITES:
        edits.append((f"{node.func.id} becomes its opposite", lambda: setattr(node, "func", _opposite(node.func))))
    return edits


def _opposite(name: ast.expr) -> ast.Name:
    return ast.Name(OPPOSITES[ast.unparse(name)], ast.Load())


def _remove(node: ast.AST) -> list[Edit]:
    """Remove a statement that has an effect: a call, a raise, an augmented assignment, a break."""
    edits: list[Edit] = []
    for name in ("body", "orelse", "finalbody"):
        lines: Any = getattr(node, name, None)
        if isinstance(lines, list) and not isinstance(node, ast.ClassDef):
            lines = cast("list[Any]", lines)
            for place, line in enumerate(lines):
                if isinstance(line, ast.Expr | ast.Raise | ast.AugAssign | ast.Break) and not _is_docstring(line):
                    what = f"without: {ast.unparse(line)}"
                    edits.append((what, lambda of=lines, at=place: of.__setitem__(at, ast.Pass())))
    return edits
