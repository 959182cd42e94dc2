from gamekeeper.game import guesses, lookup
from gamekeeper.http import wire
from gamekeeper.http.request import Request


async def live(request: Request) -> bytes:
    """Whether the process answers at all."""
    del request  # answering at all is the answer
    return wire.encode(wire.Health("live"))


async def ready(request: Request) -> bytes:
    """Whether the database takes writes."""
    await guesses.give_back(request.keeper.store, lookup.ZERO)  # a write like any other, of nothing
    return wire.encode(wire.Health("ready"))
