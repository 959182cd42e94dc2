"""Refusals of operations about guilds, with the engine's texts."""

from gamekeeper.game.refusals import Malformed


class NoSuchGuild(Malformed):
    """Guild not found: ${id}."""
