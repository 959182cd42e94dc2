"""Draw docstrings, comments and screen texts at random, to check that people understand them without the code.

    .venv/bin/python scripts/draw_texts.py [--seed TEXT] [--where]

The default seed is the hash of the last commit, so one commit always gives the same draw. Give the printed texts to a
reader who has not seen the code, and let the reader write down what each one means. `--where` adds the file and line,
for the person who compares these answers with the code.
"""

import argparse
import ast
import random
import re
import subprocess
import tokenize
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from babel.messages.pofile import read_po

ROOT = Path(__file__).resolve().parent.parent
CODE = ("src", "clients", "tests", "battery", "scripts", "benchmarks")
CATALOGUE = ROOT / "src/gamekeeper/console/frame/locale/console.pot"
COMMANDS = ROOT / "src/gamekeeper/cli"
REFUSALS = (ROOT / "src/gamekeeper/game/core/refusals.py", ROOT / "src/gamekeeper/http/server/errors.py")
PRAGMAS = ("# noqa", "# pyright:", "# type:", "#!")  # prefixes of comments for tools, not for people
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
COMMENTS_DRAWN, SCREEN_TEXTS_DRAWN = 100, 60


class Text(NamedTuple):
    where: str
    text: str


def read_python_texts() -> Iterator[Text]:
    """Yield every docstring and comment of the project's Python files, except error messages."""
    for folder in CODE:
        for file in sorted((ROOT / folder).rglob("*.py")):
            if "node_modules" not in file.parts:
                yield from read_comments(file)
                yield from () if file in REFUSALS else read_docstrings(file)


def read_docstrings(file: Path, kinds: tuple[type[ast.AST], ...] = DOCUMENTED) -> Iterator[Text]:
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, DOCUMENTED) and isinstance(node, kinds) and (text := ast.get_docstring(node)):
            line = node.body[0].lineno
            yield Text(f"{file.relative_to(ROOT)}:{line}", text)


def read_comments(file: Path) -> Iterator[Text]:
    """Yield the comments of a Python file; consecutive lines with only a comment are one comment."""
    block: list[str] = []
    first = last = 0
    with file.open("rb") as source:
        for token in tokenize.tokenize(source.readline):
            if token.type != tokenize.COMMENT or token.string.startswith(PRAGMAS):
                continue
            line, alone = token.start[0], token.line.strip() == token.string
            if block and (not alone or line != last + 1):
                yield Text(f"{file.relative_to(ROOT)}:{first}", " ".join(block))
                block = []
            words = token.string.removeprefix("#").strip()
            if alone:
                first = first if block else line
                last = line
                block.append(words)
            else:
                yield Text(f"{file.relative_to(ROOT)}:{line}", words)
    if block:
        yield Text(f"{file.relative_to(ROOT)}:{first}", " ".join(block))


def read_screen_texts() -> Iterator[Text]:
    """Yield the texts of the console, the help of the command line, and the messages of the API's errors."""
    with CATALOGUE.open("rb") as source:
        for message in read_po(source):
            if message.id:
                yield Text("console", message.id if isinstance(message.id, str) else " / ".join(message.id))
    for file in sorted(COMMANDS.glob("*.py")):
        yield from read_command_help(file)
    for file in REFUSALS:
        yield from (each for each in read_docstrings(file, (ast.ClassDef,)) if re.sub(r"\{\w+\}", "", each.text))


def read_command_help(file: Path) -> Iterator[Text]:
    """Yield the docstrings of click commands and the `help` of their options."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef) and any("command" in ast.unparse(each) for each in node.decorator_list):
            text = ast.get_docstring(node)
            yield from [Text(f"{file.relative_to(ROOT)}:{node.lineno}", text)] if text else []
        if isinstance(node, ast.keyword) and node.arg == "help" and isinstance(node.value, ast.Constant):
            yield Text(f"{file.relative_to(ROOT)}:{node.value.lineno}", str(node.value.value))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", help="default: the hash of the last commit")
    parser.add_argument("--where", action="store_true", help="print the file and line of each text")
    given = parser.parse_args()
    last_commit = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=True)  # noqa: S607 - git is found on the PATH
    draw = random.Random(given.seed or last_commit.stdout.strip())
    for title, texts, count in (
        ("Docstrings and comments", list(read_python_texts()), COMMENTS_DRAWN),
        ("Screen texts", list(read_screen_texts()), SCREEN_TEXTS_DRAWN),
    ):
        print(f"\n# {title}: {count} of {len(texts)}")
        for number, each in enumerate(draw.sample(texts, count), 1):
            print(f"\n{number}. {each.text}" + (f"\n   [{each.where}]" if given.where else ""))


if __name__ == "__main__":
    main()
