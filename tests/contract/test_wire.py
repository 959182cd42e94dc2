"""HTTP over raw sockets: behaviour that only a real server shows."""

import json
import socket
from collections.abc import Generator
from contextlib import suppress

import good_requests
import hostile_runs
import pytest
import sockets
import state
from corpus import CORPUS
from hostile import JSON, LIMIT, Hostile, pad_body
from sockets import Closed, Connection, SocketServer

import long_forms
from loops import over
from sharing import open_fresh
from world import SENT, World

GIVE = json.dumps(good_requests.GIVE).encode()
GIVE_PATH = b"/api/v1/players/Bob/items/give"
PARSED = {"headers", "addresses", "sizes"}  # groups of hostile requests that the HTTP parser may refuse
BARE = {400, 414, 431}  # statuses of refusals by the HTTP parser, which have no body


@pytest.fixture(scope="module")
def watched(engine: str, request: pytest.FixtureRequest) -> Generator[tuple[SocketServer, World]]:
    """Start a server, and open a world on its database for checks."""
    with open_fresh(engine, request) as world:
        good_requests.furnish(world)
        with sockets.serve(world.url, world.tokens["Root"]) as server:
            yield server, world


@pytest.fixture
def server(watched: tuple[SocketServer, World]) -> SocketServer:
    return watched[0]


@pytest.fixture
def line(server: SocketServer) -> Generator[Connection]:
    line = Connection(server)
    yield line
    line.close()


@pytest.fixture
def look(watched: tuple[SocketServer, World]) -> World:
    return watched[1]


def faults(server: SocketServer, line: Connection, case: Hostile) -> list[str]:
    """Check an answer from the socket like one in process, except that refusals of the HTTP parser have no body."""
    try:
        answer = sockets.ask(server, line, case)
    except Closed:
        return ["no answer"]
    if answer.status in BARE and not answer.raw and case.group in PARSED - {"sizes"}:
        line.close()
        return []
    if case.group == "sizes" and answer.status == 413:
        line.close()  # close the connection, because the server did not read the rest of the body
    return hostile_runs.faults(case, answer)


def sendable(case: Hostile) -> bool:
    """Return whether a hostile request can be sent over a socket: no spaces in the path, and a complete body."""
    return b" " not in case.path and b"content-length" not in case.headers


@pytest.mark.long_form
def test_hostile_requests_are_refused_over_a_socket(server: SocketServer, line: Connection, look: World) -> None:
    """Send some of the hostile requests, and more of those that the HTTP parser sees; test_hostile.py sends all."""
    before = state.fingerprint(look)
    parsed = [case for case in CORPUS if case.group in PARSED]
    others = [case for case in CORPUS if case.group not in PARSED]
    step = 1 if look.keeper.store.engine == "sqlite" else 5
    cases = [*parsed[:: 3 * step], *others[:: long_forms.choose(31, 3) * step]]
    found = {case.about: problems for case in cases if sendable(case) and (problems := faults(server, line, case))}
    assert found == {}
    assert state.list_changed(before, state.fingerprint(look)) == []


def read_to_the_end(server: SocketServer, method: str, path: bytes, body: bytes = b"", **headers: bytes) -> bytes:
    """Send a request like PHP: one connection per call, read until the server closes it."""
    given = {name.replace("_", "-").encode(): value for name, value in headers.items()}
    with socket.create_connection(("127.0.0.1", server.port), timeout=sockets.ANSWER_SECONDS) as line:
        line.sendall(sockets.request(server, method, path, {b"connection": b"close", **given}, body))
        return b"".join(iter(lambda: line.recv(65_536), b""))


def test_server_closes_the_connection_on_request(server: SocketServer) -> None:
    form = f"grant_type=password&username=Clerk&password={SENT.upper()}".encode()
    form_type = b"application/x-www-form-urlencoded"
    answers = [
        read_to_the_end(server, "GET", b"/api/v1/players/", content_type=b"application/json"),
        read_to_the_end(server, "POST", b"/api/oauth/token", form, authorization=b"Bearer ", content_type=form_type),
        read_to_the_end(server, "GET", b"/api/v1/players", authorization=b"Bearer "),
    ]
    assert [int(answer.split()[1]) for answer in answers] == [200, 200, 401]
    for answer in answers:
        assert b"\r\nconnection: close\r\n" in answer.lower()


@over("chunked", False, True)
def test_body_of_64_kib_is_accepted_and_one_byte_more_refused(
    server: SocketServer, line: Connection, look: World, *, chunked: bool
) -> None:
    before = look.count_coins()
    for size, status in ((LIMIT, 200), (LIMIT + 1, 413)):
        line.send(sockets.request(server, "POST", GIVE_PATH, dict(JSON), pad_body(GIVE, size), chunked=chunked))
        assert line.answer().status == status
        line.close()
    assert look.count_coins() == before + 2


@over("body", b"zz\r\n{}\r\n0\r\n\r\n", b"5\r\n{}\r\n0\r\n\r\n", b"-1\r\n{}\r\n", b"ffffffffffffffffff\r\n{}\r\n")
def test_malformed_chunk_has_no_effect_and_no_5xx(
    server: SocketServer, line: Connection, look: World, body: bytes
) -> None:
    before = state.totals(look)
    line.send(sockets.request(server, "POST", GIVE_PATH, dict(JSON), chunked=True).removesuffix(b"0\r\n\r\n") + body)
    with suppress(Closed):
        assert line.answer().status == 400
    assert state.totals(look) == before


