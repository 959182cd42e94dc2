"""docs/decisions.md names the tests that prove it: each row has some, and each of them exists."""

import re
from pathlib import Path

TESTS = Path(__file__).parents[1]
PAGE = (TESTS.parent / "docs" / "decisions.md").read_text(encoding="utf-8")
_NAMED = re.compile(r"`(test_\w+)::(test_\w+)`")
_HEADS = ("| question ", "|---")


def rows(page: str) -> list[str]:
    return [line for line in page.splitlines() if line.startswith("|") and not line.startswith(_HEADS)]


def unproven(page: str) -> list[str]:
    return [row for row in rows(page) if not _NAMED.search(row.rpartition(" | ")[2])]


def missing(page: str) -> list[str]:
    files: dict[str, str] = {}
    for path in TESTS.rglob("test_*.py"):
        files[path.stem] = files.get(path.stem, "") + path.read_text(encoding="utf-8")
    return [f"{file}::{name}" for file, name in _NAMED.findall(page) if f"def {name}(" not in files.get(file, "")]


def test_every_row_names_tests_and_they_exist() -> None:
    assert len(rows(PAGE)) > 50
    assert unproven(PAGE) == []
    assert missing(PAGE) == []
