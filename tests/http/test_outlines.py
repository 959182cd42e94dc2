"""Outlines of created and deleted players: the same facts as the whole change has."""

import json
from typing import Any, cast

import msgspec

import people
from gamekeeper.game.effects import PlayerCreated
from gamekeeper.game.players import Player
from gamekeeper.http import codec
from gamekeeper.http.outlines import PlayerOutline, has_same_record, outline_player
from gamekeeper.http.wire.players import PLAYER_ATTRIBUTES, PlayerDocument


def encode_creation(player: Player = people.ANN) -> str:
    _, after = PlayerCreated(player, people.ANNS_BELONGINGS).sides()
    assert after
    return codec.encode_side(after)


def add(side: str, **fields: object) -> str:
    return json.dumps({**json.loads(side), **fields}, separators=(",", ":"))


def list_facts(outline: PlayerOutline) -> tuple[object, ...]:
    return outline.name, outline.level, outline.class_id, outline.stacks, outline.spells, outline.variables


def test_outline_counts_what_the_player_has_and_finds_newer_fields() -> None:
    for side in [encode_creation(), encode_creation().encode()]:
        outline = outline_player(side)
        assert list_facts(outline) == ("Ann", 12, people.WARRIOR.id, 6, 1, 2)
        assert outline.unknown == {}
    outline = outline_player(add(encode_creation(), Pets=[{"Id": 1}], Mood="good"))
    assert list_facts(outline) == list_facts(outline_player(encode_creation()))
    assert outline.unknown == {"Pets": msgspec.Raw(b'[{"Id":1}]'), "Mood": msgspec.Raw(b'"good"')}
    assert not has_same_record(outline, codec.encode_player(people.ANN))
    fields = {name: value for name, value in json.loads(encode_creation()).items() if name != "Name"}
    assert list_facts(outline_player(json.dumps(fields))) == ("", 12, people.WARRIOR.id, 6, 1, 2)


def test_same_or_changed_record_is_recognized() -> None:
    assert has_same_record(outline_player(encode_creation()), codec.encode_player(people.ANN))
    seen = msgspec.structs.replace(people.ANN, last_online=5)
    assert has_same_record(outline_player(encode_creation()), codec.encode_player(seen))
    document = add(codec.encode_player(people.ANN).decode(), Mood="good").encode()
    assert not has_same_record(outline_player(encode_creation()), document)
    for field in PlayerDocument.__struct_fields__:
        name = PLAYER_ATTRIBUTES[field]
        value: Any = getattr(people.ANN, name)
        other: object = not value
        if isinstance(value, int) and not isinstance(value, bool):
            other = value + 1
        elif not isinstance(value, bool):
            other = f"{value}9" if isinstance(value, str) else (*cast("tuple[int, ...]", value)[1:], 9)
        changed = msgspec.structs.replace(people.ANN, **{name: other})
        assert not has_same_record(outline_player(encode_creation()), codec.encode_player(changed))
