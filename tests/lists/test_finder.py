"""The search over everything: results, their order and permissions."""

from typing import Any
from urllib.parse import quote

from game_server import newcomer, put_catalogue, put_player
from gamekeeper.game.lists import search
from people import ANN, ANNS_POUCH, BOB, COIN, KILLS, NOBODY_ID, USER_IDS, guid
from world import World

SEARCH = "/api/keeper/v1/search"


def find(world: World, text: str, query: str = "", **more: Any) -> list[tuple[str, str, str]]:
    """Return kind, name and match type of each search result."""
    answer = world.get(f"{SEARCH}?q={quote(text)}{query}", **more).accepted()
    assert answer.json["Query"] == text
    return [(each["Kind"], each["Name"], each["Match"]) for each in answer.json["Found"]]


def ids(world: World, text: str, **more: Any) -> list[tuple[str, str]]:
    found_ = world.get(f"{SEARCH}?q={quote(text)}", **more).json["Found"]
    return [(each["Kind"], each["Id"]) for each in found_]


def people_called(world: World, *names: str) -> None:
    for number, name in enumerate(names):
        player_id, body = newcomer(number)
        assert put_player(world, player_id, {**body, "Name": name}).status == 200


def test_search_finds_everything_by_id(shared_world: World) -> None:
    wanted = {
        ANN.id: ("player", ANN.id),
        USER_IDS["Ann"]: ("user", USER_IDS["Ann"]),
        ANNS_POUCH: ("bag", ANN.id),
        COIN.id: ("item", COIN.id),
        KILLS.id: ("variable", KILLS.id),
        "16": ("change", "16"),
    }
    for text, what in wanted.items():
        for typed in {text, text.upper(), text.replace("-", ""), f" {text} "}:
            assert ids(shared_world, typed)[0] == what
    assert ids(shared_world, " #16 ") == [("change", "16")]  # people write a change's number with a #
    for text in ("##16", "#999999", NOBODY_ID, "9" * 60):
        assert ids(shared_world, text) == []


def test_deleted_players_and_erased_accounts_are_found_by_id_only(world: World) -> None:
    assert world.call("DELETE", "/api/v1/players/Bob").status == 200
    told = {"Kind": "player", "Id": BOB.id, "Name": "Bob", "Detail": "deleted", "Match": "id"}
    assert world.get(f"{SEARCH}?q={BOB.id}", by="Shop").json["Found"] == [told]
    # the deleted player Bob is found by id only, so only the account is found
    assert find(world, "Bob") == [("user", "Bob", "exact")]
    deletion = world.ledger()[-1].seq
    assert world.post(f"/api/keeper/v1/changes/{deletion}/undo").status == 200
    # The undo of the deletion restored the player, so the search finds it
    assert [each["Detail"] for each in world.get(f"{SEARCH}?q={BOB.id}").json["Found"]] == [BOB.id]
    # Erased accounts and players are still found by their ids; finding accounts needs the permission.
    assert world.call("DELETE", "/api/v1/users/Ann").status == 200
    for kind, each in (("player", ANN.id), ("user", USER_IDS["Ann"])):
        told = {"Kind": kind, "Id": each, "Name": each, "Detail": "deleted", "Match": "id"}
        for by in ("Root", "Clerk", "Shop"):
            seen = [] if (kind, by) == ("user", "Shop") else [told]
            assert world.get(f"{SEARCH}?q={each}", by=by).json["Found"] == seen
    assert find(world, "ann@example.test", by="Clerk") == []


def test_best_match_comes_first_and_typing_errors_are_tolerated(world: World) -> None:
    people_called(world, "Annabel", "Anna", "Joanna", "Hanna")
    assert find(world, "ANN")[:2] == [("player", "Ann", "exact"), ("user", "Ann", "exact")]
    names = [name for kind, name, _ in find(world, "ann") if kind == "player"]
    assert names == ["Ann", "Anna", "Annabel", "Hanna", "Joanna"]
    assert find(world, "ann", "&limit=1") == [("player", "Ann", "exact")]
    people_called(world, "Alice", "Alicia", "Balthus")
    for typed in ("Alcie", "Alicee", "Alixe", "Alce"):
        names = [(name, match) for kind, name, match in find(world, typed) if kind == "player"]
        assert names[0][0] == "Alice", typed
        assert names[0][1] in {"near", "part"}, typed
    # For typing errors only the first word of the search text is compared
    assert [name for _, name, _ in find(world, "Blathus the Great")] == ["Balthus"]
    assert "near" not in {match for *_, match in find(world, "Ali")}


def test_search_finds_emails_catalogue_entries_and_accents(world: World) -> None:
    assert find(world, "ann@example.test") == [("user", "Ann", "exact")]
    assert find(world, "Bob@ex") == [("user", "Bob", "prefix")]
    assert ("user", "Mona", "part") in find(world, "a@example")
    assert find(world, "bbo@example") == [("user", "Bob", "near")]
    assert find(world, "gold") == [("item", "Gold Coin", "prefix")]
    assert find(world, "Swrod") == [("item", "Sword", "near")]
    put_catalogue(world, "items", [{"Id": guid(0x99), "Name": "\u00c9toile 100%_!", "Stackable": True}])
    for text in ("\u00c9toile", "\u00c9TOILE", "100%", "%_!"):
        assert [name for _, name, _ in find(world, text)] == ["\u00c9toile 100%_!"]
    names = [*(f"A zed {number}" for number in range(2 * search.MAX_PER_MATCH)), "Zed stone"]
    put_catalogue(
        world, "items", [{"Id": guid(0x900 + at), "Name": name, "Stackable": True} for at, name in enumerate(names)]
    )
    wanted = [("Zed stone", "prefix"), *[("A zed", "part")] * search.MAX_PER_MATCH]
    assert [(name.rstrip(" 0123456789"), match) for _, name, match in find(world, "zed")] == wanted
    world.sql("UPDATE players SET name = 'Zéphyrine', fold = 'zéphyrine' WHERE id = $1 RETURNING id", BOB.id)
    assert find(world, "ZÉPHYR") == find(world, "ze\u0301phyr") == [("player", "Zéphyrine", "prefix")]
    assert find(world, "phyr") == [("player", "Zéphyrine", "part")]
    assert find(world, "zephyr") == []


def test_caller_without_the_role_sees_no_accounts(world: World) -> None:
    world.post("/api/v1/users/Bob/admin/mute", {"reason": "rude"})
    for text in ("Ann", "ann@example.test", "example", "anm", "nn@ex", USER_IDS["Ann"], "Mona", "8", "13", "17"):
        answer = world.get(f"{SEARCH}?q={text}", by="Shop").accepted()
        assert not [each for each in answer.json["Found"] if each["Kind"] in {"user", "change"}], text
        assert b"example.test" not in answer.raw.replace(text.encode(), b"")
    assert find(world, "13", by="Clerk") == [("change", "Change 13", "id")]
