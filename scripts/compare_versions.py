"""Send the same requests to two versions of Gamekeeper, and compare every answer.

    .venv/bin/python scripts/compare_versions.py OLD_CHECKOUT NEW_CHECKOUT [--engine sqlite] [--count 10000] [--seed 1]

Both checkouts need their .venv. The old version fills a demo database, and each version serves a copy of it. The
requests are made from the old version's OpenAPI document: every operation, with valid, repeated, odd and invalid
requests. Compared are the status, the headers with their order, the body, and the access log. Ids, times and other
random values may differ, but an id must stand for the same id in all answers, and a time must be about the same.
Operations of which no request succeeded are printed as gaps: only their refusals are compared.
Exit code 0: no differences and no gaps; 1: otherwise.
"""

import argparse
import json
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from hashlib import sha256
from http import HTTPStatus
from itertools import dropwhile
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx

from answer_differences import Answer, Comparison
from pair import USER, open_node
from random_requests import ORIGIN, Ask, Values, make_requests
from server import Server, free_port

ROOT = Path(__file__).parent.parent
ENGINES = SQLITE, POSTGRES = "sqlite", "postgres"
Statuses = dict[str, Counter[int]]  # by operation
PASSWORD = "the same on both sides"  # noqa: S105 - a throw-away database's
PLAYERS = 400  # numbered players beside the demo's; some of them are deleted
CALLER, UNPRIVILEGED = "keeper", "clerk"
NAMED = 5  # version of the ids of the demo's named accounts; the numbered ones have no password
HOSTS = "127.0.0.1", "127.0.0.2"  # of the two servers; they have one port, because an answer has it
LIMITS = {"guesses_per_address": 100_000, "resets_per_account": 20, "registrations_per_caller": 100_000}
IDLE_SECONDS = 2  # seconds: a connection idle for longer is opened again; the server closes it after 5
ANSWER_SECONDS = 60
MOST_SHOWN = 50
# a GET whose answers differ is repeated: background jobs of the two versions do not run at the same moment
REPEATS, REPEAT_SECONDS = 12, 2
COUNT = 10_000  # requests; with fewer, some operations are hardly tested
FEWEST = 30  # requests of an operation below which it counts as not tested
LATE = ("guess_failed", "new_address", "many_addresses")  # events that a background job writes
READY = '"route":"GET /health/ready"'


class Connection:
    """A connection to one server, which shows the bytes of the answers; it is opened again when needed."""

    def __init__(self, host: str, port: int) -> None:
        self._address = (host, port)
        self._socket: socket.socket | None = None
        self._used = 0.0

    def send(self, data: bytes) -> None:
        if self._socket is None or time.monotonic() - self._used > IDLE_SECONDS:
            self.close()
            self._socket = socket.create_connection(self._address, timeout=ANSWER_SECONDS)
            self._file = self._socket.makefile("rb")
        with suppress(OSError):  # ignored: the server has answered before it read everything, and closed
            self._socket.sendall(data)

    def receive(self, method: str) -> Answer:
        try:
            head = self._read_head()
            status = int(head.split(maxsplit=2)[1]) if head else 0
            body = b"" if method == "HEAD" or status in {0, 204, 304} else self._read_body(head)
        except OSError:
            head, status, body = "", 0, b""
        if not head or "\nconnection: close" in head.lower():
            self.close()
        self._used = time.monotonic()
        return Answer(status, head, body)

    def close(self) -> None:
        if self._socket is not None:
            self._file.close()
            self._socket.close()
            self._socket = None

    def _read_head(self) -> str:
        while True:
            head = ""
            while (line := self._file.readline().decode("latin-1")) not in {"", "\r\n"}:
                head += line
            if not head.startswith("HTTP/1.1 100"):
                return head

    def _read_body(self, head: str) -> bytes:
        if length := re.search(r"^content-length: (\d+)\r$", head, re.MULTILINE | re.IGNORECASE):
            return self._file.read(int(length[1]))
        if not re.search(r"^transfer-encoding: chunked\r$", head, re.MULTILINE | re.IGNORECASE):
            return self._file.read()
        parts: list[bytes] = []
        while size := int(self._file.readline(), 16):
            parts.append(self._file.read(size))
            self._file.readline()
        self._file.readline()
        return b"".join(parts)


