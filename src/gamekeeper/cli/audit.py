"""The commands `approvals` and `bulk`: changes that wait for a second person, and one act for many players.

`bulk` calls the operations of the API as an account, so the permissions, approvals and limits of that account count.
`approvals` only denies: approving needs a person's account.
"""

from functools import partial
from pathlib import Path
from typing import Annotated, Any

import click
import msgspec

from gamekeeper import app
from gamekeeper.cli import terminal
from gamekeeper.cli.commands import add_group
from gamekeeper.cli.moderation import Days, Length, Until, choose_time
from gamekeeper.cli.terminal import AsJson, Database, Output, apply_change, argument, command, option
from gamekeeper.game.access.second_factors import read_policy
from gamekeeper.game.audit import approval_gate, approvals
from gamekeeper.game.audit.refusals import ApprovalRequired, NoSuchApproval
from gamekeeper.game.core import lookup
from gamekeeper.game.keeper import Keeper
from gamekeeper.http.audit import bulk_jobs as operations
from gamekeeper.http.audit.approvals import find_invited
from gamekeeper.http.audit.bulk_runner import receive_nothing
from gamekeeper.http.server import dispatcher, query_values
from gamekeeper.http.server.caller import Callers, load_requester
from gamekeeper.http.server.request import Request
from gamekeeper.http.server.response import JSON
from gamekeeper.store.audit import approvals as approval_rows
from gamekeeper.store.audit import bulk_jobs as rows
from gamekeeper.store.audit.approvals import Approval
from gamekeeper.store.world import catalogue

ROOT = "/api/keeper/v1/bulk"
LIST_LIMIT = 1000
SHOWN_REFUSALS = 20
STATES = (approval_rows.WAITING, approval_rows.DONE, approval_rows.DENIED, approval_rows.EXPIRED)
APPROVAL_COLUMNS = ("id", "state", "rule", "requester", "key", "request", "reason", "email")
COLUMNS = ("Id", "State", "Act", "Players", "Done", "Refused", "Held", "Remaining", "Creator", "CreatedAt")
ACTS = ("give_item", "take_item", "set_variable", "ban_player", "mute_player")
FIELDS = {"duration": "Days", "minutes": "Minutes", "until": "Until"}  # field of a ban or mute → field of a job
Answer = dict[str, Any]
Account = Annotated[str, option("Account that does it.", "--as", metavar="ACCOUNT", required=True)]
Reason = Annotated[str | None, option("Why; stored with each change.")]
add_group("approvals", "List changes that need the approval of a second person, and deny one.")
add_group(
    "bulk",
    """Change many players by a job of the server.

    A serving process works through the jobs. Each command acts as an account, with its permissions.
    """,
)


@command("approvals list", "--state waiting")
async def list_approvals(
    keeper: Keeper, *, state: str | None = option("Only this state.", type=click.Choice(STATES))
) -> Output:
    """List changes that need an approval, newest first."""
    page = await approvals.load_page(keeper.store, state, query_values.START, LIST_LIMIT)
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
    titles = tuple(name.upper() for name in APPROVAL_COLUMNS)
    return Output([titles, *shown], [dict(zip(APPROVAL_COLUMNS, row, strict=True)) for row in shown])


def _name_key(approval: Approval) -> str:
    """Name the requester's API key with the accounts that created or rotated it."""
    if approval.key_name is None:
        return "-"
    return f"{approval.key_name} ({', '.join(each.name or each.id for each in approval.key_makers) or 'command line'})"


@command("approvals deny", "3f2c8a4e-… --reason 'too much'", writes=True)
async def deny(
    keeper: Keeper,
    approval_id: str = argument(metavar="ID"),
    *,
    reason: str | None = option("Why; stored with the approval."),
) -> str:
    """Deny a change that waits for approval."""
    wanted = lookup.parse_guid(approval_id)
    if wanted is None:
        raise NoSuchApproval(id=approval_id)
    denied = await apply_change(keeper, partial(approval_gate.deny, approval_id=wanted, account_id=None, reason=reason))
    return f"Denied the request of {denied.actor or 'a deleted account'}: {denied.method} {denied.path}."


