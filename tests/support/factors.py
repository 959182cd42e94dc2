"""Second factors for tests: add them without a browser, and compute codes."""

import time
from functools import partial

import pyotp

from gamekeeper.game.access import second_factors
from gamekeeper.game.access.second_factors import STEP_SECONDS
from gamekeeper.game.core import lookup
from gamekeeper.store.access.second_factors import TOTP, SecondFactor
from world import CLI, World


def make_code(secret: str, steps: int = 0) -> str:
    """Return the code of a secret, so many time steps from now."""
    return pyotp.TOTP(secret).at(int(time.time()) + steps * STEP_SECONDS)


def add_totp(world: World, user_id: str, name: str = "Phone") -> tuple[str, list[str]]:
    """Add a TOTP factor that was never used; return its secret and the new recovery codes."""
    secret = second_factors.make_secret()
    sealed = second_factors.seal_secret(world.keeper.key_file, user_id, secret)
    return secret, add(world, SecondFactor(lookup.new_guid(), user_id, TOTP, name, sealed))


def add(world: World, factor: SecondFactor) -> list[str]:
    """Add a second factor; return the new recovery codes."""
    codes: list[str] = []

    def keep(made: list[str]) -> bytes:
        codes[:] = made
        return b"null"

    world.run(world.keeper.changes.apply(CLI, partial(second_factors.add, factor=factor), keep))
    return codes
