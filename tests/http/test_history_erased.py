"""Changes about erased accounts cannot be undone, and the history does not offer it."""

from expectations import refused
from people import ANN, BOB, COIN, USER_IDS
from undos import CHANGES, items, undone
from world import World


def list_undoable(world: World, query: str, by: str = "Root") -> dict[str, bool]:
    """Return for each kind of change whether the history marks it as undoable."""
    return {each["Kind"]: each["Undoable"] for each in world.get(f"{CHANGES}?{query}", by=by).json["Changes"]}


def change_ann(world: World) -> None:
    assert items(world, "give", COIN.id).status == 200
    assert world.post("/api/v1/players/Ann/level", {"level": 13}).status == 200
    assert world.post("/api/v1/users/Ann/name", {"name": "Anna"}).status == 200


def test_changes_of_an_erased_account_are_not_undoable(world: World) -> None:
    change_ann(world)
    assert world.call("DELETE", "/api/v1/players/Ann").status == 200
    of_player = f"player={ANN.id}"
    kinds = {"items_given", "player_changed", "player_created", "player_deleted"}
    assert list_undoable(world, of_player) == dict.fromkeys(
        kinds, True
    )  # only the deletion of the player can still be undone
    assert list_undoable(world, f"user={USER_IDS['Ann']}&kind=user_renamed") == {"user_renamed": True}
    assert world.call("DELETE", "/api/v1/users/Anna").status == 200
    for by in ("Root", "Shop"):
        assert list_undoable(world, of_player, by) == dict.fromkeys(kinds, False)
    assert list_undoable(world, f"user={USER_IDS['Ann']}&kind=user_renamed") == {"user_renamed": False}
    assert list_undoable(world, f"player={BOB.id}") == {"player_created": True}
    for each in world.get(f"{CHANGES}?{of_player}").json["Changes"]:
        refused(undone(world, each["Seq"]), 409, "undo_conflict")


def test_player_with_a_new_owner_is_not_erased(world: World) -> None:
    """Erasing an account erases its current players, not those that it owned earlier."""
    assert items(world, "give", COIN.id).status == 200
    sent = {"UserId": USER_IDS["Bob"]}
    assert world.call("PUT", f"/api/link/v1/players/{ANN.id}", body=sent, by="Server").status == 200
    assert world.call("DELETE", "/api/v1/users/Ann").status == 200
    assert list_undoable(world, f"player={ANN.id}&kind=items_given") == {"items_given": True}
    assert world.call("DELETE", "/api/v1/players/Ann").status == 200
    assert list_undoable(world, f"player={ANN.id}&kind=player_deleted") == {"player_deleted": True}
