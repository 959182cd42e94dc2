"""Operations 6 to 9 of docs/operations.md: the variables of a player."""

import pytest

import game_server
import people
from expectations import refused, unchanged
from people import KILLS, TUTORIAL, UNSET, UNSET_FLAG
from world import Answer, World

ANN, BOB = "/api/v1/players/Ann/variables", "/api/v1/players/Bob/variables"
LARGEST, SMALLEST = 2**63 - 1, -(2**63)


def assign(world: World, variable_id: str, value: object) -> Answer:
    return world.post(f"{ANN}/{variable_id}", {"value": value})


def test_variables_that_were_ever_set_are_listed_and_each_is_read(shared_world: World) -> None:
    assert shared_world.get(ANN).json == [
        {"VariableId": KILLS.id, "Value": 7},
        {"VariableId": TUTORIAL.id, "Value": True},
    ]
    assert shared_world.get(BOB).json == []
    for variable_id, value in ((KILLS.id, 7), (TUTORIAL.id, True), (UNSET.id, 0), (UNSET_FLAG.id, False)):
        one = shared_world.get(f"{ANN}/{variable_id}")
        assert list(one.json.items()) == [("VariableId", variable_id), ("Value", value)]
        bare = shared_world.get(f"{ANN}/{variable_id}/value")
        assert bare.json == {"value": value}
        assert type(one.json["Value"]) is type(bare.json["value"]) is type(value)


def test_written_value_is_the_value_read(world: World) -> None:
    for variable_id, sent, value in (
        (KILLS.id, 0, 0),
        (KILLS.id, "12", 12),
        (KILLS.id, LARGEST, LARGEST),
        (KILLS.id, str(SMALLEST), SMALLEST),
        (UNSET.id, 0, 0),
        (TUTORIAL.id, False, False),
        (TUTORIAL.id, "false", False),
        (UNSET_FLAG.id, "True", True),
    ):
        answer = assign(world, variable_id, sent).accepted()
        assert list(answer.json.items()) == [("VariableId", variable_id), ("Value", value)]
        assert type(answer.json["Value"]) is type(value)
        assert world.get(f"{ANN}/{variable_id}/value").json == {"value": value}
    unset = [{"VariableId": UNSET.id, "Value": 0}, {"VariableId": UNSET_FLAG.id, "Value": True}]
    assert world.get(ANN).json[2:] == unset  # listed when set, also with the value that an unset one has


def test_value_of_the_other_type_or_malformed_is_refused(shared_world: World) -> None:
    with unchanged(shared_world):
        for variable_id, sent, declared in (
            (KILLS.id, True, "Integer"),
            (UNSET.id, "false", "Integer"),
            (TUTORIAL.id, 1, "Boolean"),
            (UNSET_FLAG.id, "0", "Boolean"),
        ):
            refused(assign(shared_world, variable_id, sent), 400, "wrong_variable_type", declared)
        for value in ("1.5", str(LARGEST + 1), str(SMALLEST - 1), f'"{LARGEST + 1}"'):
            raw, json = f'{{"value": {value}}}'.encode(), {"Content-Type": "application/json"}
            answer = shared_world.call("POST", f"{ANN}/{KILLS.id}", raw=raw, headers=json)
            refused(answer, 400, "bad_field", "'value'")


TITLE, RATE, UNSET_TITLE, UNSET_RATE = (people.guid(0xD00 + number) for number in range(4))


@pytest.fixture
def texts(world: World) -> World:
    """Ann has a text and a decimal from an import."""
    kinds = {TITLE: "String", RATE: "Number", UNSET_TITLE: "String", UNSET_RATE: "Number"}
    entries = [{"Id": each, "Name": f"Variable {each[-1]}", "Type": kind} for each, kind in kinds.items()]
    assert game_server.put_catalogue(world, "variables", entries).status == 200
    for variable_id, kind, value in ((TITLE, "String", '"Z\u00fcri \\"x\\""'), (RATE, "Number", "2.5")):
        world.sql("INSERT INTO player_texts VALUES ($1, $2, $3, $4)", people.ANN.id, variable_id, kind, value)
    return world


def test_text_and_decimal_are_read_beside_integers_and_booleans(texts: World) -> None:
    found = {KILLS.id: 7, TUTORIAL.id: True, TITLE: 'Z\u00fcri "x"', RATE: 2.5}
    assert texts.get(ANN).json == [{"VariableId": each, "Value": found[each]} for each in sorted(found)]
    assert texts.get(BOB).json == []
    for variable_id, value in (*found.items(), (UNSET_TITLE, ""), (UNSET_RATE, 0)):
        assert texts.get(f"{ANN}/{variable_id}").json == {"VariableId": variable_id, "Value": value}
        assert texts.get(f"{ANN}/{variable_id}/value").json == {"value": value}


def test_text_or_decimal_cannot_be_set(texts: World) -> None:
    with unchanged(texts):
        for variable_id, kind in ((TITLE, "String"), (RATE, "Number"), (UNSET_RATE, "Number")):
            report = {"Variables": [{"VariableId": variable_id, "Value": 5}]}
            refused(
                game_server.put_player(texts, people.ANN.id, report),
                400,
                "read_only_variable",
                f"is of type {kind}, which can only be read",
            )
            refused(assign(texts, variable_id, "text"), 400, "bad_field")
