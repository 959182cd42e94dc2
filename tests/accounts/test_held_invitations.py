"""An invitation that waits for approval: who decides sees where its mail would go."""

import staff
from approving import ROOT, decide, make_strict
from command_line import CommandLine
from credentials import MANAGE_EMAIL, post
from keepers import open_session, open_staff
from world import PUBLIC_URL, MakeWorld, World

INVITATIONS = "/api/keeper/v1/invitations"
NEW, MASKED = "sunniva@example.test", "s…@example.test"


def list_emails(world: World, **more: str) -> list[str | None]:
    return [each["Email"] for each in world.get(ROOT, **more).json["Approvals"]]


def test_approval_of_an_invitation_shows_its_address(make_world: MakeWorld, database: str) -> None:
    world = make_strict(make_world, public_url=PUBLIC_URL)
    judge = staff.add_account(world, "Judge", staff.save_role(world, "judge", ["approvals.decide"]))
    held = world.post(INVITATIONS, {"EMail": NEW, "roles": ["moderator"]}).json["ApprovalId"]
    world.wait_for_next_millisecond()
    world.give("Bob", 12_000, by="Shop")
    assert list_emails(world) == [None, NEW]
    assert list_emails(world, token=judge) == [None, MASKED]
    assert world.get(f"{ROOT}/{held}").json["Email"] == NEW
    root = open_session(world, "Root")
    root.page("/console/approvals").assert_shown(f"Waiting: Invite {NEW}", f"The mail goes to {NEW}")
    shown = CommandLine(database).json("approvals", "list")
    assert [each["email"] for each in shown] == ["-", NEW]
    assert decide(world, held, "deny", by="Clerk").json["Email"] is None


def test_other_spellings_of_the_path_do_not_hide_the_address(make_world: MakeWorld) -> None:
    world = make_strict(make_world, public_url=PUBLIC_URL)
    for path in ("/api/Keeper/v1/INVITATIONS", f"{INVITATIONS}/", "/api/keeper/v1/%69nvitations"):
        held = world.post(path, {"email": NEW, "roles": ["moderator"]}).json["ApprovalId"]
        assert world.get(f"{ROOT}/{held}").json["Email"] == NEW, path


def test_address_is_masked_without_the_permission_to_see_accounts(make_world: MakeWorld) -> None:
    world = make_strict(make_world, public_url=PUBLIC_URL)
    world.sql("UPDATE users SET users_query = FALSE WHERE name = 'Clerk'")
    world.post(INVITATIONS, {"email": NEW, "roles": ["moderator"]})
    page = open_session(world, "Clerk").page("/console/approvals")
    page.assert_shown(f"Waiting: Invite {MASKED}", f"The mail goes to {MASKED}")
    assert NEW not in page.text


def test_addresses_of_a_held_change_and_its_answer_are_masked(make_world: MakeWorld) -> None:
    world = make_strict(make_world)
    role = staff.save_role(world, "judge", ["approvals.decide", "players.read"])
    judge, second = staff.add_account(world, "Judge", role), open_staff(world, role, "Second")
    held = post(world, MANAGE_EMAIL, {"new": NEW}, user="Clerk").json["ApprovalId"]
    path = f"{ROOT}/{held}"
    assert NEW in world.get(path).raw.decode()
    texts = [world.get(path, token=judge).raw.decode(), second.page("/console/approvals").text]
    texts.append(second.preview("POST", f"{path}/approve").raw.decode())
    texts.append(decide(world, held, token=judge).json["Answer"])
    for each in texts:
        assert MASKED in each
        assert NEW not in each
        assert "clerk@example.test" not in each
    assert world.get("/api/v1/users/Clerk").json["Email"] == NEW
