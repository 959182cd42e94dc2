"""One search for everything: what it finds, in which order, for whom, and whatever somebody types."""

from typing import Any
from urllib.parse import quote

import people
from expectations import refused
from game_server import newcomer, put_catalogue, put_player
from gamekeeper.game import finder
from gamekeeper.game.finder import slips
from gamekeeper.store import indexes
from people import ANN, ANNS_POUCH, BOB, COIN, USER_IDS, ZOE
from world import World

SEARCH = "/api/keeper/v1/search"


def found(world: World, text: str, query: str = "", **more: Any) -> list[tuple[str, str, str]]:
    """Kind, name and how it matched."""
    answer = world.get(f"{SEARCH}?q={quote(text)}{query}", **more)
    assert answer.status == 200, answer.raw
    assert answer.json["Query"] == text
    return [(each["Kind"], each["Name"], each["Match"]) for each in answer.json["Found"]]


def ids(world: World, text: str, **more: Any) -> list[tuple[str, str]]:
    found_ = world.get(f"{SEARCH}?q={quote(text)}", **more).json["Found"]
    return [(each["Kind"], each["Id"]) for each in found_]


def people_called(world: World, *names: str) -> None:
    for number, name in enumerate(names):
        player_id, body = newcomer(number)
        assert put_player(world, player_id, {**body, "Name": name}).status == 200


def test_whatever_has_an_id(world: World) -> None:
    wanted = {
        ANN.id: ("player", ANN.id),
        USER_IDS["Ann"]: ("user", USER_IDS["Ann"]),
        ANNS_POUCH: ("bag", ANN.id),
        COIN.id: ("item", COIN.id),
        people.FIREBALL.id: ("spell", people.FIREBALL.id),
        people.KILLS.id: ("variable", people.KILLS.id),
        people.WARRIOR.id: ("class", people.WARRIOR.id),
        people.MEADOW.id: ("map", people.MEADOW.id),
        "16": ("change", "16"),
    }
    for text, what in wanted.items():
        for typed in {text, text.upper(), text.replace("-", ""), f" {text} "}:
            assert ids(world, typed)[0] == what
    assert ids(world, "#16") == ids(world, " #16 ") == [("change", "16")]  # as people write it
    assert ids(world, "##16") == ids(world, "#") == ids(world, "#999999") == []
    assert ids(world, people.NOBODY_ID) == ids(world, "999999") == ids(world, "9" * 60) == []


def test_what_is_deleted_is_found_by_its_id(world: World) -> None:
    assert world.call("DELETE", "/api/v1/players/Bob").status == 200
    told = {"Kind": "player", "Id": BOB.id, "Name": "Bob", "Detail": "deleted", "Match": "id"}
    for typed in (BOB.id, BOB.id.upper(), BOB.id.replace("-", "")):
        for by in ("Root", "Shop"):
            assert world.get(f"{SEARCH}?q={typed}", by=by).json["Found"] == [told]
    assert found(world, "Bob") == [("user", "Bob", "exact")]  # by its id alone
    assert found(world, BOB.id[:-1]) == []
    deletion = world.ledger()[-1].seq
    assert world.post(f"/api/keeper/v1/changes/{deletion}/undo").status == 200
    assert [each["Detail"] for each in world.get(f"{SEARCH}?q={BOB.id}").json["Found"]] == [BOB.id]  # there again


def test_who_was_erased_is_found_by_id_without_a_name(world: World) -> None:
    """Their rows stay, by their ids; accounts are for those who may see them."""
    assert world.call("DELETE", "/api/v1/users/Ann").status == 200
    for kind, each in (("player", ANN.id), ("user", USER_IDS["Ann"])):
        told = {"Kind": kind, "Id": each, "Name": each, "Detail": "deleted", "Match": "id"}
        for by in ("Root", "Clerk", "Shop"):
            seen = [] if (kind, by) == ("user", "Shop") else [told]
            assert world.get(f"{SEARCH}?q={each}", by=by).json["Found"] == seen
    assert found(world, "ann@example.test", by="Clerk") == []


