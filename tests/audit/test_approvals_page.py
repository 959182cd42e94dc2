"""The page of approvals: a second person sees the preview and approves or denies."""

import api_keys
import bulking
from approving import hold, make_strict
from gamekeeper.console.frame.differences import TIMES_SIGN
from keepers import open_session, open_staff, read_text
from people import COIN
from world import MakeWorld

GRANT = "INSERT INTO user_permissions (user_id, permission, given_at) VALUES ($1, 'approvals.decide', 1)"
GIFT = "POST", "/api/v1/players/Bob/items/give", {"itemid": COIN.id, "quantity": "5"}


def test_second_person_sees_the_preview_and_approves(make_world: MakeWorld) -> None:
    world = make_strict(make_world, approvals="items.give")
    approval = hold(world, quantity=5, by="Root")
    assert "another account must decide" in open_session(world, "Root").page("/console/approvals").text
    clerk = open_session(world, "Clerk")
    assert f"Waiting: Give 5 {TIMES_SIGN} Gold Coin to Bob" in clerk.page("/console/approvals").text
    done = clerk.act("POST", f"/api/keeper/v1/approvals/{approval}/approve", reason="checked")
    assert done.status == 303, done.raw
    assert world.count_coins("Bob") == 5
    clerk.page("/console/approvals").assert_shown("Approved: Items given", "Decided by")


def test_held_change_is_explained_in_the_console(make_world: MakeWorld) -> None:
    world = make_strict(make_world, approvals="items.give")
    approval, clerk = hold(world, quantity=5, by="Root"), open_session(world, "Clerk")
    assert b"A second person must approve this change." in clerk.preview(*GIFT).raw
    held = clerk.act(*GIFT)
    assert (held.status, b"<h1>Waiting for approval</h1>" in held.raw) == (409, True)
    denied = clerk.act("POST", f"/api/keeper/v1/approvals/{approval}/deny", reason="too much")
    assert denied.status == 303, denied.raw
    assert world.count_coins("Bob") == 0


def test_approver_without_bulk_run_sees_what_a_held_job_does(make_world: MakeWorld) -> None:
    world = make_world(approvals="bulk.run>1")
    second, looker = (open_staff(world, "viewer", name) for name in ("Second", "Looker"))
    world.sql(GRANT, world.get("/api/v1/users/Second").json["Id"])
    job = bulking.create(world, "Ann", "Bob", "Zoe", reason="anniversary")["Id"]
    approval = bulking.act(world, job, "start").json["ApprovalId"]
    page = second.page("/console/approvals")
    what = f"Act Give 5 {TIMES_SIGN} Gold Coin Players 3 Quantity in all 15 Reason of the job anniversary"
    page.assert_shown(f"Waiting: Give 5 {TIMES_SIGN} Gold Coin: 3 players", what, "State: Not started → Running")
    address = page.links["The bulk job and its players"]
    assert address == f"/console/bulk/{job}"
    shown = second.page(address)
    shown.assert_shown("Results All Done", "Zoe Waiting")
    shown.assert_hidden("Cancel the job", "Download as CSV")
    assert second.get("/console/bulk").status == 403
    assert second.post(f"{address}/cancel", {}).status == 403
    assert looker.get(address).status == 403
    assert what in read_text(second.preview("POST", f"/api/keeper/v1/approvals/{approval}/approve"))
    assert second.act("POST", f"/api/keeper/v1/approvals/{approval}/approve", reason="checked").status == 303


def test_page_names_the_api_key_and_its_maker(make_world: MakeWorld) -> None:
    world = make_strict(make_world, approvals="items.give")
    hold(world, token=api_keys.create(world, Owner="Shop", Permissions=["items.give"])["Key"])
    maker, other = (open_session(world, name).page("/console/approvals").text for name in ("Root", "Clerk"))
    assert "You created or rotated the API key that asked for this change" in maker
    assert "API key: web shop. Created or rotated by: Root" in other
    assert ("Approve" in maker, "Approve" in other) == (False, True)
