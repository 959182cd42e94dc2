"""The console offers undo buttons exactly where an undo would be accepted."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import NamedTuple

import people
from gamekeeper.game.access import roles
from keepers import Keeper, open_session
from loops import over
from markup import Page
from world import PLAYERS, USERS, World

COINS = {"itemid": people.COIN.id, "quantity": 5}
BAN = {"reason": "lying", "duration": 1}


class Step(NamedTuple):
    method: str
    path: str
    body: Mapping[str, object] | None = None


# Pairs of actions: the first can be undone until the second is done.
SUPERSEDED = {
    "creation": (
        Step(
            "PUT",
            f"/api/link/v1/players/{people.guid(80)}",
            {"Name": "Newt", "UserId": people.USER_IDS["Ann"], "CreationDate": "2026-01-31T12:00:00Z"},
        ),
        Step("POST", f"{PLAYERS}/Newt/level", {"level": 9}),
    ),
    "level": (Step("POST", f"{PLAYERS}/Bob/level", {"level": 9}), Step("POST", f"{PLAYERS}/Bob/level", {"level": 10})),
    "ban": (Step("POST", f"{USERS}/Ann/admin/ban", BAN), Step("POST", f"{USERS}/Ann/admin/unban")),
    "gift to a deleted player": (Step("POST", f"{PLAYERS}/Bob/items/give", COINS), Step("DELETE", f"{PLAYERS}/Bob")),
}


def run_step(world: World, step: Step) -> int:
    """Run one action of a pair; return the number of its change."""
    world.call(step.method, step.path, body=step.body).accepted()
    return world.ledger()[-1].seq


def can_undo(keeper: Keeper, seq: int, by: str = "Root") -> bool:
    """Return whether the page offers to undo a change, and require that a dry run of the undo agrees."""
    path = f"/api/keeper/v1/changes/{seq}/undo"
    page, history = keeper.page(f"/console/changes/{seq}"), keeper.page("/console/changes")
    offers = [any(form.fields.get("path") == path for form in each.forms) for each in (page, history)]
    works = keeper.world.post(f"{path}?dryRun=true", by=by).status == 200
    assert offers == [works, works], (offers, works)
    return works


@over("steps", *SUPERSEDED.values())
def test_undo_is_not_offered_after_a_later_change(world: World, root: Keeper, steps: Sequence[Step]) -> None:
    first = run_step(world, steps[0])
    assert can_undo(root, first)
    second = run_step(world, steps[1])
    assert not can_undo(root, first)
    assert can_undo(root, second)


def test_undo_that_would_be_refused_is_not_offered(world: World, root: Keeper) -> None:
    banned = run_step(world, SUPERSEDED["ban"][0])
    world.sql("UPDATE bans SET ends_at = 1")
    assert not can_undo(root, banned)
    world.sql("UPDATE users SET users_manage = TRUE WHERE name = 'Clerk'")
    clerk = open_session(world, "Clerk")
    given = run_step(world, Step("POST", "/api/keeper/v1/users/Shop/powers", {"editor": True}))
    assert can_undo(root, given)
    assert not can_undo(clerk, given, by="Clerk")
    fewer = people.ACCOUNTS["Root"]._replace(editor=not people.ACCOUNTS["Root"].editor)
    world.apply(partial(roles.set_powers, key="Root", powers=fewer))
    assert not can_undo(root, world.ledger()[-1].seq)


def test_take_of_an_equipped_item_has_one_undo(world: World, root: Keeper) -> None:
    done = root.act("POST", f"{PLAYERS}/{people.ANN.id}/items/take", {"itemid": people.SWORD.id, "quantity": 1})
    taken, off = (each.seq for each in world.ledger()[-2:])
    for address in (
        f"/console/done/{done.headers['location'].rpartition('done=')[2]}",
        f"/console/players/{people.ANN.id}?tab=history",
        f"/console/changes?player={people.ANN.id}",
    ):
        page = root.page(address).html
        assert (f"changes/{taken}/undo" in page, f"changes/{off}/undo" in page) == (True, False), address
    assert f"changes/{off}/undo" not in root.page("/console/changes?kind=player_changed").html
    refused = root.preview("POST", f"/api/keeper/v1/changes/{off}/undo")
    assert refused.status == 409
    assert Page(refused.raw.decode()).links[f"Open change {taken}, to undo it"] == f"/console/changes/{taken}"