def test_names_the_best_match_first(world: World) -> None:
    people_called(world, "Annabel", "Anna", "Joanna", "Hanna")
    assert found(world, "ANN")[:2] == [("player", "Ann", "exact"), ("user", "Ann", "exact")]
    names = [name for kind, name, _ in found(world, "ann") if kind == "player"]
    assert names == ["Ann", "Anna", "Annabel", "Hanna", "Joanna"]
    assert [match for kind, _, match in found(world, "ann") if kind == "player"] == [
        "exact",
        *["prefix"] * 2,
        *["part"] * 2,
    ]
    assert found(world, "ann", "&limit=1") == [("player", "Ann", "exact")]


def test_emails_whole_and_begun(world: World) -> None:
    assert found(world, "ann@example.test") == [("user", "Ann", "exact")]
    assert found(world, "Bob@ex") == [("user", "Bob", "prefix")]
    assert ("user", "Mona", "part") in found(world, "a@example")
    assert found(world, "bbo@example") == [("user", "Bob", "near")]


def test_the_catalogue(world: World) -> None:
    assert found(world, "gold") == [("item", "Gold Coin", "prefix")]
    assert found(world, "coin") == [("item", "Gold Coin", "part")]
    assert found(world, "sword") == [("item", "Sword", "exact")]
    assert found(world, "Swrod") == [("item", "Sword", "near")]
    assert found(world, "never") == [("variable", "Never set", "prefix"), ("variable", "Never raised", "prefix")]
    assert found(world, "fire") == [("spell", "Fireball", "prefix")]
    put_catalogue(world, "items", [{"Id": people.guid(0x99), "Name": "\u00c9toile 100%_!", "Stackable": True}])
    for text in ("\u00c9toile", "\u00c9TOILE", "100%", "%_!"):
        assert [name for _, name, _ in found(world, text)] == ["\u00c9toile 100%_!"]


def test_a_slip_of_the_finger(world: World) -> None:
    people_called(world, "Alice", "Alicia", "Balthus")
    for typed in ("Alcie", "lAice", "Alic3", "Alicee", "Alixe", "xlice", "Alce", "lice"):
        names = [(name, match) for kind, name, match in found(world, typed) if kind == "player"]
        assert names[0][0] == "Alice", typed
        assert names[0][1] in {"near", "part"}, typed
    assert [name for _, name, _ in found(world, "Blathus the Great")] == ["Balthus"]  # what follows is not looked at
    assert found(world, "Xqzzy") == []
    assert found(world, "Alice")[0] == ("player", "Alice", "exact")
    assert "near" not in {match for *_, match in found(world, "Ali")}


def test_who_types_a_long_name_whole_is_told_of_no_parts(world: World) -> None:
    people_called(world, "Balthus", "Balthusar", "Xbalthus", "Balthu")
    assert found(world, "BALTHUS") == [("player", "Balthus", "exact"), ("player", "Balthusar", "prefix")]
    assert ("player", "Xbalthus", "part") in found(world, "Balthu")  # a shorter one may be a part as well
    assert ("player", "Xbalthus", "part") in found(world, "althus")


def test_what_is_not_seen_is_not_enough(world: World) -> None:
    people_called(world, "Xbalthus", "No1234567")
    world.sql("UPDATE users SET name = 'Balthus', fold = 'balthus' WHERE id = $1", USER_IDS["Mona"])
    assert found(world, "Balthus") == [("user", "Balthus", "exact")]
    assert found(world, "Balthus", by="Shop") == [("player", "Xbalthus", "part")]
    world.sql("UPDATE ledger SET seq = 1234567 WHERE seq = 16")
    assert ("player", "No1234567", "part") in found(world, "1234567")  # any number may be a change's


