"""The command `settings`: print every setting and where its value comes from."""

from dataclasses import fields

import click

from gamekeeper import settings as known
from gamekeeper.cli import terminal


@click.command(epilog="Example: GAMEKEEPER_PORT=8080 gamekeeper settings")
@terminal.json_option
@terminal.database_option
def settings(as_json: bool, database: str | None) -> None:  # noqa: FBT001 - click passes options by name
    """Print every setting with its value, source and meaning; passwords are masked.

    Environment variables with the prefix GAMEKEEPER_ that are no setting are reported on standard error.
    """
    loaded = terminal.load_settings(database)
    rows: list[tuple[str, str, str, str]] = []
    for each in fields(known.Settings):
        source = "--database" if each.name == "database" and database else known.find_source(each.name)
        rows.append((each.name, known.show_value(loaded, each.name), source, str(each.metadata["help"])))
    terminal.warn_of_unknown_variables()
    if as_json:
        terminal.print_json([dict(zip(("name", "value", "source", "meaning"), row, strict=True)) for row in rows])
        return
    terminal.print_table([("SETTING", "VALUE", "SOURCE", "MEANING"), *rows])
