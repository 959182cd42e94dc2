"""The commands that open no database: `settings`, `operations`, and `deploy`, which writes out the files of deploy/."""

from dataclasses import fields
from pathlib import Path

import click

from gamekeeper.cli import terminal
from gamekeeper.ground import settings as known
from gamekeeper.http.contract.routes import list_operations


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


IN_WHEEL = Path(__file__).parents[1] / "deploy"
IN_CHECKOUT = Path(__file__).parents[3] / "deploy"


@click.command(epilog="Example: gamekeeper deploy ./deploy")
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
def deploy(folder: Path) -> None:
    """Write example files for systemd, HAProxy, Patroni, PgBouncer, Prometheus and Docker into FOLDER.

    The folder is created if it is missing. If one of the files is already there, nothing is written.
    The document docs/deploy.md explains each file.
    """
    sources = sorted(path for path in find_folder().iterdir() if path.is_file())
    existing = [path.name for path in sources if (folder / path.name).exists()]
    if existing:
        names = ", ".join(existing)
        terminal.fail(f"{folder} already has {names}. Nothing was written. Move them, or name another folder.")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for path in sources:
            with (folder / path.name).open("xb") as file:
                file.write(path.read_bytes())
            click.echo(folder / path.name)
    except OSError as error:
        terminal.fail(f"{folder} cannot be written to: {error.strerror}. Only the files that are listed were written.")


def find_folder() -> Path:
    """Return the folder deploy/: inside the installed package, or beside src/ in a checkout."""
    return IN_WHEEL if IN_WHEEL.is_dir() else IN_CHECKOUT
