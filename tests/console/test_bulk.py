"""Give an item to many players, with the requests of the page's script: a form per player, each with its own key."""

import re
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlencode

import pytest
from keepers import ACT, Keeper, open_session
from markup import Page

import people
from gamekeeper.console import bulk
from gamekeeper.console.differences import TIMES_SIGN
from gamekeeper.game.players import Player
from world import Answer, World

PAGE, GIVEN, DONE = "/console/bulk", "/console/bulk/given", "/console/bulk/done"
RUN = "0123456789ab"
MOST = 500
JSON = {"accept": "application/json"}
BOB = people.BOB.id
EVERYBODY = (people.ANN, people.BOB, people.ZOE)


def send(root: Keeper, path: str, **fields: str) -> Answer:
    return root.post(ACT, {"method": "POST", "path": path, "back": PAGE, **fields}, headers=JSON)


def give(root: Keeper, player: Player, quantity: str = "2", **more: str) -> Answer:
    body = {"body.itemid": people.COIN.id, "body.quantity": quantity, "body.bankoverflow": "false"}
    return send(root, f"/api/v1/players/{player.id}/items/give", **body, **more)


def build_confirmation(player: Player, seen: str, kind: str = "give") -> Mapping[str, str]:
    return {"confirmed": "yes", "key": f"{RUN}-{kind}-{player.id}", "seen": seen, "reason": f"a feast (run {RUN})"}


def count_coins(world: World, player: Player) -> int:
    slots = world.get(f"/api/v1/players/{player.id}/items/inventory").json
    return sum(slot["Quantity"] for slot in slots if slot["ItemId"] == people.COIN.id)


def test_page_says_that_it_needs_javascript(root: Keeper) -> None:
    page = root.page(PAGE)
    assert "This page needs JavaScript" in page.text
    assert ("div", "bulk", True) in [(tag, each.get("id"), "hidden" in each) for tag, each in page.tags]
    assert ("meta", "csrf") in [(tag, each.get("name")) for tag, each in page.tags]


def test_page_shows_the_limit_before_a_selection(root: Keeper) -> None:
    page = root.page(PAGE)
    assert f"Select up to {MOST} players" in page.text
    assert list_limits(page) == [str(MOST)]
    for each in ("characters", "ranking", "online"):
        page = root.page(f"/console/{each}")
        assert f"of at most {MOST} Give an item" in page.text
        assert list_limits(page) == [str(MOST)]


def list_limits(page: Page) -> list[str]:
    """List the selection limits (`data-most`) that a console page passes to its script."""
    return [attributes["data-most"] for _, attributes in page.tags if "data-most" in attributes]


def test_address_selects_no_players(root: Keeper) -> None:
    """The page's address cannot select players: it could name more than allowed, and some would be dropped silently."""
    ids = ",".join(people.guid(number) for number in range(MOST + 1))
    assert root.page(f"{PAGE}?player={ids}").text == root.page(PAGE).text


def test_item_can_be_chosen_in_the_address(root: Keeper) -> None:
    page = root.page(f"{PAGE}?item={people.SWORD.id}")
    assert f'value="{people.SWORD.name}" data-chosen="{people.SWORD.id}"' in page.html
    assert "data-chosen" not in root.page(f"{PAGE}?item=nothing").html


def test_run_is_previewed_given_and_undone(world: World, root: Keeper) -> None:
    before = [count_coins(world, each) for each in EVERYBODY]
    looked = [give(root, each).json for each in EVERYBODY]
    assert [each["changes"][0][0]["after"] for each in looked] == [
        f"{count} {TIMES_SIGN} Gold Coin" for count in (252, 2, 2)
    ]
    assert [count_coins(world, each) for each in EVERYBODY] == before
    done = [
        give(root, each, **build_confirmation(each, row["seen"])) for each, row in zip(EVERYBODY, looked, strict=True)
    ]
    assert [each.status for each in done] == [200] * 3
    assert [count_coins(world, each) for each in EVERYBODY] == [each + 2 for each in before]
    for player, row in zip(EVERYBODY, done, strict=True):
        [number] = row.json["numbers"]
        path = f"/api/keeper/v1/changes/{number}/undo"
        taken = send(root, path, **build_confirmation(player, send(root, path).json["seen"], "undo"))
        assert taken.status == 200, taken.raw
    assert [count_coins(world, each) for each in EVERYBODY] == before


