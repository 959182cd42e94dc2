"""The API keys that a change of an account weakens, in the answers of the operations that change accounts."""

from collections.abc import Iterable

from gamekeeper.game.key_losses import KeyLoss
from gamekeeper.http.wire.api_keys import WeakenedKey


def make_list(losses: Iterable[KeyLoss]) -> list[WeakenedKey]:
    return [WeakenedKey(each.key.id, each.key.name, sorted(each.lost)) for each in losses]
