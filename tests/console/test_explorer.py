"""Every operation of the API as a form, and what comes of it."""

import json
import subprocess
from collections.abc import Callable

import pytest
from keepers import Keeper, break_off
from markup import Page

import people
from gamekeeper.console import explorer, operations
from gamekeeper.game.passwords import wire_form
from gamekeeper.game.refusals import IdempotencyInProgress
from gamekeeper.http.routes import ROUTES
from gamekeeper.store.engine import Undecided
from proof import reset_code
from world import Answer, World

EXPLORER, RUN = "/console/explorer", "/console/explorer/run"
GIVE = "POST /api/v1/players/[lookupKey]/items/give"
SHOW = "GET /api/v1/players/[lookupKey]"
MANAGE = "POST /api/v1/users/[lookupKey]/manage/password/change"
CHANGE = "POST /api/v1/users/[lookupKey]/password/change"
REGISTER = "POST /api/v1/users/register"
VALIDATE = "POST /api/v1/users/[lookupKey]/password/validate"
LOG_IN = "POST /api/oauth/token"
COINS = {"path.lookupKey": "Ann", "body.itemid": people.COIN.id, "body.quantity": "5"}


def run(keeper: Keeper, operation: str, **fields: str) -> Page:
    answer = keeper.post(RUN, {"operation": operation, **fields})
    assert answer.status == 200, answer.raw
    return Page(answer.raw.decode())


def confirm(keeper: Keeper, tried: Page, **fields: str) -> Answer:
    return keeper.post(RUN, {**tried.form(RUN, "Do it").fields, **fields})


def curl(page: Page) -> str:
    """The line that is there to copy."""
    return page.text[page.text.index("curl ") :].partition(" Copy")[0]


def form_of(page: Page, operation: str) -> set[str]:
    return next(set(form.fields) for form in page.forms if form.fields.get("operation") == operation)


def buttons_of(page: Page, operation: str) -> list[str]:
    return next(form.buttons for form in page.forms if form.fields.get("operation") == operation)


def test_every_operation_is_there_with_all_it_takes(root: Keeper) -> None:
    page = root.page(EXPLORER)
    assert sorted(form.fields["operation"] for form in page.forms if form.action == RUN) == sorted(
        f"{route.method} {route.path}" for route in ROUTES
    )
    always = {"csrf", "operation", "back"}
    assert form_of(page, GIVE) - always == {"path.lookupKey", "body.itemid", "body.quantity", "body.bankoverflow"}
    ranked = {"query.page", "query.pageSize", "query.limit", "query.sortDirection"}
    assert form_of(page, "GET /api/v1/players/rank") - always == ranked
    assert form_of(page, LOG_IN) - always == {
        "body.grant_type",
        "body.username",
        "body.password",
        "body.refresh_token",
        "body.scope",
    }


def test_secrets_are_typed_unseen(root: Keeper) -> None:
    hidden = {
        each["name"] for tag, each in root.page(EXPLORER).tags if tag == "input" and each.get("type") == "password"
    }
    assert hidden == {
        "body.password",
        "body.new",
        "body.authorization",
        "body.code",
        "body.refresh_token",
        "path.tokenId",
    }


def test_operations_can_be_narrowed_down(root: Keeper) -> None:
    page = root.page(f"{EXPLORER}?q=items+GIVE")
    assert [form.fields["operation"] for form in page.forms if form.action == RUN] == [GIVE]
    assert "No operation has this" in root.page(f"{EXPLORER}?q=nothinglikethis").text


