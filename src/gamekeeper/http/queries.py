"""Query parameters: on our own operations an unknown one is rejected, because a misspelt one can do harm.

The other operations ignore unknown parameters: their clients expect that.
"""

from collections.abc import Mapping
from functools import cache

from gamekeeper.http import dry_runs, nearest
from gamekeeper.http.errors import UnknownParameter
from gamekeeper.http.operation import Route


def require_known(route: Route, query: Mapping[str, str]) -> None:
    if not query or not route.is_ours:
        return
    known = known_names(route)
    for name in query:
        if name not in known:
            raise UnknownParameter(parameter=nearest.shorten(name), hint=nearest.hint(name, known))


@cache
def known_names(route: Route) -> dict[str, str]:
    """What a route reads from the query: names in lower case → as they are documented."""
    asked = route.query.__struct_encode_fields__ if route.query else ()
    return {name.lower(): name for name in (*asked, *(dry_runs.SPELLINGS if route.is_repeatable else ()))}
