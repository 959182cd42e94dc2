"""The message to a player in the game's chat, from the header of its page."""

from keepers import Keeper, open_session
from markup import Page
from test_player import find_form, list_paths, submit

import game_server
import people
import staff
from gamekeeper.store import users
from world import World

HOME, CHAT = f"/console/players/{people.ANN.id}", f"/api/v1/chat/direct/{people.ANN.id}"


def bring_online(world: World) -> None:
    game_server.heartbeat(world)
    assert game_server.join(world, people.ANN.id).status == 200


def test_message_is_previewed_and_sent_to_an_online_player(root: Keeper, world: World) -> None:
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


def test_message_needs_its_permission(world: World) -> None:
    bring_online(world)
    staff.save_role(world, "reader", ["players.read"])
    staff.add_account(world, "Reader", "reader")
    user = world.run(users.find_by_fold(world.keeper.store, "reader"))
    assert user
    assert CHAT not in list_paths(open_session(world, user.name, user.id).page(HOME))
