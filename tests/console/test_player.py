"""The console's page of a player: its content and its actions."""

from collections.abc import Callable
from urllib.parse import quote

import pytest
from keepers import Keeper
from player_pages import (
    ACCOUNT,
    ANN,
    GIVE,
    HISTORY,
    OPERATIONS,
    SLOTS,
    VARIABLES,
    find_form,
    list_items,
    list_paths,
    read_text,
    submit,
)

import people
from gamekeeper.console import suggestions
from gamekeeper.game import finder
from gamekeeper.http.instants import format_instant
from gamekeeper.store import moderation
from world import World

Who = Callable[[str], Keeper]


@pytest.mark.parametrize("key", ["Ann", "aNN", people.ANN.id, people.ANN.id.upper()])
def test_page_shows_the_player_and_its_account(root: Keeper, key: str) -> None:
    page = root.page(f"/console/players/{key}?tab=account")
    assert page.links["Ann"] in {ANN, f"/console/accounts/{people.USER_IDS['Ann']}"}
    assert ("a", {"href": f"/console/accounts/{people.USER_IDS['Ann']}"}) in page.tags
    for seen in (
        "Level 12",
        "345 of 655 experience for the next level",
        "100 of 120",
        "40 of 40",
        "Warrior",
        "Meadow, x 3, y 4",
        "offline",
        "1 h 0 min",
        "2023-11-14 22:13:20 UTC",
        "Ability power 6",
    ):
        assert seen in page.text, seen


def test_page_shows_rank_and_neighbours(root: Keeper) -> None:
    page = root.page("/console/players/Ann?tab=account")
    assert "Rank 2 of 3" in page.text
    assert [name for name in ("1 Zoe 12 345", "2 Ann 12 345", "3 Bob 3 10") if name in page.text] != []
    order = [page.text.index(each) for each in ("1 Zoe 12 345", "2 Ann 12 345", "3 Bob 3 10")]
    assert order == sorted(order)
    assert page.links["Bob"] == f"/console/players/{people.BOB.id}"


def join_server(world: World) -> None:
    link = "/api/link/v1/servers/eu-1"
    assert world.call("PUT", link, by="Server", body={"Lease": 60}).status == 200
    assert world.post(f"{link}/joined", {"Players": [people.ANN.id]}, by="Server").status == 200


def test_page_shows_the_server_of_an_online_player(root: Keeper, world: World) -> None:
    assert f"{OPERATIONS}/admin/kick" not in list_paths(root.page(ANN))
    join_server(world)
    page = root.page(ANN)
    assert "online on eu-1" in page.text
    assert f"{OPERATIONS}/admin/kick" in list_paths(page)


def test_spell_is_taught_and_removed(root: Keeper, world: World) -> None:
    submit(root, find_form(root.page(VARIABLES), f"{OPERATIONS}/spells/teach"), spellid=people.HEAL.id)
    page = root.page(VARIABLES)
    assert "0 Fireball Remove spell 1 Heal Remove spell" in page.text
    submit(root, find_form(page, f"{OPERATIONS}/spells/forget", spellid=people.FIREBALL.id))
    assert [each["SpellId"] for each in world.get(f"{OPERATIONS}/spells").json] == [people.HEAL.id]


def test_text_and_decimal_are_shown_without_a_form(root: Keeper, world: World) -> None:
    title, rate = people.guid(0xD00), people.guid(0xD01)
    world.sql("INSERT INTO variables (id, name, type) VALUES ($1, 'Title', 'String')", title)
    for variable_id, kind, value in ((title, "String", '"the <b>Bold</b>"'), (rate, "Number", "2.5")):
        world.sql("INSERT INTO player_texts VALUES ($1, $2, $3, $4)", people.ANN.id, variable_id, kind, value)
    page = root.page(VARIABLES)
    assert "Title the <b>Bold</b>" in page.text
    assert f"{rate} 2.5" in page.text
    assert f"/variables/{title}" not in page.html
    assert f"/variables/{people.KILLS.id}" in page.html


def test_variable_is_set(root: Keeper, world: World) -> None:
    submit(root, find_form(root.page(VARIABLES), f"{OPERATIONS}/variables/{people.KILLS.id}", value="7"), value="-8")
    flag = find_form(root.page(VARIABLES), f"{OPERATIONS}/variables/{people.TUTORIAL.id}", value="true")
    submit(root, flag, value="false")
    page, other = root.page(VARIABLES), f"{OPERATIONS}/variables/{people.UNSET_FLAG.id}"
    assert ("option", {"value": other}) in page.tags
    sent = find_form(page, OPERATIONS, value="")
    # the variable that a person selects is sent as a second `path` after the hidden one, and wins
    sent.fields["path"] = other
    submit(root, sent, value="true")
    found = {each["VariableId"]: each["Value"] for each in world.get(f"{OPERATIONS}/variables").json}
    assert found == {people.KILLS.id: -8, people.TUTORIAL.id: False, people.UNSET_FLAG.id: True}


