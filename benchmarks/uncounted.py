"""Gamekeeper without the jobs that count changes, which is not a setting; counting.py runs it as a program."""

import sys

from gamekeeper.cli import serve
from gamekeeper.game.insight import activity
from gamekeeper.game.insight.board_follower import BoardFollower
from gamekeeper.game.insight.economy import Economy
from gamekeeper.ground import settings
from gamekeeper.ground.settings import Settings
from gamekeeper.http.server.asgi import Asgi

NO_REST = 0.0


def build(settings: Settings) -> Asgi:
    """Build the application in the worker, because changes in the parent process do not reach it."""
    Economy.follow = BoardFollower.follow = _do_nothing
    activity.ROLLUPS = ()
    return serve.build_app(settings)


async def _do_nothing(self: object, rest_factor: float = NO_REST) -> None:
    """Replace the job that follows the audit log."""


if __name__ == "__main__":
    database, port = sys.argv[1:]
    serve.run(settings.load({}, database=database, port=int(port)), build, "ready")
