"""?dryRun=true on every write to players and over the game link."""

import re

import pytest

from expectations import everything, refused
from loops import collecting
from people import ANN
from world import PLAYERS, Answer, World
from writes import CASES, COINS, GIVE, Case, count_keys, send

# writes that cannot succeed after other ones, which take the item, rename the player or delete it
IN_SECOND_WORLD = (
    *("/unequip", "/move", "/forget", "/level", "PUT /api/link/v1/guilds/[guildId]", "/link/v1/players/[id]"),
)


def timeless(answer: Answer) -> tuple[int, bytes]:
    """Return status and body of an answer without the lease's expiry, which differs between two heartbeats."""
    return answer.status, re.sub(rb'"ExpiresAt":"[^"]*"', b'"ExpiresAt":""', answer.raw)


@pytest.mark.parametrize("in_second_world", [False, True])
def test_a_dry_run_answers_what_would_happen_and_neither_changes_anything_nor_uses_keys(
    ready: World, *, in_second_world: bool
) -> None:
    with collecting() as failing:
        for number, case in enumerate(CASES):
            if case.route.endswith(IN_SECOND_WORLD) == in_second_world:
                with failing(case.route):
                    try_and_apply(ready, case, f"k{number}")


def try_and_apply(ready: World, case: Case, key: str) -> None:
    before, keys = everything(ready), count_keys(ready)
    tried = send(ready, case, case.good, "?dryRun=true", Idempotency_Key=key)
    tried_in_vain = send(ready, case, case.bad, "?dryrun=TRUE")
    assert everything(ready) == before
    in_vain = send(ready, case, case.bad)
    assert (tried_in_vain.status, tried_in_vain.code, tried_in_vain.message) == (
        in_vain.status,
        in_vain.code,
        in_vain.message,
    )
    real = send(ready, case, case.good, "?dryRun=false", Idempotency_Key=key)
    assert timeless(tried) == timeless(real)
    assert (real.status, "idempotent-replay" in real.headers, count_keys(ready)) == (200, False, keys + 1)
    assert [each.headers.get("x-dry-run") for each in (tried, tried_in_vain, real)] == ["true", "true", None]
    done = everything(ready)
    assert {table for table in done if done[table] != before[table]} > {"idempotency_keys"}

    again = send(ready, case, case.good, "?dryRun=true", Idempotency_Key=key)
    assert "idempotent-replay" not in again.headers
    assert send(ready, case, case.other, "?dryRun=true", Idempotency_Key=key).status != 422
    assert everything(ready) == done


def test_request_that_may_mean_a_dry_run_is_400_and_changes_nothing(shared_world: World) -> None:
    """A dry run requested in the body, a header or a similar parameter must not be ignored: it would be applied."""
    world, before, hint = shared_world, everything(shared_world), "Put dryRun=true into the query."
    for name in ("dryRun", "DRY_RUN", "dry run", " dryRun", "dryRun[]", "dry.run", "X-Dry-Run"):
        for path, body in ((GIVE, COINS), ("/api/v1/users/Bob/admin/mute", {"reason": "spam"})):
            refused(world.post(path, {**body, name: True}), 400, "bad_field", hint)
            form = {key: str(value) for key, value in body.items()} | {name: "false"}
            refused(world.post(path, form=form), 400, "bad_field", f"'{name.lower()}'")
    for query in ("dryRun[]=true", "dryRun%20=true", "dry.run=true", "x=1&amp;dryRun=true", "X-Dry-Run=true"):
        refused(world.post(f"{GIVE}?{query}", COINS), 400, "bad_field", hint)
        refused(world.call("DELETE", f"{PLAYERS}/{ANN.id}?{query}"), 400, "bad_field")
    refused(world.post(GIVE, COINS, headers={"X-Dry-Run": "true"}), 400, "bad_field", "'x-dry-run'")
    for value in ("yes", "1", "", "tru"):
        refused(world.post(f"{GIVE}?dryRun={value}", COINS), 400, "bad_field", "'dryRun'")
    refused(world.post(f"{GIVE}?dryRun=true&DRYRUN=false", COINS), 400, "repeated_field")
    for one, other in (("dryRun", "dry_run"), ("dry-run", "dryRun"), ("dry_run", "dry-run")):  # two must agree
        refused(world.post(f"{GIVE}?{one}=true&{other}=false", COINS), 400, "bad_field", "'dryRun'")
        assert world.post(f"{GIVE}?{one}=true&{other}=true", COINS).headers["x-dry-run"] == "true"
    assert everything(world) == before
