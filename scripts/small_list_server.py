"""A Gamekeeper server with small buckets and checkpoints of the ordered lists, for prove_lists.py.

A module of its own for built_server.py, because processes start faster without the imports of prove_lists.py.
"""

from dataclasses import replace

from gamekeeper.cli import worker
from gamekeeper.game.lists import list_index, ordered_lists
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


def build(loaded: Settings) -> Asgi:
    for module, name, value in SMALL:
        setattr(module, name, value)
    return worker.build_app(loaded)
