"""Operations 6 to 9 of docs/operations.md: the variables of a player."""

import pytest

import game_server
import people
from expectations import everything, refused
from gamekeeper.game.lookup import ZERO_GUID
from people import KILLS, TUTORIAL, UNSET, UNSET_FLAG
from world import Answer, World

ANN, BOB = "/api/v1/players/Ann/variables", "/api/v1/players/Bob/variables"
STRANGE = people.guid(0xABC)  # a variable id that the catalogue does not have
LARGEST, SMALLEST = 2**63 - 1, -(2**63)


def assign(world: World, variable_id: str, value: object) -> Answer:
    return world.post(f"{ANN}/{variable_id}", {"value": value})


def test_variables_that_were_ever_set_are_listed(shared_world: World) -> None:
    answer = shared_world.get(ANN)
    assert answer.status == 200
    assert answer.json == [{"VariableId": KILLS.id, "Value": 7}, {"VariableId": TUTORIAL.id, "Value": True}]
    assert list(answer.json[0]) == ["VariableId", "Value"]
    assert shared_world.get(BOB).json == []


@pytest.mark.parametrize(
    ("variable_id", "value"),
    [(KILLS.id, 7), (TUTORIAL.id, True), (UNSET.id, 0), (UNSET_FLAG.id, False)],
    ids=["integer", "boolean", "integer never set", "boolean never set"],
)
def test_variable_and_its_value_are_read(shared_world: World, variable_id: str, value: object) -> None:
    for spelling in (variable_id, variable_id.replace("-", "").upper()):
        one = shared_world.get(f"{ANN}/{spelling}")
        assert list(one.json.items()) == [("VariableId", variable_id), ("Value", value)]
        assert type(one.json["Value"]) is type(value)
        bare = shared_world.get(f"{ANN}/{spelling}/value")
        assert bare.json == {"value": value}
        assert type(bare.json["value"]) is type(value)
    assert len(shared_world.get(ANN).json) == 2


@pytest.mark.parametrize(
    ("variable_id", "sent", "value"),
    [
        (KILLS.id, 8, 8),
        (KILLS.id, 0, 0),
        (KILLS.id, -1, -1),
        (KILLS.id, "12", 12),
        (KILLS.id, LARGEST, LARGEST),
        (KILLS.id, SMALLEST, SMALLEST),
        (KILLS.id, str(SMALLEST), SMALLEST),
        (UNSET.id, 1, 1),
        (TUTORIAL.id, False, False),
        (TUTORIAL.id, "false", False),
        (UNSET_FLAG.id, "True", True),
        (UNSET_FLAG.id, False, False),
    ],
)
def test_written_value_is_the_value_read(world: World, variable_id: str, sent: object, value: object) -> None:
    answer = assign(world, variable_id, sent)
    assert answer.status == 200
    assert list(answer.json.items()) == [("VariableId", variable_id), ("Value", value)]
    assert type(answer.json["Value"]) is type(value)
    assert world.get(f"{ANN}/{variable_id}/value").json == {"value": value}
    assert {"VariableId": variable_id, "Value": value} in world.get(ANN).json


def test_zero_and_false_are_listed_when_set(world: World) -> None:
    assign(world, UNSET.id, 0)
    assign(world, UNSET_FLAG.id, False)
    assert world.get(ANN).json[2:] == [
        {"VariableId": UNSET.id, "Value": 0},
        {"VariableId": UNSET_FLAG.id, "Value": False},
    ]


def test_form_sets_integers_and_booleans(world: World) -> None:
    assert world.call("POST", f"{ANN}/{KILLS.id}", form={"Value": "-5"}).json["Value"] == -5
    assert world.call("POST", f"{ANN}/{TUTORIAL.id}", form={"value": "false"}).json["Value"] is False


@pytest.mark.parametrize(
    ("variable_id", "value", "declared"),
    [
        (KILLS.id, True, "Integer"),
        (UNSET.id, "false", "Integer"),
        (TUTORIAL.id, 1, "Boolean"),
        (UNSET_FLAG.id, "0", "Boolean"),
    ],
)
def test_value_of_the_other_type_is_refused(
    shared_world: World, variable_id: str, value: object, declared: str
) -> None:
    before = everything(shared_world)
    refused(assign(shared_world, variable_id, value), 400, "wrong_variable_type", declared)
    assert everything(shared_world) == before


