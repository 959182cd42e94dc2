"""The command `approvals`: list changes that need an approval, and deny one. Approving needs a person's account."""

from functools import partial

import click

from gamekeeper.cli import terminal
from gamekeeper.cli.commands import CommandGroup
from gamekeeper.cli.users import apply_change
from gamekeeper.game.audit import approval_decisions
from gamekeeper.game.audit import approvals as rules
from gamekeeper.game.audit.refusals import NoSuchApproval
from gamekeeper.game.core import lookup
from gamekeeper.game.core.keeper import Keeper
from gamekeeper.http.server import query_values
from gamekeeper.http.server.stored_bodies import find_invited
from gamekeeper.store.audit import approvals as rows

LIST_LIMIT = 1000
STATES = (rows.WAITING, rows.DONE, rows.DENIED, rows.EXPIRED)


@click.group(cls=CommandGroup)
def approvals() -> None:
    """List changes that need the approval of a second person, and deny one."""


@approvals.command(name="list", epilog="Example: gamekeeper approvals list --state waiting")
@click.option("--state", type=click.Choice(STATES), help="Only this state.")
@terminal.json_option
@terminal.database_option
def list_(state: str | None, as_json: bool, database: str | None) -> None:  # noqa: FBT001 - click passes options by name
    """List changes that need an approval, newest first."""
    page = terminal.run_on_database(
        database, lambda keeper: rules.load_page(keeper.store, state, query_values.START, LIST_LIMIT)
    )
    shown = [
        (
            each.id,
            each.state,
            each.rule,
            each.actor or "-",
            _name_key(each),
            f"{each.method} {each.path}",
            each.reason or "-",
            find_invited(each, {"users.query"}) or "-",
        )
        for each in page.approvals
    ]
    columns = ("ID", "STATE", "RULE", "REQUESTER", "KEY", "REQUEST", "REASON", "EMAIL")
    if as_json:
        terminal.print_json([dict(zip((each.lower() for each in columns), row, strict=True)) for row in shown])
        return
    terminal.print_table([columns, *shown])


def _name_key(approval: rows.Approval) -> str:
    """Name the requester's API key with the accounts that created or rotated it."""
    if approval.key_name is None:
        return "-"
    return f"{approval.key_name} ({', '.join(each.name or each.id for each in approval.key_makers) or 'command line'})"


@approvals.command(epilog="Example: gamekeeper approvals deny 3f2c8a4e-… --reason 'too much'")
@click.argument("approval_id", metavar="ID")
@click.option("--reason", help="Why; stored with the approval.")
@terminal.database_option
def deny(approval_id: str, reason: str | None, database: str | None) -> None:
    """Deny a change that waits for approval."""
    denied = terminal.run_on_database(database, partial(_deny, approval_id=approval_id, reason=reason), final=True)
    click.echo(f"Denied the request of {denied.actor or 'a deleted account'}: {denied.method} {denied.path}.")


async def _deny(keeper: Keeper, approval_id: str, reason: str | None) -> rows.Approval:
    wanted = lookup.parse_guid(approval_id)
    if wanted is None:
        raise NoSuchApproval(id=approval_id)
    decide = partial(approval_decisions.deny, approval_id=wanted, account_id=None, reason=reason)
    return await apply_change(keeper, decide)
