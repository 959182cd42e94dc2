"""How long bulk jobs ban and mute: in days, in minutes or until a time."""

import json

import pytest

import people
from bulking import run
from gamekeeper.http.instants import parse_instant
from proof import refused
from world import World

BOB = people.USER_IDS["Bob"]
END = "2199-11-20T00:00:00.000Z"


def find_minutes(world: World, act: str) -> int:
    ((lasts,),) = world.sql(f"SELECT ends_at - started_at FROM {act}s WHERE user_id = $1", BOB)  # noqa: S608 - ours
    return round(lasts / 60_000)


@pytest.mark.both_engines
def test_job_bans_for_minutes_and_mutes_until_a_time(world: World) -> None:
    job = run(world, "Bob", Act="ban_player", Minutes=90)
    assert (job["Done"], job["Days"], job["Minutes"], job["Until"]) == (1, None, 90, None)
    assert find_minutes(world, "ban") == 90
    job = run(world, "Bob", Act="mute_player", Until="2199-11-20T01:00:00+01:00")
    assert (job["Done"], job["Minutes"], job["Until"]) == (1, None, END)
    sql = "SELECT ends_at FROM mutes WHERE user_id = $1"
    assert world.sql(sql, BOB) == [(parse_instant(END),)]
    after = [json.loads(each.after or "{}") for each in world.ledger() if each.kind == "bulk_job_changed"]
    assert (after[0]["Minutes"], after[-1]["Until"]) == (90, END)


def test_job_has_one_duration_or_end_which_is_in_the_future(world: World) -> None:
    ban = {"Act": "ban_player", "Players": ["Ann"]}
    for more, field, problem in (
        ({}, "Days", "ban_player needs one of Days, Minutes and Until"),
        ({"Days": 0, "Minutes": 5}, "Minutes", "send one of Days, Minutes and Until"),
        ({"Minutes": 0, "Until": END}, "Until", "send one of Days, Minutes and Until"),
        ({"Until": "2020-01-01T00:00:00Z"}, "Until", "must be in the future"),
        ({"Minutes": None}, "Minutes", ""),
        ({"Until": "friday"}, "Until", ""),
        ({"Act": "take_item", "ItemId": people.COIN.id, "Quantity": 1, "Minutes": 5}, "Minutes", "does not belong"),
    ):
        answer = world.post("/api/keeper/v1/bulk", ban | more)
        refused(answer, 400, "bad_field")
        assert f"'{field}'" in answer.message, answer.message
        assert problem in answer.message, answer.message
