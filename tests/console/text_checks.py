"""Find texts of the console outside its catalogue. The checks take source texts, so that tests can seed faults."""

import ast
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from html.parser import HTMLParser
from typing import NamedTuple, cast

from babel.messages.catalog import Catalog
from babel.messages.jslexer import Token, tokenize
from jinja2 import Environment, nodes

GETTEXT = {"gettext", "ngettext", "pgettext", "_"}  # functions whose text arguments are translated by the catalogue
WORDS = re.compile(r"[^\W\d_]{2,}\W* \W*[^\W\d_]{2,}")
CAPITALISED = re.compile(r"[A-Z][a-z]+")
LETTER = re.compile(r"[^\W\d_]")
NOT_FOR_PEOPLE = re.compile(r"/|<|SELECT |%[A-Z]")  # starts of paths, HTML, SQL and time formats
# Literals that read like a text but are not shown to people:
ALLOWED = {
    "notice bad",  # CSS classes
    "small danger",  # CSS classes
    "Enter",  # name of a key in keyboard events
    "Escape",  # name of a key in keyboard events
    "English",  # name of a language, in itself
    "Deutsch",  # name of a language, in itself
    "Good",  # state of health, which style sheets select by
    "Strained",  # state of health
    "Down",  # state of health
    "Ascending",  # value of a query parameter of the API
    "Descending",  # value of a query parameter of the API
    *("Description", "Rarity", "Price", "Damage"),  # names of fields that games publish for items
    'attachment; filename="changes.',  # HTTP header
    "; HttpOnly; SameSite=Lax",  # attributes of a cookie
    r"undo change (\d+) first",  # pattern of a part of a refusal's message
}


class Fault(NamedTuple):
    line: int
    text: str


def is_text(literal: str) -> bool:
    """Tell whether a string in code reads like a text for people: two words, or one capitalised word."""
    literal = literal.strip()
    if literal in ALLOWED or NOT_FOR_PEOPLE.match(literal):
        return False
    return bool(WORDS.search(literal) or CAPITALISED.fullmatch(literal.rstrip(".:…")))


# --- checks of templates -------------------------------------------------------------------------------------------

SHOWN_ATTRIBUTES = {"alt", "aria-description", "aria-label", "label", "placeholder", "title"}
UNTRANSLATED_ELEMENTS = {"code", "kbd", "script", "style"}
UNTRANSLATED_DATA = {"CSV", "JSON", "/api/docs", "/api/openapi.json"}  # texts that are the same in every language
EXPRESSION_MARK = 0xE000  # private use characters from here on stand for the expressions of a template
# Jinja's lexer for templates, without the options that trim line breaks, so that line numbers stay right
LEXER = Environment(autoescape=True, extensions=["jinja2.ext.i18n"])


def check_template(source: str) -> list[Fault]:
    expressions: list[str] = []
    page = _Page(expressions)
    page.feed(_flatten(source, expressions))
    page.close()
    return sorted({*page.faults, *_check_literals(LEXER.parse(source))})


def _flatten(source: str, expressions: list[str]) -> str:
    """Return the HTML of a template without its blocks and translated texts; a mark replaces each expression."""
    flat: list[str] = []
    expression: list[str] = []
    block: list[str] = []  # names in the template tag {% ... %} that is being read, such as "trans"
    in_trans = False
    for _, kind, value in LEXER.lex(source):
        if kind == "data" and not in_trans:
            flat.append(value)
            continue
        flat.append("\n" * value.count("\n"))
        if kind == "variable_begin":
            expression = []
        elif kind == "variable_end" and not in_trans:
            flat.append(chr(EXPRESSION_MARK + len(expressions)))
            expressions.append("".join([*expression, value]))
        elif kind == "block_begin":
            block = []
        elif kind == "block_end" and block[0] in {"trans", "endtrans"}:
            in_trans = block[0] == "trans"
        elif kind == "name":
            block.append(value)
        expression.append(value)
    return "".join(flat)


