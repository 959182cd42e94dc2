"""The console's pages of bulk jobs: form, preview, progress, results, and buttons."""

from bulking import work
from gamekeeper.console.frame.differences import TIMES_SIGN
from keepers import Keeper
from people import COIN
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
    page.assert_shown("2 players: 0 done, 0 refused, 2 left. 1 line is not a player. 1 player was named twice")
    page.assert_shown("Not a player: Nobody", f"Give 5 {TIMES_SIGN} Gold Coin: 2 players")
    assert world.count_coins("Bob") == 0
    assert press(root, job, "start") == job
    root.page(job).assert_shown("Running", "Pause the job")
    work(world)
    root.page(job).assert_shown("2 players: 2 done, 0 refused, 0 left.", "Nobody Not found")
    assert world.count_coins("Bob") == 5
    assert root.post(f"{job}/undo", {"reason": " "}).status == 400
    undo = press(root, job, "undo", reason="wrong item")
    root.page(undo).assert_shown("Reason wrong item", f"Undo of: Give 5 {TIMES_SIGN} Gold Coin Not started")
    press(root, undo, "start")
    work(world)
    assert world.count_coins("Bob") == 0
    assert "All changes of this job are undone." in root.page(job).text
    answer = root.post(f"{job}/undo", {"reason": "again"})
    assert (answer.status, b"All changes of this job are undone already." in answer.raw) == (409, True)


def test_form_is_kept_when_refused_and_makes_one_job(root: Keeper) -> None:
    answer = root.post(PAGE, GIVE | {"players": "Nobody", "reason": "a <b> prize"})
    assert answer.status == 400
    assert b"a &lt;b&gt; prize" in answer.raw
    assert b">Nobody</textarea>" in answer.raw
    assert "No jobs yet." in root.page(PAGE).text
    assert create(root, "Ann", key="one") == create(root, "Ann", key="one")
