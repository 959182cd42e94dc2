"""The command `serve`: check the settings and the TLS certificate, then start granian's worker processes."""

import multiprocessing
import os
import signal
import socket
import ssl
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated

import click
from granian.constants import HTTPModes, Interfaces, Loops, SSLProtocols
from granian.http import HTTP1Settings
from granian.server import MPServer

from gamekeeper.cli import terminal, worker
from gamekeeper.cli.terminal import Database, command, option
from gamekeeper.game.keeper import Keeper
from gamekeeper.ground.settings import BadSetting, Settings
from gamekeeper.http import keeper_builder
from gamekeeper.http.access import oidc_settings
from gamekeeper.http.accounts import mails
from gamekeeper.http.server.asgi import Asgi
from gamekeeper.http.server.proxies import Proxies
from gamekeeper.http.server.response_headers import Cors
from gamekeeper.store.accounts import users
from gamekeeper.store.engine.migrate import migrate

MISSING_OPTION = (
    "HTTPS needs --tls-cert with the certificate chain and --tls-key with its private key; {missing} is missing."
)


def check_certificate(settings: Settings) -> None:
    if not settings.tls_cert and not settings.tls_key:
        return
    if not settings.tls_cert or not settings.tls_key:
        raise BadSetting(MISSING_OPTION.format(missing="--tls-key" if settings.tls_cert else "--tls-cert"))
    for name, file in (("--tls-cert", settings.tls_cert), ("--tls-key", settings.tls_key)):
        try:
            Path(file).open("rb").close()
        except OSError as error:
            raise BadSetting(f"{name} {file} cannot be read: {error.strerror}.") from None
    try:
        # load the key with an empty password: otherwise OpenSSL would prompt for one on the terminal
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(settings.tls_cert, settings.tls_key, password="")
    except ssl.SSLError as error:
        raise BadSetting(_describe_error(settings, error)) from None


def _describe_error(settings: Settings, error: ssl.SSLError) -> str:
    both = f"--tls-cert {settings.tls_cert} and --tls-key {settings.tls_key}"
    if error.reason == "KEY_VALUES_MISMATCH":
        return f"{both} do not match: the key belongs to another certificate."
    return f"{both} must be a PEM certificate and its PEM key without a password: {error.reason or error}."


NO_ACCOUNT_HINT = (
    "No account can log in yet. Create the first one with:\n"
    "  gamekeeper users add root --email root@example.com --staff admin --database {database}"
)
PORT_HINT = "Choose another with --host and --port, or stop the program that uses it."
FIRST_FREE_PORT = 1024  # lowest port that needs no privilege on POSIX systems
LOW_PORT_HINT = (
    "Ports below 1024 need the capability CAP_NET_BIND_SERVICE: see docs/deploy.md. "
    "Or choose another with --port, such as 5443."
)
MAX_HEAD_BYTES = 16_384  # limit of request line and headers together, in bytes
MIN_OTHER_FILES = 64  # open files reserved at least if the process limit is low; a worker uses about 30
FEW_FILES = (
    "The limit of open files is {files}, so each process accepts {fit} connections instead of {wanted}. "
    "Raise it (ulimit -n, or LimitNOFILE= in a systemd unit), or lower GAMEKEEPER_OPEN_CONNECTIONS."
)
PROBE_SECONDS = 0.02
WAKE_SECONDS = 0.5


Host = Annotated[str | None, option("Address to listen on.  [default: GAMEKEEPER_HOST, or 127.0.0.1]")]
Port = Annotated[int | None, option("Port.  [default: GAMEKEEPER_PORT, or 5400]", type=click.IntRange(1, 65535))]


@command("serve", "--database sqlite:///game.db --port 5400")
def serve(
    database: Database,
    *,
    host: Host,
    port: Port,
    workers: int | None = option(
        "Processes; more than one needs PostgreSQL.  [default: GAMEKEEPER_WORKERS, or 1]", type=click.IntRange(1)
    ),
    tls_cert: str | None = option(
        "Serve HTTPS with this certificate chain.  [default: GAMEKEEPER_TLS_CERT]", metavar="FILE"
    ),
    tls_key: str | None = option("The certificate's private key.  [default: GAMEKEEPER_TLS_KEY]", metavar="FILE"),
) -> None:
    """Serve the API.

    Updates the schema, prints one line when it is ready, and shuts down gracefully on Ctrl-C or SIGTERM.
    """
    loaded = terminal.load_settings(database, host=host, port=port, workers=workers, tls_cert=tls_cert, tls_key=tls_key)
    require_servable(loaded)
    any_api, warnings = terminal.run_with_keeper(loaded, _prepare)
    for each in warnings:
        terminal.warn(each)
    if not any_api:
        terminal.print_error(NO_ACCOUNT_HINT.format(database=terminal.show_database(loaded)))
    run(loaded, worker.build_app, f"Gamekeeper is ready: {make_server_url(loaded)} (stop with Ctrl-C)")


