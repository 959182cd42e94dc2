"""An item for many, as the page's script asks for it: a form per character, each with a key of its own."""

from collections.abc import Callable, Mapping

import pytest
from keepers import ACT, Keeper, signed_in

import people
from gamekeeper.console.differences import MANY
from gamekeeper.game.players import Player
from world import Answer, World

PAGE, GIVEN = "/console/bulk", "/console/bulk/given"
RUN = "0123456789ab"
JSON = {"accept": "application/json"}
BOB = people.BOB.id
EVERYBODY = (people.ANN, people.BOB, people.ZOE)


def send(root: Keeper, path: str, **fields: str) -> Answer:
    return root.post(ACT, {"method": "POST", "path": path, "back": PAGE, **fields}, headers=JSON)


def give(root: Keeper, player: Player, quantity: str = "2", **more: str) -> Answer:
    body = {"body.itemid": people.COIN.id, "body.quantity": quantity, "body.bankoverflow": "false"}
    return send(root, f"/api/v1/players/{player.id}/items/give", **body, **more)


def confirmed(player: Player, seen: str, kind: str = "give") -> Mapping[str, str]:
    return {"confirmed": "yes", "key": f"{RUN}-{kind}-{player.id}", "seen": seen, "reason": f"a feast (run {RUN})"}


def coins(world: World, player: Player) -> int:
    slots = world.get(f"/api/v1/players/{player.id}/items/inventory").json
    return sum(slot["Quantity"] for slot in slots if slot["ItemId"] == people.COIN.id)


def test_the_page_says_that_it_needs_a_script(root: Keeper) -> None:
    page = root.page(PAGE)
    assert "This page needs JavaScript" in page.text
    assert ("div", "bulk", True) in [(tag, each.get("id"), "hidden" in each) for tag, each in page.tags]
    assert ("meta", "csrf") in [(tag, each.get("name")) for tag, each in page.tags]


def test_an_item_can_be_chosen_beforehand(root: Keeper) -> None:
    page = root.page(f"{PAGE}?item={people.SWORD.id}")
    assert f'value="{people.SWORD.name}" data-chosen="{people.SWORD.id}"' in page.html
    assert "data-chosen" not in root.page(f"{PAGE}?item=nothing").html


def test_looked_at_given_and_taken_back(world: World, root: Keeper) -> None:
    before = [coins(world, each) for each in EVERYBODY]
    looked = [give(root, each).json for each in EVERYBODY]
    assert [each["changes"][0][0]["after"] for each in looked] == [f"{count} {MANY} Gold Coin" for count in (252, 2, 2)]
    assert [coins(world, each) for each in EVERYBODY] == before
    done = [give(root, each, **confirmed(each, row["seen"])) for each, row in zip(EVERYBODY, looked, strict=True)]
    assert [each.status for each in done] == [200] * 3
    assert [coins(world, each) for each in EVERYBODY] == [each + 2 for each in before]
    for player, row in zip(EVERYBODY, done, strict=True):
        [number] = row.json["numbers"]
        path = f"/api/keeper/v1/changes/{number}/undo"
        taken = send(root, path, **confirmed(player, send(root, path).json["seen"], "undo"))
        assert taken.status == 200, taken.raw
    assert [coins(world, each) for each in EVERYBODY] == before


def test_what_is_sent_again_is_not_given_again_and_its_change_is_found(world: World, root: Keeper) -> None:
    sent = confirmed(people.BOB, give(root, people.BOB).json["seen"])
    first = give(root, people.BOB, **sent)  # and its answer is lost on the way
    again = give(root, people.BOB, **sent)
    assert again.status == 200
    assert coins(world, people.BOB) == 2
    assert again.json["numbers"] == []
    assert number(root, people.BOB) == first.json["numbers"]


def test_only_the_change_of_this_run_by_this_keeper_is_found(root: Keeper, keeper: Callable[[str], Keeper]) -> None:
    clerk = keeper("Clerk")
    give(clerk, people.BOB, **confirmed(people.BOB, give(clerk, people.BOB).json["seen"]))
    other = {**confirmed(people.BOB, give(root, people.BOB).json["seen"]), "reason": "a feast (run ba9876543210)"}
    assert give(root, people.BOB, **other).status == 200
    assert number(root, people.BOB) == []
    assert len(number(clerk, people.BOB)) == 1
    assert number(clerk, people.ANN) == []


def number(root: Keeper, player: Player) -> list[int]:
    answer = root.get(f"{GIVEN}?player={player.id}&run={RUN}", headers=JSON)
    assert answer.status == 200, answer.raw
    return answer.json["numbers"]


def test_who_cannot_have_it_is_told_why_and_the_others_get_it(world: World, root: Keeper) -> None:
    refused = give(root, people.BOB, quantity="2000000000")
    assert refused.status == 409
    assert refused.code == "inventory_full"
    assert give(root, people.ZOE, **confirmed(people.ZOE, give(root, people.ZOE).json["seen"])).status == 200
    assert coins(world, people.BOB) == 0


def test_two_keepers_at_once_lose_nothing(world: World, root: Keeper, keeper: Callable[[str], Keeper]) -> None:
    """The second is shown what would happen now; with that it goes through, under the same key."""
    clerk = keeper("Clerk")
    mine, theirs = give(root, people.BOB).json["seen"], give(clerk, people.BOB).json["seen"]
    assert give(clerk, people.BOB, **confirmed(people.BOB, theirs)).status == 200
    late = give(root, people.BOB, **confirmed(people.BOB, mine))
    assert late.status == 409
    assert late.json["changes"][0][0]["before"] == f"2 {MANY} Gold Coin"
    assert coins(world, people.BOB) == 2
    assert give(root, people.BOB, **confirmed(people.BOB, late.json["seen"])).status == 200
    assert coins(world, people.BOB) == 4


@pytest.mark.parametrize(
    "query",
    ["", f"player={BOB}", f"run={RUN}", f"player=Bob&run={RUN}", f"player={BOB}&run=%25"],
)
def test_nonsense_is_refused(root: Keeper, query: str) -> None:
    assert root.get(f"{GIVEN}?{query}", headers=JSON).status == 400


def test_a_session_that_ended_is_told_apart(world: World) -> None:
    """The script stops then, and says so; a page would have been sent to sign in."""
    assert Keeper(world).post(ACT, {}, headers=JSON, csrf="old").code == "sign_in_first"
    assert signed_in(world, "Root").post(ACT, {}, headers=JSON, csrf="old").code == "forged_form"
