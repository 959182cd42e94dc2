"""The commands `backup` and `restore`: the whole database as one file."""

import sys
from functools import partial
from pathlib import Path
from typing import NamedTuple

import click

from gamekeeper import doctor
from gamekeeper.backup import filling, making, restoring
from gamekeeper.backup.archive import Archive, BackupManifest, BadBackup
from gamekeeper.backup.lines import CopyProgress
from gamekeeper.cli import database as databases
from gamekeeper.cli import doctor_warnings, progress, terminal
from gamekeeper.doctor import DoctorFinding
from gamekeeper.game.keeper import Keeper
from gamekeeper.settings import Settings
from gamekeeper.store.migrate import find_pending, load_migrations

FILE_PATH = click.Path(dir_okay=True, path_type=Path)
READ_BACK = "the file was read back, and every table matches its row count and SHA-256"
IN_ORDER = "the database's own integrity check found no errors"
TOKENS_REVOKED = "All tokens are revoked. Issue new tokens for services with: gamekeeper tokens issue NAME"
KEYS_SUSPENDED = (
    "All API keys are suspended. Find them with: gamekeeper keys list. "
    "Let those that you still want work again with: gamekeeper keys resume ID"
)
TOKENS_KEPT = "Tokens that were active at the time of the backup are active again, even if they were revoked after it."
KEYS_KEPT = "API keys have the state that they had at the time of the backup."


class BackupResult(NamedTuple):
    manifest: BackupManifest
    problems: list[str]  # problems that the database's integrity check found
    unfinished: list[DoctorFinding]  # interrupted imports; they do not prevent a backup


@click.command(epilog="Example: gamekeeper backup game.backup --database sqlite:///game.db")
@click.argument("file", type=FILE_PATH)
@click.option("--force", is_flag=True, help="Overwrite FILE if it exists.")
@terminal.json_option
@terminal.database_option
def backup(file: Path, force: bool, as_json: bool, database: str | None) -> None:  # noqa: FBT001 - click passes options by name
    """Write a consistent snapshot of the whole database to FILE.

    It can run while `serve` is running and blocks no requests. FILE appears only after it was read back and every
    table matches its row count and checksum. Only its owner can read it. Keep it secret: it contains email addresses
    and password hashes.
    """
    loaded = terminal.load_settings(database)
    terminal.require_database(loaded)
    with progress.show_bars() as moved, terminal.report_failures():
        made = terminal.run_with_keeper(loaded, partial(_back_up, file=file, moved=moved, force=force), final=True)
    _print_backup(file, made, as_json=as_json)
    sys.exit(bool(made.problems))


@click.command(epilog="Example: gamekeeper restore game.backup --database sqlite:///restored.db")
@click.argument("file", type=FILE_PATH)
@click.option(
    "--keep-tokens", is_flag=True, help="Keep tokens and API keys active that were active when the backup was made."
)
@terminal.json_option
@terminal.database_option
def restore(file: Path, keep_tokens: bool, as_json: bool, database: str | None) -> None:  # noqa: FBT001 - click passes options by name
    """Create a database from a backup.

    The database must be empty, or a file that does not exist yet: nothing is overwritten. All of FILE is checked
    first. An older schema is migrated. The change feed gets a new epoch, so its readers start over. Password reset
    codes and unsent mails are dropped. Running bulk jobs are paused, and waiting approvals expire. All tokens are
    revoked, and all API keys are suspended until `keys resume`, unless --keep-tokens is given. `doctor`
    checks the result; exit code 1 if it finds an error.
    """
    loaded = terminal.load_settings(database)
    with progress.show_bars() as moved, terminal.report_failures(), Archive(file) as archive:
        archive.verify(moved)
        with filling.prepare_target(loaded) as target:
            work = partial(restoring.restore, archive=archive, progress=moved, keep_tokens=keep_tokens)
            complete = terminal.run_with_keeper(target, work, final=True)
        errors = databases.find_errors(loaded, moved, complete=complete)
    _print_restored(file, loaded, archive.manifest, errors, keep_tokens=keep_tokens, as_json=as_json)
    sys.exit(bool(errors))


async def _back_up(keeper: Keeper, file: Path, moved: CopyProgress, *, force: bool) -> BackupResult:
    waiting = await find_pending(keeper.store)
    if len(waiting) == len(load_migrations()):
        raise BadBackup("This database is empty, so there is nothing to back up. Check --database.")
    problems = await keeper.store.check_integrity()
    unfinished = (
        [] if waiting else await doctor.find_unfinished_imports(keeper.store)
    )  # a database with an old schema may have no table of imports
    return BackupResult(await making.create_backup(keeper.store, file, moved, force=force), problems, unfinished)


def _print_backup(file: Path, made: BackupResult, *, as_json: bool) -> None:
    doctor_warnings.warn_of_errors(made.unfinished)
    size = file.stat().st_size
    if as_json:
        terminal.print_json(
            {"file": str(file), "bytes": size, **_to_json_fields(made.manifest), "problems": made.problems}
        )
        return
    click.echo(f"Backed up {_summarize(made.manifest)} to {file} ({size:,} bytes).")
    click.echo(f"Verified: {READ_BACK}." if made.problems else f"Verified: {READ_BACK}; {IN_ORDER}.")
    for problem in made.problems:
        click.echo(f"WARNING: the database failed its integrity check: {problem}. Run: gamekeeper doctor", err=True)


def _print_restored(
    file: Path,
    loaded: Settings,
    manifest: BackupManifest,
    errors: list[DoctorFinding],
    *,
    keep_tokens: bool,
    as_json: bool,
) -> None:
    if as_json:
        terminal.print_json(
            {"file": str(file), **_to_json_fields(manifest), "problems": databases.describe_errors(errors)}
        )
        return
    databases.print_outcome(f"Restored {_summarize(manifest)} to {terminal.show_database(loaded)}", errors)
    click.echo(TOKENS_KEPT if keep_tokens else TOKENS_REVOKED)
    if any(table.name == "api_keys" and table.rows for table in manifest.tables):
        click.echo(KEYS_KEPT if keep_tokens else KEYS_SUSPENDED)


def _summarize(manifest: BackupManifest) -> str:
    return (
        f"{manifest.rows:,} rows of {len(manifest.tables)} tables as of {terminal.format_time(manifest.made_at)}, "
        f"last change {manifest.ledger}, schema {manifest.schema}"
    )


def _to_json_fields(manifest: BackupManifest) -> dict[str, object]:
    return {
        "made_at": manifest.made_at,
        "engine": manifest.engine,
        "gamekeeper": manifest.gamekeeper,
        "schema": manifest.schema,
        "ledger": manifest.ledger,
        "rows": manifest.rows,
        "tables": {table.name: table.rows for table in manifest.tables},
    }
