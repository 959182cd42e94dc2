"""The commands `economy` and `activity`: items in circulation, their holders, and gifts; players over time."""

import click
import msgspec

from gamekeeper.cli import terminal
from gamekeeper.cli.terminal import Database, Output, Parsed, command, option
from gamekeeper.game.core import lookup
from gamekeeper.game.insight import activity_series, flows
from gamekeeper.game.insight import economy_reports as reports
from gamekeeper.game.insight.activity_series import TooManyPoints
from gamekeeper.game.insight.economy_reports import EconomyPage, GiftsPage, GiftSum, HoldersPage, ItemEconomy
from gamekeeper.game.keeper import Keeper
from gamekeeper.ground import instants
from gamekeeper.ground.wire import PageRange
from gamekeeper.http.insight import activity
from gamekeeper.store.insight.economy import GiftFilter
from gamekeeper.store.insight.holdings import ITEM, VARIABLE
from gamekeeper.store.world import catalogue

LIST_LIMIT = 1000
UP_TO = "Counted up to change {}{}."
NOT_COMPLETE = "Some players are not counted yet: run the command again."
EconomyReport = EconomyPage | ItemEconomy | HoldersPage | GiftsPage


def parse_day(text: str) -> int:
    """Parse a UTC day, such as 2026-11-17, or a time on it, to ms since 1970."""
    try:
        return instants.parse_typed_time(text)
    except (ValueError, OverflowError):
        raise click.BadParameter(f"'{text}' is not a day, such as 2026-11-17.") from None


DAY = Parsed("day", parse_day)


@command("economy", "'Gold Coin' --holders")
def economy_(
    item: str | None,
    *,
    holders: bool = option("Who has the most of the item."),
    variable: str | None = option("Who has the highest value of this variable, by name or id."),
    staff: bool = option("How much accounts and API keys gave and took."),
    giver: str | None = option("With --staff: only this account, by name or id, or API key, by id."),
    since: int | None = option("First UTC day; default six days before the last one.", "--from", type=DAY),
    until: int | None = option("Last UTC day; default today.", "--to", type=DAY),
    page: int = option("Page of the list, from 0.", type=click.IntRange(min=0), default=0),
    limit: int = option("Rows per page.", type=click.IntRange(1, LIST_LIMIT), default=100),
    recount: bool = option("Count holdings and totals again, from the slots of all players."),
    database: Database,
) -> Output:
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

    async def load(keeper: Keeper) -> EconomyReport:
        if recount:
            await keeper.economy.recount()
        await keeper.economy.catch_up()
        if variable:
            variable_id = await _find_id(keeper, VARIABLE, variable)
            return await keeper.economy.read(lambda tx: reports.report_holders(tx, VARIABLE, variable_id, part))
        item_id = await _find_id(keeper, ITEM, item) if item else None
        if item_id and holders:
            return await keeper.economy.read(lambda tx: reports.report_holders(tx, ITEM, item_id, part))
        most = reports.MAX_DAYS if staff or not item_id else reports.MAX_ITEM_DAYS
        days = await reports.choose_days(keeper.store, since, until, most)
        if staff:
            wanted = GiftFilter(item_id, await _find_giver(keeper, giver) if giver else None)
            return await keeper.economy.read(lambda tx: reports.report_gifts(tx, wanted, days, part))
        if item_id:
            return await keeper.economy.read(lambda tx: reports.report_item(tx, item_id, days))
        return await keeper.economy.read(lambda tx: reports.report_items(tx, days, part))

    report = terminal.run_on_database(database, load)
    table, note = _make_table(report)
    lines = [note, UP_TO.format(report.up_to.seq, f" of {report.up_to.at}" if report.up_to.at else "")]
    return Output(
        table, msgspec.to_builtins(report), lines, [] if report.up_to.complete else [f"WARNING: {NOT_COMPLETE}"]
    )


async def _find_id(keeper: Keeper, kind: str, name: str) -> str:
    found = lookup.parse_guid(name) or await catalogue.find_id_by_name(keeper.store, f"{kind}s", name)
    if found is None:
        raise click.UsageError(f"The catalogue has no {kind} '{name}'.")
    return found