def test_what_one_may_not_is_marked_and_not_run(root: Keeper, keeper: Callable[[str], Keeper]) -> None:
    shop, show = keeper("Shop"), "Show the curl line"
    page = shop.page(EXPLORER)
    assert buttons_of(page, MANAGE) == [show]
    assert buttons_of(page, LOG_IN) == [show]
    assert buttons_of(page, GIVE) == ["Try it", show]
    assert buttons_of(root.page(EXPLORER), MANAGE) == ["Try it", show]
    assert "You need users.manage and users.query for this." in page.text
    said = run(shop, MANAGE, **{"path.lookupKey": "Bob", "body.new": "abc"})
    assert "403" in said.text
    assert '"Code": "role_missing"' in said.text
    assert root.post(RUN, {"operation": LOG_IN, "body.grant_type": "password"}).status == 404


def test_a_read_is_run_at_once(root: Keeper) -> None:
    page = run(root, SHOW, **{"path.lookupKey": "ann"})
    assert '"Level": 12' in page.text
    assert page.text.count(" ms") == 1
    assert "200" in page.text
    assert "Do it" not in page.text


def test_a_query_is_sent(root: Keeper) -> None:
    page = run(root, "GET /api/v1/players", **{"query.pageSize": "1", "query.sortDirection": "Descending"})
    assert '"PageSize": 1' in page.text
    assert "'?" not in curl(page)
    assert "/api/v1/players?pageSize=1&sortDirection=Descending'" in curl(page)


def test_a_refusal_is_an_answer(root: Keeper) -> None:
    page = run(root, SHOW, **{"path.lookupKey": "<b>Nobody</b>"})
    assert "404" in page.text
    assert "No player with name '<b>Nobody</b>'." in page.text
    assert "<b>Nobody" not in page.html


def test_what_is_needed_is_asked_for(root: Keeper) -> None:
    answer = root.post(RUN, {"operation": SHOW})
    assert answer.status == 400
    assert "lookupKey" in Page(answer.raw.decode()).text
    assert "quantity" in run(root, GIVE, **{"path.lookupKey": "Ann", "body.itemid": people.COIN.id}).text


def test_a_write_is_tried_and_done_when_it_is_confirmed(world: World, root: Keeper) -> None:
    before = world.ledger()
    tried = run(root, GIVE, **COINS)
    assert "Only tried: nothing is changed." in tried.text
    assert "255" in tried.text
    assert "dryRun=true" in curl(tried)
    assert world.ledger() == before
    assert confirm(root, tried, reason=" ").status == 400
    done = confirm(root, tried, reason="it's a gift")
    page = Page(done.raw.decode())
    [row] = world.ledger()[len(before) :]
    assert row.reason == "it's a gift"
    assert page.links["What changed"] == f"/console/done/{row.request_id}"
    assert "dryRun" not in curl(page)


def test_a_write_of_which_the_ledger_keeps_nothing_says_so(world: World, root: Keeper) -> None:
    fields, before = {"path.server": "east", "body.Lease": "60"}, world.ledger()
    tried = run(root, "PUT /api/link/v1/servers/[server]", **fields)
    said = "Done. The ledger keeps no line of this, so there is no undo."
    assert said not in tried.text
    assert "The ledger keeps no line of this: no reason is asked for." in tried.text
    assert "reason" not in tried.form(RUN, "Do it").fields
    assert said in Page(confirm(root, tried).raw.decode()).text
    assert said not in Page(confirm(root, tried).raw.decode()).text
    assert world.ledger() == before
    assert said not in run(root, SHOW, **{"path.lookupKey": "ann"}).text


def test_a_reason_that_the_player_is_told_is_not_typed_twice(root: Keeper) -> None:
    fields = {"path.lookupKey": "Ann", "body.reason": "gold"}
    tried = run(root, "POST /api/v1/users/[lookupKey]/admin/ban", **fields)
    assert tried.form(RUN, "Do it").fields["reason"] == "gold"


def test_what_is_sent_twice_is_done_once(world: World, root: Keeper) -> None:
    tried = run(root, GIVE, **COINS)
    assert confirm(root, tried, reason="a gift").status == 200
    before = world.ledger()
    page = Page(confirm(root, tried, reason="a gift").raw.decode())
    again = page.text
    assert "200" in again
    assert "It was done already" in again
    assert page.links["What you did"] == f"/console/changes?actor={people.USER_IDS['Root']}"
    assert "Only tried" not in again
    assert world.ledger() == before