@dataclass
class Side:
    """One version: its connection, and values of its answers that later requests use."""

    connection: Connection
    values: dict[str, str] = field(default_factory=dict[str, str])
    etags: dict[str, str] = field(default_factory=dict[str, str])

    def send(self, ask: Ask) -> None:
        lines = [f"{ask.method} {ask.target} HTTP/1.1", *(f"{name}: {value}" for name, value in ask.headers)]
        lines += [] if any(name == "Host" for name, _ in ask.headers) else ["Host: localhost"]
        body = self._fill(ask.body.decode("latin-1"), ask).encode("latin-1")
        lines += [f"Content-Length: {len(body)}"] if body or ask.method in {"POST", "PUT"} else []
        self.connection.send(self._fill("\r\n".join([*lines, "", ""]), ask).encode() + body)

    def receive(self, ask: Ask) -> Answer:
        answer = self.connection.receive(ask.method)
        if any(each == ("Connection", "close") for each in ask.headers):
            self.connection.close()
        self._remember(ask, answer)
        return answer

    def _fill(self, text: str, ask: Ask) -> str:
        known = {"etag": self.etags.get(ask.target, '"none"')} | self.values
        return re.sub(r"~(\w+)~", lambda found: known.get(found[1], "none"), text)

    def _remember(self, ask: Ask, answer: Answer) -> None:
        if etag := re.search(r"^etag: (.*)\r$", answer.head, re.MULTILINE):
            self.etags[ask.target] = etag[1]
        if answer.status != HTTPStatus.OK or b'"' not in answer.body:
            return
        text = answer.text
        patterns = {
            "access": r'"access_token":"([^"]+)"',
            "refresh": r'"refresh_token":"([^"]+)"',
        }
        if ask.operation == "list_mails":
            patterns |= {"mail": r'"Id":"([^"]+)"', "mail_cursor": r'"Next":"([^"]+)"'}
        self.values |= {name: each[1] for name, pattern in patterns.items() if (each := re.search(pattern, text))}
        if owner := re.search(r'"Id":"([^"]+)","Name":(?:(?!"Id":).)*"PasswordResetCode":"([^"]+)"', text):
            self.values |= {"coded_user": owner[1], "code": owner[2]}


def compare_answers(
    sides: tuple[Side, Side], asks: Sequence[Ask], comparison: Comparison
) -> tuple[list[str], Statuses]:
    """Send all requests to both versions; return the differences, and the statuses of each operation."""
    found, statuses = list[str](), defaultdict[str, Counter[int]](Counter)
    for number, ask in enumerate(asks):
        for side in sides:
            side.send(ask)
        old, new = (side.receive(ask) for side in sides)
        if ask.operation == "list_security_events":
            old, new = drop_late_events(old, new)
        if ask.operation == "request_password_reset":
            time.sleep(0.002)  # two mails of one millisecond would be sorted by their random ids
        statuses[ask.operation][old.status] += 1
        problem = comparison.find_difference_of_answers(old, new)
        for _ in range(REPEATS if ask.method == "GET" else 0):
            if not problem:
                break
            time.sleep(REPEAT_SECONDS)
            for side in sides:
                side.send(ask)
            problem = comparison.find_difference_of_answers(*(side.receive(ask) for side in sides))
        if problem:
            sent = f"{ask.method} {ask.target} {ask.body[:80]!r}"
            found.append(f"{number} {ask.operation} ({ask.kind}) {sent}\n    {problem}")
    return found, statuses


def drop_late_events(old: Answer, new: Answer) -> list[Answer]:
    """Leave out the head, and the events that background jobs write, with what they push off the page."""
    if all(each.body.startswith(b'{"Events":') for each in (old, new)):
        lists = [json.loads(each.body)["Events"] for each in (old, new)]
        kept = [[json.dumps(event) for event in events if event["Kind"] not in LATE] for events in lists]
    elif all(each.body.startswith(b"Id,At,Kind,") for each in (old, new)):
        lines = [each.body.decode().splitlines() for each in (old, new)]
        kept = [[line for line in each if line.split(",")[2] not in LATE] for each in lines]
    else:
        return [old, new]
    most = min(map(len, kept))
    return [replace(old, head="", body="\n".join(each[:most]).encode()) for each in kept]


