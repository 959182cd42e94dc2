"""Parse and run the code blocks of a documentation page, and read its shell commands."""

import contextlib
import io
import re
import shlex
from pathlib import Path
from typing import Any, NamedTuple

PAGE = Path(__file__).parents[1] / "docs" / "client.md"
ADDRESS = "http://127.0.0.1:5400"
_COMMAND = re.compile(r"(?:^|\()gamekeeper ([^)\n]+)", re.MULTILINE)
_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


class Block(NamedTuple):
    line: int
    code: str
    prints: str


def parse_blocks(text: str) -> list[Block]:
    """Return each Python block with the following text block, which is its expected output."""
    found = list(_BLOCK.finditer(text))
    following = [*found[1:], None]
    return [
        Block(text.count("\n", 0, each.start()) + 2, each[2], after[2] if after and after[1] == "text" else "")
        for each, after in zip(found, following, strict=True)
        if each[1] == "python"
    ]


def parse_commands(text: str) -> list[list[str]]:
    """Return the arguments of each gamekeeper command in the page's shell blocks."""
    return [
        shlex.split(words)
        for block in _BLOCK.finditer(text)
        if block[1] == "sh"
        for words in _COMMAND.findall(block[2])
    ]


def run_blocks(given: list[Block], url: str) -> list[tuple[str, str]]:
    """Run the page's Python blocks against this server; return expected and actual output of each."""
    names: dict[str, Any] = {"__name__": "__main__"}
    seen: list[tuple[str, str]] = []
    for block in given:
        code = "\n" * (block.line - 1) + block.code.replace(ADDRESS, url)
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            exec(compile(code, PAGE, "exec"), names)  # noqa: S102 - the page's own blocks
        seen.append((block.prints, printed.getvalue()))
    return seen