def test_retry_gives_once_and_finds_its_change(world: World, root: Keeper) -> None:
    sent = build_confirmation(people.BOB, give(root, people.BOB).json["seen"])
    # as if the answer to the first request was lost, the same request is sent again
    first = give(root, people.BOB, **sent)
    again = give(root, people.BOB, **sent)
    assert again.status == 200
    assert count_coins(world, people.BOB) == 2
    assert again.json["numbers"] == []
    assert find_number(root, people.BOB) == first.json["numbers"]


def test_change_of_another_run_or_account_is_not_found(root: Keeper, keeper: Callable[[str], Keeper]) -> None:
    clerk = keeper("Clerk")
    give(clerk, people.BOB, **build_confirmation(people.BOB, give(clerk, people.BOB).json["seen"]))
    other = {
        **build_confirmation(people.BOB, give(root, people.BOB).json["seen"]),
        "reason": "a feast (run ba9876543210)",
    }
    assert give(root, people.BOB, **other).status == 200
    assert find_number(root, people.BOB) == []
    assert len(find_number(clerk, people.BOB)) == 1
    assert find_number(clerk, people.ANN) == []


def find_number(root: Keeper, player: Player) -> list[int]:
    answer = root.get(f"{GIVEN}?player={player.id}&run={RUN}", headers=JSON)
    assert answer.status == 200, answer.raw
    return answer.json["numbers"]


def load_run(keeper: Keeper, **query: str) -> Any:
    """Load the changes of an earlier bulk run, as the page's script does."""
    answer = keeper.get(f"{DONE}?{urlencode({'run': RUN, **query})}", headers=JSON)
    assert answer.status == 200, answer.raw
    return answer.json


def carry_out(keeper: Keeper, *players: Player) -> list[int]:
    return [
        give(keeper, each, **build_confirmation(each, give(keeper, each).json["seen"])).json["numbers"][0]
        for each in players
    ]


def test_another_account_finds_and_undoes_a_run(world: World, root: Keeper, keeper: Callable[[str], Keeper]) -> None:
    before = [count_coins(world, each) for each in EVERYBODY]
    numbers = carry_out(root, *EVERYBODY)
    shop = keeper("Shop")
    for page in (shop.page("/console/changes"), shop.page(f"/console/changes/{numbers[1]}")):
        assert page.links["bulk run"] == f"{PAGE}?run={RUN}&by={people.USER_IDS['Root']}"
    shown = load_run(shop, by=people.USER_IDS["Root"])
    assert [(each["name"], each["number"], each["undone"]) for each in shown["rows"]] == [
        (player.name, number, None) for player, number in zip(EVERYBODY[::-1], numbers[::-1], strict=True)
    ]
    assert shown["rows"][0]["reason"] == f"a feast (run {RUN})"
    assert shown["rows"][0]["lines"][0]["after"] == f"2 {TIMES_SIGN} Gold Coin"
    assert (shown["next"], shown["reached"]) == (None, "")
    for number in numbers:
        path = f"/api/keeper/v1/changes/{number}/undo"
        seen = send(shop, path).json["seen"]
        assert send(shop, path, confirmed="yes", key=f"k{number}", seen=seen, reason=f"off (run {RUN})").status == 200
    assert [count_coins(world, each) for each in EVERYBODY] == before
    taken = load_run(shop)["rows"]
    # the undos, whose reasons name the bulk run too, are not listed among its changes
    assert [each["number"] for each in taken] == numbers[::-1]
    assert all(each["undone"] > numbers[-1] for each in taken)
    assert "bulk run" not in shop.page(f"/console/changes/{taken[0]['undone']}").links


