"""The search box as a palette: pages, actions, short ids, searches of the audit log, and pasted secrets."""

import re
from datetime import UTC, datetime
from typing import Any

from keepers import ACT, Keeper, OpenKeeper
from markup import Page

import bulking
import people
from gamekeeper.console import palette
from gamekeeper.console.differences import TIMES_SIGN
from gamekeeper.game import lookup, tokens
from gamekeeper.game.api_keys import PREFIX
from gamekeeper.game.tokens import ACCESS_PREFIX
from loops import over
from token_pairs import log_in
from world import World

JSON = {"accept": "application/json"}
NEXT_YEAR = datetime.now(UTC).year + 1
DAY = f"{NEXT_YEAR}-11-20"
EVERYTHING = frozenset({"players.read", "audit.read", "users.query", "staff.manage", "bulk.run"})


def suggest(keeper: Keeper, text: str, language: str = "en") -> dict[str, list[dict[str, Any]]]:
    answer = keeper.post("/console/suggest", {"q": text}, headers=JSON | {"accept-language": language})
    assert answer.status == 200, answer.raw
    return {group["title"]: group["found"] for group in answer.json["groups"]}


@over(
    "text, path",
    [
        ("chang", "/console/changes"),
        ("API k", "/console/keys"),
        ("log sec", "/console/security"),
        ("password", "/console/me/password"),
        ("many pl", "/console/bulk"),
    ],
)
def test_pages_are_found_by_words_of_their_title(shared_root: Keeper, text: str, path: str) -> None:
    assert path in [each["href"] for each in suggest(shared_root, text)["Pages"]]


def test_nothing_is_offered_without_permission(keeper: OpenKeeper) -> None:
    assert "Pages" not in suggest(keeper("Shop"), "accounts")
    assert palette.find_pages("staff", EVERYTHING)
    assert not palette.find_pages("staff", EVERYTHING - {"staff.manage"})
    assert "Actions" not in suggest(keeper("Shop"), "ban Bob 7d")


# a sentence | the action | the end of the operation's path, and its body
SENTENCES = f"""
ban Bob 7d | Ban Bob for 7 days | admin/ban duration=7
BAN bob for 1 day | Ban Bob for 1 day | admin/ban duration=1
ban bob | Ban Bob for 7 days | admin/ban duration=7
ban{" " * 2000}bob | Ban Bob for 7 days | admin/ban duration=7
mute Bob 2 weeks | Mute Bob for 14 days | admin/mute duration=14
mute Bob 1h | Mute Bob for 1 hour | admin/mute minutes=60
mute bob for 30m | Mute Bob for 30 minutes | admin/mute minutes=30
mute Bob 90 min | Mute Bob for 90 minutes | admin/mute minutes=90
ban Bob 48 hours | Ban Bob for 2 days | admin/ban duration=2
ban Bob 1 month | Ban Bob for 30 days | admin/ban duration=30
ban Bob 1 year | Ban Bob for 1 year | admin/ban duration=365
mute Bob forever | Mute Bob permanently | admin/mute duration=0
ban Bob until {DAY} | Ban Bob until {DAY} 00:00:00 UTC | admin/ban until={DAY}T00:00:00.000Z
ban Bob until {DAY} 18:30 | Ban Bob until {DAY} 18:30:00 UTC | admin/ban until={DAY}T18:30:00.000Z
kick Bob | Kick Bob from the game | admin/kick
unban Bob | End the ban of Bob | admin/unban
give 5 gold coin to Bob | Give 5 {TIMES_SIGN} Gold Coin to Bob | items/give itemid={people.COIN.id} quantity=5
give Bob 5 gold coin | Give 5 {TIMES_SIGN} Gold Coin to Bob | items/give itemid={people.COIN.id} quantity=5
give 1 gold con to Bob | Give 1 {TIMES_SIGN} Gold Coin to Bob | items/give itemid={people.COIN.id} quantity=1
give sword to Bob | Give 1 {TIMES_SIGN} Sword to Bob | items/give itemid={people.SWORD.id} quantity=1
take 2x arrow from bob | Take 2 {TIMES_SIGN} Arrow from Bob | items/take itemid={people.ARROW.id} quantity=2
"""