def compare_logs(old: Path, new: Path) -> list[str]:
    """Compare the access logs line by line, from the first request that does not ask whether the server is ready."""
    comparison = Comparison()
    logs = [[*dropwhile(lambda line: READY in line, _access_lines(each))] for each in (old, new)]
    problems = [comparison.find_difference(*pair) for pair in zip(*logs, strict=False)]
    found = [f"access log\n    {each}" for each in problems if each]
    return found if len({*map(len, logs)}) == 1 else [*found, f"access logs of {len(logs[0])} and {len(logs[1])} lines"]


def _access_lines(log: Path) -> Iterable[str]:
    return (line for line in log.read_text(encoding="utf-8").splitlines() if '"route":' in line)


# --- the two servers -----------------------------------------------------------------------------------------------


class Version(Server):
    """A server of one checkout on its own loopback address, with its log in a file."""

    def __init__(self, checkout: Path, host: str, port: int, database: str, log: Path) -> None:
        super().__init__(database, port, access_log=True, trusted_proxies="127.0.0.1", cors_origins=ORIGIN, **LIMITS)
        self._python, self._host = _python_of(checkout), host
        self.url = f"http://{host}:{port}"
        self.log = log

    def start(self) -> None:
        with self.log.open("wb") as file:
            self.stderr = file.fileno()
            super().start()

    def _command(self) -> list[str]:
        # -E: a PYTHONPATH that names one checkout would make both servers run that version
        serve = [self._python, "-E", "-m", "gamekeeper", "serve", "--database", self.database]
        return [*serve, "--host", self._host, "--port", str(self.port)]


class Demo(Server):
    """The old version's demo, which fills the database."""

    stderr = subprocess.DEVNULL

    def __init__(self, checkout: Path, database: str) -> None:
        super().__init__(database)
        self._python = _python_of(checkout)

    def _command(self) -> list[str]:
        fill = ["demo", "--database", self.database, "--password", PASSWORD, "--players", str(PLAYERS)]
        return [self._python, "-E", "-m", "gamekeeper", *fill, "--port", str(self.port)]


def _python_of(checkout: Path) -> str:
    return sys.executable if checkout == ROOT else str(checkout.resolve() / ".venv" / "bin" / "python")


@contextmanager
def open_databases(engine: str, folder: Path) -> Generator[tuple[str, str]]:
    """Yield the URLs of two empty databases."""
    if engine == SQLITE:
        yield f"sqlite:///{folder / 'old.db'}", f"sqlite:///{folder / 'new.db'}"
        return
    with open_node() as node:
        node.start()
        address = node.url.removesuffix(f"/{USER}")
        for name in ("old", "new"):
            node.fetch(f"CREATE DATABASE {name}")
        yield f"{address}/old", f"{address}/new"


def read_values(url: str, tokens: Sequence[str]) -> tuple[Mapping[str, Any], Values]:
    """Read the OpenAPI document and the database's values over the old version's API."""
    with httpx.Client(base_url=url, headers={"Authorization": f"Bearer {tokens[0]}"}, timeout=30) as client:
        kinds = ("items", "spells", "variables", "classes", "maps")
        players = [*_walk(client, "/api/v1/players")]
        users = [(each["Id"], each["Name"]) for each in _walk(client, "/api/v1/users")]
        items = [client.get(f"/api/v1/players/{each['Id']}/items").json() for each in players[:60]]
        bags = re.findall(r'"BagId": "([0-9a-f-]{36})"', json.dumps(items))
        return client.get("/api/openapi.json").json(), Values(
            players=[(each["Id"], each["Name"]) for each in players],
            users=[each for each in users if each[1] not in {CALLER, UNPRIVILEGED}],
            people=[each for each in users if UUID(each[0]).version == NAMED and each[1] != CALLER],
            bags=bags,
            catalogue={kind: [*_walk(client, f"/api/link/v1/catalogue/{kind}")] for kind in kinds},
            token=tokens[0],
            read_only=tokens[1],
            without_permission=tokens[2],
            caller=CALLER,
            password=sha256(PASSWORD.encode()).hexdigest(),
        )