def test_what_changed_meanwhile_is_shown_again(world: World, root: Keeper) -> None:
    tried = run(root, GIVE, **COINS)
    world.post("/api/v1/players/Ann/items/give", {"itemid": people.COIN.id, "quantity": 100})
    before = world.ledger()
    again = Page(confirm(root, tried, reason="a gift").raw.decode())
    assert world.ledger() == before
    assert "This is what would happen now:" in again.text
    assert "355" in again.text
    confirm(root, again, reason="a gift")
    assert len(world.ledger()) == len(before) + 1


@pytest.mark.parametrize("missing", ["key", "seen"])
def test_a_confirmation_without_what_was_looked_at_is_refused(world: World, root: Keeper, missing: str) -> None:
    tried, before = run(root, GIVE, **COINS), world.ledger()
    assert confirm(root, tried, reason="a gift", **{missing: ""}).status == 400
    assert world.ledger() == before


@pytest.mark.parametrize(("failure", "status"), [(Undecided("gone"), 503), (IdempotencyInProgress(), 200)])
def test_what_may_have_been_done_can_be_sent_again(
    world: World, root: Keeper, monkeypatch: pytest.MonkeyPatch, failure: Exception, status: int
) -> None:
    tried, before = run(root, GIVE, **COINS), len(world.ledger())
    break_off(monkeypatch, world, failure)
    answer = confirm(root, tried, reason="a gift")
    monkeypatch.undo()
    unsure = Page(answer.raw.decode())
    assert answer.status == status
    assert "It is not known whether it was done; send it again: it is never done twice." in unsure.text
    assert unsure.form(RUN, "Do it").fields == {**tried.form(RUN, "Do it").fields, "reason": "a gift"}
    assert "It was done already" in Page(confirm(root, unsure).raw.decode()).text
    assert len(world.ledger()) == before + 1


@pytest.mark.parametrize("typed", ["s3cret-token", 'a "quoted" one', "<b>x</b>"])
def test_an_answer_that_quotes_a_secret_does_not_show_it(root: Keeper, typed: str) -> None:
    fields = {"path.username": "Bob", "path.tokenId": typed}
    page = run(root, "DELETE /api/oauth/tokens/[username]/[tokenId]", **fields)
    assert "no_such_token" in page.text
    assert "…" in page.text
    assert typed not in page.text
    assert json.dumps(typed)[1:-1] not in page.text


def test_reset_code_is_masked(world: World, root: Keeper) -> None:
    code = reset_code(world, "Ann")
    page = run(root, "GET /api/v1/users/[lookupKey]", **{"path.lookupKey": "Ann"})
    assert '"PasswordResetCode": "…"' in page.text
    assert code not in page.text


def test_refused_password_leaves_no_gaps_in_the_answer(root: Keeper) -> None:
    """A password that is one of our own words would be told by the gaps."""
    page = run(root, MANAGE, **{"path.lookupKey": "Ann", "body.new": "password"})
    assert '{ "Message": "The password has 8 characters;' in page.text
    assert '"Code": "unusable_password"' in page.text


def test_a_form_from_elsewhere_is_refused(world: World, root: Keeper) -> None:
    before = world.ledger()
    tried = run(root, GIVE, **COINS).form(RUN, "Do it").fields
    assert root.post(RUN, {**tried, "reason": "forged", "csrf": "0" * 64}).status == 403
    assert root.post(RUN, {**tried, "reason": "forged"}, headers={"sec-fetch-site": "cross-site"}).status == 403
    assert world.ledger() == before


def test_an_operation_that_is_not_there(root: Keeper) -> None:
    assert root.post(RUN, {"operation": "GET /console"}).status == 404
    assert root.post(RUN).status == 404