def test_sentence_is_an_action(shared_root: Keeper) -> None:
    back = f"/console/players/{people.BOB.id}"
    for line in SENTENCES.strip().splitlines():
        text, label, call = line.split(" | ")
        path, *fields = call.split()
        body = {f"body.{name}": value for name, _, value in (each.partition("=") for each in fields)}
        found = suggest(shared_root, text)["Actions"][0]
        assert found["name"] == label
        operation = f"/api/v1/players/{people.BOB.id}/{path}"
        assert found["form"] == {"method": "POST", "path": operation, "back": back, **body}, text


def test_action_leads_to_its_preview_which_asks_for_the_shown_reason(world: World, root: Keeper) -> None:
    before = len(world.ledger())
    form = suggest(root, "give 5 gold coin to Bob")["Actions"][0]["form"]
    preview = root.post("/console/act", form)
    assert f"5 {TIMES_SIGN} Gold Coin" in Page(preview.raw.decode()).text
    assert len(world.ledger()) == before
    assert root.confirm(preview, "Lost in a crash").status == 303
    assert len(world.ledger()) == before + 1
    shown = root.post(ACT, suggest(root, "ban Bob 7d")["Actions"][0]["form"])
    assert "Reason shown to the player" in Page(shown.raw.decode()).text
    assert root.confirm(shown, "ticket 7", **{"body.reason": "Sold lanterns"}).status == 303
    assert world.sql("SELECT reason FROM bans") == [("Sold lanterns",)]
    other = root.preview("POST", f"/api/v1/players/{people.ANN.id}/admin/mute", {"duration": 3, "reason": "Spam"})
    assert "Reason shown to the player" not in Page(other.raw.decode()).text  # the menu has asked already


def test_ids_reasons_and_pasted_keys_are_found(root: Keeper, keeper: OpenKeeper, shared_root: Keeper) -> None:
    digits = people.BOB.id[:8]
    assert f"/console/players/{people.BOB.id}" in [each["href"] for each in suggest(root, digits)["Players"]]
    account = people.USER_IDS["Bob"][:-2]
    assert "Accounts" in suggest(root, account)
    assert "Accounts" not in suggest(keeper("Shop"), account)
    links = [each["href"] for each in suggest(shared_root, "ticket-4711")["Search the audit log"]]
    assert links == ["/console/changes?reason=ticket-4711", "/console/changes?request=ticket-4711"]
    assert shared_root.get(links[0]).status == shared_root.get(links[1]).status == 200


def test_pasted_token_and_key_are_found(world: World, root: Keeper, keeper: OpenKeeper) -> None:
    pair = log_in(world, "Root").json
    for text in (pair["access_token"], pair["refresh_token"]):
        [found] = suggest(root, text)["Tokens and keys"]
        assert found["name"] == "Token of Root"
        assert re.fullmatch(r"works until \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC", found["detail"])
        listed = root.page(found["href"])
        assert [form.fields["path"] for form in listed.forms if "Revoke" in form.buttons] == [
            f"/api/oauth/token/{people.USER_IDS['Root']}/{found['href'].partition('=')[2]}"
        ]
        answer = root.post("/console/search", {"q": text})
        page = Page(answer.raw.decode())
        assert (answer.status, "Token of Root" in page.text) == (200, True)
        assert text not in page.html
    [refused] = suggest(keeper("Shop"), pair["access_token"])["Tokens and keys"]
    assert (refused["detail"], refused["href"]) == ("You do not have permission to look it up.", "")
    body = {"Name": "Website", "Permissions": ["players.read"]}
    made = world.post("/api/keeper/v1/keys", body, by="Root").json
    [found] = suggest(root, made["Key"])["Tokens and keys"]
    assert (found["name"], found["detail"]) == ("API key Website of Root", "works")
    page = Page(root.post("/console/search", {"q": made["Key"]}).raw.decode())
    assert page.form(ACT, "Revoke").fields["path"] == f"/api/keeper/v1/keys/{made['Id']}"
    assert found["href"] == f"/console/keys#key-{made['Id']}"


