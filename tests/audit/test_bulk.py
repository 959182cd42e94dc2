"""Bulk jobs: creation by names or a filter, preview, start, results, pause, cancellation, undo and permissions."""

from typing import Any

import pytest

import game_server
from bulking import GIVE, ROOT, act, create, get, list_results, list_targets, run, start, work
from expectations import refused
from gamekeeper.game.core.writes import ChangeApplier
from gamekeeper.game.lists import player_filters
from gamekeeper.http.audit import bulk_runner
from gamekeeper.http.server import admission
from gamekeeper.http.server.admission import Gate
from gamekeeper.store.audit import bulk_jobs as rows
from gamekeeper.store.engine.migrate import load_migrations, split_script
from loops import over
from people import ANN, BOB, COIN, KILLS, NOBODY_ID, SWORD, USER_IDS, WARRIOR, ZOE, guid
from world import MakeWorld, World


def test_job_is_previewed_started_and_finished(world: World) -> None:
    job = create(world, "ann", BOB.id, "Nobody", "ANN", "bob", "Nobody")
    counts = ("State", "Players", "Done", "Remaining", "NotFound", "Repeated", "Reason", "Creator", "StartedAt")
    assert [job[each] for each in counts] == ["previewed", 2, 0, 2, 1, 3, "prize", "Root", None]
    assert job == get(world, job["Id"])
    assert world.count_coins("Bob") == 0
    work(world)  # a job that was not started is left alone
    assert [state for _, state, _ in list_results(world, job["Id"])] == ["waiting", "waiting", "not_found"]
    start(world, job["Id"])
    work(world)
    done = get(world, job["Id"])
    assert [done[each] for each in counts[:6]] == ["finished", 2, 2, 0, 1, 3]
    assert done["StartedAt"] <= done["EndedAt"]
    assert list_results(world, job["Id"]) == [
        ("Ann", "done", None),
        ("Bob", "done", None),
        ("Nobody", "not_found", None),
    ]
    assert (world.count_coins("Ann"), world.count_coins("Bob")) == (1255, 5)
    # all changes share the request id and the reason
    changes = world.get(f"/api/keeper/v1/changes?request={job['RequestId']}").json["Changes"]
    assert [(each["Player"], each["Kind"], each["Reason"], each["By"]) for each in changes] == [
        ("Bob", "items_given", "prize", "Root"),
        ("Ann", "items_given", "prize", "Root"),
    ]


def test_each_act_is_carried_out(world: World) -> None:
    job = run(world, "Ann", Act="take_item", ItemId=COIN.id, Quantity=250)
    assert (job["State"], job["Done"], world.count_coins("Ann")) == ("finished", 1, 1000)
    for value in (99, 2**40):
        job = run(world, "Ann", Act="set_variable", VariableId=KILLS.id, Value=value)
        assert (job["State"], job["Done"], job["Value"]) == ("finished", 1, value)
        assert world.get(f"/api/v1/players/Ann/variables/{KILLS.id}/value").json == {"value": value}
    job = run(world, "Ann", "Zoe", "Bob", Act="ban_player", Days=7)
    assert list_results(world, job["Id"]) == [
        ("Ann", "done", None),
        ("Zoe", "refused", "already_banned"),  # the same account
        ("Bob", "done", None),
    ]
    ((reason, ends),) = world.sql("SELECT reason, ends_at FROM bans WHERE user_id = $1", USER_IDS["Bob"])
    assert (reason, bool(ends)) == ("prize", True)
    job = run(world, "Bob", Act="mute_player", Days=0)
    assert (job["Done"], job["Days"]) == (1, 0)
    assert world.get("/api/v1/users/Bob").json["IsMuted"]
    job = create(world, "Zoe", "Bob")["Id"]
    world.call("DELETE", f"/api/v1/players/{ZOE.id}")
    start(world, job)
    work(world)
    assert list_results(world, job) == [(None, "refused", "no_such_player"), ("Bob", "done", None)]


def test_job_for_all_who_are_online_has_them_and_the_named_once(world: World) -> None:
    game_server.heartbeat(world)
    game_server.join(world, ANN.id, BOB.id)
    job = run(world, "Zoe", "Bob", Online=True)
    assert (job["Done"], job["Repeated"]) == (3, 1)
    assert sorted(list_results(world, job["Id"])) == [(name, "done", None) for name in ("Ann", "Bob", "Zoe")]


def test_preview_tries_the_next_players_and_changes_nothing(world: World) -> None:
    job = create(world, "Ann", "Bob", "Nobody", Act="take_item", ItemId=COIN.id, Quantity=10)["Id"]
    with world.nothing_recorded():
        tried = world.get(f"{ROOT}/{job}/preview").json["Players"]
        assert [(each["Player"], each["Code"], len(each["Changes"])) for each in tried] == [
            ("Ann", None, 1),
            ("Bob", "not_enough_items", 0),
        ]
        assert world.get(f"{ROOT}/{job}/preview?limit=1").json["Players"] == tried[:1]
    assert get(world, job)["State"] == "previewed"


