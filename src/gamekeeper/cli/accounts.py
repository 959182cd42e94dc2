"""The commands `mail`, `users delete` and `users export`: the outbox, and all data of a person."""

import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import click

from gamekeeper.cli import terminal
from gamekeeper.cli.commands import add_group
from gamekeeper.cli.terminal import Database, FilePath, Force, Output, apply_change, argument, command, option
from gamekeeper.game.accounts import erasures, mails
from gamekeeper.game.accounts.erasures import ErasureSummary
from gamekeeper.game.core import lookup
from gamekeeper.game.core.refusals import NoSuchMail
from gamekeeper.game.keeper import Keeper
from gamekeeper.ground.settings import Settings
from gamekeeper.http.accounts import mail_messages
from gamekeeper.store.accounts import erasures as erasure_rows
from gamekeeper.store.accounts import mails as rows
from gamekeeper.store.accounts.mails import ListedMail
from gamekeeper.store.audit.history import NEVER

DEFAULT_SENDER = "gamekeeper@localhost"  # shown as the sender by `mail show` while mail_from is not set
NO_CODE = "(the code expired, was used or was replaced)"
ERROR_WIDTH = 60
TITLES = ("ID", "STATE", "USER", "TO", "QUEUED", "TRIES", "LAST ERROR")
add_group("mail", "List, show and retry the mails of the outbox.")


@command("mail list", "--database sqlite:///game.db")
async def list_mails(keeper: Keeper) -> Output:
    """List mails, newest first, with recipient, state and last error.

    queued: waits for its next attempt, or until SMTP is set up. sending: in delivery. sent: accepted by the SMTP
    server. failed: rejected permanently. expired: not sent, because its code expired, was used or was replaced.
    """
    found = await rows.read_page(keeper.store, rows.LIST_LIMIT)
    return Output(
        [TITLES, *map(_to_table_row, found)],
        [_to_json_object(each) for each in found],
        notes=[f"Only the newest {rows.LIST_LIMIT} mails are listed."] if len(found) == rows.LIST_LIMIT else [],
    )


@command("mail show", "3f2c8a4e-… --html")
async def show(
    keeper: Keeper,
    mail_id: str = argument(metavar="ID"),
    *,
    as_html: bool = option("Show the HTML part instead of the text.", "--html"),
) -> None:
    """Show a mail as it is sent, with its reset code while that is valid. Keep the code secret.

    Everyone with access to the database can read the codes.
    """
    found = await keeper.store.row(rows.ListedMail, rows.SQL.by_id, _parse_id(mail_id))
    if found is None:
        raise NoSuchMail(id=mail_id)
    _print_mail(found, keeper.settings, "html" if as_html else "plain")


@command("mail retry", "--all")
def retry(
    mail_id: str | None = argument(metavar="[ID]"),
    *,
    everything: bool = option("Retry every unsent mail whose code is still valid.", "--all"),
    database: Database,
) -> str:
    """Retry a mail now, even if it was rejected permanently. A running server sends it within seconds."""
    if everything == (mail_id is not None):
        raise click.UsageError("Give either the ID of a mail or --all.")

    async def retry_mails(keeper: Keeper) -> int:
        if mail_id is None:
            return await mails.retry_all(keeper, terminal.make_intent())
        await apply_change(keeper, partial(mails.retry, mail_id=_parse_id(mail_id)))
        return 1

    count = terminal.run_on_database(database, retry_mails, final=True)
    smtp = terminal.load_settings(database).smtp_url
    waiting = "" if smtp else " Mail is not set up, so nothing is sent until GAMEKEEPER_SMTP_URL is set."
    return f"Due now: {terminal.format_count(count, 'mail')}.{waiting}"


def _parse_id(text: str) -> str:
    found = lookup.parse_guid(text)
    if found is None:
        raise NoSuchMail(id=text)
    return found


def _print_mail(found: ListedMail, settings: Settings, kind: str) -> None:
    with terminal.report_failures():
        templates = mail_messages.load_templates(replace(settings, mail_from=settings.mail_from or DEFAULT_SENDER))
    try:
        message = templates.build_reset(
            mail_messages.MailFacts(found.id, found.name, found.address, found.code or NO_CODE, found.queued_at)
        )
    except mail_messages.BadAddress as bad:
        terminal.fail(f"Cannot build mail {found.id}. {bad} Set another address for the account.")
    for name in ("From", "To", "Subject", "Date", "Message-ID"):
        click.echo(f"{name}: {message[name]}")
    body = message.get_body((kind,))
    click.echo(f"\n{body.get_content() if body else ''}", nl=False)


def _to_json_object(mail: ListedMail) -> dict[str, object]:
    found = terminal.format_times(mail._asdict(), ("queued_at", "expires_at", "next_try_at", "sent_at"))
    return {"user" if name == "name" else name: value for name, value in found.items() if name != "code"}


def _to_table_row(mail: ListedMail) -> tuple[str, ...]:
    said = mail.last_error or "-"
    short = said if len(said) <= ERROR_WIDTH else f"{said[:ERROR_WIDTH]}…"
    queued = terminal.format_time(mail.queued_at)
    return mail.id, mail.state, mail.name, mail.address, queued, str(mail.tries), short


KEPT_DATA = (
    "The audit log keeps which items were given or taken and when, without names, email addresses and reasons. "
    "Older backups, exports and logs still contain the person's data."
)


@command("users delete", "Ann --dry-run")
def delete(
    name: str,
    *,
    yes: bool = option("Do not ask for confirmation."),
    dry_run: bool = option("Only report what would be erased."),
    database: Database,
) -> None:
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
    from gamekeeper.cli import progress  # noqa: PLC0415 - loads slowly, and the commands of mails do not need it

    with progress.show_bars() as moved:
        terminal.run_on_database(database, partial(_anonymize, moved=moved))


@command("users export", "Ann ann.json", writes=True)
async def export(keeper: Keeper, name: str, file: FilePath, *, force: Force) -> str:
    """Write all data of a person to FILE, as JSON; NAME is the account's name or its id.

    Contains the account, its players with all their items, bans, mutes, mails, tokens (without their secrets), callers
    and every change of the audit log about them. FILE appears only when it is complete, and only its owner can read it.
    """
    from gamekeeper.copies import exports  # noqa: PLC0415 - loads slowly, and the commands of mails do not need it

    done = await exports.export_person(keeper, name, file, force=force)
    size = file.stat().st_size
    facts = f"{_format_count(done.characters, 'player')}, {_format_count(done.changes, 'change')}; {size:,} bytes"
    return f"Wrote all data of {done.user.name} to {file} ({facts})."


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