@pytest.mark.parametrize(
    ("what", "typed", "seen"),
    [
        ("name", {"name": "Anna"}, "Anna"),
        ("level", {"level": "13"}, "Level 13"),
        ("admin/mute", {"reason": "spam", "duration": "3"}, "account muted"),
        ("admin/ban", {"reason": "gold"}, "account banned"),
    ],
)
def test_forms_rename_level_mute_and_ban(root: Keeper, what: str, typed: dict[str, str], seen: str) -> None:
    answer = submit(root, find_form(root.page("/console/players/Ann"), f"{OPERATIONS}/{what}"), **typed)
    assert seen in root.page(answer.headers["location"]).text


def test_class_is_set(root: Keeper) -> None:
    bob = f"/api/v1/players/{people.BOB.id}/class"
    page = root.page("/console/players/Bob")
    sent = find_form(page, bob)
    assert ("option", {"value": people.WARRIOR.id}) in page.tags
    submit(root, sent, classid=people.WARRIOR.id)
    assert "Class Warrior" in root.page("/console/players/Bob").text


def test_unknown_class_stays_selected(root: Keeper) -> None:
    """Pressing the class form's button without a choice must not set the first class of the list."""
    assert (
        find_form(root.page("/console/players/Ann"), f"{OPERATIONS}/class").fields["body.classid"] == people.WARRIOR.id
    )
    bob = f"/api/v1/players/{people.BOB.id}/class"
    assert find_form(root.page("/console/players/Bob"), bob).fields["body.classid"] == people.BOB.class_id


def test_ban_and_mute_can_be_ended(root: Keeper, world: World) -> None:
    world.post(f"{OPERATIONS}/admin/ban", {"reason": "gold"})
    page = root.page(ANN)
    assert f"{OPERATIONS}/admin/ban" not in list_paths(page)
    submit(root, find_form(page, f"{OPERATIONS}/admin/unban"))
    assert "account banned" not in root.page(ANN).text


@pytest.mark.parametrize("what", ["ban", "mute"])
def test_page_says_until_when_by_whom_and_why(root: Keeper, keeper: Who, world: World, what: str) -> None:
    world.post(f"{OPERATIONS}/admin/{what}", {"reason": "gold", "moderator": "Keeper", "duration": 7})
    find = moderation.find_ban if what == "ban" else moderation.find_mute
    given = world.run(find(world.keeper.store, people.USER_IDS["Ann"]))
    assert given
    assert given.ends_at
    shown = f"until {format_instant(given.ends_at)[:19].replace('T', ' ')} UTC , by Keeper, gold"
    page = root.page(ACCOUNT)
    assert page.text.count(shown) == 2  # in the menu and in the details
    assert shown in keeper("Clerk").page(ACCOUNT).text
    assert "gold" not in keeper("Shop").page(ACCOUNT).text
    world.post(f"{OPERATIONS}/admin/un{what}")
    world.post(f"{OPERATIONS}/admin/{what}", {"reason": "gold", "moderator": "Keeper"})
    assert root.page(ACCOUNT).text.count("permanent, by Keeper, gold") == 2


def test_actions_without_permission_are_not_shown(keeper: Who, world: World) -> None:
    # Ann is online: so the mute of her account adds a notice to the player's changes
    join_server(world)
    world.post(f"{OPERATIONS}/admin/mute", {"reason": "an account's secret"})
    page, clerks = keeper("Shop").page(HISTORY), keeper("Clerk").page(HISTORY)
    assert "an account's secret" in clerks.text
    assert "account muted" in clerks.text
    assert "an account's secret" not in page.text
    assert "muted" not in page.text
    assert not any("/console/accounts/" in attributes.get("href", "") for _, attributes in page.tags)
    # the account's id is shown to every caller, because the player record contains it
    assert people.USER_IDS["Ann"] in page.text
    for each in (page, clerks):
        assert GIVE in list_paths(each)
        assert not any("/admin/" in path for path in list_paths(each))


def test_each_permission_shows_its_own_action(keeper: Who, world: World) -> None:
    join_server(world)
    world.sql("UPDATE users SET mute = $1 WHERE id = $2 RETURNING id", True, people.USER_IDS["Shop"])
    found = {path for path in list_paths(keeper("Shop").page(ANN)) if "/admin/" in path}
    assert found == {f"{OPERATIONS}/admin/mute"}


