"""Hostile requests, made by crossing tables of bad values with the places they can stand in, over all operations.

Each says which answers are right for it: a refusal that names the field at fault, and nothing changed. What is odd
but fine is in `ODD`, with the same care: it is answered, and, being a read or a dry run, changes nothing either.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from urllib.parse import quote

from bad_values import (
    BROKEN,
    FOREIGN,
    GUID,
    NEVER_32_BITS,
    NEVER_A_BOOLEAN,
    NEVER_A_GUID,
    NEVER_A_NAME,
    NEVER_A_PAGE,
    NEVER_A_PASSWORD,
    NEVER_A_TEXT,
    NEVER_AN_EMAIL,
    NEVER_AN_INTEGER,
    NEVER_NATURAL,
    NEVER_POSITIVE,
    NOT_AN_OBJECT,
    NOWHERE,
    ODD_GUIDS,
    ODD_KEYS,
    ODD_NAMES,
    ODD_REASONS,
    PASSWORDS_THAT_ARE_NO_TEXT,
    SECRET,
    ZERO,
    text,
    wide,
)
from good_requests import BY_HANDLER, EXAMPLES, Example, handler_of, parameters, path_of

import people
from gamekeeper.http.routes import ROUTES, WRITE
from world import SENT

JSON = {b"content-type": b"application/json"}
LIMIT = 65_536
LINK_LIMIT = 8_388_608
SWORD = people.SWORD.id


@dataclass(frozen=True)
class Hostile:
    group: str
    about: str
    method: str
    path: bytes  # with its query
    status: tuple[int, ...]
    body: bytes = b""
    headers: Mapping[bytes, bytes] = field(default_factory=dict[bytes, bytes])
    names: str | None = None  # what the message must name
    secrets: tuple[str, ...] = ()  # what no answer may repeat
    chunked: bool = False  # sent without saying how long it is

    @property
    def identity(self) -> tuple[object, ...]:
        return self.method, self.path, self.body, tuple(sorted(self.headers.items())), self.chunked


@dataclass(frozen=True)
class Place:
    """Where a value can stand: a field of a body, among the others that are right."""

    handler: str
    name: str
    around: str = "%s"  # how the value stands in the field: inside a list, inside a record

    @property
    def example(self) -> Example:
        return BY_HANDLER[self.handler]

    def holding(self, value: str) -> bytes:
        rest = {name: each for name, each in self.example.fields.items() if name != self.name}
        text = json.dumps(rest)
        whole = f'"{self.name}": {self.around % value}'
        return (text[:-1] + (", " if rest else "") + whole + "}").encode("utf-8", "surrogatepass")


# --- the places they stand in --------------------------------------------------------------------------------------

ITEM = f'[{{"Slot": 9, "ItemId": "{SWORD}", "Quantity": 1, "%s": %%s}}]'
INTEGERS: Sequence[tuple[Place, Mapping[str, str]]] = [
    (Place("items.give", "quantity"), NEVER_POSITIVE),
    (Place("items.take", "quantity"), NEVER_POSITIVE),
    (Place("players.legacy_online", "page"), NEVER_NATURAL),
    (Place("players.legacy_online", "count"), NEVER_POSITIVE),
    (Place("players.legacy_by_name", "page"), NEVER_NATURAL),
    (Place("players.legacy_by_name", "count"), NEVER_POSITIVE),
    (Place("users.legacy_by_name", "page"), NEVER_NATURAL),
    (Place("users.legacy_by_name", "count"), NEVER_POSITIVE),
    (Place("gameobjects.legacy_objects", "page"), NEVER_NATURAL),
    (Place("gameobjects.legacy_objects", "count"), NEVER_POSITIVE),
    (Place("moderation.ban", "duration"), NEVER_NATURAL),
    (Place("moderation.mute", "duration"), NEVER_NATURAL),
    (Place("variables.assign", "value"), {k: v for k, v in NEVER_AN_INTEGER.items() if k not in {"true", "false"}}),
    (Place("link.heartbeat", "Lease"), {**NEVER_POSITIVE, "3601": "3601"}),
    (Place("link.put_player", "Level"), NEVER_POSITIVE),
    (Place("link.put_player", "Exp"), {**NEVER_AN_INTEGER, "-1": "-1"}),
    (Place("link.put_player", "ExperienceToNextLevel"), NEVER_AN_INTEGER),
    (Place("link.put_player", "Gender"), {**NEVER_NATURAL, "2": "2"}),
    (Place("link.put_player", "X"), NEVER_32_BITS),
    (Place("link.put_player", "StatPoints"), NEVER_32_BITS),
    (Place("link.put_player", "PlayTimeSeconds"), {**NEVER_AN_INTEGER, "-1": "-1"}),
    (Place("link.put_player", "MaxVitals", "[1, %s]"), NEVER_32_BITS),
    (Place("link.put_player", "BaseStats", "[1, 2, 3, 4, %s]"), NEVER_32_BITS),
    (Place("link.put_player", "Items", '[{"Slot": %s}]'), NEVER_NATURAL),
    (Place("link.put_player", "Bank", f'[{{"Slot": 0, "ItemId": "{SWORD}", "Quantity": %s}}]'), NEVER_NATURAL),
]
BOOLEANS = [
    *(Place("items.give", "bankoverflow"), Place("link.put_player", "InBank"), Place("link.put_player", "Dead")),
    *(Place("powers.change", name) for name in ("ban", "usersquery", "gamelink")),
]
GUIDS = [
    Place("items.give", "itemid"),
    Place("items.take", "itemid"),
    Place("spells.teach", "spellid"),
    Place("spells.forget", "spellid"),
    Place("link.joined", "Players", "[%s]"),
    Place("link.left", "Players", "[%s]"),
    Place("link.put_player", "UserId"),
    Place("link.put_player", "ClassId"),
    Place("link.put_player", "Spells", '[{"Slot": 1, "SpellId": %s}]'),
    Place("link.put_player", "Variables", '[{"VariableId": %s, "Value": 1}]'),
]
EMAILS = [
    Place("users.register", "email"),
    Place("credentials.change_email", "new"),
    Place("credentials.manage_email", "new"),
]
PASSWORDS = [
    Place("users.register", "password"),
    Place("credentials.validate_password", "password"),
    Place("credentials.change_email", "authorization"),
    Place("credentials.change_password", "new"),
    Place("credentials.change_password", "authorization"),
    Place("credentials.manage_password", "new"),
    Place("credentials.redeem_code", "new"),
]


def _put(group: str, place: Place, about: str, value: str, **more: object) -> Hostile:
    route = place.example.route
    given: dict[str, object] = {"status": (400,), "names": place.name, **more}
    return Hostile(
        group,
        f"{place.handler} {place.name}: {about}",
        route.method,
        place.example.path.encode(),
        body=place.holding(value),
        headers=JSON,
        **given,  # pyright: ignore[reportArgumentType] - fields of Hostile, checked by the dataclass
    )


def numbers() -> Iterator[Hostile]:
    for place, bad in INTEGERS:
        for about, value in bad.items():
            unreadable = about in {"NaN", "Infinity", "minus Infinity"}  # not JSON: no field to name
            yield _put("numbers", place, about, value, names="JSON" if unreadable else place.name)


def booleans() -> Iterator[Hostile]:
    for place in BOOLEANS:
        yield from (_put("booleans", place, about, value) for about, value in NEVER_A_BOOLEAN.items())
    wrong = Place("variables.assign", "value")
    for about in ("true", "false", '"True"'):
        yield _put("booleans", wrong, about, about, names=people.KILLS.id)


def guids() -> Iterator[Hostile]:
    for place in GUIDS:
        for about, value in NEVER_A_GUID.items():
            yield _put("guids", place, about, value)
    for handler in ("items.give", "items.take", "spells.teach", "spells.forget"):
        place = next(each for each in GUIDS if each.handler == handler)
        for unknown in (ZERO, people.NOBODY_ID):
            yield _put("guids", place, unknown, text(unknown), status=(404,), names="id")
    zero = Place("link.put_player", "UserId")
    yield _put("guids", zero, "zero", text(ZERO), status=(404,), names="user")
    for handler in ("link.joined", "link.left"):
        yield _put("guids", Place(handler, "Players", "[%s]"), "zero", text(ZERO), status=(404,), names="player")


def texts() -> Iterator[Hostile]:
    for about, value in NEVER_A_NAME.items():
        reserved = about.startswith("reserved")
        yield _put(
            "texts", Place("users.register", "username"), about, value, names="reserved" if reserved else "username"
        )
        if about != "a guid":
            yield _put(
                "texts", Place("link.put_player", "Name"), about, value, names="reserved" if reserved else "Name"
            )
    for place in EMAILS:
        yield from (_put("texts", place, about, value) for about, value in NEVER_AN_EMAIL.items())
    for name in ("Sprite", "Face"):
        for about, value in {**NEVER_A_TEXT, "256 characters": text("x" * 256)}.items():
            yield _put("texts", Place("link.put_player", name), about, value)
    for about, value in {
        "number": "5",
        "a day": '"2026-01-31"',
        "no offset": '"2026-01-31T12:00:00"',
        "month 13": '"2026-13-31T12:00:00Z"',
        "year 0": '"0000-01-01T00:00:00Z"',
        "far": '"99999-01-01T00:00:00Z"',
        "full-width": text(wide("2026") + "-01-31T12:00:00Z"),
        "beyond the calendar": '"9999-12-31T23:59:59-23:59"',
        "before the calendar": '"0001-01-01T00:00:00+23:59"',
    }.items():
        yield _put("texts", Place("link.put_player", "CreationDate"), about, value)


def passwords() -> Iterator[Hostile]:
    for place in PASSWORDS:
        for about, value in NEVER_A_PASSWORD.items():
            kept = (value,) if len(value) > 20 else ()
            yield _put("passwords", place, about, text(value), names="valid password", secrets=kept)
        for about, value in PASSWORDS_THAT_ARE_NO_TEXT.items():
            yield _put("passwords", place, about, value, names="valid password", secrets=(SECRET,))
    for handler in ("credentials.validate_password", "credentials.change_email", "credentials.change_password"):
        name = "password" if handler.endswith("validate_password") else "authorization"
        yield _put("passwords", Place(handler, name), "wrong", text(SECRET), names="credentials", secrets=(SECRET,))
    for about, value in {**NEVER_A_TEXT, "256 characters": text("x" * 256)}.items():
        yield _put("passwords", Place("credentials.redeem_code", "code"), about, value)


def catalogue() -> Iterator[Hostile]:
    entry = f'[{{"Id": "{SWORD}", "Name": "Sword", "Stackable": false, "%s": %s}}]'
    fields = {
        "MaxStack": {about: value for about, value in NEVER_POSITIVE.items() if about != "null"},
        "BagSlots": {**NEVER_NATURAL, "1001": "1001"},
        "Icon": {**{about: value for about, value in NEVER_A_TEXT.items() if about != "null"}, "long": text("x" * 256)},
    }
    for name, bad in fields.items():
        for about, value in bad.items():
            unreadable = about in {"NaN", "Infinity", "minus Infinity"}
            yield _catalogue(f"{name}: {about}", "items", entry % (name, value), "JSON" if unreadable else name)
    for about, value in NEVER_A_GUID.items():
        yield _catalogue(f"Id: {about}", "spells", f'[{{"Id": {value}, "Name": "x"}}]', "Id")
    for about, value in NEVER_A_BOOLEAN.items():
        yield _catalogue(
            f"Stackable: {about}", "items", f'[{{"Id": "{SWORD}", "Name": "x", "Stackable": {value}}}]', "Stackable"
        )
    for value in ('"integer"', '"Float"', "1", "null", "[]", "{}"):
        yield _catalogue(
            f"Type: {value}", "variables", f'[{{"Id": "{people.KILLS.id}", "Name": "x", "Type": {value}}}]', "Type"
        )
    for about, body in NOT_AN_OBJECT.items():
        if not body.startswith("["):
            yield _catalogue(f"not an array: {about}", "maps", body, "array")
    twice = f'{{"Id": "{people.HEAL.id}", "Name": "x"}}'
    yield _catalogue("the same twice", "spells", f"[{twice}, {twice}]", "Id")
    for kind in ("spells", "classes", "maps"):
        yield _catalogue(f"zero id among {kind}", kind, f'[{{"Id": "{ZERO}", "Name": "x"}}]', "Id")
    yield _catalogue("no Name", "classes", f'[{{"Id": "{people.WARRIOR.id}"}}]', "Name")
    yield _catalogue("no Id", "classes", '[{"Name": "x"}]', "Id")
    yield _catalogue("an array of arrays", "classes", "[[[]]]", "[0]")
    stackable = f'[{{"Id": "{people.COIN.id}", "Name": "x", "Stackable": true, "BagSlots": 1}}]'
    yield _catalogue("a bag that stacks", "items", stackable, "BagSlots")


def _catalogue(about: str, kind: str, body: str, names: str) -> Hostile:
    path = f"/api/link/v1/catalogue/{kind}".encode()
    return Hostile("catalogue", about, "PUT", path, (400,), body.encode("utf-8", "surrogatepass"), JSON, names)


# --- keys in the path ----------------------------------------------------------------------------------------------

KEYED = {"lookupKey": "No", "lookupKey1": "No user", "lookupKey2": "No player"}


def keys() -> Iterator[Hostile]:
    for example in EXAMPLES:
        for name in parameters(example.route):
            if name in KEYED:
                yield from (_keyed(example, name, about, odd) for about, odd in ODD_NAMES.items())
            elif name in {"variableId", "bagId", "id", "objectId"}:
                yield from _guid_segments(example, name)
            elif name in {"file", "type"}:
                for about, odd in ODD_NAMES.items():
                    path = path_of(example.route, {name: odd})
                    yield _sent(example, path, group="keys", about=f"{example.name}: {about}", status=(404,))
    for name, path in (("kind", "/api/link/v1/catalogue/{}"), ("server", "/api/link/v1/servers/{}/joined")):
        for about, odd in ODD_NAMES.items():
            if "%" not in odd and len(odd) < 64 and name == "server" and odd.replace("-", "").isalnum():
                continue  # a fine name for a server
            method, body = ("GET", b"") if name == "kind" else ("POST", b'{"Players": []}')
            yield Hostile(
                "keys", f"{name}: {about}", method, path.format(odd).encode(), (400, 404), body, JSON if body else {}
            )


def _sent(example: Example, path: str, **more: object) -> Hostile:
    body = b"" if example.body is None else json.dumps(example.body).encode()
    given: dict[str, object] = {"status": (404,), "body": body, "headers": JSON if body else {}, **more}
    return Hostile(method=example.route.method, path=path.encode(), **given)  # pyright: ignore[reportArgumentType] - as in _put


def _keyed(example: Example, name: str, about: str, odd: str) -> Hostile:
    path = path_of(example.route, {name: odd})
    return _sent(example, path, group="keys", about=f"{example.name} {name}: {about}", names=KEYED[name])


def _guid_segments(example: Example, name: str) -> Iterator[Hostile]:
    for about, odd in ODD_GUIDS.items():
        path = path_of(example.route, {name: quote(odd, safe="")})
        yield _sent(example, path, group="keys", about=f"{example.name} {name}: {about}", status=(400,), names=name)
    for unknown in (ZERO, people.NOBODY_ID):
        path = path_of(example.route, {name: unknown})
        creates = handler_of(example.route) == "link.put_player"  # an unknown id is a new character: without its name
        status = (400,) if creates and unknown != ZERO else (400, 404)
        yield _sent(example, path, group="keys", about=f"{example.name} {name}: {unknown}", status=status)


# --- bodies --------------------------------------------------------------------------------------------------------

shaped = [each for each in EXAMPLES if each.route.takes not in {None, bytes}]
OVER_LINK = {handler_of(each) for each in ROUTES if each.over_link}


def _encoded(example: Example) -> dict[str, bytes]:
    whole = json.dumps(example.body)
    return {name: whole.encode(name) for name in ("utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le")}


def bodies() -> Iterator[Hostile]:
    for example in shaped:
        for about, body in (BROKEN | _encoded(example)).items():
            yield _sent(
                example, example.path, group="bodies", about=f"{example.name}: {about}", status=(400,), body=body
            )
        for kind in FOREIGN:
            about = f"{example.name}: {kind[:40]!r}"
            body = json.dumps(example.body or {"page": 0}).encode()
            headers = {b"content-type": kind}
            yield _sent(example, example.path, group="bodies", about=about, status=(415,), body=body, headers=headers)
        if example.body:
            yield from _incomplete(example)


def _incomplete(example: Example) -> Iterator[Hostile]:
    whole = example.fields
    needed = [name for name in whole if name not in {"bankoverflow", "Level", "mute"}]
    for name in needed:
        rest = json.dumps({each: value for each, value in whole.items() if each != name}).encode()
        yield _sent(
            example,
            example.path,
            group="bodies",
            about=f"{example.name}: no {name}",
            status=(400,),
            body=rest,
            names=name,
        )
        again = {**whole, name.swapcase(): whole[name]}
        twice = json.dumps(again).encode()
        about = f"{example.name}: {name} in two cases"
        yield _sent(
            example, example.path, group="bodies", about=about, status=(400,), body=twice, names=name.swapcase()
        )
    if needed:
        yield _sent(example, example.path, group="bodies", about=f"{example.name}: no body", status=(400,), body=b"")


def sizes() -> Iterator[Hostile]:
    for example in shaped:
        over_link = handler_of(example.route) in OVER_LINK
        if over_link and handler_of(example.route) != "link.put_player":
            continue  # 8 MiB are sent once
        limit = LINK_LIMIT if over_link else LIMIT
        body = padded(json.dumps(example.body).encode(), limit + 1)
        about = f"{example.name}: {limit + 1} bytes"
        large = _sent(example, example.path, group="sizes", about=about, status=(413,), body=body, names=str(limit))
        yield large
        yield replace(large, about=f"{about}, chunked", chunked=True)
        announced = {b"content-type": b"application/json", b"content-length": b"9" * 30}
        yield replace(large, about=f"{example.name}: announced 30 digits", body=b"{}", headers=announced)


def padded(body: bytes, size: int) -> bytes:
    return body[:-1] + b" " * (size - len(body)) + body[-1:]


# --- queries, headers, methods, addresses --------------------------------------------------------------------------

LISTS = ["players.by_name", "players.by_rank", "players.online", "users.by_name", "gameobjects.objects"]
LIST_PATHS = [BY_HANDLER[handler].path for handler in LISTS] + ["/api/link/v1/catalogue/items"]


def queries() -> Iterator[Hostile]:
    for path in LIST_PATHS:
        for name in ("page", "pageSize", "limit"):
            bad = NEVER_A_PAGE if name == "page" else {**NEVER_A_PAGE, "0": "0", "00": "00"}
            for about, value in bad.items():
                yield _asked(f"{path} {name}: {about}", f"{path}?{name}={value}", name)
        yield _asked(f"{path}: twice", f"{path}?page=0&page=1", "page")
        yield _asked(f"{path}: twice in two cases", f"{path}?pageSize=1&PAGESIZE=1", "PAGESIZE")
        yield _asked(f"{path}: twice, encoded", f"{path}?page=0&%70age=1", "page")
    for value in ("Up", "", "asc", "Ascending%20", "Ascending,Descending", quote(wide("A") + "scending"), "1", "%00"):
        yield _asked(f"sortDirection: {value}", f"/api/v1/players/rank?sortDirection={value}", "sortDirection")
    for path in ("/api/v1/players", "/api/v1/players/online", "/api/v1/users"):
        for value in ("id", "%00", "name%20", "name,level", quote(wide("name")), "password", "1"):
            yield _asked(f"{path} sortBy: {value}", f"{path}?sortBy={value}", "sortBy")
        for value in ("%00", "abc%00", "%1b[2J", "abc%7f", "%c2%9babc"):
            yield _asked(f"{path} search: {value}", f"{path}?search={value}", "search")


def _asked(about: str, path: str, names: str) -> Hostile:
    return Hostile("queries", about, "GET", path.encode(), (400,), names=names)


writes = [each for each in EXAMPLES if each.route.does is WRITE and handler_of(each.route) != "tokens.log_in"]


def headers() -> Iterator[Hostile]:
    for example in writes:
        for header, odd in ((b"Idempotency-Key", ODD_KEYS), (b"X-Reason", ODD_REASONS)):
            for about, value in odd.items():
                sent = {**(JSON if example.body is not None else {}), header.lower(): value}
                where = f"{example.name} {header.decode()}: {about}"
                yield _sent(
                    example,
                    example.path,
                    group="headers",
                    about=where,
                    status=(400,),
                    headers=sent,
                    names=header.decode(),
                )
        for value in ("maybe", "", "1", "true%00", "TRUE%20"):
            path = f"{example.path}?dryRun={value}"
            yield _sent(
                example, path, group="headers", about=f"{example.name} dryRun: {value}", status=(400,), names="dryRun"
            )


def methods() -> Iterator[Hostile]:
    taken = {(route.method, route.path) for route in ROUTES}
    for example in {each.path: each for each in EXAMPLES}.values():
        for method in ("GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "QUERY", "get"):
            if (method, example.route.path) not in taken:
                about = f"{method} {example.route.path}"
                yield Hostile("methods", about, method, example.path.encode(), (405,), names="takes")


def addresses() -> Iterator[Hostile]:
    for path in NOWHERE:
        for method in ("GET", "POST", "DELETE"):
            # a reserved word in a parameter's place is a name: its address exists, for other methods
            yield Hostile("addresses", f"{method} {path[:60]}", method, path.encode(), (404, 405))


# --- log-in --------------------------------------------------------------------------------------------------------


def log_ins() -> Iterator[Hostile]:
    good: Mapping[str, object] = {"grant_type": "password", "username": "Clerk", "password": SENT}
    odd: Mapping[str, Mapping[str, object]] = {
        "no grant": {"grant_type": ""},
        "another grant": {"grant_type": "client_credentials"},
        "authorization code": {"grant_type": "authorization_code"},
        "implicit": {"grant_type": "implicit"},
        "grant in capitals": {"grant_type": "PASSWORD"},
        "grant a number": {"grant_type": 1},
        "grant null": {"grant_type": None},
        "no name": {"username": ""},
        "name a list": {"username": ["Clerk"]},
        "name null": {"username": None},
        "name with NUL": {"username": "Clerk\0"},
        "nobody": {"username": "Nobody"},
        "nobody by SQL": {"username": "' OR 1=1 --"},
        "nobody with 8 KB": {"username": "x" * 8192},
        "nobody with an emoji": {"username": "😀"},
        "no API access": {"username": "Ann"},
        "no password": {"password": ""},
        "plain password": {"password": people.PASSWORD},
        "password a number": {"password": 5},
        "password a list": {"password": [SENT]},
        "password of 8 KB": {"password": SECRET * 128},
        "scope write": {"scope": "write"},
        "scope both": {"scope": "read write"},
        "scope admin": {"scope": "users.manage"},
        "scope a list": {"scope": ["read"]},
        "refresh without": {"grant_type": "refresh_token"},
        "refresh with an access token": {"grant_type": "refresh_token", "refresh_token": "gka_" + "a" * 43},
        "refresh with a zero guid": {"grant_type": "refresh_token", "refresh_token": ZERO},
        "refresh with an unknown guid": {"grant_type": "refresh_token", "refresh_token": people.NOBODY_ID},
        "refresh with a full-width guid": {
            "grant_type": "refresh_token",
            "refresh_token": GUID.replace("0", wide("0")),
        },
        "refresh with SQL": {"grant_type": "refresh_token", "refresh_token": "' OR 1=1 --"},
        "refresh with 8 KB": {"grant_type": "refresh_token", "refresh_token": "x" * 8192},
        "refresh with a list": {"grant_type": "refresh_token", "refresh_token": [ZERO]},
        "refresh with NUL": {"grant_type": "refresh_token", "refresh_token": "\0"},
    }
    path = BY_HANDLER["tokens.log_in"].path.encode()
    for about, given in odd.items():
        body = json.dumps({**good, **given}).encode()
        yield Hostile("log in", about, "POST", path, (400,), body, JSON, secrets=(SENT, SECRET))
    form = {b"content-type": b"application/x-www-form-urlencoded"}
    for about, raw in {
        "empty form": b"",
        "form without a grant": b"username=Clerk",
        "form with a field twice": b"grant_type=password&GRANT_TYPE=password&username=Clerk",
        "form with NUL": b"grant_type=password&username=%00&password=" + SENT.encode(),
        "form in UTF-16": "grant_type=password".encode("utf-16"),
        "form with invalid UTF-8": b"grant_type=%ff",
    }.items():
        yield Hostile("log in", about, "POST", path, (400,), raw, form, secrets=(SENT,))
    for token in ("x", ZERO, people.NOBODY_ID, "%00", "%ff", "x" * 8000, quote("' OR 1=1 --", safe="")):
        for at in ("token", "tokens"):
            address = f"/api/oauth/{at}/Root/{token}".encode()
            yield Hostile("log in", f"revoking {token[:20]} at {at}", "DELETE", address, (404,), names="no token")
    for name, odd_name in ODD_NAMES.items():
        address = f"/api/oauth/token/{odd_name}".encode()
        yield Hostile("log in", f"revoking all of {name}", "DELETE", address, (404,), names="No user")


# --- rules that say no ---------------------------------------------------------------------------------------------


def rules() -> Iterator[Hostile]:
    refused: list[tuple[str, Mapping[str, object], int, str]] = [
        ("items.give", {"itemid": SWORD, "quantity": 36}, 409, "fit"),
        ("items.give", {"itemid": SWORD, "quantity": 2**31 - 1, "bankoverflow": True}, 409, "fit"),
        ("items.give", {"itemid": people.COIN.id, "quantity": 2**31 - 1, "bankoverflow": True}, 409, "fit"),
        ("items.take", {"itemid": people.COIN.id, "quantity": 251}, 409, "250"),
        ("items.take", {"itemid": people.COIN.id, "quantity": 2**31 - 1}, 409, "250"),
        ("items.take", {"itemid": people.POUCH.id, "quantity": 1}, 409, "bag"),
        ("spells.teach", {"spellid": people.FIREBALL.id}, 409, "already"),
        ("spells.forget", {"spellid": people.HEAL.id}, 409, "does not know"),
        ("users.register", {"username": "aNN", "password": SENT, "email": "new@example.test"}, 409, "username"),
        ("users.register", {"username": "Newest", "password": SENT, "email": "ANN@example.test"}, 409, "email"),
        ("credentials.manage_email", {"new": "BOB@example.test"}, 409, "email"),
        ("credentials.change_email", {"new": "BOB@example.test", "authorization": SENT}, 409, "email"),
        ("link.put_player", {"Name": "aNN"}, 409, "aNN"),
        ("link.put_player", {"Items": [{"Slot": 35, "ItemId": SWORD, "Quantity": 1}]}, 409, "35"),
        ("link.put_player", {"Bank": [{"Slot": 100, "ItemId": SWORD, "Quantity": 1}]}, 409, "100"),
        ("link.put_player", {"Items": [{"Slot": 2**31 - 1, "ItemId": SWORD, "Quantity": 1}]}, 409, "slot"),
        ("link.put_player", {"Items": [{"Slot": 0, "ItemId": SWORD, "Quantity": 2}]}, 409, "at most 1"),
        ("link.put_player", {"Items": [{"Slot": 0, "ItemId": people.ARROW.id, "Quantity": 101}]}, 409, "at most 100"),
        ("link.put_player", {"Items": [{"Slot": 0, "ItemId": people.NOBODY_ID, "Quantity": 1}]}, 404, "item"),
        ("link.put_player", {"Spells": [{"Slot": 35, "SpellId": people.HEAL.id}]}, 409, "35"),
        ("link.put_player", {"Spells": [{"Slot": 0, "SpellId": people.NOBODY_ID}]}, 404, "spell"),
        ("link.put_player", {"Variables": [{"VariableId": people.KILLS.id, "Value": True}]}, 400, people.KILLS.id),
        ("link.put_player", {"Variables": [{"VariableId": people.NOBODY_ID, "Value": 1}]}, 404, "variable"),
        ("link.put_player", {"Bags": [{"Id": people.ANNS_POUCH, "SlotCount": 8, "Slots": []}]}, 400, "Bags"),
        ("link.put_player", {"Bags": [{"Id": people.NOBODY_ID, "SlotCount": 8, "Slots": []}]}, 400, "Bags"),
        ("link.put_player", {"Bags": [{"Id": people.NOBODY_ID, "SlotCount": 0, "Slots": []}]}, 400, "SlotCount"),
        ("link.put_player", {"Bags": [{"Id": ZERO, "SlotCount": 8, "Slots": []}]}, 404, "bag"),
        ("link.put_player", {"UserId": people.NOBODY_ID}, 404, "user"),
        ("link.put_player", {"MaxVitals": [1]}, 400, "MaxVitals"),
        ("link.put_player", {"MaxVitals": [1, 2, 3]}, 400, "MaxVitals"),
        ("link.put_player", {"BaseStats": [1, 2, 3, 4]}, 400, "BaseStats"),
        ("link.put_player", {"Equipment": "none"}, 400, "Equipment"),
        ("link.put_player", {"Items": {"Slot": 0}}, 400, "Items"),
        ("link.put_player", {"Items": [5]}, 400, "Items"),
        ("link.put_player", {"Items": [{"Quantity": 1}]}, 400, "Slot"),
        ("link.joined", {"Players": people.BOB.id}, 400, "Players"),
        ("link.joined", {"Players": [people.NOBODY_ID]}, 404, "player"),
        ("link.joined", {"Players": [people.BOB.id, people.NOBODY_ID]}, 404, "player"),
        ("link.joined", {"Players": [people.BOB.id] * 10_001}, 400, "Players"),
        ("link.left", {"Players": None}, 400, "Players"),
    ]
    for handler, body, status, names in refused:
        example = BY_HANDLER[handler]
        raw = json.dumps(body).encode()
        about = f"{handler} {raw[:80].decode()}"
        yield _sent(example, example.path, group="rules", about=about, status=(status,), body=raw, names=names)
    new = json.dumps({"Name": "Zero", "UserId": people.USER_IDS["Ann"]}).encode()
    yield Hostile("rules", "a zero id", "PUT", f"/api/link/v1/players/{ZERO}".encode(), (404,), new, JSON, ZERO)
    for path in ("joined", "left"):
        address = f"/api/link/v1/servers/nowhere/{path}".encode()
        yield Hostile("rules", f"{path} nowhere", "POST", address, (404,), b'{"Players": []}', JSON, "server")
    yield Hostile("rules", "shutting nothing", "DELETE", b"/api/link/v1/servers/nowhere", (404,), names="server")


TABLES = (
    numbers,
    booleans,
    guids,
    texts,
    passwords,
    catalogue,
    keys,
    bodies,
    sizes,
    queries,
    headers,
    methods,
    addresses,
    log_ins,
    rules,
)
CORPUS: list[Hostile] = [case for table in TABLES for case in table()]
GROUPS = sorted({case.group for case in CORPUS})
