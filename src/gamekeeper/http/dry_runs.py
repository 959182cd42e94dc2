"""Find out whether a request is a dry run.

The query parameter has three spellings. A similar name, or the name in a header or body, is rejected: if it were
ignored, the change would be made.
"""

import re
from collections.abc import Mapping
from typing import cast

from gamekeeper.game.refusals import BadField
from gamekeeper.http import hints
from gamekeeper.http.query_values import read_boolean

SPELLINGS = ("dryRun", "dry_run", "dry-run")  # spellings of the query parameter for a dry run, in any letter case
HEADER = b"x-dry-run"  # header that marks the response to a dry run; clients must not send it
_KNOWN = frozenset(each.lower() for each in SPELLINGS)
# prefixes and signs to ignore in a misspelt `dryRun`; `amp;` remains of an unescaped `&amp;` in a link
_DECORATION = re.compile(r"^amp;|^x-|[^a-z]")


def is_requested(query: Mapping[str, str], headers: Mapping[bytes, bytes]) -> bool:
    if not query and HEADER not in headers:
        return False
    for name in query:
        if name not in _KNOWN:
            _reject_misplaced(name)
    if HEADER in headers:
        _reject_misplaced(HEADER.decode())
    given = {read_boolean(query[name.lower()], name) for name in SPELLINGS if name.lower() in query}
    if len(given) > 1:
        raise BadField(field=SPELLINGS[0], problem="is true in one spelling and false in another")
    return True in given


def make_dry_run(raw_query: str) -> str:
    """Return a query for a dry run of a request; one that says `dryRun=false` must not say both."""
    kept = [pair for pair in raw_query.split("&") if pair and pair.partition("=")[0].lower() not in _KNOWN]
    return "&".join([*kept, "dryrun=true"])


def reject_in_body(body: object, known: frozenset[str]) -> None:
    """Reject a body with a field similar to `dryRun`: only the query can request one. `known`: the API's fields."""
    names = cast("Mapping[str, object]", body).keys() if isinstance(body, dict) else known
    if not names <= known:
        for name in names:
            _reject_misplaced(name)


def _reject_misplaced(name: str) -> None:
    if _DECORATION.sub("", name.lower()) == "dryrun":
        problem = "does not start a dry run. Put dryRun=true into the query"
        raise BadField(field=hints.shorten(name), problem=problem)
