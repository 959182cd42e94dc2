"""The names by which a caller asks for a dry run.

Three spellings are the query parameter. A similar name, or the name in another place, would be ignored and the change
made: it is rejected.
"""

import re
from collections.abc import Mapping
from typing import cast

from gamekeeper.game.refusals import BadField
from gamekeeper.http import hints
from gamekeeper.http.query_values import read_boolean

SPELLINGS = ("dryRun", "dry_run", "dry-run")  # of one query parameter, each in any letter case
HEADER = b"x-dry-run"  # of answers
_KNOWN = frozenset(each.lower() for each in SPELLINGS)
_OTHER = re.compile(r"^amp;|^x-|[^a-z]")  # `amp;`: an HTML page's `&amp;`, of which `&` ended the parameter before


def is_asked_for(query: Mapping[str, str], headers: Mapping[bytes, bytes]) -> bool:
    for name in query:
        if name not in _KNOWN:
            _require_other(name)
    if HEADER in headers:
        _require_other(HEADER.decode())
    given = {read_boolean(query[name.lower()], name) for name in SPELLINGS if name.lower() in query}
    if len(given) > 1:
        raise BadField(field=SPELLINGS[0], problem="is true in one spelling and false in another")
    return True in given


def require_not_in(body: object) -> None:
    """Reject a field of a body; only the query asks for a dry run."""
    for name in cast("Mapping[str, object]", body) if isinstance(body, dict) else ():
        _require_other(name)


def _require_other(name: str) -> None:
    if _OTHER.sub("", name.lower()) == "dryrun":
        problem = "asks for no dry run here, and the change would be made. Put dryRun=true into the query"
        raise BadField(field=hints.shorten(name), problem=problem)
