"""The search box as a palette: actions in words, and pasted secrets."""

from datetime import UTC, datetime
from typing import Any

import people
from gamekeeper.console.accounts import moderation
from gamekeeper.console.frame.differences import TIMES_SIGN
from gamekeeper.console.lists import search
from gamekeeper.game.access.tokens import ACCESS_PREFIX
from keepers import ACT, JSON, Keeper, OpenKeeper, read_text
from loops import over
from markup import Page
from token_pairs import log_in
from world import World

NEXT_YEAR = datetime.now(UTC).year + 1
DAY = f"{NEXT_YEAR}-11-20"
EVERYTHING = frozenset({"players.read", "audit.read", "users.query", "staff.manage", "bulk.run"})


def suggest(keeper: Keeper, text: str, language: str = "en") -> dict[str, list[dict[str, Any]]]:
    answer = keeper.post("/console/suggest", {"q": text}, headers=JSON | {"accept-language": language}).accepted()
    return {group["title"]: group["found"] for group in answer.json["groups"]}


def test_pages_and_actions_are_offered_with_permission_only(shared_root: Keeper, keeper: OpenKeeper) -> None:
    for text, path in (("chang", "/console/changes"), ("log sec", "/console/security"), ("API k", "/console/keys")):
        assert path in [each["href"] for each in suggest(shared_root, text)["Pages"]]
    assert "Pages" not in suggest(keeper("Shop"), "accounts")
    assert search.find_pages("staff", EVERYTHING)
    assert not search.find_pages("staff", EVERYTHING - {"staff.manage"})
    assert "Actions" not in suggest(keeper("Shop"), "ban Bob 7d")


# a sentence | the action | the end of the operation's path, and its body
SENTENCES = f"""
BAN bob for 1 day | Ban Bob for 1 day | admin/ban duration=1
ban{" " * 2000}bob | Ban Bob for 7 days | admin/ban duration=7
mute Bob 2 weeks | Mute Bob for 14 days | admin/mute duration=14
mute Bob 90 min | Mute Bob for 90 minutes | admin/mute minutes=90
mute Bob forever | Mute Bob permanently | admin/mute duration=0
ban Bob until {DAY} 18:30 | Ban Bob until {DAY} 18:30:00 UTC | admin/ban until={DAY}T18:30:00.000Z
unban Bob | End the ban of Bob | admin/unban
give Bob 5 gold coin | Give 5 {TIMES_SIGN} Gold Coin to Bob | items/give itemid={people.COIN.id} quantity=5
give 1 gold con to Bob | Give 1 {TIMES_SIGN} Gold Coin to Bob | items/give itemid={people.COIN.id} quantity=1
take 2x arrow from bob | Take 2 {TIMES_SIGN} Arrow from Bob | items/take itemid={people.ARROW.id} quantity=2
"""
GERMAN = f"""
sperre Bob 2 Stunden | Bob für 2 Stunden sperren | admin/ban minutes=120
sperre Bob bis 20.11.{NEXT_YEAR} | Bob bis 20.11.{NEXT_YEAR}, 00:00:00 UTC sperren | admin/ban until={DAY}T00:00:00.000Z
nimm 2 arrow von Bob | Bob: 2 {TIMES_SIGN} Arrow wegnehmen | items/take itemid={people.ARROW.id} quantity=2
"""


@over("sentences, language, group", (SENTENCES, "en", "Actions"), (GERMAN, "de", "Aktionen"))
def test_sentence_is_an_action(shared_root: Keeper, sentences: str, language: str, group: str) -> None:
    back = f"/console/players/{people.BOB.id}"
    for line in sentences.strip().splitlines():
        text, label, call = line.split(" | ")
        path, *fields = call.split()
        body = {f"body.{name}": value for name, _, value in (each.partition("=") for each in fields)}
        found = suggest(shared_root, text, language)[group][0]
        assert found["name"] == label
        operation = f"/api/v1/players/{people.BOB.id}/{path}"
        assert found["form"] == {"method": "POST", "path": operation, "back": back, **body}, text


