"""What would act by itself stops in a database that continues from an older state: it has another epoch."""

from pathlib import Path
from typing import NamedTuple

import pytest

import approving
import outbox
import people
import staff
from backups import back_up, bring_back, restore
from bulking import act, create, get, list_targets, start, work
from findings import errors, unseen
from gamekeeper.copies import exports
from gamekeeper.game.access.refusals import InvitationVoid
from gamekeeper.game.accounts import accounts
from gamekeeper.game.audit.approvals import parse_rules
from gamekeeper.game.audit.retention import RetentionJob
from gamekeeper.store.accounts import invitations as invitation_rows
from proof import refused
from smtp_sink import Sink
from world import MakeWorld, OpenWorld, World

NEW_EPOCH = "UPDATE epoch SET id = $1"  # as docs/backup.md says, with an id of the test
PROBLEM = "The database was restored from a moment when this job ran."


class Work(NamedTuple):
    """What is under way in a world."""

    running: str  # job that has not changed Ann yet
    held: str  # job whose changes of Bob and Zoe wait for approval
    approval: str  # of a gift
    coins: int  # that Ann has


def begin(world: World) -> Work:
    """Start a job with a player who is left, and another with held changes, and hold a gift."""
    held = create(world, "Bob", "Zoe")["Id"]
    start(world, held)
    world.keeper.changes.gate.rules = parse_rules("items.give>4")
    work(world)
    world.keeper.changes.gate.rules = {}
    running = create(world, "Ann")["Id"]
    start(world, running)
    world.keeper.changes.gate.rules = parse_rules(approving.RULES)
    return Work(running, held, approving.hold(approving.let_decide(world)), world.count_coins("Ann"))


def require_stopped(world: World, begun: Work) -> None:
    work(world)
    job = get(world, begun.running)
    assert (job["State"], (job["Problem"] or "")[: len(PROBLEM)], job["Done"]) == ("paused", PROBLEM, 0)
    assert world.count_coins("Ann") == begun.coins
    assert {each["State"] for each in world.get(approving.ROOT).json["Approvals"]} == {"expired"}
    results = [(each["State"], each["Code"]) for each in list_targets(world, begun.held)]
    assert results == [("refused", "approval_expired")] * 2
    job = get(world, begun.held)
    assert (job["State"], job["Held"], job["Refused"]) == ("finished", 0, 2)
    refused(approving.decide(world, begun.approval), 409, "approval_expired")
    assert errors(world) == []


def accept(world: World, secret: str) -> None:
    world.apply(lambda tx: accounts.accept_invitation(tx, secret, "Sunniva", staff.STORED, world.keeper.settings))


@pytest.mark.both_engines
@pytest.mark.parametrize("way", ["backup", "export"])
def test_restored_database_starts_no_job_and_has_no_waiting_approval(
    world: World, way: str, tmp_path: Path, empty_database: str, opened: OpenWorld
) -> None:
    begun, file = begin(world), tmp_path / "copy"
    world.sql("UPDATE bulk_jobs SET epoch = NULL")  # as an older version leaves it that runs beside this one
    world.sql("UPDATE approvals SET epoch = NULL WHERE id = $1", begun.approval)
    if way == "backup":
        back_up(world, file)
    else:
        world.run(exports.export(world.keeper.store, file, unseen))
    # what staff stop afterwards is not in the copy
    assert act(world, begun.running, "cancel").status == 200
    assert approving.decide(world, begun.approval, "deny").status == 200
    if way == "backup":
        restore(file, empty_database, keep_tokens=True)
    else:
        bring_back(file, empty_database)
    copy = opened(empty_database)
    if way == "export":
        for row in world.sql("SELECT * FROM tokens"):  # an export has none
            values = ", ".join(f"${number}" for number in range(1, len(row) + 1))
            copy.sql(f"INSERT INTO tokens VALUES ({values})", *row)  # noqa: S608 - placeholders only
    require_stopped(copy, begun)
    # a person can let the job go on
    start(copy, begun.running)
    work(copy)
    assert (get(copy, begun.running)["State"], copy.count_coins("Ann")) == ("finished", begun.coins + 5)


@pytest.mark.both_engines
def test_new_epoch_stops_jobs_mails_approvals_and_invitations(make_world: MakeWorld) -> None:
    """Point-in-time recovery runs no command of ours: operators start a new epoch in the database."""
    with Sink().running() as sink:
        world = outbox.sending_to(make_world, sink.port)
        outbox.ask(world)
        world.post("/api/keeper/v1/invitations", {"email": "sunniva@example.test", "roles": ["shop"]}).accepted()
        taken = world.run(world.keeper.store.write(lambda tx: invitation_rows.lease(tx, 1)))
        assert taken
        world.sql("UPDATE invitations SET next_try_at = 1")
        begun = begin(world)
        world.sql(NEW_EPOCH, people.guid(0xE0))
        # at once, before anything has looked for what is to be stopped
        outbox.send(world)
        refused(approving.decide(world, begun.approval), 409, "approval_expired")
        with pytest.raises(InvitationVoid):
            accept(world, taken.code)
        work(world)
        assert get(world, begun.running)["State"] == "paused"
        world.run(RetentionJob(world.keeper).tidy())
        require_stopped(world, begun)
        assert world.get("/api/keeper/v1/invitations").json["Invitations"] == []
        mail = outbox.only(world)
        assert (mail.state, sink.received) == ("failed", [])
        assert "restored" in (mail.last_error or "")
        assert world.post(f"/api/keeper/v1/mails/{mail.id}/retry").status == 200
        outbox.send(world)
        assert (outbox.only(world).state, len(sink.received)) == ("sent", 1)
        # nothing of the new epoch is stopped
        job = create(world, "Ann")["Id"]
        start(world, job)
        approval = approving.hold(world)
        world.run(RetentionJob(world.keeper).tidy())
        work(world)
        assert get(world, job)["State"] == "finished"
        assert approving.decide(world, approval).status == 200
