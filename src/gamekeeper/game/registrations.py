"""The limit on accounts that one caller may register, counted in the transaction of the registration."""

from gamekeeper.game import accounts
from gamekeeper.game.change import Unlogged
from gamekeeper.game.changes import Decision
from gamekeeper.game.refusals import TooManyRegistrations
from gamekeeper.settings import Settings
from gamekeeper.store import registrations, users
from gamekeeper.store.engine import Reading, Writing
from gamekeeper.store.powers import Powers
from gamekeeper.store.users import User

WINDOW_MS = 60 * 60 * 1000


async def register(
    tx: Reading, caller: str, settings: Settings, name: str, email: str, password: str
) -> Decision[User]:
    """Register an account without permissions. Refused requests and dry runs do not count towards the limit."""
    await users.lock(tx, caller)  # lock the caller's account, so that it registers no other account during the count
    wait = await registrations.read_wait(tx, caller, settings.registrations_per_caller, WINDOW_MS)
    if wait:
        raise TooManyRegistrations(-(-wait // 1000))
    decision = await accounts.register(tx, name, email, password, Powers())

    async def count(tx: Writing) -> None:
        registrations.delete_old(tx, caller, WINDOW_MS)
        registrations.insert(tx, caller, decision.result.id)

    return Decision([*decision.changes, Unlogged(count)], decision.result)
