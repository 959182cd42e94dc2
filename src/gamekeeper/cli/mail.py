"""The command `mail`: list, show and retry the mails of the outbox."""

from dataclasses import replace
from functools import partial

import click

from gamekeeper.cli import terminal
from gamekeeper.cli.commands import CommandGroup
from gamekeeper.cli.users import apply_change
from gamekeeper.game.accounts import mails
from gamekeeper.game.core import lookup
from gamekeeper.game.core.keeper import Keeper
from gamekeeper.game.core.refusals import NoSuchMail
from gamekeeper.ground.settings import Settings
from gamekeeper.http.accounts import mail_messages
from gamekeeper.store.accounts import mails as rows
from gamekeeper.store.accounts.mails import ListedMail

DEFAULT_SENDER = "gamekeeper@localhost"  # shown as the sender by `mail show` while mail_from is not set
NO_CODE = "(the code expired, was used or was replaced)"
ERROR_WIDTH = 60


@click.group(cls=CommandGroup)
def mail() -> None:
    """List, show and retry the mails of the outbox."""


@mail.command(name="list", epilog="Example: gamekeeper mail list --database sqlite:///game.db")
@terminal.json_option
@terminal.database_option
def list_(as_json: bool, database: str | None) -> None:  # noqa: FBT001 - click passes options by name
    """List mails, newest first, with recipient, state and last error.

    queued: waits for its next attempt, or until SMTP is set up. sending: in delivery. sent: accepted by the SMTP
    server. failed: rejected permanently. expired: not sent, because its code expired, was used or was replaced.
    """
    found = terminal.run_on_database(database, lambda keeper: rows.read_page(keeper.store, rows.LIST_LIMIT))
    if as_json:
        terminal.print_json([_to_json_object(each) for each in found])
        return
    lines = [
        (
            each.id,
            each.state,
            each.name,
            each.address,
            terminal.format_time(each.queued_at),
            str(each.tries),
            _shorten_error(each),
        )
        for each in found
    ]
    terminal.print_table([("ID", "STATE", "USER", "TO", "QUEUED", "TRIES", "LAST ERROR"), *lines])
    if len(found) == rows.LIST_LIMIT:
        click.echo(f"Only the newest {rows.LIST_LIMIT} mails are listed.", err=True)


@mail.command(epilog="Example: gamekeeper mail show 3f2c8a4e-… --html")
@click.argument("mail_id", metavar="ID")
@click.option("--html", "as_html", is_flag=True, help="Show the HTML part instead of the text.")
@terminal.database_option
def show(mail_id: str, as_html: bool, database: str | None) -> None:  # noqa: FBT001 - click passes options by name
    """Show a mail as it is sent, with its reset code while that is valid. Keep the code secret.

    Everyone with access to the database can read the codes.
    """

    async def read(keeper: Keeper) -> tuple[ListedMail, Settings]:
        found = await rows.find_by_id(keeper.store, _parse_id(mail_id))
        if found is None:
            raise NoSuchMail(id=mail_id)
        return found, keeper.settings

    found, settings = terminal.run_on_database(database, read)
    _print_mail(found, settings, "html" if as_html else "plain")


@mail.command(epilog="Example: gamekeeper mail retry --all")
@click.argument("mail_id", metavar="[ID]", required=False)
@click.option("--all", "everything", is_flag=True, help="Retry every unsent mail whose code is still valid.")
@terminal.database_option
def retry(mail_id: str | None, everything: bool, database: str | None) -> None:  # noqa: FBT001 - click passes options by name
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
    click.echo(f"Due now: {terminal.format_count(count, 'mail')}.{waiting}")


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
            mail_messages.ResetMail(found.id, found.name, found.address, found.code or NO_CODE, found.queued_at)
        )
    except mail_messages.BadAddress as bad:
        terminal.fail(f"Cannot build mail {found.id}. {bad} Set another address for the account.")
    for name in ("From", "To", "Subject", "Date", "Message-ID"):
        click.echo(f"{name}: {message[name]}")
    body = message.get_body((kind,))
    click.echo(f"\n{body.get_content() if body else ''}", nl=False)


def _to_json_object(each: ListedMail) -> dict[str, object]:
    return {
        "id": each.id,
        "state": each.state,
        "user": each.name,
        "address": each.address,
        "queued_at": terminal.format_time(each.queued_at),
        "expires_at": terminal.format_time(each.expires_at),
        "tries": each.tries,
        "next_try_at": terminal.format_time(each.next_try_at) if each.next_try_at is not None else None,
        "sent_at": terminal.format_time(each.sent_at) if each.sent_at is not None else None,
        "last_error": each.last_error,
    }


def _shorten_error(each: ListedMail) -> str:
    said = each.last_error or "-"
    return said if len(said) <= ERROR_WIDTH else f"{said[:ERROR_WIDTH]}…"
