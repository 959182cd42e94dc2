"""Unknown query parameters: rejected on our own operations, ignored on the spec's and the engine's."""

import pytest
from good_requests import EXAMPLES

from expectations import everything, refused
from world import World

KEEPER, LINK = "/api/keeper/v1", "/api/link/v1"
OURS = [each for each in EXAMPLES if each.path.startswith((KEEPER, LINK))]


def test_every_operation_of_ours_names_an_unknown_query_parameter(world: World, subtests: pytest.Subtests) -> None:
    before = everything(world)
    assert len(OURS) >= 17
    for each in OURS:
        with subtests.test(each.name):
            answer = world.call(each.route.method, f"{each.path}?zzz=1", body=each.body)
            refused(answer, 400, "unknown_parameter", "'zzz'")
    assert everything(world) == before


@pytest.mark.parametrize(
    ("method", "path", "hint"),
    [
        ("GET", f"{KEEPER}/changes?playr=x", "The query parameter 'playr' is not known here. Did you mean 'player'?"),
        ("GET", f"{KEEPER}/changes?Fron=2026-01-01", "Did you mean 'from'?"),
        ("GET", f"{LINK}/catalogue/items?page_size=9", "Did you mean 'pageSize'?"),
        ("GET", f"{LINK}/changes?zzz=9", "Known here: after, wait, limit, own, epoch."),
        ("POST", f"{KEEPER}/changes/1/undo?dryRunn=true", "Did you mean 'dryRun'?"),
        ("PUT", f"{LINK}/players/{'0' * 32}?dryrnu=true", "Did you mean 'dryRun'?"),
    ],
)
def test_unknown_query_parameter_is_answered_with_the_nearest(world: World, method: str, path: str, hint: str) -> None:
    refused(world.call(method, path, body={} if method == "PUT" else None), 400, "unknown_parameter", hint)


@pytest.mark.parametrize("path", ["/api/v1/players?playr=x", "/api/v1/info?zzz=1", "/api/v1/gameobjects/item?x=1"])
def test_unknown_query_parameter_is_ignored_elsewhere(world: World, path: str) -> None:
    assert world.get(path).status == 200
