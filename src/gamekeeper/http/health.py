from gamekeeper.http import wire
from gamekeeper.http.request import Request
from gamekeeper.store import clock


async def live(request: Request) -> bytes:
    """Whether the process answers at all."""
    del request  # answering at all is the answer
    return wire.encode(wire.Health("live"))


async def ready(request: Request) -> bytes:
    """Whether the database takes writes."""
    await request.keeper.store.write(clock.now)
    return wire.encode(wire.Health("ready"))
