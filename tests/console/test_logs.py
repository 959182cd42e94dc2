"""Activity and trades on the pages of accounts and players."""

from typing import get_args

import pytest
from keepers import Keeper, open_session

import people
import staff
from gamekeeper.console.logs import ACTION_TITLES
from gamekeeper.http.wire.logs import ActionName
from gamekeeper.store import users
from people import ANN, BOB, COIN, guid
from world import World

USER = people.USER_IDS["Ann"]
PLAYER_PAGE, ACCOUNT_PAGE = f"/console/players/{ANN.id}?tab=history", f"/console/accounts/{USER}"
ADDRESS = "198.51.100.5"
AT = "2026-01-31T12:00:00Z"


def report(world: World, path: str, *entries: dict[str, object]) -> None:
    assert world.post(f"/api/link/v1/logs/{path}", {"Entries": entries}, by="Server").status == 200


def make_activity(number: int, action: str = "SelectPlayer", **more: object) -> dict[str, object]:
    whose = {"UserId": USER, "PlayerId": ANN.id, "Ip": ADDRESS, "Meta": "Ann,Ann"}
    return {"Id": guid(0x10000 + number), "TimeStamp": AT, "Action": action} | whose | more


def make_trade(**more: object) -> dict[str, object]:
    parties = {"UserId": USER, "PlayerId": ANN.id, "TargetId": BOB.id}
    items = {"Items": [{"ItemId": COIN.id, "Quantity": 7}], "TargetItems": [{"ItemId": guid(0xBAD), "Quantity": 1}]}
    return {"Id": guid(0x20000), "TradeId": guid(0x30000), "TimeStamp": AT} | parties | items | more


def test_every_action_has_a_title() -> None:
    assert set(ACTION_TITLES()) == {each.lower() for each in get_args(ActionName)}


def test_player_page_has_activity_and_trades(world: World, root: Keeper) -> None:
    assert "No activity is known." in root.page(PLAYER_PAGE).text
    report(world, "activity", make_activity(1), make_activity(2, "NameChange", Meta="Ann was <Anna>"))
    report(world, "trades", make_trade())
    page = root.page(PLAYER_PAGE)
    for words in ("Player selected", "Name changed", "Ann was <Anna>", ADDRESS, "7 x Gold Coin", "1 x unknown item"):
        assert words in page.text
    assert f"/console/players/{BOB.id}" in {attributes.get("href") for tag, attributes in page.tags if tag == "a"}


def test_account_page_has_the_newest_activity_and_the_total(world: World, root: Keeper) -> None:
    report(world, "activity", *(make_activity(number) for number in range(25)))
    text = root.page(ACCOUNT_PAGE).text
    assert text.count("Player selected") == 20
    assert "The newest 20 of 25 entries." in text


@pytest.mark.parametrize(("role", "sees"), [("viewer", True), ("game server", False)])
def test_logs_need_a_permission_and_addresses_another(world: World, role: str, sees: bool) -> None:  # noqa: FBT001 - a parameter of the test
    report(world, "activity", make_activity(1))
    report(world, "trades", make_trade(Ip=ADDRESS))
    staff.add_account(world, "Staff", role)
    user = world.run(users.find_by_fold(world.keeper.store, "staff"))
    assert user
    text = open_session(world, user.name, user.id).page(PLAYER_PAGE).text
    assert ADDRESS not in text
    assert ("Player selected" in text, "7 x Gold Coin" in text) == (sees, sees)
