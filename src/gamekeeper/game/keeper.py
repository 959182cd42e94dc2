"""The keeper: all objects that the rules of the game need. The API and the command line use it.

Its base classes have those of single rooms: a rule takes the keeper of its own room, or of a room before it.
"""

from gamekeeper.game.insight.audit_followers import InsightKeeper


class Keeper(InsightKeeper, frozen=True):
    """The objects of all rooms."""