@command("bulk list", "")
async def list_jobs(keeper: Keeper) -> Output:
    """List jobs, newest first."""
    found = await rows.read_page(keeper.store, query_values.START, LIST_LIMIT)
    jobs = [msgspec.to_builtins(operations.make_job(each)) for each in found]
    shown = [tuple(str(job[name]) for name in COLUMNS) for job in jobs]
    return Output([tuple(name.upper() for name in COLUMNS), *shown], jobs)


@command("bulk show", "3f2c8a4e-…")
async def show(keeper: Keeper, job: str) -> Output:
    """Show a job with its progress, and the first players that were refused."""
    row = await operations.bulk_jobs.find(keeper.store, _read_id(job))
    targets = await operations.bulk_jobs.read_targets(keeper.store, row.id, 0, SHOWN_REFUSALS, rows.REFUSED)
    found = msgspec.to_builtins(operations.make_job(row))
    refused = [msgspec.to_builtins(each) for each in targets]
    return Output(
        [(name, str(value)) for name, value in found.items() if value is not None],
        found | {"RefusedPlayers": refused},
        [f"refused: {terminal.escape(each['Player'] or each['Given'] or '-')}: {each['Message']}" for each in refused],
    )


@command("bulk start", "give_item names.txt --as keeper --item 'Gold Coin' --quantity 5")
def start(
    act: str = argument(type=click.Choice(ACTS)),
    file: Path = argument(type=click.Path(exists=True, dir_okay=False, path_type=Path)),
    *,
    account: Account,
    item: str | None = option("Name or id of an item.", metavar="NAME"),
    quantity: int | None = option("Quantity for each player.", type=int),
    bank_overflow: bool = option("Put into the bank what does not fit into the inventory."),
    variable: str | None = option("Name or id of a variable.", metavar="NAME"),
    value: str | None = option("New value: a number, true or false."),
    length: Length,
    until: Until,
    days: Days,
    reason: Reason,
    yes: bool = option("Start the job. Without it, the job is only previewed."),
    database: Database,
) -> Output:
    """Create a job for the players whose names or ids are the lines of FILE. It starts only with --yes."""
    players = [line.strip() for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]
    time = choose_time(length, until, days) or {}

    async def create(keeper: Keeper) -> tuple[Answer, list[Answer]]:
        """Create the job, try it on its first players, and start it if that is wanted."""
        body = {
            "Act": act,
            "Players": players,
            "ItemId": await _find_id(keeper, "items", item),
            "VariableId": await _find_id(keeper, "variables", variable),
            "Quantity": quantity,
            "BankOverflow": bank_overflow or None,
            "Value": None if value is None else _parse_value(value),
            **{FIELDS[name]: each for name, each in time.items()},
        }
        given = {name: each for name, each in body.items() if each is not None}
        job = await _call(keeper, account, "POST", ROOT, reason, given)
        tried = await _call(keeper, account, "GET", f"{ROOT}/{job['Id']}/preview", None)
        if yes:
            job = await _call(keeper, account, "POST", f"{ROOT}/{job['Id']}/start", reason)
        return job, tried["Players"]

    found, tried = terminal.run_on_database(database, create, final=True)
    shown: list[str] = []
    for each in tried:
        outcome = each["Message"] or ("needs approval" if each["NeedsApproval"] else "would be changed")
        shown.append(f"{terminal.escape(each['Player'] or each['PlayerId'])}: {outcome}")
    shown.append(
        f"Job {found['Id']}: {terminal.format_count(found['Players'], 'player')}, "
        f"{found['NotFound']} not found, {found['Repeated']} repeated. State: {found['State']}."
    )
    if not yes:
        shown.append(f"Nothing is changed yet. Start it: gamekeeper bulk resume {found['Id']} --as {account}")
    return Output("\n".join(shown), found | {"Preview": tried})


