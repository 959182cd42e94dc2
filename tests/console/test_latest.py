"""The latest changes of the home page: similar changes in a row are one line."""

import pytest
from keepers import Keeper, open_session

import bulking
import staff
from gamekeeper.console import latest
from gamekeeper.console.differences import TIMES_SIGN
from gamekeeper.game import history
from gamekeeper.http.bulk_runner import BulkRunner
from gamekeeper.store import bulk_jobs as rows
from gamekeeper.store import users
from people import ANN, BOB, COIN, ZOE
from world import SENT, World

REASON = "A lamp for each"
PLAYERS = (ANN, BOB, ZOE)


def give(
    world: World, quantity: int = 5, reason: str = REASON, players: tuple[str, ...] = ("Ann", "Bob", "Zoe")
) -> None:
    for name in players:
        body = {"itemid": COIN.id, "quantity": quantity}
        answer = world.post(f"/api/v1/players/{name}/items/give", body, headers={"x-reason": reason})
        assert answer.status == 200, answer.raw


def read_lines(world: World) -> list[latest.LatestLine]:
    return world.run(latest.load(world.keeper, accounts=True)).lines


async def change_some(world: World, count: int) -> None:
    """Let the running job change its next players."""
    [job] = await rows.read_running(world.keeper.store, 1)
    for target in await rows.read_waiting(world.keeper.store, job.id, count):
        await BulkRunner(world.asgi.services).run_target(job, target)


def test_gifts_of_a_job_are_one_line(world: World, root: Keeper) -> None:
    job = bulking.run(world, "Ann", "Bob", "Zoe")
    changes = world.get(f"/api/keeper/v1/changes?request={job['RequestId']}").json["Changes"]
    page = root.page("/console")
    gift = f"Give 5 {TIMES_SIGN} Gold Coin: 3 players"
    assert f"{changes[0]['Seq']} Bulk job {gift} prize by Root" in page.text
    assert page.links[gift] == f"/console/bulk/{job['Id']}"
    assert "Bulk job changed" not in page.text


