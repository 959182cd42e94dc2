"""The commands in the documents work as described."""

from pathlib import Path

import pytest

from blocks import parse_commands
from command_line import CommandLine

ROOT = Path(__file__).parents[2]
ADD = ["users", "add"]


@pytest.mark.parametrize("page", ["docs/link.md", "examples/README.md"])
def test_documented_commands_create_account_and_token(first_command: CommandLine, page: str) -> None:
    add, issue = parse_commands((ROOT / page).read_text(encoding="utf-8"))
    assert add[:2] == ADD
    first_command.says(*add, "--password-stdin", typed="moss and lanterns")
    assert first_command.says(*issue).startswith("gka_")
    (shown,) = first_command.json("users", "list")
    assert shown["staff"] == ["game server"]
