"""The doctor finds changes made by SQL even if all item totals agree, and none that Gamekeeper made itself."""

import pytest

import people
from findings import findings
from gamekeeper.doctor import ERROR
from gamekeeper.doctor import findings as limits
from gamekeeper.game.lookup import ZERO_GUID, make_clashing_fold
from people import ANN, ANNS_POUCH, BOB, COIN
from world import World

LINK = "/api/link/v1/players"
KILLS = people.KILLS.id
HEAL = people.HEAL.id
CHECKS = {"slots", "spells", "variables", "bags", "names", "powers"}


def errors(world: World) -> list[tuple[str, str]]:
    found = [each for each in findings(world) if each.check in CHECKS]
    assert all(each.level == ERROR for each in found)
    return [(each.check, each.message) for each in found]


def give(world: World, name: str, quantity: int = 1) -> None:
    assert world.post(f"/api/v1/players/{name}/items/give", {"itemid": COIN.id, "quantity": quantity}).status == 200


def put(world: World, body: dict[str, object]) -> None:
    assert world.call("PUT", f"{LINK}/{BOB.id}", by="Server", body=body).status == 200


def set_trimmed(world: World) -> None:
    """Mark all changes so far as trimmed by retention, as if some had been deleted."""
    world.sql("UPDATE epoch SET trimmed = $1", world.ledger()[-1].seq)


# --- doctor's checks of items, spells and variables -------------------------------------------------------------------


def test_item_moved_from_one_player_to_another_by_sql_is_found(world: World) -> None:
    world.sql("UPDATE slots SET player_id = $1 WHERE player_id = $2 AND place = 'bank'", BOB.id, ANN.id)
    coins = f"1000 of item {COIN.id} with stat buffs [0,0,0,0,0]"
    assert findings(world, "ledger") == []
    assert [message.split(". ")[0] for _, message in errors(world)] == [
        f"Player Ann ({ANN.id}): bank slot 0 has nothing; the audit log says {coins}",
        f"Player Bob ({BOB.id}): bank slot 0 has {coins}; the audit log says nothing",
    ]


@pytest.mark.parametrize(
    ("statement", "place"),
    [
        ("UPDATE slots SET buffs = '[9,9,9,9,9]' WHERE place = 'inventory' AND slot = 2", "inventory slot 2"),
        ("UPDATE slots SET slot = 5 WHERE place NOT IN ('bank', 'inventory')", f"slot 1 of bag {ANNS_POUCH}"),
    ],
)
def test_slot_changed_by_sql_is_found(world: World, statement: str, place: str) -> None:
    world.sql(statement)
    assert findings(world, "ledger") == []
    assert ("slots", f"Player Ann ({ANN.id}): {place}") in [
        (check, message.split(" has ")[0]) for check, message in errors(world)
    ]


@pytest.mark.parametrize(
    ("statement", "check", "said"),
    [
        (
            "UPDATE known_spells SET spell_id = player_id",
            "spells",
            f"spell slot 0 has spell {ANN.id}; the audit log says",
        ),
        ("INSERT INTO known_spells SELECT id, 3, id FROM players WHERE name = 'Bob'", "spells", "3 has spell"),
        ("DELETE FROM known_spells", "spells", "spell slot 0 has nothing; the audit log says spell"),
        (
            "UPDATE player_variables SET value = 8 WHERE type = 'Integer'",
            "variables",
            "has Integer 8; the audit log says",
        ),
        ("DELETE FROM player_variables WHERE type = 'Boolean'", "variables", "nothing; the audit log says Boolean 1"),
        (
            "INSERT INTO player_texts SELECT id, id, 'Number', '\"2.5\"' FROM players WHERE name = 'Bob'",
            "variables",
            "is of type Number, but its value is not",
        ),
    ],
)
def test_spell_or_variable_changed_by_sql_is_found(world: World, statement: str, check: str, said: str) -> None:
    world.sql(statement)
    [(found, message)] = errors(world)
    assert found == check
    assert said in message


def test_bags_inside_each_other_are_found(world: World) -> None:
    outer, inner = people.guid(0x801), people.guid(0x802)
    for bag, place in ((outer, inner), (inner, outer)):
        world.sql("INSERT INTO bags (id, player_id, slot_count) VALUES ($1, $2, 1)", bag, BOB.id)
        world.sql("INSERT INTO slots VALUES ($1, $2, 0, $3, 1, $4, '[0,0,0,0,0]')", BOB.id, place, people.POUCH.id, bag)
    cycles = {message.split(". ")[0] for check, message in errors(world) if check == "bags"}
    assert cycles == {f"Bag {each} of player {BOB.id} lies inside itself" for each in (outer, inner)}


def test_changes_over_the_api_and_the_link_leave_no_finding(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "PAGE_ROWS", 2)
    give(world, "Bob", 5)
    put(world, {"Items": [{"Slot": 0}, {"Slot": 4, "ItemId": COIN.id, "Quantity": 5}]})
    put(world, {"Spells": [{"Slot": 1, "SpellId": HEAL}], "Variables": [{"VariableId": KILLS, "Value": 3}]})
    put(world, {"Spells": [{"Slot": 1, "SpellId": ZERO_GUID}]})
    assert world.call("DELETE", f"{LINK}/{ANN.id}", by="Server").status == 200
    deletion = next(row.seq for row in reversed(world.ledger()) if row.kind == "player_deleted")
    assert world.post(f"/api/keeper/v1/changes/{deletion}/undo").status == 200
    assert errors(world) == []


def test_only_untrimmed_changes_are_compared(world: World) -> None:
    """The doctor compares only untrimmed changes: among trimmed ones, a deleted change may have been newer."""
    give(world, "Bob", 5)
    put(world, {"Items": [{"Slot": 0}]})
    put(world, {"Exp": 77})
    world.sql("DELETE FROM ledger WHERE kind = 'items_set'")
    set_trimmed(world)
    assert errors(world) == []
    give(world, "Bob", 3)
    assert errors(world) == []
    world.sql("UPDATE slots SET quantity = 4 WHERE player_id = $1", BOB.id)
    assert [check for check, _ in errors(world)] == ["slots"]


# --- doctor's checks of accounts -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "check", "said"),
    [
        ("fold = 'somebody'", "names", "the folded name differs"),
        ("email_fold = 'x@y.test'", "names", "the folded email differs"),
        ("ban = NOT ban, kick = NOT kick", "powers", "ban, kick differ from the audit log"),
        ("api = NOT api", "powers", "api differ from the audit log"),
    ],
)
def test_account_changed_by_sql_is_found(world: World, change: str, check: str, said: str) -> None:
    world.sql(f"UPDATE users SET {change} WHERE name = 'Ann'")  # noqa: S608 - the test's own values
    [(found, message)] = errors(world)
    assert found == check
    assert f"Account Ann ({people.USER_IDS['Ann']}): " in message
    assert said in message


def test_powers_changed_by_gamekeeper_leave_no_finding(world: World) -> None:
    powers = f"/api/keeper/v1/users/{people.USER_IDS['Ann']}/powers"
    assert world.post(powers, {"ban": True, "api": True}).status == 200
    assert world.post(powers, {"ban": False}).status == 200
    assert errors(world) == []


def test_duplicate_name_from_an_import_leaves_no_finding(world: World) -> None:
    ann = people.USER_IDS["Ann"]
    world.sql(
        "UPDATE users SET fold = $1, email_fold = $2 WHERE id = $3",
        make_clashing_fold("Ann", ann),
        make_clashing_fold("", ann),
        ann,
    )
    assert errors(world) == []