def test_passwords_are_never_shown_again(world: World, root: Keeper) -> None:
    fields = {"path.lookupKey": "Bob", "body.new": "tr0ub4dor&3"}
    tried = run(root, MANAGE, **fields)
    hidden = ("tr0ub4dor&3", wire_form("tr0ub4dor&3"))
    assert not any(each in tried.html for each in hidden)
    assert tried.form(RUN, "Do it").fields["body.new"] == ""
    assert '"new":"\'"$NEW_SHA256"\'"' in curl(tried)
    done = confirm(root, tried, reason="forgotten", **{"body.new": "tr0ub4dor&3"})
    assert not any(each.encode() in done.raw for each in hidden)
    checked = world.post("/api/v1/users/Bob/password/validate", {"password": wire_form("tr0ub4dor&3")})
    assert checked.status == 200


def test_weak_password_is_refused_before_anything_is_tried(world: World, root: Keeper) -> None:
    before = world.ledger()
    for operation, field in ((REGISTER, "body.password"), (MANAGE, "body.new"), (CHANGE, "body.new")):
        fields = {"path.lookupKey": "Bob", "body.username": "Newbie", "body.email": "newbie@example.test"}
        proof = {"body.authorization": people.PASSWORD}
        for weak, problem in (("tiny", "it needs at least 10"), ("Password123", "easy to guess")):
            page = run(root, operation, **fields, **proof, **{field: weak})
            assert problem in page.text, operation
            assert not [form for form in page.forms if "Do it" in form.buttons]
    assert world.ledger() == before


def test_new_password_that_is_typed_differently_to_confirm_is_refused(world: World, root: Keeper) -> None:
    tried = run(root, MANAGE, **{"path.lookupKey": "Bob", "body.new": "moss and lanterns"})
    before = world.ledger()
    other = Page(confirm(root, tried, reason="forgotten", **{"body.new": "moss and lantern"}).raw.decode())
    assert "The two new passwords are not the same." in other.text
    assert world.ledger() == before


def test_checked_password_keeps_no_rule_for_new_ones(root: Keeper) -> None:
    """It is as old as it is."""
    page = run(root, VALIDATE, **{"path.lookupKey": "Bob", "body.password": "tiny"})
    assert "Invalid credentials." in page.text


def test_password_rule_tells_nobody_which_accounts_exist(keeper: Callable[[str], Keeper]) -> None:
    shop = keeper("Shop")
    for key in ("Bob", "Nobody"):
        assert "403" in run(shop, MANAGE, **{"path.lookupKey": key, "body.new": "tiny"}).text


def test_registration_is_confirmed_as_it_was_previewed(world: World, root: Keeper) -> None:
    fields = {"body.username": "Newbie", "body.email": "newbie@example.test", "body.password": "moss and lanterns"}
    tried = run(root, REGISTER, **fields)
    assert "Only tried: nothing is changed." in tried.text
    before = len(world.ledger())
    done = confirm(root, tried, reason="asked at the desk", **{"body.password": "moss and lanterns"})
    assert "Done." in Page(done.raw.decode()).text
    assert [row.kind for row in world.ledger()[before:]] == ["user_registered"]
    sent = {"password": wire_form("moss and lanterns")}
    assert world.post("/api/v1/users/Newbie/password/validate", sent).status == 200


def test_registration_of_a_name_taken_meanwhile_is_refused(world: World, root: Keeper) -> None:
    fields = {"body.username": "Newbie", "body.email": "newbie@example.test", "body.password": "moss and lanterns"}
    tried = run(root, REGISTER, **fields)
    other = {"username": "Newbie", "email": "other@example.test", "password": wire_form("another one of theirs")}
    assert world.post("/api/v1/users/register", other).status == 200
    late = confirm(root, tried, reason="asked at the desk", **{"body.password": "moss and lanterns"})
    assert "Account already exists" in Page(late.raw.decode()).text
    assert world.get("/api/v1/users/Newbie").json["Email"] == "other@example.test"


