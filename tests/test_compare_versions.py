"""The requests of the comparison of two versions reach every operation."""

from collections import Counter
from typing import Any

from valid_requests import NOBODY, Values, list_operations
from varied_requests import make_requests
from world import World

COUNT = 10_000
ENTRIES = [{"Id": NOBODY, "Name": "Thing"}]


def test_requests_reach_every_operation_at_least_thirty_times(world: World) -> None:
    document: dict[str, Any] = world.get("/api/openapi.json", by=None).json
    pairs = [(NOBODY, f"Name{number}") for number in range(40)]
    kinds = ("items", "spells", "variables", "classes", "maps")
    values = Values(pairs, pairs, pairs, [NOBODY], dict.fromkeys(kinds, ENTRIES), "token", "read", "none", "keeper", "")
    asks = make_requests(document, values, COUNT, "1")
    counted = Counter(ask.operation for ask in asks)
    assert len(asks) >= COUNT
    assert {each.name for each in list_operations(document)} == counted.keys()
    assert min(counted.values()) >= 30
    assert asks == make_requests(document, values, COUNT, "1")
