import json

from command_line import CommandLine
from gamekeeper.ground.instants import DAY_MS
from world import PLAYERS, World


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