class _Page(HTMLParser):
    """Collect texts and attributes that the browser shows."""

    def __init__(self, expressions: Sequence[str]) -> None:
        super().__init__()
        self.faults: list[Fault] = []
        self._expressions = expressions
        # name of the HTML element being read if its content is not translated, such as "code"; else empty
        self._untranslated = ""

    def handle_data(self, data: str) -> None:
        if not self._untranslated:
            self._check(data, self.getpos()[0])

    def handle_endtag(self, tag: str) -> None:
        if tag == self._untranslated:
            self._untranslated = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in UNTRANSLATED_ELEMENTS:
            self._untranslated = tag
        for name, value in attrs:
            if name in SHOWN_ATTRIBUTES and value:
                self._check(value, self.getpos()[0])

    def _check(self, text: str, line: int) -> None:
        line += text[: len(text) - len(text.lstrip())].count("\n")
        for mark in text:
            if 0 <= (number := ord(mark) - EXPRESSION_MARK) < len(self._expressions):
                tree = LEXER.parse(self._expressions[number])
                self.faults += [Fault(line, each) for each in _list_shown_literals(tree)]
        plain = "".join(each for each in text if ord(each) < EXPRESSION_MARK).strip()
        if LETTER.search(plain) and plain not in UNTRANSLATED_DATA:
            self.faults.append(Fault(line, " ".join(plain.split())))


def _list_shown_literals(node: nodes.Node) -> Iterator[str]:
    """Yield string literals that are a value of the expression, such as "none" in `email or "none"`."""
    if isinstance(node, nodes.Const) and isinstance(node.value, str) and LETTER.search(node.value):
        yield node.value
    elif isinstance(node, nodes.CondExpr):
        yield from _list_shown_literals(node.expr1)
        yield from _list_shown_literals(node.expr2) if node.expr2 else ()
    elif isinstance(node, nodes.Template | nodes.Output | nodes.Or | nodes.And | nodes.Concat | nodes.Add):
        for each in node.iter_child_nodes():
            yield from _list_shown_literals(each)


def _check_literals(node: nodes.Node) -> Iterator[Fault]:
    """Yield literals that read like a text, wherever they are: arguments of macros, defaults, variables."""
    if isinstance(node, nodes.Const):
        if isinstance(node.value, str) and is_text(node.value):
            yield Fault(node.lineno, node.value)
    elif isinstance(node, nodes.TemplateData | nodes.Compare):
        return
    elif isinstance(node, nodes.Call) and isinstance(node.node, nodes.Name) and node.node.name in GETTEXT:
        for each in [*node.args, *node.kwargs]:
            yield from () if isinstance(each, nodes.Const) else _check_literals(each)
    else:
        for each in node.iter_child_nodes():
            yield from _check_literals(each)


# --- checks of Python files ----------------------------------------------------------------------------------------

LOGGERS = {"log", "logger", "logging"}
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def check_python(source: str) -> list[Fault]:
    return sorted(set(_check_node(ast.parse(source))))


def _check_node(node: ast.AST) -> Iterator[Fault]:
    if isinstance(node, ast.Constant):
        if isinstance(node.value, str) and is_text(node.value):
            yield Fault(node.lineno, node.value)
        return
    children = list(ast.iter_child_nodes(node))
    if isinstance(node, DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
        children.remove(node.body[0])
    if isinstance(node, ast.Call):
        if _name_function(node) in GETTEXT:
            texts = node.args[: 2 if _name_function(node) in {"ngettext", "pgettext"} else 1]
            yield from (Fault(node.lineno, ast.unparse(node)) for each in texts if not isinstance(each, ast.Constant))
            children = [each for each in children if each not in texts]
        elif _name_logger(node) in LOGGERS:
            return
        elif _name_function(node) == "cast":
            children.remove(node.args[0])  # the first argument of cast() is a type in quotation marks, no text
    for each in children:
        yield from _check_node(each)


def check_import(source: str) -> list[Fault]:
    """Find texts that are translated when the module is imported, before the language of a page is known."""
    return sorted(set(_find_early(ast.parse(source))))


def _find_early(node: ast.AST) -> Iterator[Fault]:
    if isinstance(node, ast.Lambda):
        return
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):  # its body runs later; its defaults do not
        early: list[ast.AST] = [*node.decorator_list, *node.args.defaults, *filter(None, node.args.kw_defaults)]
        if any(ast.unparse(each).startswith(("lru_cache", "cache(")) for each in node.decorator_list):
            early += node.body  # a cached text stays in the language of its first use
    else:
        early = list(ast.iter_child_nodes(node))
    if isinstance(node, ast.Call) and _name_function(node) in GETTEXT:
        yield Fault(node.lineno, ast.unparse(node))
    for each in early:
        yield from _find_early(each)


