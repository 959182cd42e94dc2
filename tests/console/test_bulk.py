"""The console's pages of bulk jobs: form, preview, progress, results, and buttons."""

from collections.abc import Callable

import pytest
from keepers import Keeper, open_session

import approving
import bulking
import people
from bulking import get, work
from gamekeeper.console.differences import TIMES_SIGN
from people import BOB, COIN, KILLS
from world import World

PAGE = "/console/bulk"
GIVE = {"act": "give_item", "entry": COIN.id, "quantity": "5", "reason": "prize"}


def create(root: Keeper, players: str, **fields: str) -> str:
    """Send the form, and return the address of the job's page."""
    answer = root.post(PAGE, GIVE | fields | {"players": players})
    assert answer.status == 303, answer.raw
    return answer.headers["location"]


def press(root: Keeper, job: str, what: str, **fields: str) -> str:
    answer = root.post(f"{job}/{what}", fields)
    assert answer.status == 303, answer.raw
    return answer.headers["location"]


def test_job_of_pasted_names_is_previewed_started_and_undone(world: World, root: Keeper) -> None:
    job = create(root, "Ann\r\n  bob \r\n\r\nNobody\r\nANN")
    page = root.page(job)
    assert f"Give 5 {TIMES_SIGN} Gold Coin Not started" in page.text
    shown = page.text.partition("2 players: 0 done")[2]
    assert shown.startswith(", 0 refused, 2 left. 1 line is not a player. 1 player was named twice"), shown[:200]
    assert "Not a player: Nobody" in page.text
    assert "Preview of the next players" in page.text
    assert "more player" not in page.text
    assert f"Give 5 {TIMES_SIGN} Gold Coin: 2 players" in page.text
    assert bulking.count_coins(world, "Bob") == 0
    assert press(root, job, "start") == job
    page = root.page(job)
    assert "Running" in page.text
    assert "Pause the job" in page.text
    work(world)
    page = root.page(job)
    assert "2 players: 2 done, 0 refused, 0 left." in page.text
    assert "Nobody Not found" in page.text
    assert page.links["All changes of this job"] == f"/console/changes?request=bulk-{job.rpartition('/')[2]}"
    assert bulking.count_coins(world, "Bob") == 5
    assert root.post(f"{job}/undo", {"reason": " "}).status == 400
    undo = press(root, job, "undo", reason="wrong item")
    page = root.page(undo)
    assert "Reason wrong item" in page.text
    assert f"Undo of: Give 5 {TIMES_SIGN} Gold Coin Not started" in page.text
    assert page.links[f"Give 5 {TIMES_SIGN} Gold Coin"] == job
    press(root, undo, "start")
    work(world)
    assert bulking.count_coins(world, "Bob") == 0
    page = root.page(job)
    assert "Finished undone" in page.text
    assert "All changes of this job are undone. Last undone: " in page.text
    assert page.links[f"Undo of: Give 5 {TIMES_SIGN} Gold Coin"] == undo
    assert "Undo for" not in page.text
    answer = root.post(f"{job}/undo", {"reason": "again"})
    assert answer.status == 409
    assert b"All changes of this job are undone already." in answer.raw


def test_undo_is_offered_for_players_whose_change_is_not_undone(world: World, root: Keeper) -> None:
    job = bulking.run(world, "Ann", "Bob", "Zoe")["Id"]
    (seq,) = (each["Seq"] for each in bulking.list_targets(world, job) if each["Player"] == "Ann")
    assert world.post(f"/api/keeper/v1/changes/{seq}/undo").status == 200
    page = root.page(f"{PAGE}/{job}")
    assert "1 of 3 changes are undone." in page.text
    assert "Undo for 2 players" in page.text


def test_preview_counts_the_expected_refusals_of_all_players_or_of_a_sample(
    world: World, root: Keeper, monkeypatch: pytest.MonkeyPatch
) -> None:
    extra = bulking.add_players(world, 9)
    job = create(root, "\n".join(["Ann", *extra]), act="take_item")
    text = root.page(job).text
    assert "All 10 players were tried now: 9 would be refused." in text
    assert "9 players: " in text
    monkeypatch.setattr("gamekeeper.console.bulk.MOST_CHECKED", 9)
    monkeypatch.setattr("gamekeeper.console.bulk.SAMPLE", 7)
    text = root.page(job).text
    assert "This is a sample: the first 7 of 10 players were tried now, and 6 of them would be refused." in text
    checked = world.get(f"/api/keeper/v1/bulk/{job.rpartition('/')[2]}/preview?limit=1&check=1000").json
    assert (len(checked["Players"]), checked["Check"]["Tried"], checked["Check"]["Waiting"]) == (1, 10, 10)
    assert [(each["Players"], each["First"]) for each in checked["Check"]["Refusals"]] == [(9, "Extra0")]
    assert bulking.count_coins(world, "Ann") == 1250
    monkeypatch.setattr("gamekeeper.http.bulk.CHECK_SECONDS", -1.0)
    assert "This is a sample: the first 5 of 10 players" in root.page(job).text


