"""Dialogs: names in them are text, unknown names are refused, and an erasure needs the typed name."""

import people
from expectations import everything
from gamekeeper.console.frame import labels
from gamekeeper.game.audit.history import KINDS
from keepers import ACT, Keeper, OpenKeeper, open_session, read_text
from markup import Page
from world import Answer, World

PLAYER, ACCOUNT = f"/api/v1/players/{people.ANN.id}", f"/api/v1/users/{people.USER_IDS['Ann']}"
HOME = f"/console/accounts/{people.USER_IDS['Ann']}"


def read_button(shown: Answer) -> str:
    [text] = Page(shown.raw.decode()).confirmation().buttons
    return text


def test_every_kind_of_change_has_a_title() -> None:
    assert all(kind.title == labels.name_kind(name) for name, kind in KINDS.items())
    assert labels.name_kind("pet_adopted") == "Pet adopted"  # a kind of change from a newer version, unknown here


def test_names_in_dialogs_are_escaped_and_need_permission(world: World, root: Keeper, keeper: OpenKeeper) -> None:
    world.sql("UPDATE users SET name = '<b>100%(s)' WHERE name = 'Bob'")
    shown = root.preview("POST", f"/api/v1/users/{people.USER_IDS['Bob']}/admin/ban", {"duration": 3})
    assert "<h1>Ban &lt;b&gt;100%(s)</h1>" in shown.raw.decode()
    assert read_button(shown) == "Ban <b>100%(s) for 3 days"
    world.sql("UPDATE users SET ban = TRUE, name = 'Hidden' WHERE id = $1", people.USER_IDS["Shop"])
    world.sql("UPDATE users SET name = 'Secret' WHERE id = $1", people.USER_IDS["Ann"])
    ban = keeper("Shop").preview("POST", f"/api/v1/players/{people.ZOE.id}/admin/ban", {"duration": 3})
    assert read_button(ban) == "Ban the account of Zoe for 3 days"
    deletion = keeper("Shop").preview("DELETE", PLAYER)
    assert f"Account {people.USER_IDS['Ann']}" in read_text(deletion)
    assert "Secret" not in (ban.raw + deletion.raw).decode()


GIVE = f"{PLAYER}/items/give"


def test_unknown_name_is_refused_with_similar_ones(world: World, root: Keeper) -> None:
    refused = root.preview("POST", GIVE, {"itemid": "gold cion", "quantity": 5})
    assert refused.status == 400
    assert "no item with the name 'gold cion'. Similar names: Gold Coin." in read_text(refused)
    # a caller who cannot give items learns no names
    root.act("POST", f"/api/keeper/v1/users/{people.USER_IDS['Ann']}/roles", {"give[]": "moderator"})
    assert open_session(world, "Ann").preview("POST", GIVE, {"itemid": "gold cion"}).status == 403


def test_account_is_erased_only_after_its_name_is_typed(world: World, root: Keeper) -> None:
    form = root.page(HOME).form(ACT, "Erase the account")
    shown = root.post(ACT, form.fields, csrf=form.fields["csrf"]).accepted()
    Page(shown.raw.decode()).assert_shown("ann@example.test", "Zoe", "This cannot be undone.")
    before = everything(world, without="tokens")
    for typed in ("", "ann", "Zoe", people.USER_IDS["Ann"]):
        refused = root.confirm(shown, "Ann asked to erase ann@example.test and ZOE", typed=typed)
        assert refused.status == 400
        assert "Type the account's name, Ann, to erase it. Nothing was changed." in read_text(refused)
        assert everything(world, without="tokens") == before
    done = root.confirm(refused, "Ann asked to erase ann@example.test and ZOE", typed=" Ann ")
    assert (done.status, done.headers["location"].partition("?")[0]) == (303, "/console/accounts")
    assert root.get(HOME).status == world.get("/api/v1/users/Ann").status == 404
    reasons = {row.reason for row in world.ledger() if row.kind in ("player_deleted", "user_deleted")}
    assert reasons == {"(erased) asked to erase (erased) and (erased)"}
    # the same confirmation is sent again, as after a lost answer
    assert "done=already" in root.confirm(refused, "x", typed="Ann").headers["location"]
