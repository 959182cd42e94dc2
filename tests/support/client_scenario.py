"""Run tests/client/scenario.py or scenario.mts: programs with an installed client, whose server is killed once."""

import subprocess
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

import people
from fault_proxy import FaultProxy
from server import Server

SECONDS = 300  # timeout of a program, long enough for a busy machine


class KillingProxy(FaultProxy):
    """Kills the server when it loses an answer, and starts it again."""

    def __init__(self, killed: Server) -> None:
        super().__init__(killed.port)
        self._killed = killed

    def handle_loss(self) -> None:
        self._killed.kill()
        threading.Thread(target=self._killed.start).start()

    def prepare_kill(self) -> None:
        self.lose = 1


def run_scenario(command: Sequence[str | Path], database: str) -> None:
    """Run the program, and require that the server was killed and the request with the lost answer was repeated."""
    with Server(database) as server, KillingProxy(server) as proxy:
        known = [people.PASSWORD, people.COIN.id, people.BOB.id, people.DOUBLE_XP.id, people.KILLS.id]
        _talk([*command, proxy.url, server.url, *known], proxy.prepare_kill)
        gifts = proxy.count(b"POST /api/v1/players/Bob/items/give")
    assert proxy.lose == 0
    assert gifts >= 7  # 6 calls of the program, one of them at least twice


def _talk(command: Sequence[str | Path], act: Callable[[], None]) -> None:
    """Run a program. For each line that it prints before the last one, call `act` and answer it."""
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        timer = threading.Timer(SECONDS, process.kill)
        timer.start()
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        printed = ""
        for printed in process.stdout:
            if printed.strip() != "done":
                act()
                process.stdin.write("\n")
                process.stdin.flush()
        timer.cancel()
        problem = process.stderr.read()
    assert (process.returncode, printed.strip()) == (0, "done"), problem
