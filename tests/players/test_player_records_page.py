"""Notes, tags, messages, activity and trades on the pages of players and accounts."""

from typing import get_args

import game_server
import people
from gamekeeper.console.world.logs import ACTION_TITLES
from gamekeeper.http.world.log_shapes import ActionName
from keepers import Keeper, open_staff
from people import BOB, COIN, guid
from player_pages import find_form, list_paths, submit
from world import World

NOTES, TAGS, LIST = "/api/keeper/v1/notes", "/api/keeper/v1/tags", "/console/notes"
USER = people.USER_IDS["Ann"]
ANN, ACCOUNT = f"/console/players/{people.ANN.id}", f"/console/accounts/{USER}"
TAB, HISTORY = f"{ANN}?tab=notes", f"{ANN}?tab=history"
CHAT = f"/api/v1/chat/direct/{people.ANN.id}"
ADDRESS = "198.51.100.5"
AT = "2026-01-31T12:00:00Z"


def test_note_is_written_shown_and_deleted_and_warns(root: Keeper, world: World) -> None:
    submit(root, find_form(root.page(TAB), NOTES), Text="Asked <b>twice</b>.")
    page = root.page(TAB)
    page.assert_shown("by Root", "about Ann", "Asked <b>twice</b>.")
    assert "Asked" not in root.page(ANN).text  # it is no warning
    [form] = [each for each in page.forms if each.fields.get("method") == "DELETE" and NOTES in each.fields["path"]]
    submit(root, form)
    assert world.get(NOTES).json["Notes"] == []
    form = find_form(root.page(ACCOUNT), NOTES)
    form.fields["body.flag.Warning"] = "true"
    submit(root, form, Text="Sells accounts.")
    for path in (ANN, HISTORY, ACCOUNT, f"/console/players/{people.ZOE.id}"):
        assert "Warning : Sells accounts." in root.page(path).text, path


def test_tags_are_set_and_removed_and_notes_need_their_permission(root: Keeper, world: World) -> None:
    form = find_form(root.page(TAB), TAGS)
    form.fields["body.Tags[]"] = "Streamer"
    submit(root, form)
    assert root.page(ANN).links["streamer"] == f"{LIST}?tag=streamer"
    assert root.page(f"{LIST}?tag=streamer").links["Ann"] in {ANN, ACCOUNT}
    form = find_form(root.page(TAB), TAGS)
    form.fields["body.Tags[streamer]"] = ""
    submit(root, form)
    assert world.get(f"{NOTES}?player=Ann").json["Tags"] == []
    world.post(NOTES, {"Text": "Internal.", "Player": "Ann", "Warning": True})
    viewer = open_staff(world, "viewer")
    for path in (ANN, TAB):
        assert "Internal." not in viewer.page(path).text
    assert "Warning : Internal." not in viewer.page(ACCOUNT).text  # the audit log has it


def test_message_is_sent_to_an_online_player_with_permission(root: Keeper, world: World) -> None:
    assert CHAT not in list_paths(root.page(ANN))  # offline
    game_server.heartbeat(world)
    assert game_server.join(world, people.ANN.id).status == 200
    submit(root, find_form(root.page(ANN), CHAT), "a greeting", Message="Hello there.")
    sent = world.ledger()[-1]
    assert (sent.kind, sent.reason, "Hello there." in str(sent.after)) == ("chat_sent", "a greeting", True)
    assert CHAT not in list_paths(open_staff(world, ["players.read"], "Reader").page(ANN))


def report(world: World) -> None:
    """Report a use of a name and a trade of Ann, as a game server does."""
    whose: dict[str, object] = {"UserId": USER, "PlayerId": people.ANN.id, "TimeStamp": AT, "Ip": ADDRESS}
    named = {"Id": guid(0x10000), "Action": "NameChange", "Meta": "Ann was <Anna>"}
    items = {"Items": [{"ItemId": COIN.id, "Quantity": 7}], "TargetItems": [{"ItemId": guid(0xBAD), "Quantity": 1}]}
    trade = {"Id": guid(0x20000), "TradeId": guid(0x30000), "TargetId": BOB.id} | items
    for path, entry in (("activity", named), ("trades", trade)):
        assert world.post(f"/api/link/v1/logs/{path}", {"Entries": [whose | entry]}, by="Server").status == 200


def test_every_action_has_a_title() -> None:
    assert set(ACTION_TITLES()) == {each.lower() for each in get_args(ActionName)}


def test_activity_and_trades_need_a_permission_and_addresses_another(world: World, root: Keeper) -> None:
    report(world)
    page = root.page(HISTORY)
    page.assert_shown("Name changed", "Ann was <Anna>", ADDRESS, "7 x Gold Coin", "1 x unknown item")
    assert f"/console/players/{BOB.id}" in {attributes.get("href") for tag, attributes in page.tags if tag == "a"}
    for role, sees in (("viewer", True), ("game server", False)):
        text = open_staff(world, role, role.title().replace(" ", "")).page(HISTORY).text
        assert (ADDRESS in text, "Name changed" in text, "7 x Gold Coin" in text) == (False, sees, sees)