@pytest.mark.parametrize("whose", ["Ann", "Shop"])
def test_no_action_is_offered_against_higher_accounts_or_oneself(keeper: Who, world: World, whose: str) -> None:
    """A ban, mute or kick of oneself or of an account with more permissions is rejected, so no page offers it."""
    join_server(world)
    world.sql("UPDATE users SET mute = $1 WHERE id = $2 RETURNING id", True, people.USER_IDS["Shop"])
    world.sql("UPDATE users SET ban = $1 WHERE id = $2 RETURNING id", True, people.USER_IDS["Ann"])
    world.sql("UPDATE players SET user_id = $1 WHERE id = $2 RETURNING id", people.USER_IDS[whose], people.ANN.id)
    page = keeper("Shop").page(ANN)
    assert not any("/admin/" in path for path in list_paths(page))
    assert GIVE in list_paths(page)


def test_older_changes_continue_the_history(root: Keeper, world: World) -> None:
    for number in range(25):
        world.post(f"{OPERATIONS}/variables/{people.KILLS.id}", {"value": number})
    owner = people.USER_IDS["Ann"]
    of_account = [each.seq for each in world.ledger() if each.user_id == owner and each.player_id is None]
    written = sorted({each.seq for each in world.ledger() if each.player_id == people.ANN.id} | {*of_account})[::-1]
    shown: list[int] = []
    page = root.page(HISTORY)
    for _ in range(3):
        shown += [
            int(attributes["id"].removeprefix("change-"))
            for tag, attributes in page.tags
            if tag == "article" and attributes.get("id", "").startswith("change-")
        ]
        if "Older" not in page.links:
            break
        assert page.links["Filter and export changes"] == f"/console/changes?player={people.ANN.id}"
        page = root.page(page.links["Older"].partition("#")[0])
        assert page.links["Newest"] == f"{HISTORY}#history"
    assert shown == written
    then = f"{HISTORY}&at={written[0]}"
    assert root.page(then).links["Older"].startswith(f"{then}&before=")


def test_undo_of_a_game_change_needs_game_link(keeper: Who, world: World) -> None:
    put = {"Name": "Ann", "UserId": people.USER_IDS["Ann"], "Level": 13}
    assert world.call("PUT", f"/api/link/v1/players/{people.ANN.id}", by="Server", body=put).status == 200
    undo = f"/api/keeper/v1/changes/{world.ledger()[-1].seq}/undo"
    assert undo in list_paths(keeper("Server").page(HISTORY))
    assert undo not in list_paths(keeper("Shop").page(HISTORY))


def test_deleted_player_is_shown_and_restored(root: Keeper, world: World) -> None:
    answer = submit(root, find_form(root.page("/console/players/Ann"), OPERATIONS), reason="asked for it")
    page = root.page(answer.headers["location"])
    deletion = world.ledger()[-1].seq
    for seen in ("Ann deleted", "This player is deleted.", "asked for it", "250 GC Gold Coin"):
        assert seen in page.text, seen
    assert {each for each in list_paths(page) if not each.startswith("/api/keeper/v1/changes/")} == set()
    earlier = root.page(f"{ANN}?at={deletion - 1}")
    assert "250 GC Gold Coin" in earlier.text
    assert root.get("/console/players/Ann").status == 404
    # the player did not exist any more at the time of its deletion
    assert root.get(f"{ANN}?at={deletion}").status == 404
    submit(root, page.form("/console/act", "Undo the deletion"))
    assert "deleted" not in root.page(ANN).text
    assert list_items(world)[0] == (people.COIN.id, 250)


def test_erased_player_has_no_name(root: Keeper, world: World) -> None:
    assert world.call("DELETE", "/api/v1/users/Ann").status == 200
    page = root.page(ANN)
    assert "(erased) deleted" in page.text
    assert "Ann" not in page.text
    # the page of an erased player has no forms, so no undo buttons either
    assert list_paths(page) == set()


@pytest.mark.parametrize("key", ["Nobody", people.NOBODY_ID, "%3Cb%3E"])
def test_unknown_player_is_not_found(root: Keeper, key: str) -> None:
    answer = root.get(f"/console/players/{key}")
    assert answer.status == 404
    assert "No player with" in read_text(answer)
    assert b"<b>" not in answer.raw


def test_markup_is_shown_as_text(root: Keeper, world: World) -> None:
    evil = "<img src=x onerror=alert(1)>"
    entry = {"Id": people.COIN.id, "Name": evil, "Stackable": True, "Icon": 'x" onload="alert(1)'}
    assert world.call("PUT", "/api/link/v1/catalogue/items", by="Server", body=[entry]).status == 200
    world.post(GIVE, {"itemid": people.COIN.id, "quantity": 1}, headers={"X-Reason": evil})
    page = root.page(HISTORY)
    assert page.text.count(evil) > 1
    assert evil in root.page(ANN).text
    assert not any(attributes.get("src") == "x" or "onload" in attributes for _, attributes in page.tags)


