"""Operations 16 to 18 of docs/operations.md: the spells of a player."""

from collections.abc import Callable

import pytest

import game_server
import people
from expectations import everything, refused
from gamekeeper.game.lookup import ZERO_GUID
from people import FIREBALL, HEAL
from world import World

ANN, BOB = "/api/v1/players/Ann/spells", "/api/v1/players/Bob/spells"
STRANGE = people.guid(0xABC)  # a spell id that the catalogue does not have
WRITES = (f"{ANN}/teach", f"{ANN}/forget")


def test_only_known_spells_are_listed_with_their_slots(world: World) -> None:
    game_server.put_player(world, people.ANN.id, {"Spells": [{"Slot": 7, "SpellId": HEAL.id}]})
    answer = world.get(ANN)
    assert answer.status == 200
    assert answer.json == [{"Slot": 0, "SpellId": FIREBALL.id}, {"Slot": 7, "SpellId": HEAL.id}]
    assert list(answer.json[0]) == ["Slot", "SpellId"]
    assert world.get(BOB).json == []


def test_teach_uses_the_first_free_slot(world: World) -> None:
    answer = world.post(f"{ANN}/teach", {"spellid": HEAL.id})
    assert (answer.status, answer.json) == (200, {"SpellId": HEAL.id})
    assert world.get(ANN).json == [{"Slot": 0, "SpellId": FIREBALL.id}, {"Slot": 1, "SpellId": HEAL.id}]


def test_forgotten_slot_becomes_free(world: World) -> None:
    world.post(f"{ANN}/teach", {"spellid": HEAL.id})
    answer = world.post(f"{ANN}/forget", {"spellid": FIREBALL.id})
    assert (answer.status, answer.json) == (200, {"SpellId": FIREBALL.id})
    assert world.get(ANN).json == [{"Slot": 1, "SpellId": HEAL.id}]
    world.post(f"{ANN}/teach", {"spellid": FIREBALL.id})
    assert world.get(ANN).json == [{"Slot": 0, "SpellId": FIREBALL.id}, {"Slot": 1, "SpellId": HEAL.id}]


def test_refused_teach_or_forget_changes_nothing(shared_world: World) -> None:
    before = everything(shared_world)
    refused(shared_world.post(f"{ANN}/teach", {"spellid": FIREBALL.id}), 409, "spell_already_known")
    refused(shared_world.post(f"{ANN}/forget", {"spellid": HEAL.id}), 409, "spell_not_known")
    refused(shared_world.post(f"{BOB}/forget", {"spellid": FIREBALL.id}), 409, "spell_not_known")
    assert everything(shared_world) == before


def test_number_of_spell_slots_is_a_setting(make_world: Callable[..., World]) -> None:
    world = make_world(spell_slots=1)
    refused(world.post(f"{ANN}/teach", {"spellid": HEAL.id}), 409, "no_free_spell_slot", "all 1 spell slots")
    refused(world.post(f"{ANN}/teach", {"spellid": FIREBALL.id}), 409, "spell_already_known")
    assert world.post(f"{BOB}/teach", {"spellid": HEAL.id}).status == 200


def test_spell_slots_are_thirty_five_by_default(world: World) -> None:
    world.sql("DELETE FROM spells")
    for number in range(35):
        assert world.post(f"{BOB}/teach", {"spellid": people.guid(0x900 + number)}).status == 200
    refused(world.post(f"{BOB}/teach", {"spellid": HEAL.id}), 409, "no_free_spell_slot")
    assert [known["Slot"] for known in world.get(BOB).json] == list(range(35))


def test_without_a_catalogue_any_guid_is_a_spell(world: World) -> None:
    world.sql("DELETE FROM spells")
    assert world.post(f"{BOB}/teach", {"spellid": STRANGE}).json == {"SpellId": STRANGE}
    assert world.post(f"{BOB}/forget", {"spellid": STRANGE}).json == {"SpellId": STRANGE}
    refused(world.post(f"{BOB}/teach", {"spellid": ZERO_GUID}), 404, "no_such_spell")


def test_spells_need_a_token(shared_world: World, subtests: pytest.Subtests) -> None:
    before = everything(shared_world)
    refused(shared_world.get(ANN, by=None), 401, "denied")
    for path in WRITES:
        with subtests.test(path):
            refused(shared_world.post(path, {"spellid": HEAL.id}, by=None), 401, "denied")
    assert everything(shared_world) == before


def test_spells_need_no_role(world: World) -> None:
    assert world.get(ANN, by="Shop").status == 200
    assert world.post(f"{ANN}/teach", {"spellid": HEAL.id}, by="Shop").status == 200
    assert world.post(f"{ANN}/forget", {"spellid": HEAL.id}, by="Shop").status == 200


def test_unknown_player_is_404(shared_world: World, subtests: pytest.Subtests) -> None:
    for key, by in (("Nobody", "name"), (people.NOBODY_ID, "id")):
        path = f"/api/v1/players/{key}/spells"
        bodies = [shared_world.post(f"{path}/{verb}", {"spellid": HEAL.id}) for verb in ("teach", "forget")]
        for answer in (shared_world.get(path), *bodies):
            with subtests.test(key):
                refused(answer, 404, "no_such_player", f"No player with {by} '{key}'.")


@pytest.mark.parametrize("path", WRITES)
def test_unknown_spell_is_404(shared_world: World, path: str, subtests: pytest.Subtests) -> None:
    before = everything(shared_world)
    for spell in (STRANGE, ZERO_GUID, people.COIN.id):
        with subtests.test(spell):
            refused(shared_world.post(path, {"spellid": spell}), 404, "no_such_spell", "Invalid spell id.")
    assert everything(shared_world) == before


@pytest.mark.parametrize("path", WRITES)
def test_malformed_body_is_400_and_names_the_field(shared_world: World, path: str, subtests: pytest.Subtests) -> None:
    before = everything(shared_world)
    wrong: list[object] = [None, 1, True, "", "Heal", HEAL.id[:-1], HEAL.id + "0", [], {}, [HEAL.id]]
    for value in wrong:
        with subtests.test(repr(value)):
            refused(shared_world.post(path, {"spellid": value}), 400, "bad_field", "'spellid'")
    refused(shared_world.post(path, {}), 400, "missing_field", "'spellid'")
    refused(shared_world.post(path), 400, "missing_field", "'spellid'")
    refused(shared_world.post(path, [1]), 400, "malformed_body")
    assert everything(shared_world) == before


def test_spell_id_is_accepted_in_any_case_and_form(world: World) -> None:
    spelt = f"{{{HEAL.id.upper()}}}"
    assert world.post(f"{ANN}/teach", {"SpellId": spelt}).json == {"SpellId": HEAL.id}
    assert world.call("POST", f"{ANN}/forget", form={"spellID": HEAL.id}).json == {"SpellId": HEAL.id}