def test_pasted_service_token_works_until_it_is_revoked_there(world: World, root: Keeper) -> None:
    """A service token has no refresh token, whose expiry is the time of its issue."""
    user = world.run(lookup.find_user(world.keeper.store, "Shop"))
    pair = world.run(tokens.issue_for_service(world.keeper, user, 24, read_only=False))
    assert world.get("/api/v1/players/Ann", by=None, headers={"authorization": f"Bearer {pair.access}"}).status == 200
    for path, field in (("/console/search", "q"), ("/console/tokens", "account")):
        page = Page(root.post(path, {field: pair.access}).raw.decode())
        assert "Token of Shop Works until" in page.text
        assert pair.access not in page.html
    form = page.form(ACT, "Revoke").fields
    assert root.act("DELETE", form["path"], back=form["back"]).status == 303
    gone = Page(root.post("/console/search", {"q": pair.access}).raw.decode())
    assert "Token of Shop Does not work any more" in gone.text
    assert "This token does not work any more" in root.page(form["back"]).text
    assert [each for each in gone.forms if "Revoke" in each.buttons] == []


def test_pasted_token_of_suspended_account_does_not_work(world: World, root: Keeper) -> None:
    access = log_in(world, "Shop").json["access_token"]
    assert world.post("/api/keeper/v1/users/Shop/suspend", {}, by="Root").status == 200
    [found] = suggest(root, access)["Tokens and keys"]
    assert found["detail"] in {"does not work while the account is suspended", "does not work any more"}


@over(
    "path",
    [
        "/tokens?account=",
        "/changes?actor=",
        "/security?account=",
        "/accounts?search=",
        "/characters?search=",
        "/search?q=",
    ],
)
def test_secret_in_an_address_is_not_repeated(shared_root: Keeper, path: str) -> None:
    answer = shared_root.get(f"/console{path}{ACCESS_PREFIX}leaked")
    assert (answer.status, answer.headers["location"]) == (303, "/console/search?pasted=address")
    assert b"leaked" not in answer.raw
    assert "A token or key was in the address" in shared_root.page(answer.headers["location"]).text


@over("text", [f"{ACCESS_PREFIX}unknown", f"{PREFIX}unknown"])
def test_unknown_secret_gets_no_address(root: Keeper, text: str) -> None:
    [found] = suggest(root, text)["Tokens and keys"]
    assert (found["detail"], found["href"]) == ("Unknown to this server.", "")
    answer = root.post("/console/search", {"q": text})
    assert (answer.status, "location" in answer.headers, text in answer.raw.decode()) == (200, False, False)


def test_guilds_bulk_jobs_and_notes_are_found_with_permission(world: World, root: Keeper, keeper: OpenKeeper) -> None:
    guild = people.guid(0x7001)
    world.sql(
        "INSERT INTO guilds (id, name, fold, founded_at) VALUES ($1, 'Night Watch', $2, 1)",
        guild,
        lookup.fold("Night Watch"),
    )
    job = bulking.create(world, "Ann", reason="watchmaker prize")["Id"]
    note = {"Player": "Ann", "Text": "Watch her trades."}
    assert world.post("/api/keeper/v1/notes", note, by="Root").status == 200
    found = {each["href"]: (each["name"], each["detail"]) for each in suggest(root, "watch")["Pages"]}
    assert found == {
        f"/console/guilds/{guild}": ("Night Watch", "Guild"),
        f"/console/bulk/{job}": ("watchmaker prize", "Bulk job"),
        "/console/notes?text=watch": ("Notes that contain “watch”", ""),
    }
    assert [each["href"] for each in suggest(root, job[:9])["Pages"]] == [f"/console/bulk/{job}"]
    assert "Pages" not in suggest(root, "wa")
    world.sql("DELETE FROM role_permissions WHERE permission = 'bulk.run'")
    shop = {each["href"] for each in suggest(keeper("Shop"), "watch")["Pages"]}
    assert shop == {f"/console/guilds/{guild}"}