@over(
    "body, code, field",
    ({"Act": "give_item", "Players": ["Ann"], "ItemId": COIN.id}, "bad_field", "Quantity"),
    (GIVE | {"Players": ["Ann"], "Days": 3}, "bad_field", "Days"),
    ({"Act": "ban_player", "Players": ["Ann"], "Days": None}, "bad_field", "Days"),  # not a permanent ban
    (GIVE | {"Players": ["Nobody", NOBODY_ID, " "]}, "no_players", "players"),
)
def test_wrong_job_is_refused(shared_world: World, body: dict[str, object], code: str, field: str) -> None:
    answer = shared_world.post(ROOT, body)
    refused(answer, 400, code)
    assert field in answer.message
    assert shared_world.get(ROOT).json == {"Jobs": [], "Next": None}


def test_ten_thousand_names_fit_into_a_job_and_no_more_than_its_limit(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [*(guid(0x7000 + number) for number in range(9_998)), "Ann", "Bob"]
    job = create(world, *names)
    assert (job["Players"], job["NotFound"]) == (2, 9_998)
    for limit, after, last, following in ((10_000, 0, 10_000, None), (600, 0, 600, 600)):
        page = world.get(f"{ROOT}/{job['Id']}/targets?limit={limit}&after={after}").json
        assert [each["Number"] for each in page["Targets"]] == list(range(after + 1, last + 1))
        assert page["Next"] == following
    monkeypatch.setattr("gamekeeper.game.audit.bulk_jobs.MOST_PLAYERS", 2)
    refused(world.post(ROOT, GIVE | {"Players": ["Ann", "Bob", "Zoe"]}), 400, "too_many_players")


def test_names_are_looked_up_before_the_transaction(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten thousand look-ups in it would make all other changes wait. They are made in parts, through the gate."""
    steps = list[str]()

    def note(owner: object, name: str) -> None:
        real = getattr(owner, name)

        def noting(*given: Any, **more: Any) -> object:
            steps.append(name)
            return real(*given, **more)

        monkeypatch.setattr(owner, name, noting)

    monkeypatch.setattr(admission, "FREE_SECONDS", 0.0)
    for owner, name in ((rows, "find_players_by_name"), (ChangeApplier, "apply"), (Gate, "wait_for_next")):
        note(owner, name)
    job = create(world, *(f"Nobody{number}" for number in range(498)), "Ann", "Bob")
    assert (job["Players"], job["NotFound"]) == (2, 498)
    assert steps == ["find_players_by_name", "wait_for_next"] * 2 + ["apply"]


def test_few_jobs_of_an_account_wait_for_their_start(make_world: MakeWorld) -> None:
    """So creating jobs cannot fill the disk. A cancelled job that was never started keeps no players."""
    world = make_world(bulk_previews=2)
    first = run(world, "Ann")["Id"]
    kept = world.post(ROOT, GIVE | {"Players": ["Ann"]}, headers={"Idempotency-Key": "job-1"})
    other = create(world, "Ann", "Nobody")["Id"]
    for answer in (
        world.post(ROOT, GIVE | {"Players": ["Ann"]}),
        world.post(f"{ROOT}?dryRun=true", GIVE | {"Players": ["Ann"]}),
        act(world, first, "undo"),
    ):
        refused(answer, 409, "too_many_previewed_jobs")
    again = world.post(ROOT, GIVE | {"Players": ["Ann"]}, headers={"Idempotency-Key": "job-1"})
    assert (again.status, again.json) == (200, kept.json)
    assert create(world, "Ann", by="Shop")["State"] == "previewed"  # another account has jobs of its own
    assert act(world, other, "cancel").json["Players"] == 1
    assert list_targets(world, other) == []
    start(world, act(world, first, "undo").json["Id"])
    work(world)


@pytest.mark.both_engines
def test_simultaneous_creations_do_not_pass_the_limit(make_world: MakeWorld) -> None:
    world = make_world(bulk_previews=2)
    body = GIVE | {"Players": ["Ann"]}
    answers = world.at_once(world.send("POST", ROOT, body=body) for _ in range(6))
    assert sorted(each.status for each in answers) == [200, 200, 409, 409, 409, 409]


def test_results_are_paged_filtered_and_exported(world: World) -> None:
    job = run(world, "Bob", "Ann", "=Nobody", "Zoe", Act="take_item", ItemId=SWORD.id, Quantity=1)["Id"]
    assert [each["Number"] for each in list_targets(world, job, "state=refused")] == [1, 4]
    answer = world.get(f"{ROOT}/{job}/targets?format=csv&limit=3")
    lines = answer.raw.decode().splitlines()
    assert (answer.headers["content-type"], answer.headers["x-next"]) == ("text/csv; charset=utf-8", "3")
    assert lines[0].startswith("Number,State,PlayerId,Player,Given")
    assert len(lines) == 4
    assert "'=Nobody" in lines[3]  # a spreadsheet must not run it


def test_paused_job_waits_and_is_resumed(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gamekeeper.http.audit.bulk_runner.BATCH_TARGETS", 1)
    job = create(world, "Ann", "Bob")["Id"]
    refused(act(world, job, "pause"), 409, "job_not_started")
    start(world, job)
    assert act(world, job, "pause").json["State"] == "paused"
    work(world)
    assert get(world, job)["Done"] == 0
    started = get(world, job)["StartedAt"]
    assert act(world, job, "start").json["State"] == "running"
    work(world)
    assert (get(world, job)["State"], get(world, job)["StartedAt"]) == ("finished", started)
    for each in ("start", "pause", "cancel"):
        refused(act(world, job, each), 409, "job_ended")


def test_cancelled_job_changes_nobody_else(world: World) -> None:
    job = create(world, "Bob")["Id"]
    start(world, job)
    answer = act(world, job, "cancel")
    assert act(world, job, "cancel").json == answer.json == get(world, job)
    work(world)
    assert world.count_coins("Bob") == 0
    refused(act(world, job, "start"), 409, "job_ended")
    refused(act(world, job, "undo"), 409, "nothing_to_undo")


def test_undo_of_a_job_undoes_each_change_and_lists_refusals(world: World) -> None:
    job = run(world, "Ann", "Bob", "Zoe")["Id"]
    world.take("Bob", 5)
    undo = act(world, job, "undo", headers={"X-Reason": "wrong item"}).json
    assert (undo["Act"], undo["State"], undo["UndoOf"], undo["Players"]) == ("undo_change", "previewed", job, 3)
    assert undo == get(world, undo["Id"])
    start(world, undo["Id"])
    refused(act(world, undo["Id"], "undo"), 409, "job_running")
    work(world)
    assert list_results(world, undo["Id"]) == [
        ("Ann", "done", None),
        ("Bob", "refused", "undo_conflict"),
        ("Zoe", "done", None),
    ]
    assert (world.count_coins("Ann"), world.count_coins("Zoe")) == (1250, 0)
    made = {each["Player"]: each["Seq"] for each in list_targets(world, undo["Id"])}
    assert [each["UndoneBy"] for each in list_targets(world, job)] == [made["Ann"], None, made["Zoe"]]
    rest = act(world, job, "undo").json  # only of Bob's change, which is not undone
    assert [each["Player"] for each in list_targets(world, rest["Id"])] == ["Bob"]
    assert rest["Players"] == 1
    again = act(world, undo["Id"], "undo").json["Id"]  # an undo can be undone, as ever
    start(world, again)
    work(world)
    assert (world.count_coins("Ann"), world.count_coins("Zoe")) == (1255, 5)
    assert act(world, job, "undo").json["Players"] == 3  # an undo that was undone does not count


def test_job_that_is_wholly_undone_is_not_undone_again(world: World) -> None:
    job = run(world, "Ann", "Bob")["Id"]
    start(world, act(world, job, "undo").json["Id"])
    work(world)
    refused(act(world, job, "undo"), 409, "job_undone")
    assert len(world.get(ROOT).json["Jobs"]) == 2


def test_undone_changes_of_a_job_are_counted_however_they_were_undone(world: World) -> None:
    """By undoing one change or a whole job, and undoing that; the migration of databases in use counts the same."""

    def undo_change(seq: int) -> int:
        assert world.post(f"/api/keeper/v1/changes/{seq}/undo").status == 200
        return world.ledger()[-1].seq

    def undo_job(job: str) -> str:
        world.wait_for_next_millisecond()  # the newest undo is shown
        undoing = act(world, job, "undo").json["Id"]
        start(world, undoing)
        work(world)
        return undoing

    def count(job: str) -> tuple[int, int, str | None, bool]:
        found = world.run(rows.count_undone(world.keeper.store, job))
        return found.open, found.undone, found.by, world.run(rows.is_undone(world.keeper.store, job))

    job = run(world, "Ann", "Bob", "Zoe")["Id"]
    ann = list_targets(world, job)[0]["Seq"]
    assert world.post(f"/api/keeper/v1/changes/{ann}/undo?dryRun=true").status == 200
    assert count(job) == (3, 0, None, False)
    for counted in ((2, 1, None, False), (3, 0, None, False), (2, 1, None, False)):
        ann = undo_change(ann)
        assert count(job) == counted
    second = undo_job(job)
    assert (count(job), count(second)) == ((0, 3, second, True), (2, 0, None, False))
    undo_change(list_targets(world, second)[0]["Seq"])
    third = undo_job(second)
    assert (count(job), count(second)) == ((2, 1, None, False), (0, 2, third, True))

    stored = "SELECT job_id, number, undone_at IS NULL, undone_by FROM bulk_targets ORDER BY job_id, number"
    before = world.sql(stored)
    world.sql("UPDATE bulk_targets SET undone_at = NULL, undone_by = NULL")
    [migration] = [each for each in load_migrations() if each.name == "undone_changes"]
    for statement in split_script(migration.text, world.keeper.store.engine):
        world.sql(statement)
    assert world.sql(stored) == before


def test_act_needs_its_permission_and_start_its_creator(world: World) -> None:
    body = {"Act": "ban_player", "Players": ["Ann"], "Days": 0}
    refused(world.post(ROOT, body, by="Shop"), 403, "power_missing")
    job = create(world, "Ann", by="Shop")["Id"]
    refused(act(world, job, "start", by="Clerk"), 403, "not_your_job")
    bans = world.post(ROOT, body).json["Id"]
    refused(world.get(f"{ROOT}/{bans}/preview", by="Shop"), 403, "power_missing")
    refused(act(world, bans, "start", by="Shop"), 403, "power_missing")
    assert act(world, job, "start", by="Shop").status == 200
    assert act(world, job, "pause", by="Clerk").status == 200  # anybody who may run jobs can stop one


@pytest.fixture
def crowd(world: World) -> World:
    return fill(world)


def fill(world: World) -> World:
    for number in range(12):
        player_id, body = game_server.newcomer(number, Level=number + 20, ClassId=(WARRIOR.id, guid(32))[number % 2])
        assert game_server.put_player(world, player_id, body).status in {200, 201}
    return world


def list_names(world: World, job: dict[str, Any]) -> list[str]:
    return sorted(each["Player"] for each in list_targets(world, job["Id"]))


def test_job_is_for_those_who_match_when_it_is_created(crowd: World, monkeypatch: pytest.MonkeyPatch) -> None:
    names, wanted = ["New10", "New2", "New4", "New6", "New8"], {"LevelFrom": 22, "ClassId": WARRIOR.id, "Banned": False}
    job = create(crowd, Filter=wanted)
    for name in ("MAX_SORTED", "MAX_SEARCHED", "BATCH_ROWS"):
        monkeypatch.setattr(player_filters, name, 3)
    monkeypatch.setattr(bulk_runner, "STEP_PLAYERS", 3)
    in_steps = create(crowd, Filter=wanted)
    for each in (job, in_steps):
        assert (each["Players"], each["NotFound"], each["Repeated"]) == (5, 0, 0)
        assert list_names(crowd, each) == names
    assert crowd.post("/api/v1/players/New2/level", {"level": 1}).status == 200  # does not match any more
    start(crowd, job["Id"])
    work(crowd)
    assert get(crowd, job["Id"])["Done"] == 5
    assert list_names(crowd, job) == names
    assert [crowd.count_coins(name) for name in ("New2", "New3", "New4")] == [5, 0, 5]


def test_wide_filters_are_refused(crowd: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gamekeeper.game.audit.bulk_jobs.MOST_PLAYERS", 5)
    monkeypatch.setattr(bulk_runner, "MOST_PLAYERS", 5)
    too_many = crowd.post(ROOT, GIVE | {"Filter": {"LevelFrom": 20}})
    refused(too_many, 400, "too_many_players")
    for name in ("MAX_SORTED", "MAX_SEARCHED", "BATCH_ROWS"):
        monkeypatch.setattr(player_filters, name, 3)
    monkeypatch.setattr(bulk_runner, "MAX_COMPARED", 6)
    wide = crowd.post(ROOT, GIVE | {"Filter": {"ClassId": WARRIOR.id, "LevelTo": 21}})
    refused(wide, 400, "filter_too_wide")
    assert "6 players" in wide.message
    assert crowd.get(ROOT).json["Jobs"] == []


def test_malformed_and_forbidden_filters_are_refused(shared_world: World) -> None:
    for wanted in ({}, {"Search": "ab"}, {"Colour": "red"}):
        assert shared_world.post(ROOT, GIVE | {"Filter": wanted}).status == 400, wanted
    backwards = shared_world.post(ROOT, GIVE | {"Filter": {"LevelFrom": 7, "LevelTo": 6}})
    refused(backwards, 400, "bad_field", "The field 'LevelFrom' must not be after the end of the range.")
    body = GIVE | {"Filter": {"Banned": True}}
    refused(shared_world.post(ROOT, body, by="Shop"), 403, "role_missing")
    refused(shared_world.post(ROOT, body), 400, "no_players")