def test_whole_emails_and_names_of_the_catalogue_are_enough_too(world: World) -> None:
    people_called(world, "Fireballs", "Xfireball")
    assert found(world, "fireball") == [("spell", "Fireball", "exact"), ("player", "Fireballs", "prefix")]
    world.sql("UPDATE users SET email_fold = 'joann@example.test' WHERE id = $1", USER_IDS["Mona"])
    assert found(world, "ann@example.test") == [("user", "Ann", "exact")]
    assert set(found(world, "nn@example.test")) == {("user", "Ann", "part"), ("user", "Mona", "part")}


def test_what_begins_so_is_found_beside_many_parts(world: World) -> None:
    names = [*(f"A zed {number}" for number in range(2 * finder.EACH)), "Zed stone"]
    put_catalogue(
        world,
        "items",
        [{"Id": people.guid(0x900 + at), "Name": name, "Stackable": True} for at, name in enumerate(names)],
    )
    told = found(world, "zed")
    assert told[0] == ("item", "Zed stone", "prefix")
    assert [match for *_, match in told[1:]] == ["part"] * finder.EACH


def test_slips_are_all_there_are() -> None:
    made = set(slips("abc"))
    assert {"bac", "acb", "ab", "ac", "bc", "xbc", "axc", "abx", "xabc", "axbc", "abxc"} <= made
    assert max(map(len, made)) == 4
    assert len(list(slips("x" * finder.NEAR_LETTERS))) < 500


def test_no_accounts_without_the_role(world: World) -> None:
    world.post("/api/v1/users/Bob/admin/mute", {"reason": "rude"})
    for text in ("Ann", "ann@example.test", "example", "anm", "nn@ex", USER_IDS["Ann"], "Mona", "8", "13", "17"):
        answer = world.get(f"{SEARCH}?q={text}", by="Shop")
        assert answer.status == 200
        assert not [each for each in answer.json["Found"] if each["Kind"] in {"user", "change"}], text
        assert b"example.test" not in answer.raw.replace(text.encode(), b"")
    assert found(world, "16", by="Shop") == [("change", "Change 16", "id")]
    assert found(world, "13", by="Clerk") == [("change", "Change 13", "id")]


def test_wildcards_quotes_and_the_like_are_letters(world: World) -> None:
    for text in (
        "%",
        "_",
        "%%%",
        "___",
        "Go%Co",
        "Go__Co",
        "'; --",
        '"',
        '" OR "',
        "*",
        "Ann**",
        "!",
        "\\",
        "NEAR(",
        "a:b",
    ):
        assert found(world, text) == [], text


def test_who_is_hidden_by_a_clash_is_found_by_the_beginning(world: World) -> None:
    world.sql("UPDATE players SET fold = 'ann' || $1, name = 'Ann' WHERE id = $2", f"\x01{ZOE.id}", ZOE.id)
    assert [each for each in ids(world, "Ann") if each[0] == "player"] == [("player", ANN.id), ("player", ZOE.id)]


def test_nothing_is_found_by_nothing(world: World) -> None:
    for text in ("", " ", "\u3000"):
        assert found(world, text) == []
    assert world.get(SEARCH).json == {"Query": "", "Found": []}


def test_malformed(world: World) -> None:
    refused(world.get(f"{SEARCH}?q=Ann", by=None), 401, "denied")
    for query in ("q=%00", "q=a%0ab", f"q={'a' * 256}", "q=a&limit=0", "q=a&limit=x"):
        refused(world.get(f"{SEARCH}?{query}"), 400, "bad_field")
    assert world.get(f"{SEARCH}?q={'a' * 255}&limit=5000").status == 200


def test_while_the_index_of_parts_is_away_the_rest_is_found(world: World) -> None:
    world.run(world.keeper.store.write(indexes.drop))
    assert found(world, "bo") == [("player", "Bob", "prefix"), ("user", "Bob", "prefix")]
    assert ids(world, "BOB")[0] == ("player", BOB.id)
