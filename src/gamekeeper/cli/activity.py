"""The command `activity`: players online, active and new over time, sign-ins, and the retention of new players."""

import click
import msgspec

from gamekeeper.cli import terminal
from gamekeeper.cli.economy import DayType
from gamekeeper.game import activity_series
from gamekeeper.game.activity_series import Span, TooManyPoints
from gamekeeper.game.keeper import Keeper
from gamekeeper.http import activity, wire

STEPS = ("minute", "hour", "day", "week", "month")
Report = wire.activity.ActivitySeries | wire.activity.Retention


@click.command("activity", epilog="Example: gamekeeper activity --step week")
@click.option("--step", type=click.Choice(STEPS), default="day", help="Length of a row; default day.")
@click.option("--retention", is_flag=True, help="New players of each day, and how many came back.")
@click.option("--from", "since", type=DayType(), help="First UTC day or time; default some steps before the last one.")
@click.option("--to", "until", type=DayType(), help="Start of the last row, a UTC day or time; default now.")
@terminal.json_option
@terminal.database_option
def activity_(
    *, step: str, retention: bool, since: int | None, until: int | None, as_json: bool, database: str | None
) -> None:
    """Show numbers over time: players online, active, new and returning, play time, sign-ins, requests and errors.

    With --retention: the new players of each day, and how many of them were online 1, 7 and 30 days later.
    """

    async def load(keeper: Keeper) -> Report:
        try:
            if retention:
                return activity.make_retention(
                    *await keeper.store.read(lambda tx: activity_series.load_cohorts(tx, since, until))
                )
            span = Span(since, until)
            return activity.make_series(await keeper.store.read(lambda tx: activity_series.load(tx, step, span)))
        except TooManyPoints:
            raise click.UsageError(f"--from {activity.TOO_MANY_POINTS}.") from None

    report = terminal.run_on_database(database, load)
    if as_json:
        terminal.print_json(msgspec.to_builtins(report))
    elif isinstance(report, wire.activity.Retention):
        rows = [tuple(map(_to_text, msgspec.structs.astuple(each))) for each in report.Cohorts]
        terminal.print_table([("DAY", "NEW", "AFTER 1 DAY", "AFTER 7 DAYS", "AFTER 30 DAYS"), *rows])
        click.echo(f"From {report.From} to {report.To}. A dash: that day is not over.")
    else:
        rows = [(each.At[:16], *map(_to_text, msgspec.structs.astuple(each)[1:])) for each in report.Points]
        titles = ("FROM (UTC)", "ONLINE", "MAXIMUM", "ACTIVE", "NEW", "RETURNING", "SECONDS PLAYED")
        terminal.print_table([(*titles, "SIGN-INS", "REQUESTS", "ERRORS"), *rows])


def _to_text(value: object) -> str:
    return "-" if value is None else str(value)