async def _find_giver(keeper: Keeper, name: str) -> str:
    """Return the id of a giver. An id is not looked up: it may be of an API key, or of a deleted account."""
    return lookup.parse_guid(name) or (await lookup.find_user(keeper.store, name)).id


def _make_table(report: EconomyReport) -> tuple[list[tuple[str, ...]], str]:
    """Return a report's table, and the line below it."""
    if isinstance(report, EconomyPage):
        rows = [
            (
                each.name or each.item_id,
                *_to_texts(each.quantity, each.holders, each.created.total, each.destroyed.total),
            )
            for each in report.values
        ]
        heads = ("ITEM", "IN CIRCULATION", "HOLDERS", "CREATED", "DESTROYED")
        return [heads, *rows], f"Created and destroyed from {report.first} to {report.last}."
    if isinstance(report, ItemEconomy):
        rows = [
            (
                each.day,
                *_to_texts(each.quantity, each.holders),
                *(f"+{each.created.by_source[name]} -{each.destroyed.by_source[name]}" for name in flows.SOURCES),
            )
            for each in report.days
        ]
        heads = ("DAY", "IN CIRCULATION", "HOLDERS", *(name.upper() for name in flows.SOURCES))
        note = f"{report.name or report.item_id}: {report.quantity} in circulation, {report.holders} holders."
        return [heads, *rows], note
    if isinstance(report, HoldersPage):
        rows = [(str(each.rank), each.name or "-", each.player_id, str(each.quantity)) for each in report.values]
        more = "" if report.ranked else " The setting `ranked` does not name it, so at most 100 are shown."
        in_all = terminal.format_count(report.total if report.holders is None else report.holders, "holder")
        return [("RANK", "PLAYER", "ID", "QUANTITY"), *rows], f"{in_all} in all.{more}"
    rows = [
        (each.name or _name_giver(each), each.source, each.item_name or each.item_id, str(each.given), str(each.taken))
        for each in report.values
    ]
    return [("WHO", "SOURCE", "ITEM", "GIVEN", "TAKEN"), *rows], f"From {report.first} to {report.last}."


def _name_giver(gift: GiftSum) -> str:
    return "(command line)" if gift.giver_id is None else f"(deleted) {gift.giver_id}"


def _to_texts(*values: object) -> tuple[str, ...]:
    return tuple("-" if value is None else str(value) for value in values)


STEPS = ("minute", "hour", "day", "week", "month")
ACTIVITY_HEADS = (
    *("FROM (UTC)", "ONLINE", "MAXIMUM", "ACTIVE", "NEW", "RETURNING", "SECONDS PLAYED"),
    *("SIGN-INS", "REQUESTS", "ERRORS"),
)


@command("activity", "--step week")
async def activity_(
    keeper: Keeper,
    *,
    step: str = option("Length of a row; default day.", type=click.Choice(STEPS), default="day"),
    retention: bool = option("New players of each day, and how many came back."),
    since: int | None = option("First UTC day or time; default some steps before the last one.", "--from", type=DAY),
    until: int | None = option("Start of the last row, a UTC day or time; default now.", "--to", type=DAY),
) -> Output:
    """Show numbers over time: players online, active, new and returning, play time, sign-ins, requests and errors.

    With --retention: the new players of each day, and how many of them were online 1, 7 and 30 days later.
    """
    try:
        if retention:
            found = await keeper.store.read(lambda tx: activity_series.load_retention(tx, since, until))
            rows = [_to_texts(*msgspec.structs.astuple(each)) for each in found.cohorts]
            heads = ("DAY", "NEW", "AFTER 1 DAY", "AFTER 7 DAYS", "AFTER 30 DAYS")
            note = f"From {found.first} to {found.last}. A dash: that day is not over."
            return Output([heads, *rows], msgspec.to_builtins(found), [note])
        series = await keeper.store.read(lambda tx: activity_series.load(tx, step, since, until))
    except TooManyPoints:
        raise click.UsageError(f"--from {activity.TOO_MANY_POINTS}.") from None
    rows = [(each.at[:16], *_to_texts(*msgspec.structs.astuple(each)[1:])) for each in series.points]
    return Output([ACTIVITY_HEADS, *rows], msgspec.to_builtins(series))
