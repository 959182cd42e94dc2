"""Each row of docs/decisions/ names the tests that prove it, and each of these tests exists."""

import re
from pathlib import Path

TESTS = Path(__file__).parents[1]
DOCS = TESTS.parent / "docs"
INDEX = (DOCS / "decisions.md").read_text(encoding="utf-8")
PAGES = {path.name: path.read_text(encoding="utf-8") for path in sorted((DOCS / "decisions").glob("*.md"))}
_TEST_NAME = re.compile(r"`(test_\w+)::(test_\w+)`")
_TABLE_HEADS = ("| question ", "|---")


def table_rows(page: str) -> list[str]:
    return [line for line in page.splitlines() if line.startswith("|") and not line.startswith(_TABLE_HEADS)]


def rows_without_tests(page: str) -> list[str]:
    return [row for row in table_rows(page) if not _TEST_NAME.search(row.rpartition(" | ")[2])]


def missing_tests(page: str) -> list[str]:
    files: dict[str, str] = {}
    for path in TESTS.rglob("test_*.py"):
        files[path.stem] = files.get(path.stem, "") + path.read_text(encoding="utf-8")
    return [f"{file}::{name}" for file, name in _TEST_NAME.findall(page) if f"def {name}(" not in files.get(file, "")]


def test_every_row_names_tests_and_they_exist() -> None:
    assert sum(len(table_rows(page)) for page in PAGES.values()) > 50
    assert [name for name, page in PAGES.items() if not table_rows(page)] == []
    assert [name for name in PAGES if f"(decisions/{name})" not in INDEX] == []
    assert {name: rows for name, page in PAGES.items() if (rows := rows_without_tests(page))} == {}
    assert missing_tests("".join(PAGES.values())) == []
