"""The options --for, --until and --days of `users ban` and `users mute`."""

from datetime import UTC, datetime, timedelta

import people
from command_line import CommandLine
from gamekeeper.ground.instants import DAY_MS, HOUR_MS
from loops import over
from world import World

BOB = people.USER_IDS["Bob"]
TOMORROW = datetime.now(UTC).date() + timedelta(days=1)


@over("act, done", ("ban", "Banned"), ("mute", "Muted"))
def test_ban_and_mute_last_as_long_as_was_typed(command: CommandLine, world: World, act: str, done: str) -> None:
    for typed, length, words in (
        ("3h", 3 * HOUR_MS, "for 3 hours"),
        ("90 minutes", 1.5 * HOUR_MS, "for 90 minutes"),
        ("2d", 2 * DAY_MS, "for 2 days"),
        ("1 month", 30 * DAY_MS, "for 30 days"),
        ("forever", None, "permanently"),
    ):
        assert command.says("users", act, "Bob", "--for", typed) == f"{done} Bob {words}.\n"
        ((lasts,),) = world.sql(f"SELECT ends_at - started_at FROM {act}s WHERE user_id = $1", BOB)  # noqa: S608 - one of two
        assert lasts is None if length is None else abs(lasts - length) < 1000
        command.says("users", f"un{act}", "Bob")
    year = TOMORROW.year + 1
    said = command.says("users", act, "Bob", "--until", f"{year}-01-31 18:00")
    assert said == f"{done} Bob until {year}-01-31 18:00:00 UTC.\n"
    ((ends_at,),) = world.sql(f"SELECT ends_at FROM {act}s WHERE user_id = $1", BOB)  # noqa: S608 - one of two
    assert ends_at == datetime(year, 1, 31, 18, tzinfo=UTC).timestamp() * 1000


def test_word_until_may_be_repeated_and_past_times_are_refused(command: CommandLine) -> None:
    assert command.says("users", "mute", "Bob", "--until", "until 2100-01-31").startswith("Muted Bob until 2100-01-31")
    for option, typed in (("--until", "2020-01-31"), ("--until", "3h"), ("--for", "999999d")):
        assert "is not in the future" in command.refuses("users", "ban", "Bob", option, typed, code=2)
