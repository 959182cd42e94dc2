import subprocess
import sys
from pathlib import Path

import click

from gamekeeper.cli.commands import gamekeeper
from gamekeeper.game.security import KINDS
from loops import over

SCRIPT = Path(__file__).parents[2] / "scripts" / "generate_docs.py"

WITHOUT_DATABASE = {"deploy", "operations"}


def test_generated_documents_are_up_to_date() -> None:
    checked = subprocess.run([sys.executable, SCRIPT, "--check"], capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stdout + checked.stderr


def commands(group: click.Group) -> list[click.Command]:
    found: list[click.Command] = []
    for each in group.commands.values():
        found += commands(each) if isinstance(each, click.Group) else [each]
    return found


@over("command", commands(gamekeeper))
def test_every_command_has_help_and_a_database_option(command: click.Command) -> None:
    assert command.help
    assert command.name in WITHOUT_DATABASE or any("--database" in option.opts for option in command.params)
    for option in command.params:
        assert isinstance(option, click.Argument) or option.help, option.name
    if command.name != "demo":
        assert command.epilog
        assert command.epilog.startswith("Example: ")


def test_table_of_the_security_log_has_every_kind_of_event() -> None:
    page = (SCRIPT.parents[1] / "docs" / "security-log.md").read_text(encoding="utf-8")
    rows = [line for line in page.splitlines() if line.startswith("| `")]
    assert rows == [f"| `{kind}` | {meaning} |" for kind, meaning in KINDS.items()]
