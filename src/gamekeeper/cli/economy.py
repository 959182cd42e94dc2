"""The command `economy`: items in circulation, one item day by day, its holders, and gifts of staff and keys."""

import click
import msgspec

from gamekeeper.cli import terminal
from gamekeeper.game import economy_reports as reports
from gamekeeper.game import lookup
from gamekeeper.game.keeper import Keeper
from gamekeeper.http import economy_codec, instants, wire
from gamekeeper.http.paging import PageRange
from gamekeeper.store import catalogue
from gamekeeper.store.economy import GiftFilter
from gamekeeper.store.holdings import ITEM, VARIABLE

LIST_LIMIT = 1000
UP_TO = "Counted up to change {}{}."
NOT_COMPLETE = "Some players are not counted yet: run the command again."
Report = wire.economy.EconomyPage | wire.economy.ItemEconomy | wire.economy.HoldersPage | wire.economy.GiftsPage


class DayType(click.ParamType[int]):
    """A UTC day on the command line, such as 2026-11-17, or a time on it; in ms since 1970."""

    name = "day"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> int:
        try:
            return instants.parse_typed_time(value)
        except (ValueError, OverflowError):
            self.fail(f"'{value}' is not a day, such as 2026-11-17.", param, ctx)


@click.command(epilog="Example: gamekeeper economy 'Gold Coin' --holders")
@click.argument("item", required=False)
@click.option("--holders", is_flag=True, help="Who has the most of the item.")
@click.option("--variable", help="Who has the highest value of this variable, by name or id.")
@click.option("--staff", is_flag=True, help="How much accounts and API keys gave and took.")
@click.option("--giver", help="With --staff: only this account, by name or id, or API key, by id.")
@click.option("--from", "since", type=DayType(), help="First UTC day; default six days before the last one.")
@click.option("--to", "until", type=DayType(), help="Last UTC day; default today.")
@click.option("--page", type=click.IntRange(min=0), default=0, help="Page of the list, from 0.")
@click.option("--limit", type=click.IntRange(1, LIST_LIMIT), default=100, help="Rows per page.")
@click.option("--recount", is_flag=True, help="Count holdings and totals again, from the slots of all players.")
@terminal.json_option
@terminal.database_option
def economy_(
    *,
    item: str | None,
    holders: bool,
    variable: str | None,
    staff: bool,
    giver: str | None,
    since: int | None,
    until: int | None,
    page: int,
    limit: int,
    recount: bool,
    as_json: bool,
    database: str | None,
) -> None:
    """Show items in circulation, where they come from, who has the most, and who gave how much.

    Without an ITEM (name or id): all items. With one: day by day.
    """
    if holders and not item:
        raise click.UsageError("--holders needs an ITEM.")
    if sum(map(bool, (holders, variable, staff))) > 1:
        raise click.UsageError("Use only one of --holders, --variable and --staff.")
    if giver and not staff:
        raise click.UsageError("--giver needs --staff.")
    part = PageRange(page, limit, limit)

    async def load(keeper: Keeper) -> Report:
        if recount:
            await keeper.economy.recount()
        await keeper.economy.catch_up()
        if variable:
            return await _load_holders(keeper, VARIABLE, await _find_id(keeper, VARIABLE, variable), part)
        item_id = await _find_id(keeper, ITEM, item) if item else None
        if item_id and holders:
            return await _load_holders(keeper, ITEM, item_id, part)
        most = reports.MAX_DAYS if staff or not item_id else reports.MAX_ITEM_DAYS
        days = await reports.choose_days(keeper.store, since, until, most)
        if staff:
            wanted = GiftFilter(item_id, await _find_giver(keeper, giver) if giver else None)
            given = await reports.report_gifts(keeper.store, keeper.economy, wanted, days, limit, part.offset)
            return economy_codec.make_gifts_page(given, part)
        if item_id:
            return economy_codec.make_item(await reports.report_item(keeper.store, keeper.economy, item_id, days))
        found = await reports.report_items(keeper.store, keeper.economy, days, limit, part.offset)
        return economy_codec.make_items_page(found, part)

    _show(terminal.run_on_database(database, load), as_json=as_json)


