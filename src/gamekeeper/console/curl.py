"""A request as a line for a shell: quoted for sh, and with variables where the secrets are."""

import re
from collections.abc import Iterable, Mapping
from shlex import quote
from urllib.parse import urlencode

from gamekeeper.console.inside import Call
from gamekeeper.http import wire

AUTHORIZED = '"Authorization: Bearer $TOKEN"'


def line(origin: str, call: Call, *, authorized: bool, hidden: Mapping[str, str]) -> str:
    """`hidden`: what stands for a secret in the call, and the variable that is to stand there instead."""
    query = urlencode({**call.query, **({"dryRun": "true"} if call.dry_run else {})})
    words = ["curl"]
    words += ["-X", call.method] if call.method != "GET" else []
    words.append(_word(f"{origin}{call.path}{'?' + query if query else ''}", hidden))
    words += ["-H", AUTHORIZED] if authorized else []
    words += [part for text in _headers(call) for part in ("-H", quote(text))]
    if call.body is not None:
        words += [
            "-H",
            quote("Content-Type: application/json"),
            "-d",
            _word(wire.encode(call.body).decode(), hidden),
        ]
    return " ".join(words)


def _headers(call: Call) -> Iterable[str]:
    if call.reason:
        yield f"X-Reason: {call.reason}"
    if call.key:
        yield f"Idempotency-Key: {call.key}"


def _word(text: str, hidden: Mapping[str, str]) -> str:
    """Quoted, but for the variables, which stand between double quotes."""
    if not hidden:
        return quote(text)
    pieces = re.split(f"({'|'.join(hidden)})", text)
    return "".join(f'"${hidden[each]}"' if each in hidden else quote(each) for each in pieces if each)
