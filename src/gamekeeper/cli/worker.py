"""The start of a worker process of `serve`: each worker pays for what this module imports, so it imports little."""

import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

from gamekeeper.ground import log
from gamekeeper.ground.settings import Settings
from gamekeeper.http import keeper_builder
from gamekeeper.http.server.asgi import Asgi

OTHER_FILES = 256  # open files reserved per process for database, log and Python, besides connections
# time after which a thread must hand on Python's GIL: SQLite's writer thread should not delay the event loop
SWITCH_SECONDS = 0.0005


def build_app(settings: Settings) -> Asgi:
    from gamekeeper import app  # noqa: PLC0415 - only workers need HTTP and the console, which load slowly

    return app.build(keeper_builder.build_keeper(settings))


def load(build: Callable[[Settings], Asgi], settings: Settings) -> Asgi:
    """Prepare the process and build its application."""
    threading.Thread(target=_follow_parent, args=(settings.stop_seconds,), daemon=True).start()
    if os.name == "posix":
        signal.signal(signal.SIGHUP, signal.SIG_IGN)  # the parent process handles SIGHUP and stops its workers
    log.capture_logging()
    log.write_json(always=settings.log_json)
    sys.setswitchinterval(SWITCH_SECONDS)
    _raise_file_limit(settings.open_connections + OTHER_FILES)
    return build(settings)


def _raise_file_limit(count: int) -> None:
    """Raise the soft limit of open files. Its usual default, 1024, is too low for the allowed connections."""
    if os.name != "posix":
        return
    import resource  # noqa: PLC0415 - POSIX only

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = count if hard == resource.RLIM_INFINITY else min(count, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def _follow_parent(stop_seconds: int) -> None:
    """Stop this worker when its parent process is gone: a parent killed with SIGKILL cannot stop its workers."""
    parent: Any = multiprocessing.parent_process()
    if parent:
        parent.join()
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(stop_seconds)
        os.kill(os.getpid(), signal.SIGKILL)  # the parent process would also kill the worker after stop_seconds
