"""The console's own calls to the API: they pass the dispatcher like those of a program."""

from keepers import ACT, Keeper, MakeWorld, open_session

import people
from world import World

GIVE = f"/api/v1/players/{people.ANN.id}/items/give"
COINS = {"itemid": people.COIN.id, "quantity": 5}


def test_call_takes_no_second_place_in_the_admission(make_world: MakeWorld) -> None:
    world = make_world(requests_in_flight=1)
    root = open_session(world, "Root")
    shown = root.preview("POST", GIVE, COINS)
    assert root.confirm(shown, "a gift").status == 303
    assert (world.asgi.services.admission.in_flight, world.ledger()[-1].reason) == (0, "a gift")


def test_call_reaches_no_page_and_no_log_in(make_world: MakeWorld) -> None:
    root = open_session(make_world(metrics_token="scrape-me"), "Root")
    pages = ("GET /metrics", "GET /console/tokens", "POST /console/sign-out")
    for call in (*pages, "POST /api/oauth/token", f"PATCH {GIVE}", "GET /api/v1/nothing"):
        method, path = call.split()
        assert root.preview(method, path, {}).status == 404, call


def test_call_is_refused_as_a_programs_call(world: World, root: Keeper) -> None:
    clerk = open_session(world, "Clerk")  # Clerk has the role users.query, but not users.manage
    path = f"/api/v1/users/{people.USER_IDS['Ann']}/manage/password/change"
    assert clerk.preview("POST", path, {"new": "x"}).status == 403
    assert root.post(ACT, {"method": "POST", "path": GIVE, "body.dryrun": "true"}).status == 400


def test_call_with_a_large_body_keeps_its_token(make_world: MakeWorld) -> None:
    root = open_session(make_world(body_limit=2**20), "Root")
    # a body over 256 KiB may wait to be decoded, so the request's token is checked again afterwards
    large = {**COINS, "ignored": "x" * 300_000}
    assert root.preview("POST", GIVE, large).status == 200
