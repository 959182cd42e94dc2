"""The console's own calls to the API: they pass the dispatcher like those of a program."""

from collections.abc import Callable

import pytest
from keepers import ACT, Keeper, open_session

import people
from world import Answer, World

GIVE = f"/api/v1/players/{people.ANN.id}/items/give"
COINS = {"itemid": people.COIN.id, "quantity": 5}


def require_refusal(answer: Answer, status: int, told: str) -> None:
    assert (answer.status, told in answer.raw.decode()) == (status, True), answer.raw


def test_call_takes_no_second_place_in_the_admission(make_world: Callable[..., World]) -> None:
    world = make_world(requests_in_flight=1)
    root = open_session(world, "Root")
    shown = root.preview("POST", GIVE, COINS)
    assert root.confirm(shown, "a gift").status == 303
    assert (world.asgi.services.admission.in_flight, world.ledger()[-1].reason) == (0, "a gift")


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/metrics"),
        ("GET", "/console/tokens"),
        ("POST", "/console/sign-out"),
        ("POST", "/api/oauth/token"),
        ("PATCH", GIVE),
        ("GET", "/api/v1/nothing"),
    ],
)
def test_call_reaches_no_page_and_no_log_in(make_world: Callable[..., World], method: str, path: str) -> None:
    root = open_session(make_world(metrics_token="scrape-me"), "Root")
    require_refusal(root.preview(method, path, {}), 404, "There is no such page.")


def test_call_finds_the_operation_as_a_program_does(root: Keeper) -> None:
    path = GIVE.upper().replace("/GIVE", "/%47ive/")
    shown = root.post(ACT, {"method": "POST", "path": path, **{f"body.{name}": str(COINS[name]) for name in COINS}})
    assert shown.status == 200, shown.raw


def test_call_is_refused_without_the_role(world: World) -> None:
    clerk = open_session(world, "Clerk")  # Clerk has the role users.query, but not users.manage
    path = f"/api/v1/users/{people.USER_IDS['Ann']}/manage/password/change"
    require_refusal(clerk.preview("POST", path, {"new": "x"}), 403, "users.manage")


def test_call_rejects_the_body_that_a_program_may_not_send(root: Keeper) -> None:
    require_refusal(root.post(ACT, {"method": "POST", "path": GIVE, "body.dryrun": "true"}), 400, "dryRun=true")


def test_call_with_a_large_body_keeps_its_token(make_world: Callable[..., World]) -> None:
    root = open_session(make_world(body_limit=2**20), "Root")
    # a body over 256 KiB may wait to be decoded, so the request's token is checked again afterwards
    large = {**COINS, "ignored": "x" * 300_000}
    assert root.preview("POST", GIVE, large).status == 200
