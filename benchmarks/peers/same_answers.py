"""Check that a peer answers like Gamekeeper: same_answers.py http://gamekeeper http://peer TOKEN"""

import json
import sys
from collections.abc import Iterator
from typing import Any

import httpx

PLAYERS = 50
SIZES = (1, 5, 100)
LISTS = ("/api/v1/players", "/api/v1/players/rank")
ARGUMENTS = 3


def paths(ours: httpx.Client) -> Iterator[str]:
    """Yield paths of players from the start, middle and end of the list, by name and id, and of pages there."""
    total = _answer(ours, LISTS[0])["Total"]
    for size in SIZES:
        for page in (0, total // size // 2, (total - 1) // size, total // size + 1):
            yield from (f"{path}?page={page}&pageSize={size}" for path in LISTS)
    for place in range(PLAYERS):
        (player,) = _answer(ours, f"{LISTS[0]}?page={place * total // PLAYERS}&pageSize=1")["Values"]
        yield f"{LISTS[0]}/{player['Name'].upper()}"
        yield f"{LISTS[0]}/{player['Id']}"


def differences(ours: httpx.Client, peer: httpx.Client) -> list[str]:
    """Compare the answers as text, so that the order of fields counts too."""
    asked = list(paths(ours))
    return [path for path in asked if json.dumps(_answer(ours, path)) != json.dumps(_answer(peer, path))]


def _answer(client: httpx.Client, path: str) -> Any:  # noqa: ANN401 - any JSON
    return client.get(path).raise_for_status().json()


def main(arguments: list[str]) -> int:
    if len(arguments) != ARGUMENTS:
        print(__doc__)
        return 2
    *addresses, token = arguments
    ours, peer = (httpx.Client(base_url=each, headers={"Authorization": f"Bearer {token}"}) for each in addresses)
    found = differences(ours, peer)
    print("\n".join([*found, f"{len(found)} answers differ"]))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
