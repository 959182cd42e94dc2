"""Refusals about boards and signals."""

from gamekeeper.game.core.refusals import Conflict, NotFound, TooManyRequests


class NoSuchBoard(NotFound):
    """There is no board '{board}'. GET /api/keeper/v1/boards lists them."""


class NoSuchSeason(NotFound):
    """The board '{board}' has no season {season}."""


class NotOnBoard(NotFound):
    """The player is not on this board: it has nothing to rank, or it is hidden."""


class BoardExists(Conflict):
    """There is a board '{board}' already."""


class TooManyBoards(Conflict):
    """There can be at most {most} boards, and {seasons} seasons of each. Delete one."""


class SeasonRunning(Conflict):
    """Season {season} is not over then. End it first, or start the new one later."""


class SeasonEnded(Conflict):
    """Season {season} has ended. Its standings stay as they are."""


class TooManyHidden(Conflict):
    """There can be at most {most} hidden accounts. Boards can hide all staff."""


class TooManyPublicRequests(TooManyRequests):
    """Too many requests from this address; wait {seconds} seconds."""


class NoSuchSignal(NotFound):
    """There is no such signal. GET /api/keeper/v1/signals lists them."""
