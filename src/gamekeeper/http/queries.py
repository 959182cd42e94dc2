"""Query parameters: on our own operations an unknown one is rejected, because a misspelt one can do harm.

The other operations ignore unknown parameters: their clients expect that.
"""

from collections.abc import Mapping
from difflib import get_close_matches
from functools import cache

from gamekeeper.http.errors import UnknownParameter
from gamekeeper.http.failures import takes_key
from gamekeeper.http.request import DRY_RUN
from gamekeeper.http.routes import Route


def require_known(route: Route, query: Mapping[str, str]) -> None:
    if not query or not route.is_ours:
        return
    known = known_names(route)
    for name in query:
        if name not in known:
            raise UnknownParameter(parameter=name, hint=_hint(name, known))


@cache
def known_names(route: Route) -> dict[str, str]:
    """What a route reads from the query: names in lower case → as they are documented."""
    asked = route.asks.__struct_encode_fields__ if route.asks else ()
    return {name.lower(): name for name in (*asked, *(DRY_RUN if takes_key(route) else ()))}


def _hint(name: str, known: Mapping[str, str]) -> str:
    if not known:
        return "This operation has none."
    near = get_close_matches(name, known, 1)
    return f"Did you mean '{known[near[0]]}'?" if near else f"Known here: {', '.join(known.values())}."
