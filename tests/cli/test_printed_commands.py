"""The commands in the documents work as described."""

from pathlib import Path

import pytest

from blocks import parse_commands
from command_line import CommandLine

ROOT = Path(__file__).parents[2]
ADD = ["users", "add"]


@pytest.mark.parametrize("page", ["docs/link.md", "examples/README.md"])
def test_documented_commands_create_account_and_key(first_command: CommandLine, page: str) -> None:
    add, create = parse_commands((ROOT / page).read_text(encoding="utf-8"))
    assert add[:2] == ADD
    assert "Password: " in first_command.says(*add)
    assert first_command.says(*create).startswith("gkk_")
    (shown,) = first_command.json("users", "list")
    assert shown["staff"] == ["game server"]
