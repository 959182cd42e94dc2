"""The console's pages of bulk jobs: form, preview, progress, results, and buttons."""

from keepers import Keeper, MakeWorld, open_session

import approving
import bulking
import people
from bulking import get, work
from gamekeeper.console.differences import TIMES_SIGN
from people import BOB, COIN
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
    page.assert_shown("Not a player: Nobody", "Preview of the next players")
    assert "more player" not in page.text
    assert f"Give 5 {TIMES_SIGN} Gold Coin: 2 players" in page.text
    assert bulking.count_coins(world, "Bob") == 0
    assert press(root, job, "start") == job
    page = root.page(job)
    page.assert_shown("Running", "Pause the job")
    work(world)
    page = root.page(job)
    page.assert_shown("2 players: 2 done, 0 refused, 0 left.", "Nobody Not found")
    assert page.links["All changes of this job"] == f"/console/changes?request=bulk-{job.rpartition('/')[2]}"
    assert bulking.count_coins(world, "Bob") == 5
    assert root.post(f"{job}/undo", {"reason": " "}).status == 400
    undo = press(root, job, "undo", reason="wrong item")
    page = root.page(undo)
    page.assert_shown("Reason wrong item", f"Undo of: Give 5 {TIMES_SIGN} Gold Coin Not started")
    assert page.links[f"Give 5 {TIMES_SIGN} Gold Coin"] == job
    press(root, undo, "start")
    work(world)
    assert bulking.count_coins(world, "Bob") == 0
    page = root.page(job)
    page.assert_shown("Finished undone", "All changes of this job are undone. Last undone: ")
    assert page.links[f"Undo of: Give 5 {TIMES_SIGN} Gold Coin"] == undo
    assert "Undo for" not in page.text
    answer = root.post(f"{job}/undo", {"reason": "again"})
    assert answer.status == 409
    assert b"All changes of this job are undone already." in answer.raw


def test_job_is_stopped_by_a_colleague_too(world: World, root: Keeper) -> None:
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
    job = bulking.create(world, BOB.id, by="Shop")["Id"]
    page = root.page(f"{PAGE}/{job}")
    page.assert_shown("Only the account that created this job can start it.", "Cancel the job")


def test_form_is_kept_when_refused_and_counts_once_with_ten_thousand_names(root: Keeper) -> None:
    answer = root.post(PAGE, GIVE | {"players": "Nobody", "reason": "a <b> prize"})
    assert answer.status == 400
    assert b"None of the given players exists." in answer.raw
    assert b"a &lt;b&gt; prize" in answer.raw
    assert b">Nobody</textarea>" in answer.raw
    assert root.post(PAGE, GIVE | {"players": "Ann", "reason": " "}).status == 400
    assert "No jobs yet." in root.page(PAGE).text
    assert create(root, "Ann", key="one") == create(root, "Ann", key="one")
    names = "\r\n".join([*(people.guid(0x7000 + number) for number in range(9_999)), "Ann"])
    page = root.page(create(root, names))
    page.assert_shown("9,999 lines are not a player", f"Not a player: {people.guid(0x7000)}")
    assert page.links["and 9,994 more lines"].endswith("?state=not_found#results")


def test_held_start_says_so(make_world: MakeWorld) -> None:
    world = approving.make_strict(make_world, approvals="bulk.run>0")
    root = open_session(world, "Root")
    job = create(root, "Bob")
    held = press(root, job, "start")
    assert "A second person must approve the start" in root.page(held).text
    assert get(world, job.rpartition("/")[2])["State"] == "previewed"
