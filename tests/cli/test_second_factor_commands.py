"""The command `users reset-second-factor`."""

import factors
import people
from command_line import CommandLine
from world import World


def test_second_factor_is_reset(command: CommandLine, world: World) -> None:
    factors.add_totp(world, people.USER_IDS["Shop"])
    assert "Shop has no second factor now" in command.says("users", "reset-second-factor", "Shop")
    assert world.sql("SELECT COUNT(*) FROM second_factors") == [(0,)]
    assert (world.ledger()[-1].kind, world.ledger()[-1].actor_id) == ("second_factors_reset", None)
    command.refuses("users", "reset-second-factor", "Nobody")