def test_malformed_value_is_400_and_names_the_field(shared_world: World, subtests: pytest.Subtests) -> None:
    before = everything(shared_world)
    wrong = ("null", "1.0", "1.5", "1e3", '"five"', '""', "[]", "{}", str(LARGEST + 1), str(SMALLEST - 1), "9" * 5000)
    for value in (*wrong, '"1.0"', '" 1"', f'"{LARGEST + 1}"'):
        with subtests.test(value[:25]):
            raw = f'{{"value": {value}}}'.encode()
            answer = shared_world.call(
                "POST", f"{ANN}/{KILLS.id}", raw=raw, headers={"Content-Type": "application/json"}
            )
            refused(answer, 400, "bad_field", "'value'")
    refused(shared_world.post(f"{ANN}/{KILLS.id}"), 400, "missing_field", "'value'")
    refused(shared_world.post(f"{ANN}/{KILLS.id}", {"Valeu": 1}), 400, "missing_field", "'value'")
    assert everything(shared_world) == before


def test_unknown_variable_is_404_and_malformed_id_400(shared_world: World, subtests: pytest.Subtests) -> None:
    before = everything(shared_world)
    for variable_id in (STRANGE, ZERO_GUID, people.COIN.id):
        with subtests.test(variable_id):
            for rest in ("", "/value"):
                refused(shared_world.get(f"{ANN}/{variable_id}{rest}"), 404, "no_such_variable", "Invalid variable id.")
            refused(assign(shared_world, variable_id, 1), 404, "no_such_variable", "Invalid variable id.")
    for variable_id in ("Kills", "1", KILLS.id[:-1]):
        with subtests.test(variable_id):
            for rest in ("", "/value"):
                refused(shared_world.get(f"{ANN}/{variable_id}{rest}"), 400, "bad_field", "'variableId'")
            refused(assign(shared_world, variable_id, 1), 400, "bad_field", "'variableId'")
    assert everything(shared_world) == before


def test_without_a_catalogue_the_first_value_sets_the_type(world: World) -> None:
    world.sql("DELETE FROM variables")
    refused(world.get(f"{ANN}/{STRANGE}"), 404, "no_such_variable")
    assert assign(world, STRANGE, False).json == {"VariableId": STRANGE, "Value": False}
    refused(assign(world, STRANGE, 1), 400, "wrong_variable_type", "Boolean")
    assert assign(world, STRANGE, True).json["Value"] is True
    refused(assign(world, KILLS.id, True), 400, "wrong_variable_type", "Integer")
    refused(assign(world, ZERO_GUID, 1), 404, "no_such_variable")
    assert world.get(f"{ANN}/{STRANGE}/value").json == {"value": True}


@pytest.mark.parametrize("over_link", [False, True], ids=["api", "link"])
def test_redeclared_variable_accepts_values_of_its_new_type(world: World, *, over_link: bool) -> None:
    assign(world, KILLS.id, 1)
    game_server.put_catalogue(world, "variables", [{"Id": KILLS.id, "Name": "Kills", "Type": "Boolean"}])
    if over_link:
        body = {"Variables": [{"VariableId": KILLS.id, "Value": True}]}
        assert game_server.put_player(world, people.ANN.id, body).status == 200
    else:
        assert assign(world, KILLS.id, value=True).status == 200
    assert world.get(f"{ANN}/{KILLS.id}/value").json["value"] is True


def test_variables_need_a_token(shared_world: World, subtests: pytest.Subtests) -> None:
    before = everything(shared_world)
    for path in (ANN, f"{ANN}/{KILLS.id}", f"{ANN}/{KILLS.id}/value"):
        with subtests.test(path):
            refused(shared_world.get(path, by=None), 401, "denied")
    refused(shared_world.post(f"{ANN}/{KILLS.id}", {"value": 1}, by=None), 401, "denied")
    assert everything(shared_world) == before


def test_variables_need_no_role(world: World) -> None:
    for path in (ANN, f"{ANN}/{KILLS.id}", f"{ANN}/{KILLS.id}/value"):
        assert world.get(path, by="Shop").status == 200
    assert world.post(f"{ANN}/{KILLS.id}", {"value": 1}, by="Shop").status == 200


