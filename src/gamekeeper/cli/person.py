"""The person behind an account: all that is stored about them, and how it is erased."""

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import click

from gamekeeper.backup import person as exports
from gamekeeper.cli import progress, terminal
from gamekeeper.cli.users import apply_change
from gamekeeper.game import erasure_jobs, erasures
from gamekeeper.game.erasures import ErasureSummary
from gamekeeper.game.keeper import Keeper
from gamekeeper.store import erasures as erasure_rows
from gamekeeper.store.history import NEVER

KEPT_DATA = (
    "The ledger keeps what was given, taken and when, without names, addresses and reasons. Rows about others whom the "
    "person banned, muted or kicked keep the name of the moderator, and so does a ban or mute that has an earlier name "
    "of theirs. Older backups, exports and log files still have the person."
)


@click.command(epilog="Example: gamekeeper users delete Ann --dry-run")
@click.argument("name")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--dry-run", is_flag=True, help="Say what would go, and change nothing.")
@terminal.database_option
def delete(name: str, yes: bool, dry_run: bool, database: str | None) -> None:  # noqa: FBT001 - click hands every option over by name
    """Erase an account and the person behind it; NAME is its name or its id.

    Its characters go with all they hold, and so do tokens, mails, bans and mutes. The ledger keeps its sums and forgets
    who it was, but for a moderator's name in rows about others. Nobody may be online with one of the characters.
    """
    found = terminal.run_on_database(database, partial(_erase, key=name, dry_run=True))
    click.echo(f"{_summarize(found)} would go." if dry_run else f"{_summarize(found)} will go.", err=not dry_run)
    if dry_run:
        return
    if not yes:
        _confirm()
    erased = terminal.run_on_database(database, partial(_erase, key=found.user.id, dry_run=False), final=True)
    click.echo(f"Erased {_summarize(erased)}.")
    click.echo(KEPT_DATA, err=True)
    with progress.bars() as moved:
        terminal.run_on_database(database, partial(_anonymize, moved=moved))


@click.command(epilog="Example: gamekeeper users export Ann ann.json")
@click.argument("name")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--force", is_flag=True, help="Overwrite FILE if it is there.")
@terminal.database_option
def export(name: str, file: Path, force: bool, database: str | None) -> None:  # noqa: FBT001 - click hands every option over by name
    """Write everything that is stored about a person to FILE, as JSON; NAME is the account's name or its id.

    The account, its characters with all they hold, bans and mutes, mails, tokens and callers without their secrets, and
    every change of the ledger about them. The file is for its owner only, and is there only when it is whole.
    """
    done = terminal.run_on_database(
        database, partial(exports.export_person, key=name, path=file, force=force), final=True
    )
    size = file.stat().st_size
    facts = f"{_format_count(done.characters, 'character')}, {_format_count(done.changes, 'change')}; {size:,} bytes"
    click.echo(f"Wrote all about {done.user.name} to {file} ({facts}).")


async def _erase(keeper: Keeper, key: str, *, dry_run: bool) -> ErasureSummary:
    decide = partial(erasures.erase, key=key, codec=keeper.changes.codec, caller=None)
    erased = await apply_change(keeper, decide, dry_run=dry_run)
    if not dry_run:
        await keeper.lists.maintain()  # they are counted by names: without this one
    return erased


async def _anonymize(keeper: Keeper, moved: Callable[[str, int, int | None], None]) -> None:
    """Not left to `gamekeeper serve`, which may not be running; a Ctrl-C leaves the rest to it."""
    total, done = await erasure_rows.count_left(keeper.store, NEVER), 0

    def blanked(rows: int) -> None:
        nonlocal done
        done += rows
        moved("Taking names out of the audit log", done, total)

    await erasure_jobs.run_all_jobs(keeper.store, blanked)


def _confirm() -> None:
    if not sys.stdin.isatty():
        raise click.UsageError("There is no terminal to ask on; say --yes, or look first with --dry-run.")
    click.confirm("This cannot be undone. Erase?", abort=True, err=True)


def _summarize(erased: ErasureSummary) -> str:
    names = f" ({', '.join(erased.characters)})" if erased.characters else ""
    held = f"{_format_count(len(erased.characters), 'character')}{names}"
    more = " or more" if erased.changes == erasures.MOST_COUNTED else ""
    rows = f"the names in {erased.changes:,}{more} {'row' if erased.changes == 1 else 'rows'} of the ledger"
    return f"{erased.user.name} ({erased.user.id}), {held} and {rows}"


def _format_count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"