def words(line: str) -> list[str]:
    """What a shell makes of the line, with a variable for every secret."""
    given = {"TOKEN": "gka_t", "NEW_SHA256": "n", "AUTHORIZATION_SHA256": "a", "PASSWORD_SHA256": "p"}
    printing = line.replace("curl", "printf '%s\\n'", 1)
    ran = subprocess.run(["/bin/sh", "-c", printing], env=given, capture_output=True, text=True, check=True)
    return ran.stdout.splitlines()


def test_the_line_means_the_same_to_a_shell(root: Keeper) -> None:
    fields = {"path.lookupKey": "B'ob $HOME", "body.new": "x$(id)", "body.authorization": "`id`", "line": "yes"}
    page = run(root, CHANGE, **fields)
    assert " ms " not in page.text
    found = words(curl(page))
    assert found[:3] == ["-X", "POST", "http://localhost/api/v1/users/B%27ob%20%24HOME/password/change"]
    assert "Authorization: Bearer gka_t" in found
    assert json.loads(found[-1]) == {"new": "n", "authorization": "a"}


def test_the_line_is_quoted_beside_a_secret_too(root: Keeper) -> None:
    fields = {"body.username": "O'N `id` $(id)", "body.password": "x", "body.email": 'a"b@example.test', "line": "yes"}
    sent = json.loads(words(curl(run(root, "POST /api/v1/users/register", **fields)))[-1])
    assert sent == {"username": "O'N `id` $(id)", "password": "p", "email": 'a"b@example.test'}


def test_the_line_of_a_reason_is_quoted(root: Keeper) -> None:
    page = Page(confirm(root, run(root, GIVE, **COINS), reason="it's $(id) `id`").raw.decode())
    found = words(curl(page))
    assert "X-Reason: it's $(id) `id`" in found
    assert f'{{"itemid":"{people.COIN.id}","quantity":5}}' in found


def test_what_is_no_number_is_refused_by_the_operation(root: Keeper) -> None:
    page = run(root, GIVE, **{**COINS, "body.quantity": "five"})
    assert "400" in page.text
    assert "quantity" in page.text.partition("curl ")[0]


def test_a_list_is_sent_as_json(root: Keeper) -> None:
    put = "PUT /api/link/v1/catalogue/[kind]"
    fields = {"path.kind": "maps", "body": f'[{{"Id": "{people.guid(99)}", "Name": "Marsh"}}]'}
    assert '"Count": 1' in run(root, put, **fields).text
    assert "400" in run(root, put, **{"path.kind": "maps", "body": "[nonsense"}).text
    assert "400" in run(root, put, **{"path.kind": "maps", "body": "[" * 100_00}).text


@pytest.mark.parametrize("value", ["7", "true"])
def test_a_value_is_sent_as_what_it_is(root: Keeper, value: str) -> None:
    variable = people.KILLS if value == "7" else people.TUTORIAL
    fields = {"path.lookupKey": "Ann", "path.variableId": variable.id, "body.value": value}
    page = run(root, "POST /api/v1/players/[lookupKey]/variables/[variableId]", **fields)
    assert f'{{"value":{value}}}' in curl(page)
    assert "Only tried" in page.text


def test_what_is_not_json_is_shown_as_it_is(root: Keeper) -> None:
    assert "Seq,At,Kind" in run(root, "GET /api/keeper/v1/changes", **{"query.format": "csv"}).text


def test_a_long_answer_is_cut(root: Keeper, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(explorer, "MOST_SHOWN", 10)
    assert "The answer is longer" in run(root, SHOW, **{"path.lookupKey": "Ann"}).text


def test_every_group_of_the_document_has_its_operations(world: World) -> None:
    groups = operations.groups(world.get("/api/openapi.json").raw)
    assert all(group.operations for group in groups)
    assert sum(len(group.operations) for group in groups) == len(ROUTES)