def test_inline_icon_is_shown(root: Keeper, world: World) -> None:
    for icon in ("data:image/png;base64,AAAA", "https://elsewhere.test/coin.png"):
        entry = {"Id": people.COIN.id, "Name": "Gold Coin", "Stackable": True, "Icon": icon}
        world.call("PUT", "/api/link/v1/catalogue/items", by="Server", body=[entry])
        sources = {attributes.get("src", "") for tag, attributes in root.page(ANN).tags if tag == "img"}
        assert (icon in sources) == icon.startswith("data:")


def test_stale_preview_is_rejected_and_shown_again(root: Keeper, keeper: Who, world: World) -> None:
    """Another account gives coins between the preview and its confirmation."""
    sent = find_form(root.page(f"{ANN}?slot=inventory-0"), f"{SLOTS}/take")
    assert sent.fields["body.Quantity"] == "1"  # not the whole stack
    first = root.post("/console/act", {**sent.fields, "body.Quantity": "250"})
    assert "Inventory, slot 0 250 × Gold Coin —" in read_text(first)  # noqa: RUF001 - the text of the page
    other = keeper("Shop")
    submit(other, find_form(other.page(ANN), GIVE), itemid=people.COIN.id, quantity="5")
    refused = root.confirm(first, "all of it")
    assert refused.status == 409
    assert "Inventory, slot 0 255 × Gold Coin 5 × Gold Coin" in read_text(refused)  # noqa: RUF001 - the text of the page
    assert list_items(world)[0] == (people.COIN.id, 255)
    assert root.confirm(refused, "all but five").status == 303
    assert list_items(world)[0] == (people.COIN.id, 5)


def test_suggestions(root: Keeper, world: World) -> None:
    def suggested(kind: str, text: str) -> list[str]:
        return [each["label"] for each in root.get(f"/console/suggest/{kind}?q={quote(text)}").json["found"]]

    assert suggested("items", "gold") == ["Gold Coin"]
    assert suggested("items", "") == ["Arrow", "Gold Coin", "Pouch", "Sword"]
    assert suggested("items", "%") == []
    assert suggested("spells", "he") == ["Heal"]
    oar, twin = people.guid(0x98), people.guid(0x99)
    more = [{"Id": oar, "Name": "Oar", "Stackable": True}, {"Id": twin, "Name": "Arrow", "Stackable": True}]
    assert world.call("PUT", "/api/link/v1/catalogue/items", by="Server", body=more).status == 200
    assert suggested("items", "arr") == [f"Arrow ({people.ARROW.id})", f"Arrow ({twin})"]
    assert suggested("items", "O")[0] == "Oar"  # suggested names that start with the text come first
    small = people.guid(0x97)
    names = ["oar", *(f"Oar {number:02}" for number in range(suggestions.MAX_SUGGESTIONS))]
    more = [{"Id": people.guid(0x97 - at), "Name": name, "Stackable": True} for at, name in enumerate(names)]
    assert world.call("PUT", "/api/link/v1/catalogue/items", by="Server", body=more).status == 200
    assert suggested("items", "OAR")[:2] == [
        f"Oar ({oar})",
        f"oar ({small})",
    ]  # names that differ only in case show their ids, and come before longer names
    assert suggested("items", "\0") == suggested("items", "x" * 300) == []
    assert root.get("/console/suggest/players?q=a").status == 404
    assert Keeper(world).get("/console/suggest/items?q=a", {"Accept": "application/json"}).status == 401


def test_suggestions_tolerate_typos(root: Keeper, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Similar names are suggested only if no name contains the typed text."""

    def suggested(text: str, kind: str = "items") -> tuple[list[str], bool]:
        told = root.get(f"/console/suggest/{kind}?q={quote(text)}").json
        return [each["label"] for each in told["found"]], told["near"]

    names = ["Healing Potion", "Healing Herb", "Heather"]
    more = [{"Id": people.guid(0x90 + at), "Name": name, "Stackable": True} for at, name in enumerate(names)]
    assert world.call("PUT", "/api/link/v1/catalogue/items", by="Server", body=more).status == 200
    assert suggested("helaing") == (["Healing Herb", "Healing Potion"], True)
    assert suggested("HELAING potion") == (["Healing Potion", "Healing Herb"], True)
    assert suggested("healing") == (["Healing Herb", "Healing Potion"], False)
    assert suggested("fierball", "spells") == (["Fireball"], True)
    for nothing in ("fierball", "xqzzy", "xe", "\0" * 4, "x" * 300):
        assert suggested(nothing) == ([], False), nothing
    # a text with a typo is compared with 2 entries only: Arrow and Gold Coin
    monkeypatch.setattr(finder, "MAX_ENTRIES", 2)
    assert suggested("helaing") == ([], False)
    assert suggested("arorw") == (["Arrow"], True)
