"""`gamekeeper deploy`: write out the files of deploy/, which the wheel contains."""

from pathlib import Path

import click

from gamekeeper.cli import terminal

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