@command("bulk pause", "3f2c8a4e-… --as keeper", writes=True)
async def pause(keeper: Keeper, job: str, *, account: Account, reason: Reason) -> Output:
    """Pause a job after the player that it works on."""
    return await _act(keeper, job, "pause", account, reason)


@command("bulk resume", "3f2c8a4e-… --as keeper", writes=True)
async def resume(keeper: Keeper, job: str, *, account: Account, reason: Reason) -> Output:
    """Start a job, or resume a paused one. Only the account that created it can do that."""
    return await _act(keeper, job, "start", account, reason)


@command("bulk cancel", "3f2c8a4e-… --as keeper", writes=True)
async def cancel(keeper: Keeper, job: str, *, account: Account, reason: Reason) -> Output:
    """Cancel a job. What it has changed stays."""
    return await _act(keeper, job, "cancel", account, reason)


@command("bulk undo", "3f2c8a4e-… --as keeper --yes")
def undo(
    job: str,
    *,
    account: Account,
    reason: Reason,
    as_json: AsJson,
    database: Database,
    yes: bool = option("Start the undo. Without it, the job is only created."),
) -> None:
    """Create a job that undoes the changes of another one. It starts only with --yes."""
    done = terminal.run_on_database(
        database, lambda keeper: _act(keeper, job, "undo", account, reason, then_start=yes), final=True
    )
    terminal.show(done, as_json=as_json)


async def _act(
    keeper: Keeper, job: str, act: str, account: str, reason: str | None, *, then_start: bool = False
) -> Output:
    found = await _call(keeper, account, "POST", f"{ROOT}/{_read_id(job)}/{act}", reason)
    if then_start:
        found = await _call(keeper, account, "POST", f"{ROOT}/{found['Id']}/start", reason)
    return Output(f"Job {found['Id']}: {found['State']}, {found['Done']} of {found['Players']} players done.", found)


async def _call(
    keeper: Keeper, account: str, method: str, path: str, reason: str | None, body: Answer | None = None
) -> Answer:
    """Call an operation of the API as an account."""
    user = await lookup.find_user(keeper.store, account)
    services = app.build_services(keeper, Callers(keeper.store, read_policy(keeper.settings)))
    headers = {b"content-type": JSON} | ({b"x-reason": reason.encode()} if reason else {})
    request = Request(
        services=services,
        id=terminal.make_intent().request_id,
        method=method,
        raw_path=path.encode(),
        raw_query=b"",
        headers=headers,
        scope={"headers": ()},
        receive=receive_nothing,
        raw_body=b"" if body is None else msgspec.json.encode(body),
    )
    route, params = services.router.find(method, request.raw_path)
    caller = await load_requester(keeper.store, user.id, None)
    dispatcher.require_permissions(caller, route)
    answer = await dispatcher.call_as(request, caller, route, params)
    told = msgspec.json.decode(answer.content, type=Answer)
    if approval := told.get("ApprovalId"):
        raise ApprovalRequired(approval)
    return told


async def _find_id(keeper: Keeper, kind: str, name: str | None) -> str | None:
    if name is None:
        return None
    found = lookup.parse_guid(name) or await catalogue.find_id_by_name(keeper.store, kind, name)
    if found is None:
        raise click.UsageError(f"The catalogue has no entry '{name}' among its {kind}.")
    return found


def _read_id(job: str) -> str:
    found = lookup.parse_guid(job)
    if found is None:
        raise click.UsageError(f"'{job}' is not the id of a job. See: gamekeeper bulk list")
    return found


def _parse_value(text: str) -> int | bool:
    if text.lower() in {"true", "false"}:
        return text.lower() == "true"
    try:
        return int(text)
    except ValueError:
        raise click.UsageError(f"'{text}' is not a number, true or false.") from None
