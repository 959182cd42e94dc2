"""The command `operations`: list the operations of the API."""

import click

from gamekeeper.cli import terminal
from gamekeeper.http.routes import list_operations


@click.command(epilog="Example: gamekeeper operations --json | jq '.[] | select(.access == \"writes\") | .path'")
@terminal.json_option
def operations(as_json: bool) -> None:  # noqa: FBT001 - click passes options by name
    """List the operations of the API: number in the spec, method, path, permissions and what each does."""
    found = list_operations()
    if as_json:
        terminal.print_json(found)
        return
    heading = tuple(name.upper() for name in found[0])
    terminal.print_table([heading, *(tuple(each.values()) for each in found)])
