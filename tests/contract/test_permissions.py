"""The permission matrix: every operation with every built-in role, an API key of each permission, and no token.

`permissions.txt` has the expected answers. It is changed by hand only: no script writes it.
"""

from collections.abc import Mapping
from functools import cache
from pathlib import Path

import pytest
import state
from good_requests import EXAMPLES, Example, dry_run_path

import api_keys
import staff
from everything import name_of
from gamekeeper.game.access.permissions import ALL, BUILTIN_ROLES, PERMISSIONS
from gamekeeper.http.contract.operation import ANY_TOKEN, NO_TOKEN
from gamekeeper.http.server.errors import LOG_IN
from gamekeeper.store.access import roles
from loops import over
from world import Answer, World

TABLE = Path(__file__).with_name("permissions.txt")
NO_CREDENTIAL, OTHERS, OK = "no token", "all others", 200
Callers = Mapping[str, str | None]  # name of a caller in the table → its token or API key
Block = dict[str, list[str]]  # status and code → callers that get this answer
# permissions that no operation needs: they are checked elsewhere, or not yet
NOT_NEEDED = {"game.editor", "addresses.read"}


@cache
def read_table() -> dict[str, Block]:
    found: dict[str, Block] = {}
    block: Block = {}
    for line in TABLE.read_text(encoding="utf-8").splitlines():
        if line.startswith(" "):
            answer, _, callers = line.strip().partition(": ")
            block[answer] = callers.split(", ")
        elif line and not line.startswith("#"):
            block = found[line] = {}
    return found


def describe(world: World, example: Example, callers: Callers) -> Block:
    """Send the example request of an operation as each caller, writes as dry runs; group the callers by the answer."""

    async def send_each() -> list[Answer]:
        method, path = example.route.method, dry_run_path(example)
        return [await world.send(method, path, by=None, token=token, body=example.body) for token in callers.values()]

    found: Block = {}
    for name, answer in zip(callers, world.run(send_each()), strict=True):
        told = str(OK) if answer.status == OK else f"{answer.status} {answer.code}"
        found.setdefault(told, []).append(name)
    return found


def expand(block: Block, callers: Callers) -> Block:
    """Replace `all others` by the callers that the block does not name; sort the callers of each answer."""
    others = callers.keys() - {name for names in block.values() for name in names}
    return {answer: sorted(others if names == [OTHERS] else names) for answer, names in block.items()}


def write_block(name: str, block: Block) -> str:
    return "\n".join([name, *(f"    {answer}: {', '.join(callers)}" for answer, callers in sorted(block.items()))])


@pytest.fixture(scope="module")
def callers(shared_world: World) -> Callers:
    """Return an account's token for each built-in role, an API key for each permission, and no credential."""
    tokens: dict[str, str | None] = {}
    for number, role in enumerate(BUILTIN_ROLES):
        tokens[role] = staff.add_account(shared_world, f"Role{number}", role)
    for permission in PERMISSIONS:
        key = api_keys.create(shared_world, Name=permission, Permissions=[permission], Owner="Root")
        tokens[permission] = key["Key"]
    return {**tokens, NO_CREDENTIAL: None}


@over("example", *EXAMPLES)
def test_every_operation_answers_every_caller_as_the_table_says(
    shared_world: World, callers: Callers, example: Example
) -> None:
    before = state.totals(shared_world)
    found = describe(shared_world, example, callers)
    wanted = expand(read_table()[name_of(example)], callers)
    assert {answer: sorted(names) for answer, names in found.items()} == wanted, write_block(name_of(example), found)
    if example.route.path != LOG_IN:  # it issues tokens
        assert state.totals(shared_world)[:-1] == before[:-1]


def test_table_has_every_operation_and_no_other() -> None:
    assert sorted(read_table()) == sorted(name_of(each) for each in EXAMPLES)


def test_built_in_roles_of_a_new_database_are_the_documented_ones(shared_world: World) -> None:
    stored = shared_world.run(roles.read_all(shared_world.keeper.store))
    for name, role in BUILTIN_ROLES.items():
        held = stored[name].permissions
        assert (stored[name].about, stored[name].read_only) == (role.about, role.read_only)
        assert (held or ALL) == role.permissions
    assert {name for name, role in stored.items() if role.builtin} == set(BUILTIN_ROLES)


def test_every_permission_is_needed_by_an_operation() -> None:
    needed = {each for example in EXAMPLES for each in example.route.permissions or ()}
    assert needed == ALL - NOT_NEEDED


def test_only_own_affairs_need_no_permission() -> None:
    free = {each.route.name for each in EXAMPLES if each.route.permissions == ANY_TOKEN}
    assert free == {
        *("revoke_tokens", "revoke_tokens_alias", "revoke_token", "revoke_token_alias"),
        *("get_info", "is_authorized", "get_server_stats", "get_server_metrics"),
        *("get_config", "list_stat_names"),
    }
    assert all(each.route.permissions is not NO_TOKEN for each in EXAMPLES if each.route.path.startswith("/api/keeper"))
