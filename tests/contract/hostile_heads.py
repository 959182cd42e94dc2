"""Hostile request heads for all operations: path parameters, queries, headers, methods and paths."""

from collections.abc import Iterator
from dataclasses import replace
from urllib.parse import quote

from bad_values import NEVER_A_PAGE, NOWHERE, ODD_GUIDS, ODD_KEYS, ODD_NAMES, ODD_REASONS, ZERO, wide
from good_requests import BY_HANDLER, EXAMPLES, Example, handler_of, parameters, path_of
from hostile import JSON, Hostile, variant

import people
from gamekeeper.http.contract.operation import WRITE
from gamekeeper.http.routes import REFUSED, ROUTES

# --- invalid lookup keys in the path -------------------------------------------------------------------------------

QUOTED_GUIDS = {about: quote(odd, safe="") for about, odd in ODD_GUIDS.items()}
# path parameters for which another text means that there is no route
NO_ROUTE = {
    **dict.fromkeys(("userId", "playerId", "guildId", "guildVariableId", "mapId"), QUOTED_GUIDS),
    **dict.fromkeys(("asset", "type", "board", "season"), ODD_NAMES),
}
IDS = {
    *("variableId", "serverVariableId", "bagId", "id", "objectId", "itemId"),
    *("approvalId", "keyId", "invitationId", "jobId", "noteId", "signalId"),
}  # path parameters for which another text is a 400
KEYED = {"lookupKey": "No", "lookupKey1": "No user", "lookupKey2": "No player"}


def keys() -> Iterator[Hostile]:
    for example in EXAMPLES:
        for name in parameters(example.route):
            if name in KEYED:
                yield from (_make_hostile_key(example, name, about, odd) for about, odd in ODD_NAMES.items())
            elif name in IDS:
                yield from _guid_segments(example, name)
            elif name in NO_ROUTE:
                for about, odd in NO_ROUTE[name].items():
                    yield variant("keys", example, about, path_of(example.route, {name: odd}), 404)
    yield from _make_hostile_tags()
    for name, path in (("kind", "/api/link/v1/catalogue/{}"), ("server", "/api/link/v1/servers/{}/joined")):
        for about, odd in ODD_NAMES.items():
            if "%" not in odd and len(odd) < 64 and name == "server" and odd.replace("-", "").isalnum():
                continue  # skipped: the text is valid as the name of a game server
            method, body = ("GET", b"") if name == "kind" else ("POST", b'{"Players": []}')
            yield Hostile(
                "keys", f"{name}: {about}", method, path.format(odd).encode(), (400, 404), body, JSON if body else {}
            )


def _make_hostile_tags() -> Iterator[Hostile]:
    for about, odd in (("too long", "x" * 31), ("comma", "a%2Cb"), ("blank", "%20")):
        yield Hostile("keys", f"tag: {about}", "GET", f"/api/keeper/v1/tags/{odd}".encode(), (400,), names="Tags")


def _make_hostile_key(example: Example, name: str, about: str, odd: str) -> Hostile:
    path, about = path_of(example.route, {name: odd}), f"{name}: {about}"
    if odd == ZERO and handler_of(example.route) == "commands.send_direct_chat":  # the engine's own answer
        return variant("keys", example, about, path, names="Invalid player id")
    return variant("keys", example, about, path, 404, names=KEYED[name])


def _guid_segments(example: Example, name: str) -> Iterator[Hostile]:
    for about, odd in ODD_GUIDS.items():
        path = path_of(example.route, {name: quote(odd, safe="")})
        yield variant("keys", example, f"{name}: {about}", path, names=name)
    for unknown in (ZERO, people.NOBODY_ID):
        path = path_of(example.route, {name: unknown})
        # The player's name is left out, because an unknown id with a name would create a player
        creates = handler_of(example.route) == "link.put_player"
        status = (400,) if creates and unknown != ZERO else (400, 404)
        yield replace(variant("keys", example, f"{name}: {unknown}", path), status=status)


# --- invalid queries, headers, methods and paths -------------------------------------------------------------------

LISTS = [
    *("players.list_players", "players.list_ranking", "players.list_online_players"),
    *("accounts.list_users", "catalogue.list_game_objects"),
]
LIST_PATHS = [BY_HANDLER[handler].path for handler in LISTS] + ["/api/link/v1/catalogue/items"]


def queries() -> Iterator[Hostile]:
    for path in LIST_PATHS:
        for name in ("page", "pageSize", "limit"):
            bad = NEVER_A_PAGE if name == "page" else {**NEVER_A_PAGE, "0": "0", "00": "00"}
            if not path.startswith("/api/v1/"):  # an empty value of our own operations is like none
                bad = {about: value for about, value in bad.items() if value}
            for about, value in bad.items():
                yield _make_hostile_query(f"{path} {name}: {about}", f"{path}?{name}={value}", name)
        yield _make_hostile_query(f"{path}: twice", f"{path}?page=0&page=1", "page")
        yield _make_hostile_query(f"{path}: twice in two cases", f"{path}?pageSize=1&PAGESIZE=1", "PAGESIZE")
        yield _make_hostile_query(f"{path}: twice, encoded", f"{path}?page=0&%70age=1", "page")
    for value in ("Up", "", "asc", "Ascending%20", "Ascending,Descending", quote(wide("A") + "scending"), "1", "%00"):
        yield _make_hostile_query(
            f"sortDirection: {value}", f"/api/v1/players/rank?sortDirection={value}", "sortDirection"
        )
    for path in ("/api/v1/players", "/api/v1/players/online", "/api/v1/users"):
        for value in ("id", "%00", "name%20", "name,level", quote(wide("name")), "password", "1"):
            yield _make_hostile_query(f"{path} sortBy: {value}", f"{path}?sortBy={value}", "sortBy")
        for value in ("%00", "abc%00", "%1b[2J", "abc%7f", "%c2%9babc"):
            yield _make_hostile_query(f"{path} search: {value}", f"{path}?search={value}", "search")


def _make_hostile_query(about: str, path: str, names: str) -> Hostile:
    return Hostile("queries", about, "GET", path.encode(), (400,), names=names)


writes = [each for each in EXAMPLES if each.route.access is WRITE and handler_of(each.route) != "tokens.issue_token"]


def headers() -> Iterator[Hostile]:
    for example in writes:
        for header, odd in ((b"Idempotency-Key", ODD_KEYS), (b"X-Reason", ODD_REASONS)):
            for about, value in odd.items():
                sent = {**(JSON if example.body is not None else {}), header.lower(): value}
                named = header.decode()
                yield variant("headers", example, f"{named}: {about}", headers=sent, names=named)
        for value in ("maybe", "", "1", "true%00", "TRUE%20"):
            yield variant("headers", example, f"dryRun: {value}", f"{example.path}?dryRun={value}", names="dryRun")


def methods() -> Iterator[Hostile]:
    taken = {(route.method, route.path) for route in (*ROUTES, *REFUSED)}
    for example in {each.path: each for each in EXAMPLES}.values():
        for method in ("GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "QUERY", "get"):
            if (method, example.route.path) not in taken:
                about = f"{method} {example.route.path}"
                yield Hostile("methods", about, method, example.path.encode(), (405,), names="Allowed")


def addresses() -> Iterator[Hostile]:
    for path in NOWHERE:
        for method in ("GET", "POST", "DELETE"):
            # 405: a word of the path, such as `bag`, may be read as a name in a path that exists for other methods
            yield Hostile("addresses", f"{method} {path[:60]}", method, path.encode(), (404, 405))
