"""The commands `users delete` and `users export`: erase or export all data of a person."""

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import click

from gamekeeper.cli import progress, terminal
from gamekeeper.cli.users import apply_change
from gamekeeper.copies import exports
from gamekeeper.game.accounts import erasures
from gamekeeper.game.accounts.erasures import ErasureSummary
from gamekeeper.game.core.keeper import Keeper
from gamekeeper.store.accounts import erasures as erasure_rows
from gamekeeper.store.audit.history import NEVER

KEPT_DATA = (
    "The audit log keeps which items were given or taken and when, without names, email addresses and reasons. "
    "Older backups, exports and logs still contain the person's data."
)


@click.command(epilog="Example: gamekeeper users delete Ann --dry-run")
@click.argument("name")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@click.option("--dry-run", is_flag=True, help="Only report what would be erased.")
@terminal.database_option
def delete(name: str, yes: bool, dry_run: bool, database: str | None) -> None:  # noqa: FBT001 - click passes options by name
    """Erase an account with all personal data; NAME is its name or its id.

    Its players with all their items, tokens, mails, bans and mutes are deleted. The audit log keeps item quantities
    without personal data. None of the players may be online.
    """
    found = terminal.run_on_database(database, partial(_erase, key=name, dry_run=True))
    click.echo(
        f"Would be erased: {_summarize(found)}." if dry_run else f"Will be erased: {_summarize(found)}.",
        err=not dry_run,
    )
    if dry_run:
        return
    if not yes:
        _confirm()
    erased = terminal.run_on_database(database, partial(_erase, key=found.user.id, dry_run=False), final=True)
    click.echo(f"Erased {_summarize(erased)}.")
    click.echo(KEPT_DATA, err=True)
    with progress.show_bars() as moved:
        terminal.run_on_database(database, partial(_anonymize, moved=moved))


@click.command(epilog="Example: gamekeeper users export Ann ann.json")
@click.argument("name")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--force", is_flag=True, help="Overwrite FILE if it exists.")
@terminal.database_option
def export(name: str, file: Path, force: bool, database: str | None) -> None:  # noqa: FBT001 - click passes options by name
    """Write all data of a person to FILE, as JSON; NAME is the account's name or its id.

    Contains the account, its players with all their items, bans, mutes, mails, tokens (without their secrets), callers
    and every change of the audit log about them. FILE appears only when it is complete, and only its owner can read it.
    """
    done = terminal.run_on_database(
        database, partial(exports.export_person, key=name, path=file, force=force), final=True
    )
    size = file.stat().st_size
    facts = f"{_format_count(done.characters, 'player')}, {_format_count(done.changes, 'change')}; {size:,} bytes"
    click.echo(f"Wrote all data of {done.user.name} to {file} ({facts}).")


async def _erase(keeper: Keeper, key: str, *, dry_run: bool) -> ErasureSummary:
    decide = partial(erasures.erase, key=key, codec=keeper.changes.codec, actor=None)
    erased = await apply_change(keeper, decide, dry_run=dry_run)
    if not dry_run:
        await keeper.lists.maintain()  # update the ordered lists, which still contain the erased names
    return erased


async def _anonymize(keeper: Keeper, moved: Callable[[str, int, int | None], None]) -> None:
    """Remove an erased person from the audit log now. After Ctrl-C a running server does the rest."""
    total, done = await erasure_rows.count_left(keeper.store, NEVER), 0

    def report_erased(rows: int) -> None:
        nonlocal done
        done += rows
        moved("Removing names from the audit log", done, total)

    await erasures.run_all_jobs(keeper.store, report_erased)


def _confirm() -> None:
    if not sys.stdin.isatty():
        raise click.UsageError(
            "Cannot ask for confirmation without a terminal. Use --yes, or check first with --dry-run."
        )
    click.confirm("This cannot be undone. Erase the account?", abort=True, err=True)


def _summarize(erased: ErasureSummary) -> str:
    names = f" ({', '.join(erased.characters)})" if erased.characters else ""
    held = f"{_format_count(len(erased.characters), 'player')}{names}"
    more = " or more" if erased.changes == erasures.MAX_COUNTED else ""
    rows = f"the names in {erased.changes:,}{more} {'change' if erased.changes == 1 else 'changes'} of the audit log"
    return f"{erased.user.name} ({erased.user.id}), {held} and {rows}"


def _format_count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"
