"""Notes, tags, messages, activity and trades on the pages of players and accounts."""

from typing import get_args

from keepers import Keeper, open_staff
from markup import Page
from test_player import find_form, list_paths, submit

import game_server
import people
from gamekeeper.console.logs import ACTION_TITLES
from gamekeeper.http.wire.logs import ActionName
from people import BOB, COIN, guid
from world import World

NOTES, TAGS, LIST = "/api/keeper/v1/notes", "/api/keeper/v1/tags", "/console/notes"
ANN, ACCOUNT = f"/console/players/{people.ANN.id}", f"/console/accounts/{people.USER_IDS['Ann']}"
TAB = f"{ANN}?tab=notes"


def test_note_is_written_shown_and_deleted_and_warns(root: Keeper, world: World) -> None:
    assert "No notes yet." in root.page(TAB).text
    answer = submit(root, find_form(root.page(TAB), NOTES), Text="Asked <b>twice</b>.")
    assert answer.headers["location"].startswith(f"{TAB}&done=")
    page = root.page(TAB)
    page.assert_shown("by Root", "about Ann", "Asked <b>twice</b>.")
    assert "Asked" not in root.page(ANN).text  # it is no warning
    [form] = [each for each in page.forms if each.fields.get("method") == "DELETE" and NOTES in each.fields["path"]]
    shown = root.post("/console/act", form.fields)
    assert "Delete the note about Ann" in Page(shown.raw.decode()).text
    assert root.confirm(shown, "obsolete").status == 303
    assert world.get(NOTES).json["Notes"] == []
    submit(root, find_form(root.page(ACCOUNT), NOTES), Text="Pays late.")
    assert world.get(NOTES).json["Notes"][0]["PlayerId"] is None
    assert "Pays late." in root.page(ACCOUNT).text
    assert "Pays late." in root.page(TAB).text
    form = find_form(root.page(TAB), NOTES)
    form.fields["body.flag.Warning"] = "true"
    submit(root, form, Text="Sells accounts.")
    for path in (ANN, f"{ANN}?tab=history", ACCOUNT, f"/console/players/{people.ZOE.id}"):
        assert "Warning : Sells accounts." in root.page(path).text, path


def test_notes_need_their_permission_and_tags_are_searched(root: Keeper, world: World) -> None:
    form = find_form(root.page(TAB), TAGS)
    form.fields["body.Tags[]"] = "Streamer"
    submit(root, form)
    page = root.page(ANN)
    assert page.links["streamer"] == f"{LIST}?tag=streamer"
    assert page.links["streamer"] in {each["href"] for tag, each in page.tags if tag == "a" and "href" in each}
    assert root.page(f"{LIST}?tag=streamer").links["Ann"] in {ANN, ACCOUNT}
    form = find_form(root.page(TAB), TAGS)
    form.fields["body.Tags[streamer]"] = ""
    submit(root, form)
    assert world.get(f"{NOTES}?player=Ann").json["Tags"] == []
    assert "No player and no account has this tag." in root.page(f"{LIST}?tag=streamer").text
    world.post(NOTES, {"Text": "Internal.", "Player": "Ann", "Warning": True})
    viewer = open_staff(world, "viewer")
    for path in (ANN, TAB):
        assert "Internal." not in viewer.page(path).text
    assert "Warning : Internal." not in viewer.page(ACCOUNT).text  # the audit log has it
    assert "Notes" not in viewer.page(ANN).links
    assert viewer.get(LIST).status == 403


HOME, CHAT = f"/console/players/{people.ANN.id}", f"/api/v1/chat/direct/{people.ANN.id}"


def bring_online(world: World) -> None:
    game_server.heartbeat(world)
    assert game_server.join(world, people.ANN.id).status == 200


def test_message_is_sent_to_an_online_player_with_permission(root: Keeper, world: World) -> None:
    assert CHAT not in list_paths(root.page(HOME))  # offline
    bring_online(world)
    form = find_form(root.page(HOME), CHAT)
    shown = Page(root.post("/console/act", {**form.fields, "body.Message": "Hello there."}).raw.decode())
    assert "Send a message to Ann" in shown.text
    assert "Recipients — this player Message — Hello there. Reason" in shown.text  # not the colour
    submit(root, form, "a greeting", Message="Hello there.")
    sent = world.ledger()[-1]
    assert (sent.kind, sent.reason) == ("chat_sent", "a greeting")
    assert "Hello there." in str(sent.after)
    bring_online(world)
    assert CHAT not in list_paths(open_staff(world, ["players.read"], "Reader").page(HOME))


USER = people.USER_IDS["Ann"]
PLAYER_PAGE, ACCOUNT_PAGE = f"/console/players/{people.ANN.id}?tab=history", f"/console/accounts/{USER}"
ADDRESS = "198.51.100.5"
AT = "2026-01-31T12:00:00Z"


def report(world: World, path: str, *entries: dict[str, object]) -> None:
    assert world.post(f"/api/link/v1/logs/{path}", {"Entries": entries}, by="Server").status == 200


def make_activity(number: int, action: str = "SelectPlayer", **more: object) -> dict[str, object]:
    whose = {"UserId": USER, "PlayerId": people.ANN.id, "Ip": ADDRESS, "Meta": "Ann,Ann"}
    return {"Id": guid(0x10000 + number), "TimeStamp": AT, "Action": action} | whose | more


def make_trade(**more: object) -> dict[str, object]:
    parties = {"UserId": USER, "PlayerId": people.ANN.id, "TargetId": BOB.id}
    items = {"Items": [{"ItemId": COIN.id, "Quantity": 7}], "TargetItems": [{"ItemId": guid(0xBAD), "Quantity": 1}]}
    return {"Id": guid(0x20000), "TradeId": guid(0x30000), "TimeStamp": AT} | parties | items | more


def test_every_action_has_a_title() -> None:
    assert set(ACTION_TITLES()) == {each.lower() for each in get_args(ActionName)}


def test_pages_have_activity_and_trades(world: World, root: Keeper) -> None:
    assert "No activity is known." in root.page(PLAYER_PAGE).text
    report(world, "activity", make_activity(1), make_activity(2, "NameChange", Meta="Ann was <Anna>"))
    report(world, "trades", make_trade())
    page = root.page(PLAYER_PAGE)
    page.assert_shown("Player selected", "Name changed", "Ann was <Anna>", ADDRESS, "7 x Gold Coin", "1 x unknown item")
    assert f"/console/players/{BOB.id}" in {attributes.get("href") for tag, attributes in page.tags if tag == "a"}
    report(world, "activity", *(make_activity(number) for number in range(25)))
    text = root.page(ACCOUNT_PAGE).text
    assert text.count("Player selected") == 20
    assert "The newest 20 of 25 entries." in text


def test_logs_need_a_permission_and_addresses_another(world: World) -> None:
    report(world, "activity", make_activity(1))
    report(world, "trades", make_trade(Ip=ADDRESS))
    for role, sees in (("viewer", True), ("game server", False)):
        text = open_staff(world, role, role.title().replace(" ", "")).page(PLAYER_PAGE).text
        assert (ADDRESS in text, "Player selected" in text, "7 x Gold Coin" in text) == (False, sees, sees)
