"""Bulk jobs: creation, preview, start, results, pause, cancellation, undo and permissions."""

import pytest

import bulking
import game_server
import people
from bulking import ROOT, act, count_coins, create, get, list_results, list_targets, run, start, work
from gamekeeper.game import bulk_jobs
from gamekeeper.store import bulk_jobs as rows
from gamekeeper.store.migrate import load_migrations, split_script
from people import BOB, COIN, KILLS, NOBODY_ID, SWORD, ZOE
from proof import refused
from world import World


def test_job_is_previewed_started_and_finished(world: World) -> None:
    job = create(world, "ann", BOB.id, "Nobody", "ANN", "bob", "Nobody")
    counts = ("State", "Players", "Done", "Remaining", "NotFound", "Repeated", "Reason", "Creator", "StartedAt")
    assert [job[each] for each in counts] == ["previewed", 2, 0, 2, 1, 3, "prize", "Root", None]
    assert job == get(world, job["Id"])
    assert count_coins(world, "Bob") == 0
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
    assert (count_coins(world, "Ann"), count_coins(world, "Bob")) == (1255, 5)


def test_changes_of_a_job_share_its_request_id_and_reason(world: World) -> None:
    job = run(world, "Ann", "Bob")
    changes = world.get(f"/api/keeper/v1/changes?request={job['RequestId']}").json["Changes"]
    assert [(each["Player"], each["Kind"], each["Reason"], each["By"]) for each in changes] == [
        ("Bob", "items_given", "prize", "Root"),
        ("Ann", "items_given", "prize", "Root"),
    ]
    assert [each["Seq"] for each in list_targets(world, job["Id"])] == [changes[1]["Seq"], changes[0]["Seq"]]
    ((kind, state),) = [(each.kind, each.after) for each in world.ledger() if each.kind == "bulk_job_changed"]
    assert kind
    assert '"running"' in str(state)


def test_items_are_taken(world: World) -> None:
    job = run(world, "Ann", Act="take_item", ItemId=COIN.id, Quantity=250)
    assert (job["State"], job["Done"], count_coins(world, "Ann")) == ("finished", 1, 1000)


@pytest.mark.parametrize("value", [99, 2**40])
def test_variable_is_set(world: World, value: int) -> None:
    job = run(world, "Ann", Act="set_variable", VariableId=KILLS.id, Value=value)
    assert (job["State"], job["Done"], job["Value"]) == ("finished", 1, value)
    assert world.get(f"/api/v1/players/Ann/variables/{KILLS.id}/value").json == {"value": value}


def test_ban_and_mute_use_the_reason_of_the_job(world: World) -> None:
    job = run(world, "Ann", "Zoe", "Bob", Act="ban_player", Days=7)
    assert list_results(world, job["Id"]) == [
        ("Ann", "done", None),
        ("Zoe", "refused", "already_banned"),  # the same account
        ("Bob", "done", None),
    ]
    ((reason, ends),) = world.sql("SELECT reason, ends_at FROM bans WHERE user_id = $1", people.USER_IDS["Bob"])
    assert (reason, bool(ends)) == ("prize", True)
    job = run(world, "Bob", Act="mute_player", Days=0)
    assert (job["Done"], job["Days"]) == (1, 0)
    assert world.get("/api/v1/users/Bob").json["IsMuted"]


def test_online_players_are_chosen_by_a_filter(world: World) -> None:
    game_server.heartbeat(world)
    game_server.join(world, ZOE.id, BOB.id)
    answer = world.post(ROOT, bulking.GIVE | {"Online": True, "Players": ["zoe"]})
    assert (answer.json.get("Players"), answer.json.get("Repeated")) == (2, 1), answer.raw


def test_preview_tries_the_next_players_and_changes_nothing(world: World) -> None:
    job = create(world, "Ann", "Bob", "Nobody", Act="take_item", ItemId=COIN.id, Quantity=10)["Id"]
    before = len(world.ledger())
    tried = world.get(f"{ROOT}/{job}/preview").json["Players"]
    assert [(each["Player"], each["Code"], len(each["Changes"])) for each in tried] == [
        ("Ann", None, 1),
        ("Bob", "not_enough_items", 0),
    ]
    assert world.get(f"{ROOT}/{job}/preview?limit=1").json["Players"] == tried[:1]
    assert len(world.ledger()) == before
    assert get(world, job)["State"] == "previewed"


def test_dry_run_of_a_creation_stores_nothing(shared_world: World) -> None:
    answer = shared_world.post(f"{ROOT}?dryRun=true", bulking.GIVE | {"Players": ["Ann", "Nobody"]})
    assert (answer.json["Players"], answer.json["NotFound"]) == (1, 1)
    assert shared_world.get(ROOT).json == {"Jobs": [], "Next": None}


