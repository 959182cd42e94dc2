"""Pages of the console in the demo world, for tests of all pages."""

from gamekeeper.console.frame.menu import MENU
from gamekeeper.demo.world import DRAGONS, make_stable_id
from gamekeeper.http.contract import examples


def player_page(name: str) -> str:
    return f"/console/players/{make_stable_id('player', name)}"


def account_page(name: str) -> str:
    return f"/console/accounts/{make_stable_id('user', name)}"


PAGES = [
    *(entry.path for entry in MENU() if entry.path != "/console/changes"),
    "/console/changes?before=20",  # a short page of the audit log, which axe checks faster than the first page
    "/console/deliveries",
    "/console/roles/shop",
    f"/console/guilds/{examples.GUILD_ID}",
    f"/console/items/{examples.COIN}",
    "/console/economy/gifts",
    f"/console/economy/variables/{DRAGONS.id}",
    "/console/me",
    "/console/me/password",
    "/console/me/second-factor",
    "/console/me/second-factor/totp",
    "/console/sign-out",
    "/console/search?q=silver",
    "/console/search?q=ban+Aldwyn+7d",
    player_page("Aldwyn"),
    f"{player_page('Aldwyn')}?slot=inventory-5",
    f"{player_page('Aldwyn')}?slot=bank-90",
    f"{player_page('Aldwyn')}?tab=history",
    f"{player_page('Aldwyn')}?tab=variables",
    f"{player_page('Aldwyn')}?tab=account",
    f"{player_page('Aldwyn')}?tab=notes",
    "/console/documents",
    "/console/documents/signals",
    "/console/characters?levelfrom=20&online=false&sortby=seen",
    "/console/boards/most-silver",
    "/console/signals?state=all",
    f"{player_page('Aldwyn')}?at=60",
    f"{player_page('Aldwyn')}?at=60&against=now",
    account_page("Leopold"),
    "/console/changes/60",
    "/console/changes?reason=of+which+there+is+none",
    "/console/done/none",
]
