"""Health checks: whether the process answers, and whether the database accepts writes."""

from gamekeeper.game import lookup
from gamekeeper.game.keeper import Keeper
from gamekeeper.http import wire
from gamekeeper.http.operation import NO_STORE, NO_TOKEN, READ, Group
from gamekeeper.http.request import Request
from gamekeeper.http.shared_query import SharedQuery
from gamekeeper.store import guesses, privileges
from gamekeeper.store.engine import Writing

# seconds for which a health result is reused: at most two test writes per second, however many load balancers ask
FRESH_SECONDS = 0.5
PROBE_ACCOUNT = "readiness"


def make_readiness_query(keeper: Keeper) -> SharedQuery[None]:
    return SharedQuery(lambda: keeper.store.write(_write_probe, reserved=True), FRESH_SECONDS)


GROUP = Group("Health", "Health checks for load balancers.")


@GROUP.operation(
    "GET /health/live",
    name="get_liveness",
    permissions=NO_TOKEN,
    access=READ,
    cache=NO_STORE,
    answer=wire.info.Health,
    refusals=(),
    example_answer=wire.info.Health("live"),
)
async def get_liveness(request: Request) -> bytes:
    """Check that the process answers."""
    del request  # the request is not needed: any answer shows that the process is alive
    return wire.encode(wire.info.Health("live"))


@GROUP.operation(
    "GET /health/ready",
    name="get_readiness",
    permissions=NO_TOKEN,
    access=READ,
    cache=NO_STORE,
    answer=wire.info.Health,
    refusals=(),
    example_answer=wire.info.Health("ready"),
)
async def get_readiness(request: Request) -> bytes:
    """Check that the database accepts writes; 503 after two seconds at the latest."""
    await request.services.readiness.get()
    return wire.encode(wire.info.Health("ready"))


async def _write_probe(tx: Writing) -> None:
    """Test database writes: insert and delete a row. An empty transaction would succeed even on a full disk."""
    row = lookup.new_guid()
    guesses.insert(tx, row, PROBE_ACCOUNT, PROBE_ACCOUNT)
    await tx.flush()
    guesses.delete(tx, row)
    await privileges.require_privileges(tx)
