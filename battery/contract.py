"""Test c: every answer fits the tolerant OpenAPI document, and the strict document has exactly our routes."""

from collections.abc import Callable
from functools import partial
from typing import Any

import httpx

import contract_fuzz
from battery.cases import SQLITE, Case, Figure, Run
from battery.spoilt import HIDDEN, RESHAPED, Spoilt
from gamekeeper.http.routes import ROUTES
from server import Server

CASES_EACH = 700  # least number of fuzzed requests per engine
SHORT, LONG = "examples,fuzzing", "examples,coverage,fuzzing,stateful"
EXAMPLES = 6  # fuzzed examples per operation in the short form
CASES_A_SECOND = 30


def contract(run: Run) -> list[Figure]:
    serve = partial(Spoilt, run.fault) if run.fault else Server
    figures = [] if run.fault == HIDDEN else _fuzz(run, serve)
    return [*figures, _compare_routes(run, serve)]


def _fuzz(run: Run, serve: Callable[..., Server]) -> list[Figure]:
    examples = run.seconds * CASES_A_SECOND // len(ROUTES) if run.seconds else EXAMPLES
    if run.fault:
        found = contract_fuzz.fuzz(run.database, 1, "examples", run.seed, serve)
    else:
        found = contract_fuzz.fuzz(run.database, examples, LONG if run.seconds else SHORT, run.seed, serve)
    if found.failed and not run.fault:
        print(found.text)
    least = 0 if run.fault else CASES_EACH
    return [
        Figure("cases that schemathesis made", f"{found.cases:,}", f"≥ {least:,}", found.cases >= least),
        Figure("with an answer that is not as described", "some" if found.failed else "0", "0", not found.failed),
    ]


def _compare_routes(run: Run, serve: Callable[..., Server]) -> Figure:
    with serve(run.database) as server:
        paths: dict[str, Any] = httpx.get(f"{server.url}/api/openapi.json").json()["paths"]
    described = {(method.upper(), path) for path, operations in paths.items() for method in operations}
    routed = {(each.method, each.path.replace("[", "{").replace("]", "}")) for each in ROUTES}
    apart = len(described ^ routed)
    return Figure(f"routes and operations, of {len(routed)}, that differ", str(apart), "0", apart == 0)


CASES = (Case("c", "contract", contract, (RESHAPED, HIDDEN), fault_engines=(SQLITE,)),)
