"""JSON lines on standard error: never a body, a token, a hash or a code."""

import json
import sys
import time
import traceback


def access(request_id: str, caller: str, method: str, route: str, status: int, started_ns: int) -> None:
    microseconds = (time.perf_counter_ns() - started_ns) // 1000
    what = f'"caller":{json.dumps(caller)},"route":{json.dumps(f"{method} {route}")}'
    sys.stderr.write(f'{{"at":{time.time():.3f},"id":"{request_id}",{what},"status":{status},"us":{microseconds}}}\n')


def problem(request_id: str, what: str) -> None:
    _line(id=request_id, problem=what)


def failure(request_id: str) -> None:
    """The exception being handled, with where it came from."""
    _line(id=request_id, failure=traceback.format_exc())


def _line(**fields: object) -> None:
    sys.stderr.write(json.dumps({"at": round(time.time(), 3), **fields}) + "\n")
