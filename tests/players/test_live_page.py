"""The version of a player's page, which an open page asks for: what changes it, and who sees whom."""

import game_server
import people
from gamekeeper.console.frame import pages
from keepers import Keeper, open_staff
from world import World

HOME = f"/console/players/{people.ANN.id}"
PATH, UPDATE = f"{HOME}/version", pages.UPDATE.decode()
USER = people.USER_IDS["Ann"]


def read_version(keeper: Keeper) -> str:
    """Read the version that the page has, which is that of the address for it."""
    [given] = [each["data-version"] for _, each in keeper.page(HOME).tags if "data-version" in each]
    assert keeper.get(PATH).json["version"] == given
    return given


def test_version_changes_with_everything_that_the_page_shows(root: Keeper, world: World) -> None:
    seen = [read_version(root)]
    steps = [
        lambda: world.post("/api/v1/players/Ann/items/give", {"itemid": people.SWORD.id, "quantity": 1}),
        lambda: world.post("/api/keeper/v1/notes", {"Text": "Polite.", "Player": "Ann"}),
        lambda: world.post(f"/api/v1/users/{USER}/admin/mute", {"duration": 3, "reason": "spam"}),
        lambda: game_server.heartbeat(world),
        lambda: game_server.join(world, people.ANN.id),
    ]
    for number, step in enumerate(steps):
        assert step().status == 200
        seen.append(read_version(root))
        assert (seen[-1] == seen[-2]) == (number == 3), number  # the heartbeat alone changes nothing
    world.post("/api/v1/players/Bob/items/give", {"itemid": people.SWORD.id, "quantity": 1})
    assert read_version(root) == seen[-1]


def test_change_is_told_to_those_who_may_see_it(root: Keeper, world: World) -> None:
    auditor, reader = (
        open_staff(world, ["players.read", *more], f"Reader{len(more)}") for more in (["audit.read"], [])
    )
    world.post("/api/v1/players/Ann/items/give", {"itemid": people.SWORD.id, "quantity": 1})
    version = read_version(reader)
    for keeper, text in (
        (root, "Changed just now by Root: Items given."),
        (auditor, "Changed just now by another account: Items given."),
        (reader, "Updated just now."),
    ):
        assert keeper.get(PATH).json["text"] == text
    world.post("/api/keeper/v1/notes", {"Text": "Polite.", "Player": "Ann"})
    assert read_version(reader) == version
    assert world.call("DELETE", f"/api/v1/players/{people.ANN.id}").status == 200
    assert root.get(PATH).json == {"version": "", "text": "This player was deleted."}
