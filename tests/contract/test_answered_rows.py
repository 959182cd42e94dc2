"""Operations that answer a list declare the most rows and the gate: compared with what their handlers do."""

from typing import Any

from good_requests import EXAMPLES, furnish

from gamekeeper.ground.settings import MOST_PAGE_ROWS
from gamekeeper.http.contract.operation import READ
from gamekeeper.http.routes import ROUTES
from gamekeeper.http.server import queries
from world import MakeWorld

HUGE = str(2**31 - 1)
SIZES = {"limit", "pageSize", "count"}
TABLES = {"list_history", "list_security_events", "list_bulk_targets"}  # lists that `format=csv` makes longer


def test_limits_of_queries_are_the_declared_rows() -> None:
    """A page by `pageSize` is cut to the setting in the handler, whose result the next test compares."""
    for operation in ROUTES:
        if operation.query and "limit" in operation.query.__struct_fields__ and operation.name not in TABLES:
            values: Any = queries.decode(operation.query, {"limit": HUGE, "q": "a"})
            assert min(values.limit, MOST_PAGE_ROWS) == operation.rows, operation.name


def test_handlers_use_the_gate_and_the_page_size_that_they_declare(make_world: MakeWorld, entered: list[str]) -> None:
    world = make_world(max_page_size=MOST_PAGE_ROWS)
    furnish(world)
    world.compares = False
    seen, wrong = set[str](), list[str]()
    for example in EXAMPLES:
        operation = example.route
        if operation.access is not READ or example.path.startswith("/api/link/v1/changes"):
            continue
        wanted = dict.fromkeys(SIZES & set(operation.query.__struct_fields__ if operation.query else ()), HUGE)
        wanted |= {"format": "csv"} if operation.name in TABLES else {}
        sign = "&" if "?" in example.path else "?"
        path = example.path + (sign + "&".join("=".join(each) for each in wanted.items()) if wanted else "")
        entered.clear()
        answer = world.call(operation.method, path, body=example.body)
        if answer.status != 200:
            continue
        seen.add(operation.name)
        if bool(entered) != operation.gated:
            wrong.append(f"{operation.name}: the gate")
        if "pageSize" in wanted and "PageSize" in answer.json and answer.json["PageSize"] != operation.rows:
            wrong.append(f"{operation.name}: rows")
    assert wrong == []
    assert {each.name for each in ROUTES if each.gated} <= seen
