import json
from datetime import UTC, datetime

import people
from command_line import CommandLine
from gamekeeper.http.instants import DAY_MS
from loops import over
from world import World

PLAYERS = "/api/v1/players"


def test_ban_and_unban(command: CommandLine, world: World) -> None:
    said = command.says("users", "ban", "shop", "--days", "7", "--reason", "fraud")
    assert said == "Banned Shop for 7 days.\n"
    assert command.json("users", "show", "Shop")["ban_reason"] == "fraud"
    assert world.get(PLAYERS, by="Shop").status == 401
    entry = world.ledger()[-1]
    assert (entry.kind, entry.actor_id, entry.request_id[:4]) == ("user_banned", None, "cli-")
    assert json.loads(entry.after or "")["BanReason"] == "fraud"
    assert abs(world.sql("SELECT ends_at - started_at FROM bans")[0][0] - 7 * DAY_MS) < 1000
    assert "The account 'Shop' is banned" in command.refuses("tokens", "issue", "Shop")
    assert "Shop has already been banned!" in command.refuses("users", "ban", "Shop")
    assert command.says("users", "unban", "SHOP") == "Unbanned Shop.\n"
    assert "Shop is not banned." in command.refuses("users", "unban", "Shop")


@over("act, state", [("ban", "banned"), ("mute", "muted")])
def test_show_has_penalty_without_reason(command: CommandLine, world: World, act: str, state: str) -> None:
    def shown() -> tuple[str, str]:
        """Return an account's moderation state as JSON value and as line of the printed table."""
        lines = command.says("users", "show", "Bob").splitlines()
        return command.json("users", "show", "Bob")[state], next(line for line in lines if line.startswith(f"{state} "))

    assert shown() == ("no", f"{state:<18}  no")
    assert "--days" in command.refuses("users", act, "Bob", "--days", "-1", code=2)
    # a reason on the command line has the same limits as in the API
    for reason in ("a\nb", "\x9b31m", "\udc80"):
        assert "cannot be stored" in command.refuses("users", act, "Bob", "--reason", reason)
    assert "most 255" in command.refuses("users", act, "Bob", "--reason", "x" * 256)
    assert command.says("users", act, "Bob").endswith("ed Bob permanently.\n")
    assert shown()[0] == "for good"
    command.says("users", f"un{act}", "Bob")
    command.says("users", act, "Bob", "--days", "3")
    ((ends_at,),) = world.sql(f"SELECT ends_at FROM {act}s WHERE user_id = $1", people.USER_IDS["Bob"])  # noqa: S608 - one of two
    until = f"until {datetime.fromtimestamp(ends_at // 1000, UTC):%Y-%m-%dT%H:%M:%SZ}"
    assert shown() == (until, f"{state:<18}  {until}")
    world.sql(f"UPDATE {act}s SET ends_at = 1")  # noqa: S608 - one of two
    assert shown()[0] == "no"
