"""How long bulk jobs ban and mute: in days, in minutes or until a time, also from the console and the command line."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import people
from bulking import create, get, run, start, work
from command_line import CommandLine
from gamekeeper.console.accounts import moderation
from gamekeeper.console.frame import formats
from gamekeeper.console.frame.texts import ENGLISH, GERMAN, LANGUAGE
from gamekeeper.ground.instants import parse_instant
from keepers import Keeper
from proof import refused
from world import World

PAGE = "/console/bulk"
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


def test_form_begins_with_hours_and_names_the_duration(world: World, root: Keeper) -> None:
    form = root.page(f"{PAGE}?act=mute_player").text
    assert "Mute for 1 hour 3 hours 12 hours 1 day 3 days 7 days" in form
    answer = root.post(PAGE, {"act": "mute_player", "players": "Bob", "minutes": "180", "reason": "shouting"})
    job = answer.headers["location"]
    root.page(job).assert_shown("Mute for 3 hours")
    start(world, job.rpartition("/")[2])
    work(world)
    assert find_minutes(world, "mute") == 180
    titles: dict[str, dict[str, Any]] = {
        "Ban permanently": {"Days": 0},
        "Ban until 2199-11-20 00:00:00 UTC": {"Until": END},
    }
    for title, fields in titles.items():
        created = create(world, "Ann", Act="ban_player", **fields)["Id"]
        root.page(f"{PAGE}/{created}").assert_shown(title)


def test_command_line_starts_a_job_for_hours(world: World, database: str, tmp_path: Path) -> None:
    command, names = CommandLine(database), tmp_path / "names.txt"
    names.write_text("Bob\n")
    begin = ("bulk", "start", "mute_player", str(names), "--as", "Root")
    job = command.json(*begin, "--for", "3h")["Id"]
    assert get(world, job)["Minutes"] == 180
    assert get(world, command.json(*begin, "--for", "forever")["Id"])["Days"] == 0
    assert get(world, command.json(*begin, "--until", "2100-01-31")["Id"])["Until"] == "2100-01-31T00:00:00.000Z"
    assert "100 years away. Times:" in command.refuses(*begin, "--for", "3 fortnights", code=2)


def test_durations_of_forms_are_understood_when_typed() -> None:
    now = datetime.now(UTC)
    for language in (ENGLISH, GERMAN):
        before = LANGUAGE.set(language)
        try:
            for minutes, words in formats.DURATIONS().items():
                typed = moderation.parse_time(words, now)
                assert typed is not None, words
                assert typed in ({"minutes": minutes}, {"duration": minutes // formats.DAY_MINUTES}), words
        finally:
            LANGUAGE.reset(before)
