"""The list of all accounts."""

from collections.abc import Callable

from keepers import Keeper

import people

PAGE = "/console/accounts"


def test_all_with_their_powers_and_states(root: Keeper) -> None:
    page = root.page(PAGE)
    assert page.links["Ann"] == f"/console/accounts/{people.USER_IDS['Ann']}"
    assert "Clerk clerk@example.test api, users query" in page.text
    assert "Mona mona@example.test — muted" in page.text
    assert "1 to 7 of 7 accounts" in page.text


def test_by_email_and_by_a_part_of_it(root: Keeper) -> None:
    page = root.page(f"{PAGE}?search=ONA@EX&sortby=email")
    assert "Mona" in page.links
    assert "Ann" not in page.links
    assert "No account has this" in root.page(f"{PAGE}?search=qqqq").text


def test_the_order_is_in_the_address(root: Keeper) -> None:
    html = root.page(root.page(PAGE).links["Name ▲"]).html
    assert html.index("shop@") < html.index("bob@") < html.index("ann@")


def test_only_who_may_query_accounts(keeper: Callable[[str], Keeper]) -> None:
    assert keeper("Clerk").get(PAGE).status == 200
    shop = keeper("Shop")
    refused = shop.get(PAGE)
    assert refused.status == 403
    assert b"ann@example.test" not in refused.raw
    assert "Accounts" not in shop.page("/console/characters").links