def test_reason_that_mentions_a_run_is_not_part_of_it(world: World, root: Keeper) -> None:
    """Changes whose reason names a bulk run are not part of it: an item taken, an undo, the undo of that undo."""
    numbers, reason = carry_out(root, people.BOB), f"see (run {RUN})"
    body = {"itemid": people.COIN.id, "quantity": 1}
    assert root.act("POST", f"/api/v1/players/{people.ANN.id}/items/take", body, reason=reason).status == 303
    others = [world.ledger()[-1].seq]
    number = numbers[0]
    for _ in range(2):
        assert root.act("POST", f"/api/keeper/v1/changes/{number}/undo", reason=reason).status == 303
        number = world.ledger()[-1].seq
        others.append(number)
    assert [each["number"] for each in load_run(root)["rows"]] == numbers
    assert not any("bulk run" in root.page(f"/console/changes/{each}").links for each in others)


def test_run_with_an_account_lists_only_its_changes(root: Keeper, keeper: Callable[[str], Keeper]) -> None:
    mine, theirs = carry_out(root, people.BOB), carry_out(keeper("Shop"), people.ZOE)
    quoted = {
        **build_confirmation(people.ANN, give(root, people.ANN).json["seen"]),
        "reason": f"like (run {RUN}), but other",
    }
    assert give(root, people.ANN, **quoted).status == 200
    assert [each["number"] for each in load_run(root, by=people.USER_IDS["Root"])["rows"]] == mine
    assert [each["number"] for each in load_run(root)["rows"]] == [*theirs, *mine]
    assert load_run(root, run=RUN[::-1])["rows"] == []


def test_run_is_listed_page_by_page(root: Keeper, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bulk, "PAGE_SIZE", 2)
    numbers = carry_out(root, *EVERYBODY)
    first = load_run(root)
    assert [each["number"] for each in first["rows"]] == numbers[:0:-1]
    assert re.fullmatch(r"20\d\d-\d\d-\d\d \d\d:\d\d:\d\d UTC", first["reached"])
    rest = load_run(root, before=str(first["next"]))
    assert [each["number"] for each in rest["rows"]] == numbers[:1]
    assert rest["next"] is None


def test_rejected_player_does_not_stop_the_others(world: World, root: Keeper) -> None:
    refused = give(root, people.BOB, quantity="2000000000")
    assert refused.status == 409
    assert refused.code == "inventory_full"
    assert give(root, people.ZOE, **build_confirmation(people.ZOE, give(root, people.ZOE).json["seen"])).status == 200
    assert count_coins(world, people.BOB) == 0


def test_concurrent_runs_lose_no_item(world: World, root: Keeper, keeper: Callable[[str], Keeper]) -> None:
    """Of two gifts to a player, the later one gets a new preview, and succeeds when confirmed with the same key."""
    clerk = keeper("Clerk")
    mine, theirs = give(root, people.BOB).json["seen"], give(clerk, people.BOB).json["seen"]
    assert give(clerk, people.BOB, **build_confirmation(people.BOB, theirs)).status == 200
    late = give(root, people.BOB, **build_confirmation(people.BOB, mine))
    assert late.status == 409
    assert late.json["changes"][0][0]["before"] == f"2 {TIMES_SIGN} Gold Coin"
    assert count_coins(world, people.BOB) == 2
    assert give(root, people.BOB, **build_confirmation(people.BOB, late.json["seen"])).status == 200
    assert count_coins(world, people.BOB) == 4


@pytest.mark.parametrize(
    "query",
    ["", f"player={BOB}", f"run={RUN}", f"player=Bob&run={RUN}", f"player={BOB}&run=%25"],
)
def test_invalid_query_is_rejected(root: Keeper, query: str) -> None:
    assert root.get(f"{GIVEN}?{query}", headers=JSON).status == 400


@pytest.mark.parametrize("query", ["", "run=%00", "run=0123456789AB", f"run={RUN}&before=x"])
def test_invalid_run_id_is_rejected(root: Keeper, query: str) -> None:
    assert root.get(f"{DONE}?{query}", headers=JSON).status == 400


def test_ended_session_has_its_own_code(world: World) -> None:
    """After the session ended, the bulk script gets an error code and shows a message instead of a redirect."""
    assert Keeper(world).post(ACT, {}, headers=JSON, csrf="old").code == "sign_in_first"
    assert open_session(world, "Root").post(ACT, {}, headers=JSON, csrf="old").code == "forged_form"
