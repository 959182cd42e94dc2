"""Test d: the corpus of hostile requests over a real socket is refused, has no effect and reveals no secret."""

import asyncio
import sys
from functools import partial
from pathlib import Path

from battery.cases import ENGINES, SQLITE, Case, Figure, Run
from battery.served import APPLIED, BROKEN, ECHOED, Served
from contract_fuzz import UNLIMITED
from server import Server

TESTS = Path(__file__).parent.parent / "tests"
sys.path += [str(TESTS / "support"), str(TESTS / "contract")]  # the corpus of hostile requests is in the folder tests

import good_requests  # noqa: E402 - needs the path that is set above
import state  # noqa: E402 - needs the path that is set above
import test_wire  # noqa: E402 - needs the path that is set above
from corpus import CORPUS  # noqa: E402 - needs the path that is set above
from hostile import Hostile  # noqa: E402 - needs the path that is set above
from sockets import Connection, SocketServer  # noqa: E402 - needs the path that is set above

import world as worlds  # noqa: E402 - needs the path that is set above

LEAST = 2_000
FEW = 20  # with a seeded fault only every 20th hostile request is sent, which is enough to show the fault


class Heard(Connection):
    """A connection to the server that records every answer."""

    def __init__(self, server: SocketServer) -> None:
        super().__init__(server)
        self.answers: list[worlds.Answer] = []

    def answer(self) -> worlds.Answer:
        self.answers.append(super().answer())
        return self.answers[-1]


def hostile(run: Run) -> list[Figure]:
    tokens = asyncio.run(worlds.prepare(run.database))
    loop = asyncio.new_event_loop()
    look = worlds.World(run.database, tokens, loop)
    good_requests.furnish(look)
    serve = partial(Served, run.fault) if run.fault else Server
    try:
        with serve(run.database, **UNLIMITED) as server:
            return _send_corpus(run, SocketServer(server.port, tokens["Root"]), look)
    finally:
        look.close()
        loop.close()


def _send_corpus(run: Run, server: SocketServer, look: worlds.World) -> list[Figure]:
    cases = _share(run, [case for case in CORPUS if test_wire.sendable(case)])
    line = Heard(server)
    before = state.fingerprint(look)
    wrong = {case.about: problems for case in cases if (problems := test_wire.faults(server, line, case))}
    line.close()
    changed = state.list_changed(before, state.fingerprint(look))
    broken = sum(each.status >= 500 for each in line.answers)
    echoed = sum(server.token.encode() in each.raw for each in line.answers)
    for about in list(wrong)[:3]:
        print(f"    {about}: {wrong[about]}")
    least = 0 if run.fault else LEAST
    return [
        Figure.above("hostile requests", len(cases), least),
        Figure.none("5xx answers", broken),
        Figure.none("unexpected answers", len(wrong)),
        Figure.none("answers that repeat the token", echoed),
        Figure.none("tables changed", changed),
    ]


def _share(run: Run, cases: list[Hostile]) -> list[Hostile]:
    """Select half of the hostile requests per engine for the short form; `make test` sends all in process."""
    if run.fault:
        return cases[::FEW]
    return cases if run.seconds else cases[ENGINES.index(run.engine) :: len(ENGINES)]


CASES = (Case("d", "hostile input", hostile, (BROKEN, ECHOED, APPLIED), fault_engines=(SQLITE,)),)
