"""The page after an action (/console/done)."""

from keepers import ACT, Keeper, open_session
from markup import Page
from sent_actions import COINS, GIVE, JSON, list_numbers, read_text

import people
from loops import over
from world import World


def test_done_page_hides_changes_of_other_accounts(world: World, root: Keeper) -> None:
    root.act("POST", GIVE, COINS)
    request_id = world.ledger()[-1].request_id
    assert "Items given" in root.page(f"/console/done/{request_id}").text
    assert "Items given" not in open_session(world, "Clerk").page(f"/console/done/{request_id}").text
    done = root.act("DELETE", f"/api/link/v1/players/{people.BOB.id}")
    request_id = done.headers["location"].removeprefix("/console?done=")
    assert f"Change {list_numbers(world)[-1]} : Player deleted" in root.page(f"/console/done/{request_id}").text
    other = open_session(world, "Server")
    assert "Player deleted" not in other.page(f"/console/done/{request_id}").text
    shown = root.preview("DELETE", f"/api/link/v1/players/{people.ZOE.id}")
    fields = Page(shown.raw.decode()).confirmation().fields
    told = root.post(ACT, {**fields, "reason": "gone"}, headers=JSON, csrf=fields["csrf"]).json
    assert told["numbers"] == list_numbers(world)[-1:]


@over("method, path, body", [("PUT", "/api/link/v1/servers/east", {"Lease": 60})])
def test_done_page_says_when_nothing_is_recorded(
    world: World, root: Keeper, method: str, path: str, body: dict[str, object] | None
) -> None:
    before = world.ledger()
    assert root.act(method, path, body).headers["location"] == "/console?done=unwritten"
    assert world.ledger() == before
    page = root.page("/console/done/unwritten")
    assert "Done. This is not recorded in the audit log, so it cannot be undone." in page.text
    assert "Changes of this request" not in page.links


@over(
    "method, path, body",
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