def test_unknown_player_is_404(shared_world: World, subtests: pytest.Subtests) -> None:
    for key, by in (("Nobody", "name"), (people.NOBODY_ID, "id")):
        path = f"/api/v1/players/{key}/variables"
        reads = [shared_world.get(f"{path}{rest}") for rest in ("", f"/{KILLS.id}", f"/{KILLS.id}/value")]
        for answer in (*reads, shared_world.post(f"{path}/{KILLS.id}", {"value": 1})):
            with subtests.test(key):
                refused(answer, 404, "no_such_player", f"No player with {by} '{key}'.")


# --- text and decimals ---------------------------------------------------------------------------------------------


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


def test_text_and_decimal_are_listed_beside_integers_and_booleans(texts: World) -> None:
    found = {KILLS.id: 7, TUTORIAL.id: True, TITLE: 'Z\u00fcri "x"', RATE: 2.5}
    assert texts.get(ANN).json == [{"VariableId": each, "Value": found[each]} for each in sorted(found)]
    assert texts.get(BOB).json == []


@pytest.mark.parametrize(
    ("variable_id", "value"), [(TITLE, 'Z\u00fcri "x"'), (RATE, 2.5), (UNSET_TITLE, ""), (UNSET_RATE, 0)]
)
def test_text_or_decimal_is_read(texts: World, variable_id: str, value: object) -> None:
    assert texts.get(f"{ANN}/{variable_id}").json == {"VariableId": variable_id, "Value": value}
    assert texts.get(f"{ANN}/{variable_id}/value").json == {"value": value}


def test_text_or_decimal_cannot_be_set(texts: World) -> None:
    before = everything(texts)
    for variable_id, kind in ((TITLE, "String"), (RATE, "Number"), (UNSET_RATE, "Number")):
        known = f"The variable '{variable_id}' is of type {kind}, which can only be read"
        message = f"{known}; set one of type Integer or Boolean."
        refused(assign(texts, variable_id, 5), 400, "read_only_variable", message)
        report = {"Variables": [{"VariableId": variable_id, "Value": 5}]}
        refused(game_server.put_player(texts, people.ANN.id, report), 400, "read_only_variable", message)
        refused(assign(texts, variable_id, "text"), 400, "bad_field")
    assert everything(texts) == before


def test_text_without_a_catalogue_cannot_be_replaced_by_a_number(texts: World) -> None:
    texts.sql("DELETE FROM variables")
    refused(assign(texts, TITLE, 5), 400, "read_only_variable")
    assert texts.get(f"{ANN}/{TITLE}/value").json == {"value": 'Z\u00fcri "x"'}


def test_integer_wins_over_a_text_of_the_same_variable(texts: World) -> None:
    """The catalogue declared the variable as a text before, and as an integer now."""
    entry = {"Id": TITLE, "Name": "Title", "Type": "Integer"}
    assert game_server.put_catalogue(texts, "variables", [entry]).status == 200
    texts.sql("INSERT INTO player_variables VALUES ($1, $2, 'Integer', 9)", people.ANN.id, TITLE)
    assert [each["Value"] for each in texts.get(ANN).json if each["VariableId"] == TITLE] == [9]
    assert texts.get(f"{ANN}/{TITLE}/value").json == {"value": 9}


def test_catalogue_gives_back_the_types_of_text_and_decimal(texts: World) -> None:
    listed = texts.get(f"{game_server.LINK}/catalogue/variables?pageSize=100", by="Server").json["Values"]
    kinds = {each["Id"]: each["Type"] for each in listed}
    assert (kinds[TITLE], kinds[RATE], kinds[KILLS.id], kinds[TUTORIAL.id]) == (
        "String",
        "Number",
        "Integer",
        "Boolean",
    )
    objects = texts.get("/api/v1/gameobjects/playervariable?pageSize=100").json["Values"]
    numbers = {each["Id"]: each["Type"] for each in objects}
    assert (numbers[TITLE], numbers[RATE], numbers[KILLS.id], numbers[TUTORIAL.id]) == (3, 4, 2, 1)