@pytest.mark.parametrize(
    ("body", "code", "field"),
    [
        ({"Act": "give_item", "Players": ["Ann"], "Quantity": 1}, "bad_field", "ItemId"),
        ({"Act": "give_item", "Players": ["Ann"], "ItemId": COIN.id}, "bad_field", "Quantity"),
        (bulking.GIVE | {"Players": ["Ann"], "Days": 3}, "bad_field", "Days"),
        ({"Act": "ban_player", "Players": ["Ann"], "Quantity": 3, "Days": 1}, "bad_field", "Quantity"),
        ({"Act": "ban_player", "Players": ["Ann"], "Days": None}, "bad_field", "Days"),  # not a permanent ban
        (bulking.GIVE | {"Players": ["Nobody", NOBODY_ID, " "]}, "no_players", "players"),
        (bulking.GIVE, "no_players", "players"),
        ({"Act": "kill_player", "Players": ["Ann"]}, "bad_field", "Act"),
    ],
)
def test_wrong_job_is_refused(shared_world: World, body: dict[str, object], code: str, field: str) -> None:
    answer = shared_world.post(ROOT, body)
    refused(answer, 400, code)
    assert field in answer.message


def test_job_has_a_limit_of_players(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bulk_jobs, "MOST_PLAYERS", 2)
    refused(world.post(ROOT, bulking.GIVE | {"Players": ["Ann", "Bob", "Zoe"]}), 400, "too_many_players")


def test_ten_thousand_names_fit_into_a_job(world: World) -> None:
    names = [*(people.guid(0x7000 + number) for number in range(9_998)), "Ann", "Bob"]
    job = create(world, *names)
    assert (job["Players"], job["NotFound"]) == (2, 9_998)
    page = world.get(f"{ROOT}/{job['Id']}/targets?limit=1&after=9998").json
    assert ([each["Player"] for each in page["Targets"]], page["Next"]) == (["Ann"], 9999)


def test_exact_spelling_of_a_name_wins(world: World) -> None:
    world.compares = False
    world.sql("UPDATE players SET name = 'BOB', fold = $1 WHERE id = $2", f"bob\x01{ZOE.id}", ZOE.id)
    found = [list_targets(world, create(world, name)["Id"])[0]["PlayerId"] for name in ("Bob", "bob", "BOB")]
    assert found == [BOB.id, BOB.id, ZOE.id]


def test_jobs_are_listed_newest_first(world: World) -> None:
    ids = [create(world, "Ann")["Id"] for _ in range(3)]
    first = world.get(f"{ROOT}?limit=2").json
    second = world.get(f"{ROOT}?limit=2&before={first['Next']}").json
    listed = [each["Id"] for page in (first, second) for each in page["Jobs"]]
    assert (sorted(listed), second["Next"]) == (sorted(ids), None)
    times = [each["CreatedAt"] for page in (first, second) for each in page["Jobs"]]
    assert times == sorted(times, reverse=True)


def test_results_are_paged_filtered_and_exported(world: World) -> None:
    job = run(world, "Bob", "Ann", "=Nobody", "Zoe", Act="take_item", ItemId=SWORD.id, Quantity=1)["Id"]
    assert [each["Number"] for each in list_targets(world, job, "state=refused")] == [1, 4]
    page = world.get(f"{ROOT}/{job}/targets?state=refused&limit=1").json
    assert ([each["Player"] for each in page["Targets"]], page["Next"]) == (["Bob"], 1)
    answer = world.get(f"{ROOT}/{job}/targets?format=csv&limit=3")
    lines = answer.raw.decode().splitlines()
    assert (answer.headers["content-type"], answer.headers["x-next"]) == ("text/csv; charset=utf-8", "3")
    assert lines[0].startswith("Number,State,PlayerId,Player,Given")
    assert len(lines) == 4
    assert "'=Nobody" in lines[3]  # a spreadsheet must not run it