def _name_function(call: ast.Call) -> str:
    return call.func.id if isinstance(call.func, ast.Name) else ""


def _name_logger(call: ast.Call) -> str:
    is_method = isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Name)
    return cast("ast.Name", cast("ast.Attribute", call.func).value).id if is_method else ""


# --- checks of scripts ---------------------------------------------------------------------------------------------

# Strings in calls of these are selectors and media queries, or messages of exceptions for developers.
NOT_SHOWN = {"closest", "matches", "matchMedia", "querySelector", "querySelectorAll", "Error"}
OPENING, CLOSING = set("([{"), set(")]}")


def check_script(source: str) -> list[Fault]:
    faults: list[Fault] = []
    calls: list[str] = []  # open brackets, each with the name of the function whose arguments it holds
    before = Token("operator", "", 0)
    for token in tokenize(source, jsx=False, dotted=False):
        if token.type in {"linecomment", "multilinecomment"}:
            continue
        if token.value in OPENING:
            calls.append(before.value if token.value == "(" and before.type == "name" else "")
        elif token.value in CLOSING:
            calls.pop()
        elif token.type in {"string", "template_string"}:
            text = re.sub(r"\$\{[^{}]*\}", "", token.value[1:-1])
            is_checked = not calls or calls[-1] not in GETTEXT | NOT_SHOWN
            if is_checked and is_text(text):
                faults.append(Fault(token.lineno, text.strip()))
        before = token
    return faults


# --- checks of the text catalogue ----------------------------------------------------------------------------------


def compare_catalogues(stored: Catalog, fresh: Catalog) -> list[str]:
    """List texts that only one of the catalogues contains."""
    old, new = ({str(each.id) for each in catalogue if each.id} for catalogue in (stored, fresh))
    missing = [f"not in the catalogue: {text}. Run make texts." for text in sorted(new - old)]
    return missing + [f"not used any more: {text}. Run make texts." for text in sorted(old - new)]


PLACEHOLDER = re.compile(r"%\(\w+\)[sd]|%%|\{\w+\}|</?[a-z]+")  # and tags, without their attributes


def check_translations(translations: Catalog) -> list[str]:
    """List the messages without a translation, and those whose translation has other placeholders or tags."""
    faults: list[str] = []
    for each in translations:
        ids = list(each.id) if isinstance(each.id, (tuple, list)) else [each.id]
        strings = list(each.string) if isinstance(each.string, (tuple, list)) else [cast("str", each.string)]
        if not ids[0]:
            continue
        if each.fuzzy or not all(strings):
            faults.append(f"no translation: {ids[0]}")
        # the form for one thing may leave out the number
        wanted = set(PLACEHOLDER.findall(ids[-1]))
        least = set(PLACEHOLDER.findall(ids[0])) - {"%(num)s", "%(num)d"}
        for string in strings:
            found = set(PLACEHOLDER.findall(string))
            if string and not (least <= found <= wanted):
                faults.append(f"other placeholders: {ids[0]} → {string}")
    return faults


def check_files(files: Mapping[str, str], check: Callable[[str], list[Fault]]) -> list[str]:
    return [f"{name}:{fault.line}: {fault.text}" for name, source in files.items() for fault in check(source)]
