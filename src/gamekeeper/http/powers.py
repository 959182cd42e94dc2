from functools import partial

from gamekeeper.game import powers
from gamekeeper.http import spelling, wire
from gamekeeper.http.request import Request


async def change(request: Request, body: wire.ChangePowers) -> bytes:
    """Give an account powers and roles, or take them: such as the caller has itself."""
    given = spelling.given_powers(body)
    decide = partial(powers.change, key=request.params[0], given=given, actor_id=request.caller.account_id)
    answer = await request.change(decide, spelling.held_powers)
    request.callers.forget()  # whoever may not call the API any more is believed no longer
    return answer
