"""Requests that may mean a dry run. test_every_write.py tries every write."""

from expectations import everything, refused
from people import ANN
from world import PLAYERS, World
from writes import COINS, GIVE


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
