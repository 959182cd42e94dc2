"""Definitions of boards: limits, names, permissions and the audit log."""

from typing import Any

import pytest

import staff
from boarding import BOARDS, catch_up, create, hide, put, standings
from expectations import everything, refused
from gamekeeper.game import boards
from undos import undone
from world import World


@pytest.mark.parametrize(
    "body",
    [
        {"Name": "A B", "Title": "x", "Ranks": "level"},
        {"Name": "-a", "Title": "x", "Ranks": "level"},
        {"Name": "a", "Title": " ", "Ranks": "level"},
        {"Name": "a", "Title": "x", "Ranks": "gold"},
        {"Name": "a", "Title": "x", "Ranks": "item"},
        {"Name": "a", "Title": "x", "Ranks": "item", "Thing": "Nothing"},
        {"Name": "a", "Title": "x", "Ranks": "level", "Thing": "Gold Coin"},
        {"Name": "a", "Title": "x", "Ranks": "play_time", "Gain": True},
        {"Name": "a", "Title": "x", "Ranks": "level", "EndsAt": "2020-01-01T00:00:00Z"},
        {"Name": "a", "Title": "x", "Ranks": "level", "Gain": True, "StartsAt": "2020-01-02T00:00:00Z",
         "EndsAt": "2020-01-01T00:00:00Z"},
    ],
)  # fmt: skip
def test_unusable_board_is_malformed(shared_world: World, body: dict[str, Any]) -> None:
    refused(shared_world.post(BOARDS, body), 400, "bad_field")
    assert shared_world.get(BOARDS).json["Boards"] == []


def test_board_is_renamed_deleted_and_created_again(world: World) -> None:
    create(world)
    refused(world.post(BOARDS, {"Name": "levels", "Title": "x", "Ranks": "level"}), 409, "board_exists")
    assert put(world, "levels", {"Title": "Top", "Public": True}).json["Title"] == "Top"
    before = world.ledger()
    assert put(world, "LEVELS", {"Title": "Top"}).status == 200
    assert world.ledger() == before
    catch_up(world)
    assert world.call("DELETE", f"{BOARDS}/levels").status == 200
    refused(world.get(f"{BOARDS}/levels/standings"), 404, "no_such_board")
    create(world)
    catch_up(world)
    assert len(standings(world)) == 3
    assert world.sql("SELECT count(*) FROM boards") == [(1,)]
    assert world.sql("SELECT count(*) FROM standings") == [(3,)]
    kinds = [each.kind for each in world.ledger() if "board" in each.kind or "season" in each.kind]
    expected = ["board_saved", "season_saved", "board_saved", "board_deleted", "board_saved", "season_saved"]
    assert kinds == expected


def test_number_of_boards_and_hidden_accounts_is_limited(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(boards, "MAX_BOARDS", 1)
    monkeypatch.setattr(boards, "MAX_HIDDEN", 1)
    create(world)
    refused(world.post(BOARDS, {"Name": "b", "Title": "x", "Ranks": "level"}), 409, "too_many_boards")
    assert hide(world, "Ann").status == 200
    refused(hide(world, "Bob"), 409, "too_many_hidden")


def test_dry_run_and_repetition_create_nothing_more(world: World) -> None:
    body = {"Name": "levels", "Title": "Levels", "Ranks": "level"}
    before = everything(world)
    assert world.post(f"{BOARDS}?dryRun=true", body).status == 200
    assert everything(world) == before
    key = {"Idempotency-Key": "once"}
    first, again = (world.post(BOARDS, body, headers=key) for _ in range(2))
    assert (first.status, first.raw) == (200, again.raw)
    assert len(world.get(BOARDS).json["Boards"]) == 1


def test_changes_of_boards_cannot_be_undone_and_say_what_to_do(world: World) -> None:
    create(world)
    answer = undone(world, world.ledger()[-2].seq)
    refused(answer, 409, "not_undoable")
    assert "edit or delete the board" in answer.message


def test_board_of_another_permission_is_refused(world: World) -> None:
    token = staff.add_account(world, "Guard", "moderator")
    refused(world.post(BOARDS, {"Name": "b", "Title": "x", "Ranks": "level"}, token=token), 403, "permission_missing")
    assert world.get(BOARDS, token=token).status == 200


def test_hidden_accounts_are_listed_only_with_their_permission(world: World) -> None:
    assert world.post("/api/keeper/v1/users/Ann/boards", {"Hidden": True}).status == 200
    staff.save_role(world, "reader", ["players.read"])
    reader = staff.add_account(world, "Reader", "reader")
    assert world.get(BOARDS, token=reader).json["Hidden"] == []
    assert [each["User"] for each in world.get(BOARDS).json["Hidden"]] == ["Ann"]
