"""The command `bulk`: one act for many players, as a job that the server works through.

It calls the operations of the API as an account, so the permissions, approvals and limits of that account count.
"""

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import click
import msgspec

from gamekeeper import app
from gamekeeper.cli import terminal
from gamekeeper.cli.commands import CommandGroup
from gamekeeper.cli.moderation import Body, add_time_options, choose_time
from gamekeeper.game.access.second_factors import read_policy
from gamekeeper.game.audit.refusals import ApprovalRequired
from gamekeeper.game.core import lookup
from gamekeeper.game.core.keeper import Keeper
from gamekeeper.http.audit import bulk_jobs as operations
from gamekeeper.http.server import dispatcher, query_values
from gamekeeper.http.server.caller import Callers, load_requester
from gamekeeper.http.server.request import Request
from gamekeeper.http.server.response import JSON
from gamekeeper.store.audit import bulk_jobs as rows
from gamekeeper.store.world import catalogue

ROOT = "/api/keeper/v1/bulk"
LIST_LIMIT = 1000
SHOWN_REFUSALS = 20
COLUMNS = ("Id", "State", "Act", "Players", "Done", "Refused", "Held", "Remaining", "Creator", "CreatedAt")
# kind of catalogue entry that an option names → field of a job
NAMED = {"items": "ItemId", "variables": "VariableId"}
FIELDS = {"duration": "Days", "minutes": "Minutes", "until": "Until"}  # field of a ban or mute → field of a job
Answer = dict[str, Any]

account_option = click.option("--as", "account", metavar="ACCOUNT", required=True, help="Account that does it.")
reason_option = click.option("--reason", help="Why; stored with each change.")
F = TypeVar("F", bound=Callable[..., object])


def add_job_options(command: F) -> F:
    """Add the argument and the options of a command that acts on one job."""
    for add in (terminal.database_option, terminal.json_option, reason_option, account_option, click.argument("job")):
        command = add(command)
    return command


@click.group(cls=CommandGroup)
def bulk() -> None:
    """Change many players by a job of the server.

    A serving process works through the jobs. Each command acts as an account, with its permissions.
    """


@bulk.command(name="list", epilog="Example: gamekeeper bulk list")
@terminal.json_option
@terminal.database_option
def list_(as_json: bool, database: str | None) -> None:  # noqa: FBT001 - click passes options by name
    """List jobs, newest first."""
    found = terminal.run_on_database(
        database, lambda keeper: rows.read_page(keeper.store, query_values.START, LIST_LIMIT)
    )
    jobs = [msgspec.to_builtins(operations.make_job(each)) for each in found]
    if as_json:
        terminal.print_json(jobs)
        return
    shown = [tuple(str(job[name]) for name in COLUMNS) for job in jobs]
    terminal.print_table([tuple(name.upper() for name in COLUMNS), *shown])


@bulk.command(epilog="Example: gamekeeper bulk show 3f2c8a4e-…")
@click.argument("job")
@terminal.json_option
@terminal.database_option
def show(job: str, as_json: bool, database: str | None) -> None:  # noqa: FBT001 - click passes options by name
    """Show a job with its progress, and the first players that were refused."""
    found, refused = terminal.run_on_database(database, partial(_load, job=job))
    if as_json:
        terminal.print_json(found | {"RefusedPlayers": refused})
        return
    terminal.print_table([(name, str(value)) for name, value in found.items() if value is not None])
    for each in refused:
        click.echo(f"refused: {terminal.escape(each['Player'] or each['Given'] or '-')}: {each['Message']}")


@bulk.command(epilog="Example: gamekeeper bulk start give_item names.txt --as keeper --item 'Gold Coin' --quantity 5")
@click.argument("act", type=click.Choice(["give_item", "take_item", "set_variable", "ban_player", "mute_player"]))
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@account_option
@click.option("--item", metavar="NAME", help="Name or id of an item.")
@click.option("--quantity", type=int, help="Quantity for each player.")
@click.option("--bank-overflow", is_flag=True, help="Put into the bank what does not fit into the inventory.")
@click.option("--variable", metavar="NAME", help="Name or id of a variable.")
@click.option("--value", help="New value: a number, true or false.")
@add_time_options
@reason_option
@click.option("--yes", is_flag=True, help="Start the job. Without it, the job is only previewed.")
@terminal.json_option
@terminal.database_option
def start(act: str, file: Path, account: str, reason: str | None, database: str | None, **given: Any) -> None:  # noqa: ANN401 - options by name
    """Create a job for the players whose names or ids are the lines of FILE. It starts only with --yes."""
    players = [line.strip() for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]
    yes, as_json = given.pop("yes"), given.pop("as_json")
    given["time"] = choose_time(given["length"], given["until"], given["days"])
    work = partial(_start, account=account, body={"Act": act, "Players": players}, given=given, reason=reason, yes=yes)
    found, tried = terminal.run_on_database(database, work, final=True)
    if as_json:
        terminal.print_json(found | {"Preview": tried})
        return
    for each in tried:
        outcome = each["Message"] or ("needs approval" if each["NeedsApproval"] else "would be changed")
        click.echo(f"{terminal.escape(each['Player'] or each['PlayerId'])}: {outcome}")
    click.echo(
        f"Job {found['Id']}: {terminal.format_count(found['Players'], 'player')}, "
        f"{found['NotFound']} not found, {found['Repeated']} repeated. State: {found['State']}."
    )
    if not yes:
        click.echo(f"Nothing is changed yet. Start it: gamekeeper bulk resume {found['Id']} --as {account}")


