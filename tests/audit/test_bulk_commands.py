"""The command `bulk`."""

from pathlib import Path

import pytest

import approving
from bulking import create, get, list_results, start, work
from command_line import CommandLine
from world import MakeWorld, World


@pytest.fixture
def names(tmp_path: Path) -> Path:
    file = tmp_path / "names.txt"
    file.write_text("Ann\n\nBob\nNobody\nann\n")
    return file


GIVE = ("--item", "Gold Coin", "--quantity", "5", "--reason", "prize")


def test_job_from_a_file_is_previewed_and_started_with_yes(command: CommandLine, world: World, names: Path) -> None:
    said = command.says("bulk", "start", "give_item", str(names), "--as", "Root", *GIVE)
    assert "Bob: would be changed\n" in said
    assert "2 players, 1 not found, 1 repeated. State: previewed." in said
    assert "Nothing is changed yet." in said
    work(world)
    assert world.count_coins("Bob") == 0
    job = command.json("bulk", "start", "give_item", str(names), "--as", "Root", *GIVE, "--yes")
    assert (job["State"], job["Creator"], job["Reason"], len(job["Preview"])) == ("running", "Root", "prize", 2)
    work(world)
    assert world.count_coins("Bob") == 5
    assert next((each["Id"], each["State"]) for each in command.json("bulk", "list")) == (job["Id"], "finished")
    assert world.ledger()[-1].reason == "prize"


def test_job_is_paused_resumed_and_undone(command: CommandLine, world: World) -> None:
    job = create(world, "Ann", "Bob")["Id"]
    start(world, job)
    assert command.json("bulk", "pause", job, "--as", "Root")["State"] == "paused"
    work(world)
    assert world.count_coins("Bob") == 0
    assert f"Job {job}: running, 0 of 2 players done." in command.says("bulk", "resume", job, "--as", "Root")
    work(world)
    undone = command.json("bulk", "undo", job, "--as", "Root", "--reason", "wrong", "--yes")
    assert (undone["State"], undone["UndoOf"], undone["Reason"]) == ("running", job, "wrong")
    work(world)
    assert [state for _, state, _ in list_results(world, undone["Id"])] == ["done", "done"]
    assert world.count_coins("Bob") == 0
    other = create(world, "Ann")["Id"]
    assert command.json("bulk", "cancel", other, "--as", "Root")["State"] == "cancelled"


def test_rule_for_approvals_counts_on_the_command_line_too(
    command: CommandLine, make_world: MakeWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = approving.make_strict(make_world, approvals="bulk.run>1")
    monkeypatch.setenv("GAMEKEEPER_APPROVALS", "bulk.run>1")
    job = create(world, "Ann", "Bob")["Id"]
    assert "approv" in command.refuses("bulk", "resume", job, "--as", "Root")
    assert get(world, job)["State"] == "previewed"
