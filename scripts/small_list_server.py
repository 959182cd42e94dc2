"""A Gamekeeper server with small buckets and checkpoints of the ordered lists, for prove_lists.py.

    .venv/bin/python scripts/small_list_server.py DATABASE PORT

A separate program, because its parent process and its worker start faster without the imports of prove_lists.py.
"""

import os
import sys
from dataclasses import replace

from gamekeeper.cli import serve
from gamekeeper.game.lists import list_index, ordered_lists
from gamekeeper.ground import settings
from gamekeeper.ground.settings import Settings
from gamekeeper.http.server.asgi import Asgi

SMALL = (
    (list_index, "BUCKET_ROWS", 8),
    (list_index, "SPLIT_ROWS", 16),
    (list_index, "BLOCK_BUCKETS", 4),
    (ordered_lists, "BUCKET_ROWS", 8),
    (ordered_lists, "CHECKPOINT_ENTRIES", 60),
    (ordered_lists, "JOBS", tuple(replace(each, seconds=0.05) for each in ordered_lists.JOBS)),
)


def build_small_app(loaded: Settings) -> Asgi:
    """Build the application in the worker with small buckets of the ordered lists; the parent cannot patch it."""
    for module, name, value in SMALL:
        setattr(module, name, value)
    return serve.build_app(loaded)


if __name__ == "__main__":
    database, port = sys.argv[1:]
    serve.run(settings.load(os.environ, database=database, port=int(port)), build_small_app, "ready")
