"""The page after an action (/console/done)."""

import pytest
from keepers import ACT, Keeper, open_session
from markup import Page
from sent_actions import COINS, GIVE, JSON, list_numbers, read_text

import people
from world import World


def test_done_page_hides_changes_of_other_accounts(world: World, root: Keeper) -> None:
    root.act("POST", GIVE, COINS)
    request_id = world.ledger()[-1].request_id
    assert "Items given" in root.page(f"/console/done/{request_id}").text
    assert "Items given" not in open_session(world, "Clerk").page(f"/console/done/{request_id}").text


@pytest.mark.parametrize(("quantity", "opened"), [(5, True), (8 * 1_000_000, False)])
def test_done_page_folds_long_changes(world: World, root: Keeper, quantity: int, opened: bool) -> None:  # noqa: FBT001 - a test case
    root.act("POST", GIVE, {**COINS, "quantity": quantity})
    page = root.page(f"/console/done/{world.ledger()[-1].request_id}")
    assert ["open" in each for tag, each in page.tags if tag == "details" and "class" not in each] == [opened]


def test_done_page_finds_own_changes_among_many(world: World, root: Keeper, monkeypatch: pytest.MonkeyPatch) -> None:
    root.act("POST", GIVE, COINS)
    request_id = world.ledger()[-1].request_id
    monkeypatch.setattr("gamekeeper.console.actions.NEWEST_CHANGES", 2)
    for _ in range(3):
        assert world.post(GIVE, COINS, by="Shop").status == 200
    assert "Items given" in root.page(f"/console/done/{request_id}").text


def test_done_page_finds_changes_over_the_game_link(world: World, root: Keeper) -> None:
    done = root.act("DELETE", f"/api/link/v1/players/{people.BOB.id}")
    request_id = done.headers["location"].removeprefix("/console?done=")
    assert f"Change {list_numbers(world)[-1]} : Player deleted" in root.page(f"/console/done/{request_id}").text
    other = open_session(world, "Server")
    assert "Player deleted" not in other.page(f"/console/done/{request_id}").text
    shown = root.preview("DELETE", f"/api/link/v1/players/{people.ZOE.id}")
    fields = Page(shown.raw.decode()).confirmation().fields
    told = root.post(ACT, {**fields, "reason": "gone"}, headers=JSON, csrf=fields["csrf"]).json
    assert told["numbers"] == list_numbers(world)[-1:]


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("PUT", "/api/link/v1/servers/east", {"Lease": 60}),
    ],
)
def test_done_page_says_when_nothing_is_recorded(
    world: World, root: Keeper, method: str, path: str, body: dict[str, object] | None
) -> None:
    before = world.ledger()
    assert root.act(method, path, body).headers["location"] == "/console?done=unwritten"
    assert world.ledger() == before
    page = root.page("/console/done/unwritten")
    assert "Done. This is not recorded in the audit log, so it cannot be undone." in page.text
    assert "Changes of this request" not in page.links


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("DELETE", "/api/oauth/token/Ann", None),
        ("DELETE", "/api/keeper/v1/users/Shop/sessions", None),
        ("POST", "/api/keeper/v1/keys", {"Name": "Website", "Role": "shop"}),
    ],
)
def test_what_the_security_log_records_is_said_to_be_there(
    world: World, root: Keeper, method: str, path: str, body: dict[str, object] | None
) -> None:
    before, events = world.ledger(), world.sql("SELECT COUNT(*) FROM security_events")[0][0]
    shown = root.preview(method, path, body)
    assert "The security log records who did this and when." in read_text(shown)
    root.confirm(shown, "")
    assert world.ledger() == before
    assert world.sql("SELECT COUNT(*) FROM security_events")[0][0] == events + 1
    assert root.page("/console/done/security").links["Security log"] == "/console/security"


def test_done_page_explains_hidden_account_changes(world: World) -> None:
    shop = open_session(world, "Shop")
    world.sql("UPDATE users SET ban = TRUE WHERE id = $1", people.USER_IDS["Shop"])
    done = shop.act("POST", f"/api/v1/players/{people.ANN.id}/admin/ban", {"reason": "gold"})
    assert world.ledger()[-1].kind == "user_banned"
    page = shop.page(done.headers["location"].replace("/console?done=", "/console/done/"))
    assert "Ann" not in page.text
    assert "Changes to accounts are shown only with the permission users.query." in page.text


def test_done_page_offers_undo_once(world: World, root: Keeper) -> None:
    root.act("POST", GIVE, COINS)
    done, number = f"/console/done/{world.ledger()[-1].request_id}", list_numbers(world)[-1]
    assert root.page(done).form(ACT, f"Undo change {number}")
    root.act("POST", f"/api/keeper/v1/changes/{number}/undo")
    assert f"Undo change {number}" not in [button for form in root.page(done).forms for button in form.buttons]


@pytest.mark.parametrize("nobodys", ["%00", "%00" * 24, "%ED%A0%80", "x" * 300, "%25", "'"])
def test_done_page_of_an_invalid_request_id_is_empty(shared_root: Keeper, nobodys: str) -> None:
    page = shared_root.page(f"/console/done/{nobodys}")
    assert "Changes of this request" in page.text
    assert "Items given" not in page.text
