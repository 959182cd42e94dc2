"""Path segments that are more than a look-up key."""

from gamekeeper.game import lookup
from gamekeeper.game.refusals import BadField


def guid_param(name: str, text: str) -> str:
    found = lookup.guid(text)
    if found is None:
        raise BadField(field=name, problem="must be a guid")
    return found