def require_servable(settings: Settings) -> None:
    """Check the settings and the ports before the server starts; exit with an error message if one is wrong."""
    with terminal.report_failures():
        file = keeper_builder.find_database_file(settings)
        mails.check(settings)
        oidc_settings.check(settings)
        check_certificate(settings)
        Proxies(settings)
        Cors(settings)
    if settings.workers > 1 and file:
        terminal.fail(
            f"{settings.workers} workers cannot share one SQLite file. Use --workers 1, or PostgreSQL: "
            "--database postgresql://user@host/name"
        )
    _require_free_address(settings)
    if settings.health_port == settings.port:
        terminal.fail(f"health_port and port are both {settings.port}. Set one of them to another port.")
    if settings.health_port:
        _require_free_address(replace(settings, port=settings.health_port))
    terminal.warn_of_unknown_variables()
    from gamekeeper.doctor.settings import TLS_ADVICE, lacks_tls  # noqa: PLC0415 - as in `_prepare`

    if lacks_tls(settings):
        terminal.warn(f"{settings.host} is reachable from other machines without TLS: {TLS_ADVICE}")


def make_server_url(settings: Settings) -> str:
    scheme = "https" if settings.tls_cert else "http"
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    return f"{scheme}://{host}:{settings.port}"


class _ParentServer(MPServer):
    """Granian's parent process, which also shuts down on SIGHUP (terminal closed), except under nohup."""

    ignores_hangup = False

    def signal_handler_reload(self, *_: object, **__: object) -> None:
        if not self.ignores_hangup:
            self.interrupt_signal = True
            self.main_loop_interrupt.set()


class _PollingEvent(threading.Event):
    """Event whose wait() wakes regularly, so that the main thread runs Python's signal handlers.

    When two signals arrive at once, another thread may receive both, and the main thread would sleep on.
    """

    def wait(self, timeout: float | None = None) -> bool:
        while timeout is None and not super().wait(WAKE_SECONDS):
            pass
        return super().wait(timeout)


def run(settings: Settings, build: Callable[[Settings], Asgi], greeting: str) -> None:
    """Serve until shutdown; print the greeting as soon as the server answers."""
    multiprocessing.set_start_method("spawn", force=True)  # spawned workers inherit no open files, on all platforms
    address = _require_free_address(settings)
    server = _ParentServer(
        "gamekeeper",
        address=address,
        port=settings.port,
        interface=Interfaces.ASGI,
        workers=settings.workers,
        loop=Loops.auto,
        http=HTTPModes.http1,
        websockets=False,
        log_enabled=False,
        respawn_failed_workers=True,
        workers_kill_timeout=settings.stop_seconds,
        backpressure=_limit_connections(settings),
        http1_settings=HTTP1Settings(
            header_read_timeout=settings.head_seconds * 1000,  # ms; granian also uses it as the keep-alive timeout
            max_buffer_size=MAX_HEAD_BYTES,
        ),
        ssl_cert=Path(settings.tls_cert) if settings.tls_cert else None,
        ssl_key=Path(settings.tls_key) if settings.tls_key else None,
        ssl_protocol_min=SSLProtocols.tls12,
    )
    server.main_loop_interrupt = _PollingEvent()
    server.ignores_hangup = os.name == "posix" and signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    threading.Thread(target=_print_when_ready, args=(address, settings.port, greeting), daemon=True).start()
    try:
        server.serve(target_loader=partial(worker.load, build, settings), wrap_loader=False)
    except SystemExit:
        if not server.interrupt_signal:  # after Ctrl-C a stopped worker is no failure
            terminal.fail("A worker stopped and could not be restarted. Its last log lines above give the reason.")


def _limit_connections(settings: Settings) -> int:
    """Return how many connections fit into the hard limit on open files; warn when those are fewer than wanted.

    When no file can be opened any more, granian tries to accept the next connection again and again without a pause.
    """
    wanted = settings.open_connections
    if os.name != "posix":
        return wanted
    import resource  # noqa: PLC0415 - POSIX only

    _, files = resource.getrlimit(resource.RLIMIT_NOFILE)
    # twice the database connections of the settings: the console's doctor opens as many of its own
    fit = max(1, files - MIN_OTHER_FILES - 2 * settings.connections)
    if files == resource.RLIM_INFINITY or fit >= wanted:
        return wanted
    terminal.warn(FEW_FILES.format(files=files, fit=fit, wanted=wanted))
    return fit


async def _prepare(keeper: Keeper) -> tuple[bool, list[str]]:
    from gamekeeper.doctor.settings import find_start_warnings  # noqa: PLC0415 - workers need no doctor

    await migrate(keeper.store)
    return await users.has_api_account(keeper.store), await find_start_warnings(keeper)


def _require_free_address(settings: Settings) -> str:
    """Return the address to listen on; exit with an error message if it is in use.

    Granian would share the port with the other program (SO_REUSEPORT) instead of failing.
    """
    try:
        family, _, _, _, place = socket.getaddrinfo(settings.host, settings.port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, socket.SOCK_STREAM) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(place)
            probe.listen()
    except OSError as error:
        cure = LOW_PORT_HINT if isinstance(error, PermissionError) and settings.port < FIRST_FREE_PORT else PORT_HINT
        terminal.fail(f"Cannot listen on {settings.host} port {settings.port}: {error.strerror}. {cure}")
    return str(place[0])


def _print_when_ready(address: str, port: int, greeting: str) -> None:
    """Print the greeting once a connection succeeds: workers listen only when they are ready."""
    while True:
        try:
            socket.create_connection((address, port), timeout=1).close()
        except OSError:
            time.sleep(PROBE_SECONDS)
        else:
            break
    click.echo(greeting)
