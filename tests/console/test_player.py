"""The console's page of a player: its content and its actions."""

from keepers import Keeper, OpenKeeper
from player_pages import ANN, GIVE, HISTORY, OPERATIONS, VARIABLES, find_form, list_items, list_paths, submit

import people
from loops import over
from world import World


@over("key", ["Ann", "aNN", people.ANN.id, people.ANN.id.upper()])
def test_page_shows_the_player_and_its_account(root: Keeper, key: str) -> None:
    page = root.page(f"/console/players/{key}?tab=account")
    assert page.links["Ann"] in {ANN, f"/console/accounts/{people.USER_IDS['Ann']}"}
    assert ("a", {"href": f"/console/accounts/{people.USER_IDS['Ann']}"}) in page.tags
    page.assert_shown(
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
    )


def join_server(world: World) -> None:
    link = "/api/link/v1/servers/eu-1"
    assert world.call("PUT", link, by="Server", body={"Lease": 60}).status == 200
    assert world.post(f"{link}/joined", {"Players": [people.ANN.id]}, by="Server").status == 200


def test_spells_and_variables_are_set(root: Keeper, world: World) -> None:
    submit(root, find_form(root.page(VARIABLES), f"{OPERATIONS}/spells/teach"), spellid=people.HEAL.id)
    page = root.page(VARIABLES)
    assert "0 Fireball Remove spell 1 Heal Remove spell" in page.text
    submit(root, find_form(page, f"{OPERATIONS}/spells/forget", spellid=people.FIREBALL.id))
    assert [each["SpellId"] for each in world.get(f"{OPERATIONS}/spells").json] == [people.HEAL.id]
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


@over(
    "what, typed, seen",
    [
        ("name", {"name": "Anna"}, "Anna"),
        ("level", {"level": "13"}, "Level 13"),
        ("admin/mute", {"reason": "spam", "minutes": "4320"}, "account muted"),
        ("admin/ban", {"reason": "gold"}, "account banned"),
    ],
)
def test_forms_rename_level_mute_and_ban(root: Keeper, what: str, typed: dict[str, str], seen: str) -> None:
    answer = submit(root, find_form(root.page(ANN), f"{OPERATIONS}/{what}"), **typed)
    assert seen in root.page(answer.headers["location"]).text


def test_actions_without_permission_are_not_shown(keeper: OpenKeeper, world: World) -> None:
    # Ann is online: so the mute of her account adds a notice to the player's changes
    join_server(world)
    world.post(f"{OPERATIONS}/admin/mute", {"reason": "an account's secret"})
    page, clerks = keeper("Shop").page(HISTORY), keeper("Clerk").page(HISTORY)
    clerks.assert_shown("an account's secret", "account muted")
    page.assert_hidden("an account's secret", "muted")
    assert not any("/console/accounts/" in attributes.get("href", "") for _, attributes in page.tags)
    # the account's id is shown to every caller, because the player record contains it
    assert people.USER_IDS["Ann"] in page.text
    for each in (page, clerks):
        assert GIVE in list_paths(each)
        assert not any("/admin/" in path for path in list_paths(each))


def test_each_permission_shows_its_own_action(keeper: OpenKeeper, world: World) -> None:
    join_server(world)
    world.sql("UPDATE users SET mute = $1 WHERE id = $2 RETURNING id", True, people.USER_IDS["Shop"])
    found = {path for path in list_paths(keeper("Shop").page(ANN)) if "/admin/" in path}
    assert found == {f"{OPERATIONS}/admin/mute"}
    put = {"Name": "Ann", "UserId": people.USER_IDS["Ann"], "Level": 13}
    assert world.call("PUT", f"/api/link/v1/players/{people.ANN.id}", by="Server", body=put).status == 200
    undo = f"/api/keeper/v1/changes/{world.ledger()[-1].seq}/undo"
    assert undo in list_paths(keeper("Server").page(HISTORY))
    assert undo not in list_paths(keeper("Shop").page(HISTORY))


@over("whose", ["Ann", "Shop"])
def test_no_action_is_offered_against_higher_accounts_or_oneself(keeper: OpenKeeper, world: World, whose: str) -> None:
    """A ban, mute or kick of oneself or of an account with more permissions is rejected, so no page offers it."""
    join_server(world)
    world.sql("UPDATE users SET mute = $1 WHERE id = $2 RETURNING id", True, people.USER_IDS["Shop"])
    world.sql("UPDATE users SET ban = $1 WHERE id = $2 RETURNING id", True, people.USER_IDS["Ann"])
    world.sql("UPDATE players SET user_id = $1 WHERE id = $2 RETURNING id", people.USER_IDS[whose], people.ANN.id)
    page = keeper("Shop").page(ANN)
    assert not any("/admin/" in path for path in list_paths(page))
    assert GIVE in list_paths(page)


def test_deleted_player_is_restored_until_erased(root: Keeper, world: World) -> None:
    answer = submit(root, find_form(root.page("/console/players/Ann"), OPERATIONS), reason="asked for it")
    page = root.page(answer.headers["location"])
    deletion = world.ledger()[-1].seq
    page.assert_shown("Ann deleted", "This player is deleted.", "asked for it", "250 GC Gold Coin")
    assert {each for each in list_paths(page) if not each.startswith("/api/keeper/v1/changes/")} == set()
    earlier = root.page(f"{ANN}?at={deletion - 1}")
    assert "250 GC Gold Coin" in earlier.text
    assert root.get("/console/players/Ann").status == 404
    # the player did not exist any more at the time of its deletion
    assert root.get(f"{ANN}?at={deletion}").status == 404
    submit(root, page.form("/console/act", "Undo the deletion"))
    assert "deleted" not in root.page(ANN).text
    assert list_items(world)[0] == (people.COIN.id, 250)
    assert world.call("DELETE", "/api/v1/users/Ann").status == 200
    page = root.page(ANN)
    assert "(erased) deleted" in page.text
    assert "Ann" not in page.text
    # the page of an erased player has no forms, so no undo buttons either
    assert list_paths(page) == set()
