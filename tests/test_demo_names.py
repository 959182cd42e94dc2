"""Names, ids and tables of the demo, without a database."""

import json
import math
import re
import uuid
from collections import Counter

from gamekeeper import settings
from gamekeeper.demo import names, sample_players, sample_sessions, world
from gamekeeper.game import accounts
from gamekeeper.game.calendar_steps import HOUR_MS
from gamekeeper.game.inventory import BANK, INVENTORY


def test_five_million_names_are_unique() -> None:
    assert names.MAX_NAMES >= 5_000_000
    assert math.gcd(names.STRIDE, names.MAX_NAMES) == 1


def test_ids_are_uuids_of_version_5() -> None:
    wanted = uuid.uuid5(uuid.UUID("6f1c0a52-8f0e-5c3b-9a57-2d7e4b1f9c60"), "player:Aldwyn")
    assert names.make_stable_id("player", "Aldwyn") == str(wanted)


def test_names_are_valid_and_unique() -> None:
    loaded = settings.load({})
    named = [name for theirs in world.ACCOUNTS.values() for name in theirs]
    everybody = [*named, *(names.make_numbered_name(number) for number in range(20_000))]
    assert len({name.lower() for name in everybody}) == len(everybody)
    foreign = {world.CYRILLIC_NAME, world.ACCENTED_NAME}  # valid where the pattern allows letters of all languages
    anywhere = settings.load({"GAMEKEEPER_NAME_PATTERN": r"[^\W_]{2,20}"})
    for name in [*everybody, *world.ACCOUNTS, world.API_ACCOUNT]:
        assert accounts.require_name(name, "Name", anywhere if name in foreign else loaded) == name


def test_named_and_numbered_names_never_clash() -> None:
    numbered = re.compile("([bdghjlmnprstvwyz][aeiou]){4}", re.IGNORECASE)
    assert numbered.fullmatch(names.make_numbered_name(4711))
    everybody = [*world.ACCOUNTS, *(name for theirs in world.ACCOUNTS.values() for name in theirs)]
    assert [name for name in everybody if numbered.fullmatch(name)] == []


def test_passwords_are_random_and_easy_to_type() -> None:
    made = {names.generate_password() for _ in range(100)}
    assert len(made) == 100
    assert all(re.fullmatch(r"[a-z]{4}-[a-z]{4}-[a-z]{4}", password) for password in made)


def test_demo_has_data_of_every_kind() -> None:
    everybody = sample_players.build_named_players()
    belongings = {player.name: theirs for player, theirs in everybody}
    assert len(everybody) == 48
    assert {player.class_id for player, _ in everybody} == {each.id for each in world.CLASS_NAMES}
    assert {len(theirs) for theirs in world.ACCOUNTS.values()} == {1, 2, 3}
    assert sum(1 for theirs in belongings.values() if any(stack.bag_id for stack in theirs.slots.values())) >= 8
    types = {type(value) for theirs in belongings.values() for value in theirs.variables.values()}
    assert types == {int, bool}
    assert len({spell for theirs in belongings.values() for spell in theirs.spells.values()}) >= 8
    busiest = belongings[world.BUSIEST]
    assert any(place in busiest.bags and stack.bag_id for (place, _), stack in busiest.slots.items())
    fullest = Counter(place for place, _ in belongings[world.FULLEST].slots)
    assert fullest == {INVENTORY: 35, BANK: 100}
    assert belongings[world.NEWCOMER].slots == {}


def test_demo_players_are_valid() -> None:
    items = {item.id: item for item in (*world.STACKS, *world.PIECES)}
    assert all("ItemType" in (item.details or "") for item in items.values())
    for player, theirs in sample_players.build_named_players() + sample_players.build_numbered_players(range(500)):
        assert all(0 <= vital <= most for vital, most in zip(player.vitals, player.max_vitals, strict=True))
        assert 0 <= player.exp < player.experience_to_next_level == 50 * player.level**2
        for place, slot in enumerate(player.equipment):
            if slot != -1:  # the console offers the place that the catalogue names
                worn = json.loads(items[theirs.slots[INVENTORY, slot].item_id].details or "{}")
                assert (worn["ItemType"], worn["EquipmentSlot"]) == (1, place)
        for (place, slot), stack in theirs.slots.items():
            item = items[stack.item_id]
            assert stack.quantity <= (item.max_stack or 1_000_000 if item.stackable else 1)
            assert slot < {INVENTORY: 35, BANK: 100, **theirs.bags}[place]
            assert bool(item.bag_slots) == (stack.bag_id in theirs.bags)


def test_sessions_of_the_demo_are_the_same_within_an_hour_and_never_overlap() -> None:
    hour = 1_790_000_000_000 // HOUR_MS * HOUR_MS
    sessions = sample_sessions.build_sessions(hour)
    assert sessions == sample_sessions.build_sessions(hour + HOUR_MS - 1)
    by_player: dict[str, int] = {}
    for each in sessions:
        assert by_player.get(each.player_id, 0) < each.started_at
        assert each.ended_at is not None
        assert each.started_at < each.ended_at <= hour
        by_player[each.player_id] = each.ended_at