def test_truncated_body_over_a_socket_changes_nothing(server: SocketServer, line: Connection, look: World) -> None:
    before = state.totals(look)
    line.send(sockets.request(server, "POST", GIVE_PATH, {**JSON, b"content-length": b"500"}, GIVE))
    line.close()
    line.send(sockets.request(server, "GET", b"/health/ready", {}))
    assert line.answer().status == 200
    assert state.totals(look) == before


HIDDEN = (
    b"POST %b HTTP/1.1\r\nhost: x\r\nauthorization: Bearer %b\r\n"
    b"content-type: application/json\r\ncontent-length: %d\r\n\r\n%b"
)
# headers that the server and a proxy may parse differently; {length}: size of the hidden request
CHUNKED = [
    b"transfer-encoding: chunked\r\ncontent-length: 6",
    b"content-length: 6\r\ntransfer-encoding: chunked",
    b"transfer-encoding: identity, chunked\r\ncontent-length: 6",
    b"transfer-encoding: xchunked\r\ncontent-length: 6",
    b"transfer-encoding:  chunked\r\ncontent-length: 6",
]
PLAIN = [
    b"x-folded: a\r\n transfer-encoding: chunked\r\ncontent-length: {length}",
    b"transfer-encoding:\r\n chunked\r\ncontent-length: {length}",
    b"transfer-encoding : chunked\r\ncontent-length: {length}",
    b"content-length\t: 0\r\ncontent-length: {length}",
    b"content-length: 0\r\ncontent-length: {length}",
    b"content-length: {length}\r\ncontent-length: 0",
    b"transfer-encoding: chunked\r\ntransfer-encoding: identity\r\ncontent-length: {length}",
    b"content-length: {length}\nx: y",
    b"x: y\rcontent-length: 0\r\ncontent-length: {length}",
    b"content-length: {length}\x00",
    b"content-length: {length}",
]
ODD_CHUNK_SIZES = [b"0x5", b"5 ", b" 5", b"+5", b"5;", b"5;a=b", b"5_0", b"", b"00000000000000000005"]


def send_hidden(server: SocketServer, line: Connection, framing: bytes, *, chunked: bool) -> bytes:
    """Hide a request in the body of a GET; return all that the server answers."""
    hidden = HIDDEN % (GIVE_PATH, server.token.encode(), len(GIVE), GIVE)
    head = [b"GET /api/v1/players/Ann HTTP/1.1", b"host: x", b"authorization: Bearer " + server.token.encode()]
    head.append(framing.replace(b"{length}", str(len(hidden)).encode()))
    line.send(b"\r\n".join([*head, b"", b"%x\r\n%b\r\n0\r\n\r\n" % (len(hidden), hidden) if chunked else hidden]))
    return line.more()


@over("framing", *CHUNKED, *PLAIN)
def test_ambiguous_framing_hides_no_request(
    server: SocketServer, line: Connection, look: World, framing: bytes
) -> None:
    """A request with ambiguous framing is refused, or treated as one request whose body is ignored."""
    before = state.fingerprint(look)
    assert send_hidden(server, line, framing, chunked=framing in CHUNKED).count(b"HTTP/1.1 200") <= 1
    assert state.list_changed(before, state.fingerprint(look)) == []
    line.close()


@over("size", *ODD_CHUNK_SIZES)
def test_odd_chunk_size_hides_no_request(server: SocketServer, line: Connection, look: World, size: bytes) -> None:
    """However the parser reads an odd chunk size, the bytes inside the body are never run as a request."""
    before = state.fingerprint(look)
    hidden = HIDDEN % (GIVE_PATH, server.token.encode(), len(GIVE), GIVE)
    chunks = b"%x\r\n%b\r\n%b\r\nhello\r\n0\r\n\r\n" % (len(hidden), hidden, size)
    path = b"/api/v1/players/Bob/items/take"
    line.send(sockets.request(server, "POST", path, dict(JSON), chunked=True).removesuffix(b"0\r\n\r\n") + chunks)
    found = line.more()
    assert found.count(b"HTTP/1.1 ") <= 1
    assert b"HTTP/1.1 5" not in found
    assert state.list_changed(before, state.fingerprint(look)) == []
    line.close()


@over("lengths", (b"2", b"3"), (b"+2",), (b"-1",), (b"0x2",), (b"2, 2",), (b"\xef\xbc\x92",))
def test_ambiguous_content_length_is_refused(
    server: SocketServer, line: Connection, look: World, lengths: tuple[bytes, ...]
) -> None:
    before = state.totals(look)
    head = [b"POST " + GIVE_PATH + b" HTTP/1.1", b"host: x", b"authorization: Bearer " + server.token.encode()]
    head += [b"content-type: application/json", *(b"content-length: " + length for length in lengths)]
    line.send(b"\r\n".join([*head, b"", GIVE]))
    with suppress(Closed):
        assert line.answer().status == 400
    assert state.totals(look) == before


def test_pipelined_requests_get_two_answers(server: SocketServer, line: Connection) -> None:
    one = sockets.request(server, "GET", b"/api/v1/players/Ann", {})
    line.send(one + one.replace(b"Ann", b"Bob"))
    assert [line.answer().json["Name"] for _ in range(2)] == ["Ann", "Bob"]