async def _load_holders(keeper: Keeper, kind: str, thing_id: str, part: PageRange) -> wire.economy.HoldersPage:
    found = await reports.report_holders(keeper.store, keeper.economy, kind, thing_id, part.limit, part.offset)
    return economy_codec.make_holders_page(found, part)


async def _find_id(keeper: Keeper, kind: str, name: str) -> str:
    found = lookup.parse_guid(name) or await catalogue.find_id_by_name(keeper.store, f"{kind}s", name)
    if found is None:
        raise click.UsageError(f"The catalogue has no {kind} '{name}'.")
    return found


async def _find_giver(keeper: Keeper, name: str) -> str:
    """Return the id of a giver. An id is not looked up: it may be of an API key, or of a deleted account."""
    return lookup.parse_guid(name) or (await lookup.find_user(keeper.store, name)).id


def _show(report: Report, *, as_json: bool) -> None:
    if as_json:
        terminal.print_json(msgspec.to_builtins(report))
        return
    if isinstance(report, wire.economy.EconomyPage):
        rows = [
            (
                each.Name or each.ItemId,
                *_to_texts(each.Quantity, each.Holders, _add(each.Created), _add(each.Destroyed)),
            )
            for each in report.Values
        ]
        terminal.print_table([("ITEM", "IN CIRCULATION", "HOLDERS", "CREATED", "DESTROYED"), *rows])
        click.echo(f"Created and destroyed from {report.From} to {report.To}.")
    elif isinstance(report, wire.economy.ItemEconomy):
        _show_item(report)
    elif isinstance(report, wire.economy.HoldersPage):
        rows = [(str(each.Rank), each.Name or "-", each.PlayerId, str(each.Quantity)) for each in report.Values]
        terminal.print_table([("RANK", "PLAYER", "ID", "QUANTITY"), *rows])
        more = "" if report.Ranked else " The setting `ranked` does not name it, so at most 100 are shown."
        in_all = report.Total if report.Holders is None else report.Holders
        click.echo(f"{terminal.format_count(in_all, 'holder')} in all.{more}")
    else:
        rows = [
            (
                each.Name or _name_giver(each),
                each.Source,
                each.ItemName or each.ItemId,
                *_to_texts(each.Given, each.Taken),
            )
            for each in report.Values
        ]
        terminal.print_table([("WHO", "SOURCE", "ITEM", "GIVEN", "TAKEN"), *rows])
        click.echo(f"From {report.From} to {report.To}.")
    click.echo(UP_TO.format(report.UpTo.Seq, f" of {report.UpTo.At}" if report.UpTo.At else ""))
    if not report.UpTo.Complete:
        terminal.warn(NOT_COMPLETE)


def _show_item(report: wire.economy.ItemEconomy) -> None:
    sources = wire.economy.Sources.__struct_fields__
    rows = [
        (
            each.Day,
            "-" if each.Quantity is None else str(each.Quantity),
            "-" if each.Holders is None else str(each.Holders),
            *(f"+{getattr(each.Created, name)} -{getattr(each.Destroyed, name)}" for name in sources),
        )
        for each in report.Days
    ]
    terminal.print_table([("DAY", "IN CIRCULATION", "HOLDERS", *(name.upper() for name in sources)), *rows])
    click.echo(f"{report.Name or report.ItemId}: {report.Quantity} in circulation, {report.Holders} holders.")


def _name_giver(gift: wire.economy.GiftSum) -> str:
    return "(command line)" if gift.GiverId is None else f"(deleted) {gift.GiverId}"


def _add(sums: wire.economy.Sources) -> int:
    return sum(msgspec.structs.astuple(sums))


def _to_texts(*numbers: int) -> tuple[str, ...]:
    return tuple(map(str, numbers))
