"""The page of approvals: a second person sees the preview and approves or denies."""

from keepers import Keeper, MakeWorld, open_session
from markup import Page

import api_keys
import bulking
import people
import staff
from gamekeeper.console.differences import TIMES_SIGN
from gamekeeper.store import users
from people import COIN
from world import World

GRANT = "INSERT INTO user_permissions (user_id, permission, given_at) VALUES ($1, 'approvals.decide', 1)"


def make_held(make_world: MakeWorld) -> tuple[World, str]:
    world = make_world(approvals="items.give")
    world.sql(GRANT, people.USER_IDS["Clerk"])
    held = world.post("/api/v1/players/Bob/items/give", {"itemid": COIN.id, "quantity": 5})
    assert held.status == 409
    return world, held.json["ApprovalId"]


def sign_in(world: World, name: str) -> Keeper:
    found = Keeper(world)
    assert found.sign_in(name).status == 303
    return found


def add_viewer(world: World, name: str) -> Keeper:
    staff.add_account(world, name, "viewer")
    user = world.run(users.find_by_fold(world.keeper.store, name.lower()))
    assert user
    return open_session(world, user.name, user.id)


def count_coins(world: World) -> int:
    slots = world.get("/api/v1/players/Bob/items/inventory").json
    return sum(each["Quantity"] for each in slots if each.get("ItemId") == COIN.id)


def test_second_person_sees_the_preview_and_approves(make_world: MakeWorld) -> None:
    world, approval = make_held(make_world)
    assert "another account must decide" in sign_in(world, "Root").page("/console/approvals").text
    clerk = sign_in(world, "Clerk")
    assert f"Waiting: Give 5 {TIMES_SIGN} Gold Coin to Bob" in clerk.page("/console/approvals").text
    done = clerk.act("POST", f"/api/keeper/v1/approvals/{approval}/approve", reason="checked")
    assert done.status == 303, done.raw
    assert count_coins(world) == 5
    shown = clerk.page("/console/approvals").text
    assert "Approved: Items given" in shown
    assert "Decided by" in shown


def test_held_change_is_explained_in_the_console(make_world: MakeWorld) -> None:
    world, approval = make_held(make_world)
    clerk = sign_in(world, "Clerk")
    gift = "POST", "/api/v1/players/Bob/items/give", {"itemid": COIN.id, "quantity": "5"}
    assert b"A second person must approve this change." in clerk.preview(*gift).raw
    held = clerk.act(*gift)
    assert (held.status, b"must approve this change" in held.raw) == (409, True)
    assert b"<h1>Waiting for approval</h1>" in held.raw
    denied = clerk.act("POST", f"/api/keeper/v1/approvals/{approval}/deny", reason="too much")
    assert denied.status == 303, denied.raw
    assert count_coins(world) == 0


def test_approver_without_bulk_run_sees_what_a_held_job_does(make_world: MakeWorld) -> None:
    world = make_world(approvals="bulk.run>1")
    second, looker = (add_viewer(world, name) for name in ("Second", "Looker"))
    ((second_id,),) = world.sql("SELECT id FROM users WHERE name = 'Second'")
    world.sql(
        "INSERT INTO user_permissions (user_id, permission, given_at) VALUES ($1, 'approvals.decide', 1)", second_id
    )
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
    for decision in ("deny", "approve"):
        dialog = second.preview("POST", f"/api/keeper/v1/approvals/{approval}/{decision}")
        assert what in Page(dialog.raw.decode()).text
    assert looker.get(address).status == 403
    assert second.act("POST", f"/api/keeper/v1/approvals/{approval}/approve", reason="checked").status == 303
    assert "Approved: Give 5" in second.page("/console/approvals").text


def test_overview_counts_waiting_changes_for_those_who_decide(make_world: MakeWorld) -> None:
    world, approval = make_held(make_world)
    clerk = sign_in(world, "Clerk")
    assert "Waiting for approval 1 " in clerk.page("/console").text
    assert clerk.act("POST", f"/api/keeper/v1/approvals/{approval}/deny", reason="too much").status == 303
    assert "Waiting for approval 0 " in clerk.page("/console").text
    assert "Waiting for approval" not in sign_in(world, "Shop").page("/console").text


def test_reached_quota_is_explained_with_the_name_of_the_item(make_world: MakeWorld) -> None:
    world = make_world()
    world.sql("INSERT INTO role_quotas (role, item_id, most) VALUES ('api', $1, 5)", COIN.id)
    shop = sign_in(world, "Shop")
    refused = shop.preview("POST", "/api/v1/players/Bob/items/give", {"itemid": COIN.id, "quantity": "6"})
    said = refused.raw.decode()
    assert refused.status == 409
    assert "At most 5 of item &#39;Gold Coin&#39; may be given per UTC day, and 0 were given today." in said
    assert "More can be given after" in said


def test_page_names_the_api_key_and_its_maker(make_world: MakeWorld) -> None:
    world = make_world(approvals="items.give")
    world.sql(GRANT, people.USER_IDS["Clerk"])
    key = api_keys.create(world, Owner="Shop", Permissions=["items.give"])["Key"]
    gift = {"itemid": COIN.id, "quantity": 5}
    assert world.post("/api/v1/players/Bob/items/give", gift, token=key).status == 409
    maker, other = (sign_in(world, name).page("/console/approvals").text for name in ("Root", "Clerk"))
    assert "You created or rotated the API key that asked for this change" in maker
    assert "API key: web shop. Created or rotated by: Root" in other
    assert ("Approve" in maker, "Approve" in other) == (False, True)
