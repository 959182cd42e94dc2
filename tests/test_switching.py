"""docs/switching.md: its table has every operation under the engine's paths, and says which of them exist here."""

import re
from pathlib import Path

from gamekeeper.http.commands import NOT_IMPLEMENTED, NOT_SUPPORTED

DOCS = Path(__file__).parents[1] / "docs"
OPERATION = re.compile(r"`((?:GET|POST|PUT|DELETE) /[^`]+)`")
ENGINE_PATHS = ("/api/v1/", "/api/oauth/", "/api/info")
OURS = {"GET /api/v1/players/[]/rank", "POST /api/v1/users/[]/password/reset", "GET /api/v1/variables/global"}
# refused as in the engine, so docs/operations.md does not have them
REFUSED = {
    f"POST /api/v1/{noun}/[]/admin/{act}" for noun in ("players", "users") for act in NOT_SUPPORTED | NOT_IMPLEMENTED
}
WORDS = {"same", "better", "different", "not here", "-"}


def list_operations(text: str) -> set[str]:
    found = (re.sub(r"\[[^]]*]", "[]", each) for each in OPERATION.findall(text))
    return {each for each in found if each.split()[1].startswith(ENGINE_PATHS)}


def read_table() -> dict[str, list[str]]:
    """Return the words for the four versions, by operation."""
    rows = re.findall(r"^\| `([A-Z]+ /[^`]+)` \|(.*)\|$", (DOCS / "switching.md").read_text(), re.MULTILINE)
    return {re.sub(r"\[[^]]*]", "[]", name): [each.strip() for each in rest.split("|")[:4]] for name, rest in rows}


def test_table_says_what_exists_here() -> None:
    table, here = read_table(), list_operations((DOCS / "operations.md").read_text())
    assert len(table) > 120
    assert {word for words in table.values() for word in words} == WORDS
    assert sorted((here | REFUSED) - table.keys() - OURS) == []
    for name, words in table.items():
        assert set(words) != {"-"}, name
        assert ("not here" in words) == (name not in here | REFUSED), name
        assert "not here" not in words or set(words) <= {"not here", "-"}, name