def test_large_job_has_its_number_of_players_and_leaves_room_for_other_changes(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(latest, "LINES", 4)
    monkeypatch.setattr(latest, "MOST_READ", 6)
    monkeypatch.setattr(latest, "SCANNED_ROWS", 30)
    give(world, players=("Ann",), reason="before the job")
    players = ["Ann", "Bob", "Zoe", *bulking.add_players(world, 40)]
    give(world, players=("Bob",), reason="after the players")
    job = bulking.run(world, *players)
    give(world, players=("Zoe",), reason="after the job")
    undo = bulking.act(world, job["Id"], "undo").json["Id"]
    bulking.start(world, undo)
    bulking.work(world)
    hidden = world.run(latest.load(world.keeper, accounts=False)).lines
    assert [each.told.actor for each in hidden if each.told.reason == "after the players"] == [history.HIDDEN_NAME]
    newest, after, gifts, before = read_lines(world)
    assert (newest.summary, gifts.summary) == (
        f"Undo of: Give 5 {TIMES_SIGN} Gold Coin: 43 players",
        f"Give 5 {TIMES_SIGN} Gold Coin: 43 players",
    )
    assert [each.told.reason for each in (after, before)] == ["after the job", "after the players"]


def test_change_beside_a_running_job_has_its_own_line(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(latest, "LINES", 3)
    monkeypatch.setattr(latest, "MOST_READ", 4)
    monkeypatch.setattr(latest, "SCANNED_ROWS", 5)
    job = bulking.create(world, "Ann", "Bob", "Zoe", *bulking.add_players(world, 21))["Id"]
    bulking.start(world, job)
    assert [each.summary for each in read_lines(world)[:1]] == [f"Give 5 {TIMES_SIGN} Gold Coin: 0 of 24 players"]
    for reason in ("early in it", "late in it"):
        world.run(change_some(world, 8))
        give(world, players=("Ann",), reason=reason)
    bulking.work(world)
    assert [each.summary or each.told.reason for each in read_lines(world)] == [
        f"Give 5 {TIMES_SIGN} Gold Coin: 24 players",
        "late in it",
        "early in it",
    ]


def test_job_whose_changes_are_not_all_read_is_marked_as_undone(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(latest, "LINES", 3)
    monkeypatch.setattr(latest, "MOST_READ", 4)
    job = bulking.run(world, "Ann", "Bob", "Zoe", *bulking.add_players(world, 9))["Id"]
    undo = bulking.act(world, job, "undo").json["Id"]
    bulking.start(world, undo)
    bulking.work(world)
    undoing, gifts = read_lines(world)[:2]
    assert (undoing.job and undoing.job.job.id, undoing.is_undone) == (undo, False)
    assert (gifts.job and gifts.job.job.id, gifts.is_undone) == (job, True)


def test_line_of_similar_changes_links_to_their_list(world: World, root: Keeper) -> None:
    give(world)
    href = read_lines(world)[0].href
    assert "kind=items_given" in href
    assert "reason=A+lamp+for+each" in href
    listed = root.page(href).text
    assert [each.name in listed for each in PLAYERS] == [True] * 3


def test_different_quantities_are_counted_only(world: World) -> None:
    give(world, 5, players=("Ann", "Bob"))
    give(world, 6, players=("Zoe",))
    assert read_lines(world)[0].summary == "3 players"


def test_other_reason_starts_another_line(world: World) -> None:
    give(world)
    give(world, reason="Another")
    assert [each.size for each in read_lines(world)[:2]] == [3, 3]


def test_two_similar_changes_stay_single_lines(world: World) -> None:
    give(world, players=("Ann", "Bob"))
    newest = read_lines(world)[:2]
    assert [each.size for each in newest] == [1, 1]
    assert [each.told.player for each in newest] == ["Bob", "Ann"]
    assert all(each.lines for each in newest)


def test_player_that_got_it_twice_is_counted_once(world: World) -> None:
    give(world, players=("Ann", "Ann", "Bob"))
    assert read_lines(world)[0].summary == f"5 {TIMES_SIGN} Gold Coin to 2 players"


def test_long_run_is_read_up_to_a_limit(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(latest, "LINES", 4)
    monkeypatch.setattr(latest, "MOST_READ", 8)
    for _ in range(4):
        give(world)
    newest = read_lines(world)[0]
    assert (newest.size, newest.summary) == (8, f"5 {TIMES_SIGN} Gold Coin to 3+ players")


def test_complete_group_at_the_end_of_the_log_has_no_plus(world: World) -> None:
    assert all("+" not in each.summary for each in read_lines(world))


def test_undone_changes_are_marked(world: World) -> None:
    give(world)
    seqs = [each.seq for each in world.ledger()[-3:]]
    for seq in seqs:
        assert world.post(f"/api/keeper/v1/changes/{seq}/undo").status == 200
    undos, gifts = read_lines(world)[:2]
    assert (undos.size, undos.is_undone, gifts.size, gifts.is_undone) == (3, False, 3, True)


def test_accounts_are_counted(world: World) -> None:
    for name in ("Nell", "Otis", "Pip"):
        body = {"username": name, "password": SENT, "email": f"{name}@example.test"}
        assert world.post("/api/v1/users/register", body).status == 200
    assert read_lines(world)[0].summary == "3 accounts"


def test_single_change_has_an_undo_button_until_it_is_undone(world: World, root: Keeper) -> None:
    give(world, players=("Ann",))
    seq = read_lines(world)[0].told.seq
    form = root.page("/console").form("/console/act", "Undo")
    undo = f"/api/keeper/v1/changes/{seq}/undo"
    assert f'value="{undo}"' in root.page("/console").html
    shown = root.post("/console/act", {**form.fields, "path": undo})
    assert root.confirm(shown, "a mistake").status == 303
    assert [each.can_undo for each in read_lines(world)[:2]] == [True, False]


def test_change_of_the_game_has_no_undo_button(world: World) -> None:
    give(world, players=("Ann",))
    report = {"Items": [{"Slot": 9, "ItemId": COIN.id, "Quantity": 3}]}
    assert world.call("PUT", f"/api/link/v1/players/{ANN.id}", body=report, by="Server").status == 200
    assert [each.can_undo for each in read_lines(world)[:2]] == [False, True]


def test_viewer_without_permission_to_undo_gets_no_button(world: World) -> None:
    staff.save_role(world, "reader", ["players.read", "audit.read"])
    staff.add_account(world, "Reader", "reader")
    give(world, players=("Ann",))
    user = world.run(users.find_by_fold(world.keeper.store, "reader"))
    assert user
    page = open_session(world, user.name, user.id).page("/console")
    assert "Gold Coin" in page.text
    assert "/undo" not in page.html
