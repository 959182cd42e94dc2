"""A Gamekeeper server with small buckets and checkpoints of the ordered lists, for prove_lists.py.

    .venv/bin/python scripts/small_list_server.py DATABASE PORT

A separate program, because its parent process and its worker start faster without the imports of prove_lists.py.
"""

import os
import sys

from gamekeeper import settings
from gamekeeper.cli import serve
from gamekeeper.game import bucket_index, lists
from gamekeeper.http.asgi import Asgi
from gamekeeper.settings import Settings

SMALL = (
    (bucket_index, "BUCKET_ROWS", 8),
    (bucket_index, "SPLIT_ROWS", 16),
    (bucket_index, "BLOCK_BUCKETS", 4),
    (lists, "BUCKET_ROWS", 8),
    (lists, "CHECKPOINT_ENTRIES", 60),
    (lists, "MAINTAIN_SECONDS", 0.05),
)


def build_small_app(loaded: Settings) -> Asgi:
    """Build the application in the worker with small buckets of the ordered lists; the parent cannot patch it."""
    for module, name, value in SMALL:
        setattr(module, name, value)
    return serve.build_app(loaded)


if __name__ == "__main__":
    database, port = sys.argv[1:]
    serve.run(settings.load(os.environ, database=database, port=int(port)), build_small_app, "ready")