@bulk.command(epilog="Example: gamekeeper bulk pause 3f2c8a4e-… --as keeper")
@add_job_options
def pause(job: str, account: str, reason: str | None, **given: Any) -> None:  # noqa: ANN401 - options by name
    """Pause a job after the player that it works on."""
    _act(job, "pause", account, reason, **given)


@bulk.command(epilog="Example: gamekeeper bulk resume 3f2c8a4e-… --as keeper")
@add_job_options
def resume(job: str, account: str, reason: str | None, **given: Any) -> None:  # noqa: ANN401 - options by name
    """Start a job, or resume a paused one. Only the account that created it can do that."""
    _act(job, "start", account, reason, **given)


@bulk.command(epilog="Example: gamekeeper bulk cancel 3f2c8a4e-… --as keeper")
@add_job_options
def cancel(job: str, account: str, reason: str | None, **given: Any) -> None:  # noqa: ANN401 - options by name
    """Cancel a job. What it has changed stays."""
    _act(job, "cancel", account, reason, **given)


@bulk.command(epilog="Example: gamekeeper bulk undo 3f2c8a4e-… --as keeper --yes")
@add_job_options
@click.option("--yes", is_flag=True, help="Start the undo. Without it, the job is only created.")
def undo(job: str, account: str, reason: str | None, **given: Any) -> None:  # noqa: ANN401 - options by name
    """Create a job that undoes the changes of another one. It starts only with --yes."""
    _act(job, "undo", account, reason, **given)


def _act(
    job: str,
    act: str,
    account: str,
    reason: str | None,
    as_json: bool,  # noqa: FBT001 - click passes options by name
    database: str | None,
    yes: bool = False,  # noqa: FBT001,FBT002 - as above
) -> None:
    work = partial(_change, job=job, act=act, account=account, reason=reason, yes=yes)
    found = terminal.run_on_database(database, work, final=True)
    if as_json:
        terminal.print_json(found)
        return
    click.echo(f"Job {found['Id']}: {found['State']}, {found['Done']} of {found['Players']} players done.")


async def _change(keeper: Keeper, job: str, act: str, account: str, reason: str | None, *, yes: bool) -> Answer:
    done = await _call(keeper, account, "POST", f"{ROOT}/{_read_id(job)}/{act}", reason)
    return await _call(keeper, account, "POST", f"{ROOT}/{done['Id']}/start", reason) if yes else done


async def _start(
    keeper: Keeper, account: str, body: Answer, given: Mapping[str, Any], reason: str | None, *, yes: bool
) -> tuple[Answer, list[Answer]]:
    """Create the job, try it on its first players, and start it if that is wanted."""
    for kind, name in (("items", given["item"]), ("variables", given["variable"])):
        if name is not None:
            body[NAMED[kind]] = await _find_id(keeper, kind, name)
    value = given["value"]
    sent = {
        "Quantity": given["quantity"],
        "BankOverflow": given["bank_overflow"] or None,
        "Value": None if value is None else _parse_value(value),
    }
    body |= {name: each for name, each in sent.items() if each is not None}
    length: Body = given["time"] or {}
    body |= {FIELDS[name]: each for name, each in length.items()}
    job = await _call(keeper, account, "POST", ROOT, reason, body)
    tried = await _call(keeper, account, "GET", f"{ROOT}/{job['Id']}/preview", None)
    if yes:
        job = await _call(keeper, account, "POST", f"{ROOT}/{job['Id']}/start", reason)
    return job, tried["Players"]


async def _load(keeper: Keeper, job: str) -> tuple[Answer, list[Answer]]:
    found = await operations.bulk_jobs.find(keeper.store, _read_id(job))
    refused = await rows.read_targets(keeper.store, found.id, 0, SHOWN_REFUSALS, rows.REFUSED)
    targets = [msgspec.to_builtins(operations.make_target(each, undone_by=None)) for each in refused]  # changed nothing
    return msgspec.to_builtins(operations.make_job(found)), targets


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
        receive=_receive_nothing,
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


async def _find_id(keeper: Keeper, kind: str, name: str) -> str:
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


async def _receive_nothing() -> dict[str, object]:
    return {"type": "http.disconnect"}
