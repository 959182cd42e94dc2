"""The command `activity`."""

from command_line import CommandLine
from people import ANN
from playing import find_midnight, play, roll_up
from world import World


def test_series_and_retention_are_those_of_the_api(command: CommandLine, world: World) -> None:
    start = find_midnight(world, 20)
    play(world, [(ANN.id, start, start + 60_000)])
    roll_up(world)
    points = world.get("/api/keeper/v1/activity?step=week").json["Points"]
    shown = command.says("activity", "--step", "week").splitlines()
    assert shown[0].split()[:3] == ["FROM", "(UTC)", "ONLINE"]
    assert [line.split()[0] for line in shown[1:]] == [each["At"][:16] for each in points]
    active = [each["Active"] for each in command.json("activity", "--step", "week")["Points"]]
    assert active == [each["Active"] for each in points]
    assert 1 in active
    retention = world.get("/api/keeper/v1/activity/retention").json
    assert command.json("activity", "--retention") == retention
    assert command.says("activity", "--retention").splitlines()[-1].startswith(f"From {retention['From']} to ")
    assert "3,000 points" in command.refuses("activity", "--step", "minute", "--from", "2020-01-01", code=2)
