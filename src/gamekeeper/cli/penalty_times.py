"""The options of commands that ban or mute for some time: --for, --until and --days."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, TypeVar

import click

from gamekeeper.game import moderation
from gamekeeper.http.instants import parse_instant

F = TypeVar("F", bound=Callable[..., Any])
Body = Mapping[str, str | int]  # the one field of a ban or mute that says how long it lasts


class TimeType(click.ParamType[Body]):
    """A typed time. `begin`: a word that it may leave out, because the name of the option says the same."""

    def __init__(self, name: str, begin: str = "") -> None:
        self.name = name
        self.begin = begin

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> Body:
        from gamekeeper.console.typed_times import list_understood, parse_time  # noqa: PLC0415 - loads the console, which few commands need

        typed = parse_time(f"{self.begin}{value.removeprefix(self.begin)}", datetime.now(UTC))
        if typed is None:
            problem = "is not understood, is not in the future, or is more than 100 years away."
            self.fail(f"'{value}' {problem} {list_understood()}", param, ctx)
        return typed.body


def add_time_options(command: F) -> F:
    """Add the options --for, --until and --days; `choose_time` takes their values."""
    limit = click.IntRange(0, moderation.MAX_DAYS)
    days = click.option("--days", type=limit, help="Duration of a ban or mute in days; 0: permanent.")
    until = click.option(
        *("--until", "until"),
        type=TimeType("time", "until "),
        help="End of a ban or mute, such as friday, 2030-01-31 or '2030-01-31 18:00' (UTC).",
    )
    length = click.option(
        *("--for", "length"),
        type=TimeType("duration"),
        help="Duration of a ban or mute, such as 30m, 3h, 2d, 1w, '1 month' or forever.",
    )
    return length(until(days(command)))


def choose_time(length: Body | None, until: Body | None, days: int | None) -> Body | None:
    """Return the time that the options give; None: they give none."""
    given = [each for each in (length, until, None if days is None else {"duration": days}) if each is not None]
    if len(given) > 1:
        raise click.UsageError("Give only one of --for, --until and --days.")
    return given[0] if given else None


def describe_time(body: Body) -> str:
    """Describe a duration or an end, such as "for 2 hours"."""
    from gamekeeper.console import durations  # noqa: PLC0415 - as above

    return durations.describe(body)


def read_time(body: Body) -> tuple[int, int | None]:
    """Return a duration in minutes (0: permanent), and an end in milliseconds."""
    if until := body.get("until"):
        return 0, parse_instant(str(until))
    return int(body.get("minutes", 0)) or int(body.get("duration", 0)) * moderation.DAY_MINUTES, None