def test_paused_job_waits_and_is_resumed(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gamekeeper.http.bulk_runner.BATCH_TARGETS", 1)
    job = create(world, "Ann", "Bob")["Id"]
    refused(act(world, job, "pause"), 409, "job_not_started")
    start(world, job)
    assert act(world, job, "pause").json["State"] == "paused"
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
    assert answer.json["State"] == "cancelled"
    assert answer.json["EndedAt"]
    assert act(world, job, "cancel").json == answer.json == get(world, job)
    work(world)
    assert count_coins(world, "Bob") == 0
    refused(act(world, job, "start"), 409, "job_ended")
    refused(act(world, job, "undo"), 409, "nothing_to_undo")


def test_undo_of_a_job_equips_an_item_again(world: World) -> None:
    def equipment() -> list[int]:
        return world.get("/api/v1/players/Ann").json["Equipment"]

    worn = equipment()
    job = run(world, "Ann", "Bob", Act="take_item", ItemId=SWORD.id, Quantity=1)["Id"]
    assert equipment() == [-1] * 5
    undo = act(world, job, "undo").json
    assert undo["Players"] == 1  # Bob has no sword
    start(world, undo["Id"])
    work(world)
    assert list_results(world, undo["Id"]) == [("Ann", "done", None)]
    assert equipment() == worn


def test_undo_of_a_job_undoes_each_change_and_lists_refusals(world: World) -> None:
    job = run(world, "Ann", "Bob", "Zoe")["Id"]
    world.post(f"/api/v1/players/{BOB.id}/items/take", {"itemid": COIN.id, "quantity": 5})
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
    assert (count_coins(world, "Ann"), count_coins(world, "Zoe")) == (1250, 0)
    undone = {each["Seq"]: each["UndoneBy"] for each in world.get("/api/keeper/v1/changes").json["Changes"]}
    made = {each["Player"]: each["Seq"] for each in list_targets(world, undo["Id"])}
    assert [undone[each["Seq"]] for each in list_targets(world, job)] == [made["Ann"], None, made["Zoe"]]
    assert [each["UndoneBy"] for each in list_targets(world, job)] == [made["Ann"], None, made["Zoe"]]
    rest = act(world, job, "undo").json  # only of Bob's change, which is not undone
    assert [each["Player"] for each in list_targets(world, rest["Id"])] == ["Bob"]
    assert rest["Players"] == 1
    again = act(world, undo["Id"], "undo").json["Id"]  # an undo can be undone, as ever
    start(world, again)
    work(world)
    assert (count_coins(world, "Ann"), count_coins(world, "Zoe")) == (1255, 5)
    assert act(world, job, "undo").json["Players"] == 3  # an undo that was undone does not count


def test_job_that_is_wholly_undone_is_not_undone_again(world: World) -> None:
    job = run(world, "Ann", "Bob")["Id"]
    start(world, act(world, job, "undo").json["Id"])
    work(world)
    refused(act(world, job, "undo"), 409, "job_undone")
    world.sql("UPDATE bulk_targets SET undone_at = NULL, undone_by = NULL")  # as if an older version had undone them
    refused(act(world, job, "undo"), 409, "job_undone")
    assert len(world.get(ROOT).json["Jobs"]) == 2


def test_undone_changes_of_a_job_are_counted_however_they_were_undone(world: World) -> None:
    """The migration counts the undos of databases in use. It must give what the undos themselves store."""

    def undo(seq: int) -> int:
        answer = world.post(f"/api/keeper/v1/changes/{seq}/undo")
        assert answer.status == 200, answer.raw
        return world.ledger()[-1].seq

    def undo_job(job: str) -> str:
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
    single = undo(ann)
    assert count(job) == (2, 1, None, False)
    again = undo(single)
    assert count(job) == (3, 0, None, False)
    undo(again)
    assert count(job) == (2, 1, None, False)
    second = undo_job(job)
    assert count(job) == (0, 3, second, True)
    assert count(second) == (2, 0, None, False)
    undo(list_targets(world, second)[0]["Seq"])
    third = undo_job(second)
    assert (count(job), count(second)) == ((2, 1, None, False), (0, 2, third, True))
    stored = "SELECT job_id, number, undone_at, undone_by FROM bulk_targets ORDER BY job_id, number"
    before = world.sql(stored)
    world.sql("UPDATE bulk_targets SET undone_at = NULL, undone_by = NULL")
    [migration] = [each for each in load_migrations() if each.name == "undone_changes"]
    for statement in split_script(migration.text, world.keeper.store.engine):
        world.sql(statement)
    after = world.sql(stored)
    assert [(*each[:2], each[2] is None, each[3]) for each in after] == [
        (*each[:2], each[2] is None, each[3]) for each in before
    ]


def test_unknown_job_is_refused(shared_world: World) -> None:
    for method, path in (
        *(("GET", each) for each in ("", "/targets", "/preview")),
        *(("POST", each) for each in ("/start", "/pause", "/cancel", "/undo")),
    ):
        refused(shared_world.call(method, f"{ROOT}/{NOBODY_ID}{path}"), 404, "no_such_bulk_job")


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


def test_repeated_creation_with_a_key_makes_one_job(world: World) -> None:
    headers = {"Idempotency-Key": "job-1"}
    answers = [world.post(ROOT, bulking.GIVE | {"Players": ["Ann"]}, headers=headers) for _ in range(2)]
    assert answers[0].json == answers[1].json
    assert len(world.get(ROOT).json["Jobs"]) == 1


def test_deleted_player_is_refused(world: World) -> None:
    job = create(world, "Zoe", "Bob")["Id"]
    world.call("DELETE", f"/api/v1/players/{ZOE.id}")
    start(world, job)
    work(world)
    assert list_results(world, job) == [(None, "refused", "no_such_player"), ("Bob", "done", None)]
