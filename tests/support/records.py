"""Compare the columns of each player with its stored document, independently of the code that writes them."""

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from gamekeeper.game.core.lookup import ZERO_GUID, fold, make_clashing_fold
from gamekeeper.store.engine.interface import Reading
from gamekeeper.store.engine.statements import Statement

COMPARED = ("id", "user_id", "name", "fold", "level", "exp", "class_id", "map_id", "created_at", "play_time")
ONLINE = ("fold", "level", "exp")  # columns of the presence table
NAMES = (*COMPARED, "last_online", "document", *(f"online {name}" for name in ONLINE))
MOST = 100  # number of players, in the order of ids, whose columns are compared with their JSON documents
STORED = Statement(
    "stored",
    {
        "": f"SELECT {', '.join(f'p.{name}' for name in COMPARED)}, p.last_online, p.document, "  # noqa: S608 - names of ours
        f"{', '.join(f'o.{name}' for name in ONLINE)} "
        f"FROM players p LEFT JOIN presence o ON o.player_id = p.id ORDER BY p.id LIMIT {MOST}"
    },
)


async def read_columns(tx: Reading) -> list[Mapping[str, Any]]:
    """Return the database columns of every player, and those of its presence row."""
    return [dict(zip(NAMES, row, strict=True)) for row in await tx.all(STORED)]


async def mismatches(tx: Reading) -> list[str]:
    return [problem for row in await read_columns(tx) for problem in _in_row(row)]


def _in_row(row: Mapping[str, Any]) -> list[str]:
    document = json.loads(row["document"])
    names = [fold(document["Name"]), make_clashing_fold(document["Name"], document["Id"])]
    said = {
        "id": document["Id"],
        "user_id": document["UserId"],
        "name": document["Name"],
        "fold": row["fold"] if row["fold"] in names else names[0],
        "level": document.get("Level", 1),
        "exp": document.get("Exp", 0),
        "class_id": document.get("ClassId", ZERO_GUID),
        "map_id": document.get("MapId", ZERO_GUID),
        "created_at": _milliseconds(document.get("CreationDate", "1970-01-01T00:00:00Z")),
        "play_time": document.get("PlayTimeSeconds", 0),
    }
    if row["online level"] is not None:
        said |= {f"online {name}": said[name] for name in ONLINE}
    return [
        f"{row['name']}: {name} is {row[name]!r}, not {value!r}" for name, value in said.items() if row[name] != value
    ]


def _milliseconds(text: str) -> int:
    return round(datetime.fromisoformat(text).timestamp() * 1000)
