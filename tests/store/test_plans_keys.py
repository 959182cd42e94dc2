"""Query plans of API keys and of the security log: no statement reads more rows when there are more of them."""

from collections.abc import Sequence

import pytest

from gamekeeper.store import api_keys, security
from gamekeeper.store.table import as_table
from people import USER_IDS, guid
from plans import WORDS, Asked, find_growing
from world import World

pytestmark = pytest.mark.both_engines

KEYS = 3000  # enough for the planners to prefer an index
FIRST = 0x100000  # number of the first key's id
PAGE = 50
NEWEST_FIRST = {"SCAN k USING INDEX api_keys_by_age"}  # step of a plan on SQLite that ends at the LIMIT
SHOP, CLERK = USER_IDS["Shop"], USER_IDS["Clerk"]


@pytest.fixture
def crowded(world: World) -> World:
    """Return a world in which Shop has nearly all keys, known addresses and sign-ins, and Clerk a few."""
    numbers = range(FIRST, FIRST + KEYS)
    owned = [(guid(each), CLERK if each % 500 == 0 else SHOP, each) for each in numbers]
    _insert(world, "api_keys (id, user_id, scope_id, name, permissions, created_at)", [
        f"'{key}', '{owner}', '{key}', 'bot', '[]', {at}" for key, owner, at in owned
    ])  # fmt: skip
    _insert(world, "known_addresses (holder_id, address, user_id, first_at)", [
        f"'{key}', '192.0.2.7', '{owner}', {at}" for key, owner, at in owned
    ])  # fmt: skip
    _insert(world, "security_events (id, at, kind, user_id, credential_id)", [
        f"'{key}', {at * 1000}, 'sign_in', '{SHOP}', '{key}'" for key, _, at in owned
    ])  # fmt: skip
    if world.keeper.store.engine == "postgres":
        world.sql("ANALYZE")
    return world


def _insert(world: World, table: str, rows: Sequence[str]) -> None:
    world.sql(f"INSERT INTO {table} VALUES {', '.join(f'({each})' for each in rows)}")  # noqa: S608 - ours


def test_keys_and_sign_ins_are_found_without_scan(crowded: World) -> None:
    held = as_table({"holder_id": guid(FIRST + each)} for each in range(3))
    signed_in = as_table({"id": guid(FIRST + each), "issued_at": str((FIRST + each) * 1000)} for each in range(3))
    asked: Asked = {
        api_keys.SQL.newest: (PAGE,),
        api_keys.SQL.newest_of_user: (CLERK, PAGE),
        api_keys.SQL.live_of_user: (CLERK,),
        api_keys.SQL.has_role: ("shop",),
        security.SQL.known_addresses: (held,),
        security.SQL.sign_ins: (signed_in, SHOP, security.NEAR_MS),
    }
    engine = crowded.keeper.store.engine
    faults = {
        statement.name: found
        for statement, values in asked.items()
        if (found := set(find_growing(crowded, statement.render(engine, WORDS[engine]), values)) - NEWEST_FIRST)
    }
    assert not faults


def test_statements_find_the_rows(crowded: World) -> None:
    """The plans above would be as short for statements that find nothing."""
    tx = crowded.keeper.store
    newest = crowded.run(api_keys.read_list(tx))
    assert [each.created_at for each in newest[:3]] == [FIRST + KEYS - each for each in (1, 2, 3)]
    assert len(crowded.run(api_keys.read_live_of_user(tx, CLERK))) == KEYS // 500
    assert len(crowded.run(api_keys.read_live_of_user(tx, SHOP))) == KEYS - KEYS // 500 > api_keys.LIST_LIMIT
    wanted = {guid(FIRST + each): (FIRST + each) * 1000 for each in range(3)}
    assert crowded.run(security.find_sign_ins(tx, SHOP, wanted)).keys() == wanted.keys()
    assert crowded.run(security.find_sign_ins(tx, CLERK, wanted)) == {}
    assert len(crowded.run(security.read_known_addresses(tx, list(wanted)))) == len(wanted)
