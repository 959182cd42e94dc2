"""Whether the process answers, and whether the database takes writes."""

from gamekeeper.game import lookup
from gamekeeper.game.keeper import Keeper
from gamekeeper.http import wire
from gamekeeper.http.operation import NO_STORE, NO_TOKEN, READ, Group
from gamekeeper.http.request import Request
from gamekeeper.http.shared_query import SharedQuery
from gamekeeper.store import guesses, privileges
from gamekeeper.store.engine import Writing

FRESH_SECONDS = 0.5  # however many balancers ask, it is at most two writes a second
NOBODY = "readiness"


def readiness(keeper: Keeper) -> SharedQuery[None]:
    return SharedQuery(lambda: keeper.store.write(_write, reserved=True), FRESH_SECONDS)


GROUP = Group("Health", "For load balancers.")


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
async def live(request: Request) -> bytes:
    """Whether the process answers at all."""
    del request  # answering at all is the answer
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
async def ready(request: Request) -> bytes:
    """Whether the database takes writes; within two seconds it is said that it does not."""
    await request.services.readiness.get()
    return wire.encode(wire.info.Health("ready"))


async def _write(tx: Writing) -> None:
    """A row that nobody ever sees: a full disk takes a transaction that changes nothing, and not this one."""
    row = lookup.new_guid()
    guesses.insert(tx, row, NOBODY, NOBODY)
    await tx.flush()
    guesses.delete(tx, row)
    await privileges.require_privileges(tx)
