"""The commands that open no database: `settings`, `operations`, and `deploy`, which writes out the files of deploy/."""

from dataclasses import fields
from pathlib import Path

import click

from gamekeeper.cli import terminal
from gamekeeper.cli.terminal import Database, Output, argument, command
from gamekeeper.ground import settings as known
from gamekeeper.http.routes import list_operations


@command("settings", epilog="Example: GAMEKEEPER_PORT=8080 gamekeeper settings")
def settings(*, database: Database) -> Output:
    """Print every setting with its value, source and meaning; passwords are masked.

    Environment variables with the prefix GAMEKEEPER_ that are no setting are reported on standard error.
    """
    loaded = terminal.load_settings(database)
    rows: list[tuple[str, str, str, str]] = []
    for each in fields(known.Settings):
        source = "--database" if each.name == "database" and database else known.find_source(each.name)
        rows.append((each.name, known.show_value(loaded, each.name), source, str(each.metadata["help"])))
    terminal.warn_of_unknown_variables()
    found = [dict(zip(("name", "value", "source", "meaning"), row, strict=True)) for row in rows]
    return Output([("SETTING", "VALUE", "SOURCE", "MEANING"), *rows], found)


@command("operations", "--json | jq '.[] | select(.access == \"writes\") | .path'")
def operations() -> Output:
    """List the operations of the API: number in the spec, method, path, permissions and what each does."""
    found = list_operations()
    return Output([tuple(name.upper() for name in found[0]), *(tuple(each.values()) for each in found)], found)


IN_WHEEL = Path(__file__).parents[1] / "deploy"
IN_CHECKOUT = Path(__file__).parents[3] / "deploy"


@command("deploy", "./deploy")
def deploy(folder: Path = argument(type=click.Path(file_okay=False, path_type=Path))) -> None:
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