def test_weekday_is_the_next_one_and_its_first_moment() -> None:
    wednesday = datetime(2026, 11, 18, 22, 5, tzinfo=UTC)
    for said, day in {"friday": "20", "tomorrow": "19", "wednesday": "25", "2026-11-19": "19"}.items():
        typed = moderation.parse_time(f"until {said}", wednesday)
        assert typed is not None, said
        assert typed == {"until": f"2026-11-{day}T00:00:00.000Z"}, said
    for said in (
        *("until 2026-11-18", "until 2026-13-01", "until 11/12/2026", "until noon", "friday", "0 days", "-1 day"),
    ):
        assert moderation.parse_time(said, wednesday) is None, said


TIMES = "Times: 30 minutes (30m), 2 hours (2h), 7 days (7d), "
GIFTS = "Write the number, the item and the player, and nothing else: give 5 recall scroll to Aldwyn, "


@over(
    "text, name, detail",
    ("mute Bob 7", "“7” is not understood.", TIMES),
    ("ban Nobodyhere 7d", "No player or account is called “Nobodyhere”.", TIMES),
    ("kick Bob 7d", "“7d” is not understood.", "Write only a name after it, such as: kick Yorick."),
    ("give 1 sword slot 18 to Bob", "“slot 18” is not understood.", GIFTS),
    ("give Bob 1 sword slot 18", "“slot 18” is not understood.", GIFTS),
    ("give 1,000 gold coin to Bob", "No item is called “1,000 gold coin”.", GIFTS),
    ("give 0 arrow to Bob", "“0 arrow to Bob” is not understood.", GIFTS),
)
def test_sentence_that_is_not_understood_is_no_action_and_says_what_is(
    shared_root: Keeper, text: str, name: str, detail: str
) -> None:
    found = suggest(shared_root, text)
    assert "Actions" not in found
    [note] = found["Not understood"]
    assert (note["name"], note["href"], "form" in note) == (name, "", False)
    assert detail in note["detail"]


def test_action_leads_to_its_preview_which_asks_for_the_shown_reason(world: World, root: Keeper) -> None:
    with world.nothing_recorded():
        shown = root.post(ACT, suggest(root, "ban Bob 7d")["Actions"][0]["form"])
        assert "Reason shown to the player" in read_text(shown)
    assert root.confirm(shown, "ticket 7", **{"body.reason": "Sold lanterns"}).status == 303
    assert world.sql("SELECT reason FROM bans") == [("Sold lanterns",)]


def test_pasted_token_and_key_are_found_and_not_repeated(world: World, root: Keeper, keeper: OpenKeeper) -> None:
    pair = log_in(world, "Root").json
    for text in (pair["access_token"], pair["refresh_token"]):
        [found] = suggest(root, text)["Tokens and keys"]
        assert found["name"] == "Token of Root"
        assert [form.fields["path"] for form in root.page(found["href"]).forms if "Revoke" in form.buttons] == [
            f"/api/oauth/token/{people.USER_IDS['Root']}/{found['href'].partition('=')[2]}"
        ]
        page = Page(root.post("/console/search", {"q": text}).raw.decode())
        assert ("Token of Root" in page.text, text in page.html) == (True, False)
    [refused] = suggest(keeper("Shop"), pair["access_token"])["Tokens and keys"]
    assert (refused["detail"], refused["href"]) == ("You do not have permission to look it up.", "")
    body = {"Name": "Website", "Permissions": ["players.read"]}
    made = world.post("/api/keeper/v1/keys", body, by="Root").json
    [found] = suggest(root, made["Key"])["Tokens and keys"]
    assert (found["name"], found["detail"]) == ("API key Website of Root", "works")
    page = Page(root.post("/console/search", {"q": made["Key"]}).raw.decode())
    assert page.form(ACT, "Revoke").fields["path"] == f"/api/keeper/v1/keys/{made['Id']}"


@over("path", "/tokens?account=", "/changes?actor=", "/security?account=", "/accounts?search=", "/search?q=")
def test_secret_in_an_address_is_not_repeated(shared_root: Keeper, path: str) -> None:
    answer = shared_root.get(f"/console{path}{ACCESS_PREFIX}leaked")
    assert (answer.status, answer.headers["location"]) == (303, "/console/search?pasted=address")
    assert b"leaked" not in answer.raw
