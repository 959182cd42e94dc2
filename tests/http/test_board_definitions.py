"""Definitions of boards: limits, names, permissions and the audit log."""

from typing import Any

import pytest

import staff
from boarding import BOARDS, catch_up, create, hide, put, standings
from expectations import refused
from gamekeeper.game import boards
from loops import over
from undos import undone
from world import World

BOARD = {"Name": "a", "Title": "x", "Ranks": "level"}


@over(
    "given",
    [
        {"Name": "A B"},
        {"Ranks": "item", "Thing": "Nothing"},
        {"Ranks": "play_time", "Gain": True},
        {"Gain": True, "StartsAt": "2020-01-02T00:00:00Z", "EndsAt": "2020-01-01T00:00:00Z"},
    ],
)
def test_unusable_board_is_malformed(shared_world: World, given: dict[str, Any]) -> None:
    refused(shared_world.post(BOARDS, BOARD | given), 400, "bad_field")
    assert shared_world.get(BOARDS).json["Boards"] == []


def test_board_is_created_renamed_deleted_and_created_again(world: World) -> None:
    body, key = {"Name": "levels", "Title": "Levels", "Ranks": "level"}, {"Idempotency-Key": "once"}
    first, again = (world.post(BOARDS, body, headers=key) for _ in range(2))
    assert (first.status, first.raw) == (200, again.raw)
    assert len(world.get(BOARDS).json["Boards"]) == 1
    refused(world.post(BOARDS, BOARD | {"Name": "levels"}), 409, "board_exists")
    answer = undone(world, world.ledger()[-2].seq)
    refused(answer, 409, "not_undoable")
    assert put(world, "levels", {"Title": "Top", "Public": True}).json["Title"] == "Top"
    rows = world.ledger()
    assert put(world, "LEVELS", {"Title": "Top"}).status == 200
    assert world.ledger() == rows
    catch_up(world)
    assert world.call("DELETE", f"{BOARDS}/levels").status == 200
    refused(world.get(f"{BOARDS}/levels/standings"), 404, "no_such_board")
    create(world)
    catch_up(world)
    assert len(standings(world)) == 3
    kinds = [each.kind for each in world.ledger() if "board" in each.kind or "season" in each.kind]
    expected = ["board_saved", "season_saved", "board_saved", "board_deleted", "board_saved", "season_saved"]
    assert kinds == expected


def test_boards_and_hidden_accounts_are_limited(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(boards, "MAX_BOARDS", 1)
    monkeypatch.setattr(boards, "MAX_HIDDEN", 1)
    create(world)
    refused(world.post(BOARDS, BOARD), 409, "too_many_boards")
    assert hide(world, "Ann").status == 200
    refused(hide(world, "Bob"), 409, "too_many_hidden")
    staff.save_role(world, "reader", ["players.read"])
    reader = staff.add_account(world, "Reader", "reader")
    assert world.get(BOARDS, token=reader).json["Hidden"] == []
    assert [each["User"] for each in world.get(BOARDS).json["Hidden"]] == ["Ann"]