def test_job_is_paused_resumed_and_cancelled(world: World, root: Keeper) -> None:
    job = create(root, "Bob")
    press(root, job, "start")
    press(root, job, "pause")
    assert "Resume the job" in root.page(job).text
    press(root, job, "start")
    press(root, job, "cancel")
    page = root.page(job)
    assert "Cancelled" in page.text
    assert "Cancel the job" not in page.text
    answer = root.post(f"{job}/start", {})
    assert answer.status == 409
    assert b"This job is cancelled." in answer.raw
    assert root.post(f"{job}/explode", {}).status == 404
    assert root.get(f"{PAGE}/{people.NOBODY_ID}").status == 404
    assert root.get(f"{PAGE}/nothing").status == 404
    work(world)
    assert bulking.count_coins(world, "Bob") == 0


@pytest.mark.parametrize(
    ("fields", "title"),
    [
        ({"act": "take_item"}, f"Take 5 {TIMES_SIGN} Gold Coin"),
        ({"act": "give_item", "entry": "gold coin"}, f"Give 5 {TIMES_SIGN} Gold Coin"),  # a name, without JavaScript
        ({"act": "set_variable", "entry": KILLS.id, "quantity": "", "value": "9"}, "Set Kills to 9"),
        ({"act": "ban_player", "entry": "", "quantity": "", "days": "1"}, "Ban for 1 day"),
        ({"act": "ban_player", "entry": "", "quantity": "", "days": "0"}, "Ban permanently"),
        ({"act": "mute_player", "entry": "", "quantity": "", "days": "7"}, "Mute for 7 days"),
    ],
)
def test_acts_are_described(root: Keeper, fields: dict[str, str], title: str) -> None:
    job = create(root, "Ann", **fields)
    assert title in root.page(job).text
    assert root.page(PAGE).links[title] == job
    assert root.page(f"{PAGE}?act={fields['act']}").text


def test_refused_form_keeps_what_was_typed(root: Keeper) -> None:
    answer = root.post(PAGE, GIVE | {"players": "Nobody", "reason": "a <b> prize"})
    assert answer.status == 400
    assert b"None of the given players exists." in answer.raw
    assert b"a &lt;b&gt; prize" in answer.raw
    assert b">Nobody</textarea>" in answer.raw
    assert root.post(PAGE, GIVE | {"players": "Ann", "reason": " "}).status == 400
    assert "No jobs yet." in root.page(PAGE).text


def test_preview_counts_the_players_that_it_leaves_out(root: Keeper, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gamekeeper.console.bulk.PREVIEWED_PLAYERS", 1)
    page = root.page(create(root, "Ann\nBob\nZoe"))
    assert page.links["… and 2 more players"].endswith("?state=waiting#results")


def test_form_sent_twice_makes_one_job(root: Keeper) -> None:
    assert create(root, "Ann", key="one") == create(root, "Ann", key="one")


def test_ten_thousand_names_can_be_pasted(root: Keeper) -> None:
    names = "\r\n".join([*(people.guid(0x7000 + number) for number in range(9_999)), "Ann"])
    page = root.page(create(root, names))
    assert "9,999 lines are not a player" in page.text
    assert f"Not a player: {people.guid(0x7000)}" in page.text
    assert page.links["and 9,994 more lines"].endswith("?state=not_found#results")


def test_results_are_filtered_paged_and_downloaded(root: Keeper, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gamekeeper.console.bulk.TARGETS_PER_PAGE", 1)
    job = create(root, "Ann\nBob\nNobody")
    page = root.page(job)
    assert page.links["Next"] == f"{job}?state=&after=1#results"
    assert "Nobody Not found" in root.page(f"{job}?state=not_found").text
    assert root.get(f"{job}?after=many").status == 400
    table = root.get(f"{job}/file")
    assert table.headers["content-type"] == "text/csv; charset=utf-8"
    assert len(table.raw.splitlines()) == 4


def test_change_and_latest_changes_link_to_the_job(world: World, root: Keeper) -> None:
    job = create(root, "Ann\nBob\nZoe")
    press(root, job, "start")
    work(world)
    assert root.page("/console/changes").links["bulk job"] == job
    assert root.page("/console").links[f"Give 5 {TIMES_SIGN} Gold Coin: 3 players"] == job


def test_held_start_says_so(make_world: Callable[..., World]) -> None:
    world = approving.make_strict(make_world, approvals="bulk.run>0")
    root = open_session(world, "Root")
    job = create(root, "Bob")
    held = press(root, job, "start")
    assert "A second person must approve the start" in root.page(held).text
    assert get(world, job.rpartition("/")[2])["State"] == "previewed"


def test_colleague_can_stop_but_not_start(world: World, root: Keeper) -> None:
    job = bulking.create(world, BOB.id, by="Shop")["Id"]
    page = root.page(f"{PAGE}/{job}")
    assert "Only the account that created this job can start it." in page.text
    assert "Cancel the job" in page.text


def test_preview_counts_the_players_that_would_be_refused(world: World, root: Keeper) -> None:
    everything_full = world.post("/api/v1/players/Bob/items/give", {"itemid": people.SWORD.id, "quantity": 35})
    assert everything_full.status == 200
    page = root.page(create(root, "Ann\r\nBob"))
    assert "Preview of the next players All 2 players were tried now: 1 would be refused." in page.text
    assert "there is room for 0 of 5" in page.text
    assert "would be refused" not in root.page(create(root, "Ann")).text
