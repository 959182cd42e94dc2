"""The command `approvals`."""

from approving import DECIDER, GIVE, ROOT, decide, give, hold, make_strict
from command_line import CommandLine
from proof import refused
from world import MakeWorld


def test_waiting_requests_are_listed_with_their_requester_and_reason(
    command: CommandLine, make_world: MakeWorld
) -> None:
    strict = make_strict(make_world)
    done, waiting = hold(strict), hold(strict)
    assert decide(strict, done).status == 200
    listed = command.json("approvals", "list")
    assert [(each["id"], each["state"]) for each in listed] == [(waiting, "waiting"), (done, "done")]
    assert {each["requester"] for each in listed} == {"Shop"}
    assert {(each["request"], each["reason"]) for each in listed} == {(f"POST {GIVE}", "order 7")}
    (only,) = command.json("approvals", "list", "--state", "waiting")
    assert only["id"] == waiting
    strict.sql("UPDATE approvals SET expires_at = 1 WHERE id = $1", waiting)
    assert command.json("approvals", "list", "--state", "waiting") == []


def test_denied_request_stays_denied_and_has_the_reason(command: CommandLine, make_world: MakeWorld) -> None:
    strict = make_strict(make_world)
    approval = hold(strict, "k")
    said = command.says("approvals", "deny", approval, "--reason", "too much")
    assert said == f"Denied the request of Shop: POST {GIVE}.\n"
    shown = strict.get(f"{ROOT}/{approval}", by=DECIDER).json
    assert (shown["State"], shown["DeciderId"], shown["DecisionReason"]) == ("denied", None, "too much")
    refused(give(strict, key="k"), 409, "approval_denied")
    assert "was decided already: denied" in command.refuses("approvals", "deny", approval)
    assert strict.count_coins() == 0


def test_unknown_or_expired_request_is_refused(command: CommandLine, make_world: MakeWorld) -> None:
    strict = make_strict(make_world)
    assert "There is no approval with the id 'nothing'." in command.refuses("approvals", "deny", "nothing")
    approval = hold(strict)
    strict.sql("UPDATE approvals SET expires_at = 1")
    assert "has expired" in command.refuses("approvals", "deny", approval)
