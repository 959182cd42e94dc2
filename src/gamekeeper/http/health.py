from gamekeeper.http import wire
from gamekeeper.http.request import Request
from gamekeeper.store import feed


async def live(request: Request) -> bytes:
    """Whether the process answers at all."""
    del request  # answering at all is the answer
    return wire.encode(wire.Health("live"))


async def ready(request: Request) -> bytes:
    """Whether the database takes writes."""
    await request.keeper.store.write(feed.own_transaction)
    return wire.encode(wire.Health("ready"))