def _walk(client: httpx.Client, path: str) -> Iterable[dict[str, Any]]:
    page = 0
    while values := client.get(path, params={"page": page, "pageSize": 100}).json()["Values"]:
        yield from values
        page += 1


def _run(checkout: Path, database: str, *arguments: str) -> str:
    """Run a command of a version, and return the last word that it prints."""
    command = [_python_of(checkout), "-E", "-m", "gamekeeper", *arguments, "--database", database]
    said = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    return said[-1] if said else ""


def _fill(checkout: Path, folder: Path, targets: Sequence[str]) -> list[str]:
    """Fill databases with the same world. Return tokens: with all permissions, read-only, and without permissions."""
    source, file = f"sqlite:///{folder / 'source.db'}", str(folder / "source.backup")
    Demo(checkout, source).__enter__().stop()
    _run(
        checkout, source, "users", "add", UNPRIVILEGED, "--email", "clerk@example.test", "--api", "--generate-password"
    )
    owners = ((CALLER,), (CALLER, "--read-only"), (UNPRIVILEGED,))
    tokens = [_run(checkout, source, "tokens", "issue", *each) for each in owners]
    _run(checkout, source, "backup", file)
    for each in targets:
        _run(checkout, each, "restore", file, "--keep-tokens")
    return tokens


def compare(
    checkouts: tuple[Path, Path], databases: tuple[str, str], count: int, seed: str, comparison: Comparison
) -> tuple[int, list[str], Statuses]:
    """Return the number of requests, the differences, and the statuses of each operation."""
    folder = Path(tempfile.mkdtemp(prefix="gk-compare-"))
    try:
        tokens, port = _fill(checkouts[0], folder, databases), free_port()
        sides = zip(checkouts, HOSTS, databases, ("old.log", "new.log"), strict=True)
        first, second = (Version(each, host, port, url, folder / log) for each, host, url, log in sides)
        with first, second:
            asks = make_requests(*read_values(first.url, tokens), count, seed)
            read_values(second.url, tokens)
            with closing(Connection(HOSTS[0], port)) as one, closing(Connection(HOSTS[1], port)) as two:
                found, statuses = compare_answers((Side(one), Side(two)), asks, comparison)
        return len(asks), found + compare_logs(first.log, second.log), statuses
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _report(engine: str, statuses: Mapping[str, Counter[int]]) -> None:
    for operation, counted in statuses.items():
        shown = "  ".join(f"{status}: {number}" for status, number in sorted(counted.items()))
        print(f"{engine}  {operation:32} {counted.total():4}   {shown}")


def _find_gaps(statuses: Mapping[str, Counter[int]]) -> Iterable[str]:
    """Find operations that the requests hardly tested: too few requests, or none that succeeded."""
    for operation, counted in statuses.items():
        if counted.total() < FEWEST or not any(status in range(200, 300) for status in counted):
            yield f"{operation} is not tested: {dict(counted)}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", type=Path)
    parser.add_argument("new", type=Path)
    parser.add_argument("--engine", choices=ENGINES)
    parser.add_argument("--count", type=int, default=COUNT, help="fewer: a quick test")
    parser.add_argument("--seed", default="1")
    given = parser.parse_args()
    failed = False
    for engine in [given.engine] if given.engine else ENGINES:
        began = datetime.now(UTC)
        with tempfile.TemporaryDirectory() as folder, open_databases(engine, Path(folder)) as databases:
            sent, found, statuses = compare((given.old, given.new), databases, given.count, given.seed, Comparison())
        gaps = list(_find_gaps(statuses)) if given.count >= COUNT else []
        _report(engine, statuses)
        print("\n".join([*found[:MOST_SHOWN], *gaps]))
        took = (datetime.now(UTC) - began).total_seconds()
        print(f"{engine}: {sent:,} requests in {took:.0f} s: {len(found)} differences, {len(gaps)} gaps", flush=True)
        failed = failed or bool(found or gaps)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
