"""Operations 16 to 18 of docs/operations.md: the spells of a player."""

import game_server
import people
from expectations import refused, unchanged
from gamekeeper.game.core.lookup import ZERO_GUID
from people import FIREBALL, HEAL
from world import MakeWorld, World

ANN, BOB = "/api/v1/players/Ann/spells", "/api/v1/players/Bob/spells"
STRANGE = people.guid(0xABC)  # a spell id that the catalogue does not have


def test_teach_uses_the_first_free_slot_and_forget_frees_it(world: World) -> None:
    answer = world.post(f"{ANN}/teach", {"SpellId": f"{{{HEAL.id.upper()}}}"})
    assert (answer.status, answer.json) == (200, {"SpellId": HEAL.id})
    both = [{"Slot": 0, "SpellId": FIREBALL.id}, {"Slot": 1, "SpellId": HEAL.id}]
    assert world.get(ANN).json == both
    answer = world.call("POST", f"{ANN}/forget", form={"spellID": FIREBALL.id})
    assert (answer.status, answer.json) == (200, {"SpellId": FIREBALL.id})
    assert world.get(ANN).json == both[1:]
    world.post(f"{ANN}/teach", {"spellid": FIREBALL.id})
    assert world.get(ANN).json == both
    game_server.put_player(
        world, people.ANN.id, {"Spells": [{"Slot": 1, "SpellId": ZERO_GUID}, {"Slot": 7, "SpellId": HEAL.id}]}
    )
    assert world.get(ANN).json == [{"Slot": 0, "SpellId": FIREBALL.id}, {"Slot": 7, "SpellId": HEAL.id}]
    assert list(world.get(ANN).json[0]) == ["Slot", "SpellId"]
    assert world.get(BOB).json == []


def test_refused_teach_or_forget_changes_nothing(shared_world: World) -> None:
    with unchanged(shared_world):
        refused(shared_world.post(f"{ANN}/teach", {"spellid": FIREBALL.id}), 409, "spell_already_known")
        refused(shared_world.post(f"{ANN}/forget", {"spellid": HEAL.id}), 409, "spell_not_known")
        for path in (f"{ANN}/teach", f"{ANN}/forget"):
            for spell in (STRANGE, ZERO_GUID, people.COIN.id):
                refused(shared_world.post(path, {"spellid": spell}), 404, "no_such_spell", "Invalid spell id.")


def test_without_a_catalogue_any_guid_is_a_spell_until_all_slots_are_taken(make_world: MakeWorld) -> None:
    world = make_world(spell_slots=2)
    world.sql("DELETE FROM spells")
    for number in range(2):
        assert world.post(f"{BOB}/teach", {"spellid": people.guid(0x900 + number)}).status == 200
    refused(world.post(f"{BOB}/teach", {"spellid": HEAL.id}), 409, "no_free_spell_slot", "all 2 spell slots")
    refused(world.post(f"{BOB}/teach", {"spellid": ZERO_GUID}), 404, "no_such_spell")
    assert world.post(f"{BOB}/forget", {"spellid": people.guid(0x900)}).json == {"SpellId": people.guid(0x900)}
