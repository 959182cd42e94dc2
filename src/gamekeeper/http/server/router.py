"""Find the route of a request by its method and path."""

from collections.abc import Iterable
from urllib.parse import unquote_to_bytes

from gamekeeper.http.contract.operation import Route
from gamekeeper.http.server.errors import MethodNotAllowed, NoSuchRoute

# Number of slashes up to the tail of most paths of the API: what follows the parameter, as /api/v1/players/[key]/items
TAIL = 5
API = b"/api/"  # path prefix of the API: paths below it match in any letter case, as in the engine


class _Node:
    """A node of the tree of routes, one per path segment. Literal segments take precedence over a parameter."""

    __slots__ = ("folded", "literals", "methods", "parameter")

    def __init__(self) -> None:
        self.literals: dict[bytes, _Node] = {}
        # child nodes by literal segment in lower case, which match in any letter case
        self.folded: dict[bytes, _Node] = {}
        self.parameter: _Node | None = None
        self.methods: dict[str, Route] = {}


class Router:
    def __init__(self, routes: Iterable[Route]) -> None:
        # path without parameters, as declared → node: finds a path whose only parameter is its last segment at once
        self._folders: dict[bytes, _Node] = {}
        # path before and after a parameter, if that is the only one and not the last → the nodes around the parameter
        self._tails: dict[tuple[bytes, bytes], tuple[_Node, _Node]] = {}
        self._root = _build_tree(routes, self._folders, self._tails)

    def find(self, method: str, raw_path: bytes) -> tuple[Route, tuple[str, ...]]:
        """Find the route of a path and its parameters. `raw_path` is not decoded: a %2F in a name is no separator."""
        folder, slash, last = raw_path.rpartition(b"/")
        node = self._folders.get(folder) if slash else None  # no slash: the path of `OPTIONS *`
        if node is not None and last and b"%" not in last and b"?" not in last:
            found = node.literals.get(last) or node.folded.get(last.lower())
            params = () if found else (last.decode("utf-8", "replace"),)
            node = found or node.parameter
        else:
            node, params = self._find_tail(raw_path) or self._walk(raw_path)
        route = node.methods.get(method) if node else None
        if route is None:
            raise MethodNotAllowed(", ".join(sorted(node.methods))) if node and node.methods else NoSuchRoute
        return route, params

    def _find_tail(self, raw_path: bytes) -> tuple[_Node, tuple[str, ...]] | None:
        """Find a path such as /api/v1/players/[lookupKey]/items/give at once; None: walk the tree."""
        parts = raw_path.split(b"/", TAIL)
        if len(parts) <= TAIL:
            return None
        key = parts[TAIL - 1]
        nodes = self._tails.get((b"/".join(parts[: TAIL - 1]), parts[TAIL]))
        if nodes is None or not key or b"%" in key or b"?" in key:
            return None
        before, after = nodes
        if key in before.literals or key.lower() in before.folded:  # another route
            return None
        return after, (key.decode("utf-8", "replace"),)

    def _walk(self, raw_path: bytes) -> tuple[_Node, tuple[str, ...]]:
        """Find the node of a path segment by segment."""
        node, params = self._root, list[str]()
        for segment in raw_path.partition(b"?")[0].rstrip(b"/").split(b"/")[1:]:
            node = node.literals.get(segment) or _match_segment(node, segment, params)
        return node, tuple(params)


def _match_segment(node: _Node, segment: bytes, params: list[str]) -> _Node:
    if b"%" in segment:
        segment = unquote_to_bytes(segment)
        if literal := node.literals.get(segment):
            return literal
    if literal := node.folded.get(segment.lower()):
        return literal
    if node.parameter is None or not segment:
        raise NoSuchRoute
    params.append(segment.decode("utf-8", "replace"))
    return node.parameter


def _build_tree(
    routes: Iterable[Route], folders: dict[bytes, _Node], tails: dict[tuple[bytes, bytes], tuple[_Node, _Node]]
) -> _Node:
    root = folders[b""] = _Node()
    for route in routes:
        node, path = root, b""
        # split the route's path in the same way as `find` splits a request's path
        whole = route.path.rstrip("/").encode()
        matches_any_case = whole.startswith(API)
        for segment in whole.split(b"/")[1:]:
            path += b"/" + segment
            if segment.startswith(b"["):
                node.parameter = node.parameter or _Node()
                node = node.parameter
                continue
            found = node.literals.get(segment)
            if found is None:
                found = node.literals[segment] = _Node()
                if b"[" not in path:
                    folders[path] = found
            if matches_any_case:
                node.folded[segment.lower()] = found
            node = found
        node.methods[route.method] = route
        before, opening, after = whole.partition(b"/[")
        _, closing, tail = after.partition(b"]/")
        if opening and closing and b"[" not in tail and before.count(b"/") == TAIL - 2:
            tails[before, tail] = folders[before], node
    return root
