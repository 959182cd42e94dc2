"""Requests over all operations of the API, made at random from its OpenAPI document: valid, repeated, odd and invalid.

The same seed, document and values of the database make the same requests. A text such as `~etag~` in a request
stands for a value of an earlier answer, which the sender fills in.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any, cast
from urllib.parse import quote, urlencode

ETAG, ACCESS, REFRESH, MAIL, MAIL_CURSOR, CODE, CODED_USER = (
    f"~{name}~" for name in ("etag", "access", "refresh", "mail", "mail_cursor", "code", "coded_user")
)
NOBODY = "12345678-1234-4234-8234-123456789abc"
JSON, FORM = "application/json", "application/x-www-form-urlencoded"
WRONG_PASSWORD = "0" * 64
OFTEN = 20  # number of players and accounts that most requests are about
ORIGIN = "https://game.example"
OVER_BODY_LIMIT = 70_000  # bytes; the default limit is 65,536
LEAST = 40  # requests of each operation
# share of each kind of request, in percent
KINDS: Mapping[str, int] = {
    "good": 34,
    "dry_run": 7,
    "replay": 8,
    "conditional": 8,
    "read_only": 3,
    "without_permission": 3,
    "no_token": 1,
    "wrong_token": 2,
    "odd_scheme": 2,
    "new_token": 2,
    "bad_body": 7,
    "bad_query": 6,
    "bad_path": 4,
    "unknown_path": 2,
    "letter_case": 2,
    "encoded": 2,
    "wrong_method": 2,
    "head": 2,
    "options": 1,
    "preflight": 1,
    "origin": 2,
    "close": 2,
    "repeated_header": 2,
    "proxied": 2,
}
# The tables below have the alternatives of a kind: values of Authorization (None: no header), more headers, methods.
TOKENS: Mapping[str, tuple[str | None, ...]] = {
    "read_only": ("Bearer {read_only}",),
    "without_permission": ("Bearer {unprivileged}",),
    "new_token": ("Bearer {access}",),
    "no_token": (None,),
    "wrong_token": ("Bearer gka_wrong", "Bearer ", "Bearer {token}x", "Bearer {token} x"),
    "odd_scheme": ("bearer {token}", "BEARER {token}", "Basic {token}", " {token}", "Bearer  {token}"),
}
HEADERS: Mapping[str, tuple[tuple[tuple[str, str], ...], ...]] = {
    "close": ((("Connection", "close"),),),
    "origin": ((("Origin", ORIGIN),), (("Origin", "https://other.example"),), (("Origin", "null"),)),
    "repeated_header": (
        (("Authorization", "Bearer gka_wrong"),),
        (("Idempotency-Key", "a"), ("Idempotency-Key", "b")),
        (("X-Reason", "a"), ("X-Reason", "b")),
        (("If-None-Match", '"a"'), ("If-None-Match", ETAG)),
        (("Content-Type", JSON),),
        (("Origin", ORIGIN), ("Origin", ORIGIN)),
    ),
    "proxied": (
        (("X-Forwarded-For", "203.0.113.9"), ("X-Forwarded-Proto", "https")),
        (("X-Forwarded-For", "203.0.113.9, 198.51.100.7"),),
        (("X-Forwarded-For", "not an address"),),
        (("Accept-Encoding", "gzip, br"), ("Accept", "text/html")),
        (("X-Request-Id", "chosen-by-the-caller"), ("Idempotency-Key", "")),
        (("Idempotency-Key", "k" * 256),),
        (("X-Unknown", "x" * 2000),),
    ),
}
METHODS: Mapping[str, tuple[str, ...]] = {
    "wrong_method": ("GET", "POST", "PUT", "DELETE", "PATCH", "TRACE", "PROPFIND", "get"),
    "head": ("HEAD",),
    "options": ("OPTIONS",),
}
# operations that hash a password: only a few requests each, since each of them takes long
HASHING = {
    *("register_user", "validate_password", "change_email", "change_password"),
    *("redeem_reset_code", "manage_password", "issue_token"),
}


@dataclass(frozen=True)
class Ask:
    operation: str  # operationId in the OpenAPI document
    kind: str
    method: str
    target: str
    headers: tuple[tuple[str, str], ...]
    body: bytes = b""

    def with_headers(self, *headers: tuple[str, str]) -> "Ask":
        return replace(self, headers=(*self.headers, *headers))

    def with_target(self, target: str) -> "Ask":
        return replace(self, target=target)


@dataclass(frozen=True)
class Values:
    """Values of the database that requests use."""

    players: Sequence[tuple[str, str]]  # id and name of players
    users: Sequence[tuple[str, str]]  # id and name of all accounts except the caller's
    people: Sequence[tuple[str, str]]  # those of `users` that have the test password
    bags: Sequence[str]
    catalogue: Mapping[str, Sequence[Mapping[str, Any]]]  # by kind
    token: str
    read_only: str
    without_permission: str  # token of an account without permissions
    caller: str  # name of the account that has `token`
    password: str  # SHA-256 of the password of the accounts


@dataclass(frozen=True)
class Described:
    """An operation as the OpenAPI document describes it."""

    name: str
    method: str
    path: str
    writes: bool
    parameters: Sequence[Mapping[str, Any]]
    body: object  # example of the request body; None: no body

    @property
    def query(self) -> Sequence[Mapping[str, Any]]:
        return [each for each in self.parameters if each["in"] == "query" and each["name"] != "dryRun"]


def list_operations(document: Mapping[str, Any]) -> list[Described]:
    return [
        Described(
            each["operationId"],
            method.upper(),
            path,
            each["x-writes"],
            each.get("parameters", ()),
            each["requestBody"]["content"][JSON]["example"] if "requestBody" in each else None,
        )
        for path, methods in document["paths"].items()
        for method, each in methods.items()
    ]


class _Maker:
    """Makes requests, and those that must come before them."""

    def __init__(self, values: Values, dice: Random) -> None:
        self.dice = dice
        self._values = values
        self._new = 0

    def make_groups(self, operation: Described, quota: int) -> Iterator[list[Ask]]:
        while quota > 0:
            (kind,) = self.dice.choices([*KINDS], [*KINDS.values()])
            group = [replace(each, kind=kind) for each in self._make_group(operation, kind)][:quota]
            quota -= len(group)
            yield [*(replace(each, kind="before") for each in self._make_before(operation, group[0])), *group]

    def _make_group(self, operation: Described, kind: str) -> list[Ask]:
        if kind in TOKENS:
            known = {"token": self._values.token, "read_only": self._values.read_only, "access": ACCESS}
            text = self.dice.choice(TOKENS[kind])
            given = text and text.format(**known, unprivileged=self._values.without_permission)
            return [_with_token(self._valid(operation), given)]
        if kind in HEADERS:
            return [self._valid(operation).with_headers(*self.dice.choice(HEADERS[kind]))]
        if kind in METHODS:
            return [replace(self._valid(operation), method=self.dice.choice(METHODS[kind]))]
        return getattr(self, f"_make_{kind}")(operation)

    def _make_good(self, operation: Described) -> list[Ask]:
        ask = self._valid(operation)
        if operation.writes and self.dice.random() < 0.3:  # noqa: PLR2004 - every third or so
            reason = self.dice.choice(("shop order 4711", "", " two  words ", "caf\u00e9", "r" * 501))
            ask = ask.with_headers(("X-Reason", reason))
        return [ask]

    def _make_dry_run(self, operation: Described) -> list[Ask]:
        name = self.dice.choice(("dryRun", "dry_run", "dry-run", "DRYRUN"))
        ask = self._valid(operation)
        return [ask.with_target(_add_query(ask.target, f"{name}={self.dice.choice(('true', 'True', '1', 'x', ''))}"))]

    def _make_replay(self, operation: Described) -> list[Ask]:
        """Make a request, its retry with the same key, and sometimes another request with that key."""
        key = ("Idempotency-Key", f"key-{self._count()}")
        ask = self._valid(operation).with_headers(key)
        other = [self._valid(operation).with_headers(key)] if self.dice.random() < 0.5 else []  # noqa: PLR2004 - half
        return [ask, ask, *other]

    def _make_conditional(self, operation: Described) -> list[Ask]:
        tags = self.dice.choice((ETAG, f'"x", {ETAG}', f"W/{ETAG}", "*", '"x"', "malformed"))
        ask = self._valid(operation)
        return [ask, ask.with_headers(("If-None-Match", tags))]

    def _make_bad_body(self, operation: Described) -> list[Ask]:
        ask = self._valid(operation)
        text = ask.body or b'{"reason": "x"}'
        spoilt = [
            (JSON, b""),
            (JSON, text[:-1]),
            (JSON, b"[]"),
            (JSON, b"null"),
            (JSON, b"\xff" + text),
            (JSON, text.replace(b"{", b'{"unknown": 1, ', 1)),
            (JSON, text.replace(b"{", text[:-1] + b", ", 1)),
            (JSON, re.sub(rb': ("[^"]*"|\d+|true|false)', b": {}", text, count=1)),
            (JSON, re.sub(rb': ("[^"]*"|\d+|true|false)', b": -1", text, count=1)),
            (JSON, re.sub(rb': ("[^"]*"|\d+|true|false)', rb': "\\\\ud800"', text, count=1)),
            (JSON, re.sub(rb': "([^"]*)"', rb': " \1 "', text, count=1)),
            ("text/plain", text),
            ("application/json; charset=latin-1", text),
            (FORM, b"a=1&a=2"),
            (FORM, b"%zz=1"),
            ("", text),
        ]
        if operation.body is not None:  # an operation without a body may answer and close before it is sent
            spoilt.append((JSON, b'{"reason": "' + b"x" * OVER_BODY_LIMIT + b'"}'))
        kind, body = self.dice.choice(spoilt)
        headers = [each for each in ask.headers if each[0] != "Content-Type"]
        # The server answers before it has read such a body. Then it may close the connection, or not.
        headers += [("Connection", "close")] if len(body) > OVER_BODY_LIMIT else []
        return [replace(ask, headers=(*headers, *([("Content-Type", kind)] if kind else [])), body=body)]

    def _make_bad_query(self, operation: Described) -> list[Ask]:
        named = [each["name"] for each in operation.query] or ["page"]
        name = self.dice.choice(named)
        bad = (
            *("unknown=1", "page=1&page=2", "page=-1", "page=2147483648", "page=%31", "pageSize=0", "pageSize=x"),
            *(f"{name}=", f"{name}=%00", f"{name}=%ff", f"{name}=x", f"{name}=-1", f"{name}", f"{name}=1&{name}=1"),
            *(f"{name.upper()}=1", f"%{ord(name[0]):02x}{name[1:]}=1", "=", "&&", "%", "dryRun=maybe", "a=b=c"),
        )
        ask = self._valid(operation)
        return [ask.with_target(_add_query(ask.target, self.dice.choice(bad)))]

    def _make_bad_path(self, operation: Described) -> list[Ask]:
        """Make a request with a wrong path parameter, or with an odd path if the operation has none."""
        wrong = ("Nobody", NOBODY, "x", "%00", "%ff", "a%2Fb", "%20", "n" * 256, "99", "-1", "caf%C3%A9", "~", "%25")
        ask = self._valid(operation)
        if "{" not in operation.path:
            return [ask.with_target(ask.target.replace("/", "//", 1))]
        path = self._fill_path(operation, lambda _: self.dice.choice(wrong))
        return [ask.with_target(path)]

    def _make_unknown_path(self, operation: Described) -> list[Ask]:
        ask = self._valid(operation)
        path = ask.target.partition("?")[0]
        odd = (f"{path}/", f"{path}/x", f"{path}x", path.replace("/api/", "/apis/"), f"{path}/../x", f"{path};v=1", "/")
        return [ask.with_target(self.dice.choice(odd))]

    def _make_letter_case(self, operation: Described) -> list[Ask]:
        ask = self._valid(operation)
        return [ask.with_target(self.dice.choice((ask.target.upper(), ask.target.title(), ask.target.lower())))]

    def _make_encoded(self, operation: Described) -> list[Ask]:
        ask = self._valid(operation)
        path, mark, query = ask.target.partition("?")
        place = self.dice.randrange(1, len(path))
        text = path[:place] + f"%{ord(path[place]):02x}" + path[place + 1 :] if path[place] not in "~%" else path
        return [ask.with_target(text + mark + query)]

    def _make_preflight(self, operation: Described) -> list[Ask]:
        ask = replace(self._valid(operation), method="OPTIONS", headers=(), body=b"")
        asked = [("Access-Control-Request-Method", operation.method), ("Access-Control-Request-Headers", "x-reason")]
        return [ask.with_headers(*self.dice.choice(HEADERS["origin"]), *asked[: self.dice.randrange(3)])]

    # --- valid requests --------------------------------------------------------------------------------------------

    def _make_before(self, operation: Described, ask: Ask) -> list[Ask]:
        """Make the requests without which the operation would be refused: a new token, a reset code, players online."""
        get, post = (replace(ask, method=method, headers=self._headers(), body=b"") for method in ("GET", "POST"))
        if operation.name in {"revoke_token", "revoke_token_alias"}:
            body = {"grant_type": "password", "username": self._values.caller, "password": self._values.password}
            return [replace(post, operation="issue_token", target="/api/oauth/token", body=json.dumps(body).encode())]
        if operation.name == "redeem_reset_code":
            user = f"/api/v1/users/{self._key(self._values.people)}"
            reset = replace(get, operation="request_password_reset", target=f"{user}/password/reset")
            return [reset, replace(get, operation="get_user", target=user)]
        if operation.name in {"kick_user", "kick_player"}:
            server, players = "/api/link/v1/servers/realm-1", [pair[0] for pair in self._values.players[:OFTEN]]
            put = replace(post, method="PUT", operation="send_heartbeat", target=server, body=b'{"Lease": 3600}')
            joined = json.dumps({"Players": players}).encode()
            return [put, replace(post, operation="report_joined", target=f"{server}/joined", body=joined)]
        return []

    def _headers(self) -> tuple[tuple[str, str], ...]:
        return ("Host", "localhost"), ("Authorization", f"Bearer {self._values.token}"), ("Content-Type", JSON)

    def _valid(self, operation: Described) -> Ask:
        target = self._fill_path(operation, self._path_value(operation))
        query = [(each["name"], self._query_value(operation, each)) for each in self._choose_query(operation)]
        target += f"?{urlencode(query, safe='~', quote_via=quote)}" if query else ""
        headers = [("Host", "localhost"), ("Authorization", f"Bearer {self._values.token}")]
        body, kind = self._make_body(operation, target)
        headers += [("Content-Type", kind)] if kind else []
        return Ask(operation.name, "", operation.method, target, tuple(headers), body)

    def _fill_path(self, operation: Described, value: Callable[[str], str]) -> str:
        return re.sub(r"\{(\w+)\}", lambda found: quote(value(found[1]), safe="~%"), operation.path)

    def _path_value(self, operation: Described) -> Callable[[str], str]:
        shown = {each["name"]: each for each in operation.parameters if each["in"] == "path"}
        of_user = "/users/" in operation.path

        def choose(name: str) -> str:
            if name in {"lookupKey", "lookupKey1", "username"} and (of_user or name == "username"):
                return self._user(operation)
            if name == "lookupKey2":
                return self.dice.choice((self._key(self._values.players), "0", "1"))
            if name == "id":
                players = self._values.players[OFTEN:] if operation.method == "DELETE" else self._values.players
                return self.dice.choice((self.dice.choice(players)[0], NOBODY))
            known: Mapping[str, Callable[[], str]] = {
                "lookupKey": lambda: self._key(
                    self._values.players, last=operation.method == "DELETE" or operation.name == "rename_player"
                ),
                "bagId": lambda: self.dice.choice(self._values.bags),
                "variableId": lambda: self._entry("variables"),
                "objectId": lambda: self._entry("items"),
                "server": lambda: f"realm-{self.dice.randrange(1, 4)}",
                "seq": lambda: str(self.dice.randrange(1, 2000)),
                "tokenId": lambda: self.dice.choice((REFRESH, NOBODY)),
                "invitationId": lambda: NOBODY,
                "mailId": lambda: self.dice.choice((MAIL, MAIL, NOBODY)),
            }
            if name in known:
                return known[name]()
            return self.dice.choice((*shown[name]["schema"].get("enum", ()), *[shown[name]["example"]] * 5))

        return choose

    def _user(self, operation: Described) -> str:
        if operation.name == "redeem_reset_code" and self.dice.random() < 0.5:  # noqa: PLR2004 - half
            return CODED_USER
        if operation.name.startswith("revoke_token_") or operation.name == "revoke_token":
            return self._values.caller
        if operation.name in HASHING:
            return self._key(self._values.people)
        return self._key(self._values.users, last=operation.method == "DELETE" or operation.name == "rename_user")

    def _key(self, pairs: Sequence[tuple[str, str]], *, last: bool = False) -> str:
        """Choose a record's id or name, mostly of the first ones, so that requests meet the same records often.

        Deletions and renames choose mostly one of the others.
        """
        often = self.dice.random() < 0.8  # noqa: PLR2004 - mostly
        pair = self.dice.choice(pairs[OFTEN:] if often and last else pairs[:OFTEN] if often else pairs)
        return self.dice.choice((*pair, pair[0], pair[0], pair[1].upper(), pair[0].replace("-", "")))

    def _entry(self, kind: str) -> str:
        """Choose an entry of the catalogue, but no bag: new bags get random ids, and answers sort them by id."""
        return self.dice.choice([each for each in self._values.catalogue[kind] if not each.get("BagSlots")])["Id"]

    def _choose_query(self, operation: Described) -> list[Mapping[str, Any]]:
        """Choose up to three query parameters; long polls are rare, since each waits a second."""
        chosen = self.dice.sample(operation.query, min(len(operation.query), self.dice.randrange(4)))
        return [each for each in chosen if each["name"] != "wait" or self.dice.random() < 0.1]  # noqa: PLR2004 - rare

    def _query_value(self, operation: Described, parameter: Mapping[str, Any]) -> str:
        name, schema = parameter["name"], parameter["schema"]
        if "enum" in schema:
            each = self.dice.choice(schema["enum"])
            return self.dice.choice((each, each.lower()))
        name_part = self.dice.choice(self._values.players)[1]
        known: Mapping[str, Callable[[], object]] = {
            "page": lambda: self.dice.choice((0, 1, 2, self.dice.randrange(100), 2147483647)),
            "pageSize": lambda: self.dice.choice((1, 5, 7, 100, 5000)),
            "limit": lambda: self.dice.choice((1, 3, 20, 1000)),
            "around": lambda: self.dice.randrange(51),
            "search": lambda: self.dice.choice((name_part, name_part[1:4], "example", "ab", "%_%", "")),
            "q": lambda: self.dice.choice((name_part, name_part[1:], name_part[::-1], self._entry("items"), "17", "")),
            "player": lambda: self.dice.choice(self._values.players)[0],
            "user": lambda: self.dice.choice(self._values.users)[0],
            "actor": lambda: NOBODY,
            "item": lambda: self._entry("items"),
            "from": lambda: self.dice.choice(("2025-01-01T00:00:00Z", "2030-01-01")),
            "to": lambda: self.dice.choice(("2025-01-01", "2030-01-01T00:00:00Z")),
            "at": lambda: self.dice.choice(("1", "60", "200", "2001-01-01", "2090-01-01")),
            "step": lambda: self.dice.choice(("hour", "day", "week", "month")),
            "before": lambda: MAIL_CURSOR if operation.name == "list_mails" else self.dice.randrange(1, 2000),
            "after": lambda: self.dice.choice((0, self.dice.randrange(2000), "now")),
            "wait": lambda: 1,
            "epoch": lambda: NOBODY,
            "request": lambda: "demo",
            "reason": lambda: self.dice.choice(("shop", "order")),
        }
        return str(known[name]() if name in known else self.dice.choice(("true", "false")))

    def _make_body(self, operation: Described, target: str) -> tuple[bytes, str]:
        """Make a body as JSON, or as a form if it has only plain values; also its media type, empty without a body."""
        if operation.body is None:
            return b"", ""
        if operation.name == "put_catalogue":
            return json.dumps(self._make_entries(target)).encode(), JSON
        if operation.name == "put_player":
            return json.dumps(self._make_report()).encode(), JSON
        example = cast("Mapping[str, Any]", operation.body)  # safe cast: only the catalogue's body is not an object
        fields: dict[str, object] = {name: self._body_value(operation, name, value) for name, value in example.items()}
        if operation.name == "issue_token" and self.dice.random() < 0.3:  # noqa: PLR2004 - every third or so
            fields = {"grant_type": "refresh_token", "refresh_token": REFRESH}
        if operation.name == "issue_token" or self.dice.random() < 0.1:  # noqa: PLR2004 - a few
            plain = {name: str(value).lower() if isinstance(value, bool) else value for name, value in fields.items()}
            return urlencode(plain, safe="~").encode(), FORM
        return json.dumps(fields, ensure_ascii=self.dice.random() < 0.5).encode(), JSON  # noqa: PLR2004 - half

    def _body_value(self, operation: Described, name: str, value: object) -> object:
        known: Mapping[str, Callable[[], object]] = {
            "itemid": lambda: self.dice.choice((value, self._entry("items"))),
            "spellid": lambda: self.dice.choice((value, self._entry("spells"))),
            "classid": lambda: self._entry("classes"),
            "quantity": lambda: self.dice.choice((1, 2, "3", 50, 100_000)),
            "bankoverflow": lambda: self.dice.choice((True, False, "true")),
            "value": lambda: self.dice.choice((self.dice.randrange(100), "43", True, False)),
            "level": lambda: self.dice.choice((self.dice.randrange(1, 101), "8", 101)),
            "name": lambda: f"Fresh{self._count()}",
            "username": lambda: self._log_in_name() if operation.name == "issue_token" else f"Fresh{self._count()}",
            "email": lambda: f"fresh{self._count()}@example.test",
            "new": lambda: f"fresh{self._count()}@example.test" if "email" in operation.path else self._values.password,
            "password": self._password,
            "authorization": self._password,
            "code": lambda: self.dice.choice((CODE, CODE, "a guess")),
            "duration": lambda: self.dice.choice((1, "2", 7, None)),
            "moderator": lambda: self.dice.choice(("keeper", "Somebody")),
            "page": lambda: self.dice.randrange(40),
            "count": lambda: self.dice.choice((1, "3", 100)),
            "Players": lambda: [pair[0] for pair in self.dice.choices(self._values.players, k=3)],
            "Lease": lambda: 3600,  # long, so that no lease expires between the two servers' answers
            "mute": lambda: self.dice.choice((True, False)),
        }
        return known[name]() if name in known else value

    def _log_in_name(self) -> str:
        return self._values.caller if self.dice.random() < 0.7 else self._key(self._values.people)  # noqa: PLR2004 - mostly

    def _password(self) -> str:
        return self._values.password if self.dice.random() < 0.8 else WRONG_PASSWORD  # noqa: PLR2004 - mostly right

    def _make_entries(self, target: str) -> list[dict[str, Any]]:
        """Make a whole list of the catalogue with one new name; for an unknown kind, any list."""
        kind = target.partition("?")[0].rpartition("/")[2]
        entries = [dict(each) for each in self._values.catalogue.get(kind, self._values.catalogue["maps"])]
        self.dice.choice(entries)["Name"] = f"Named {self._count()}"
        return entries

    def _make_report(self) -> Mapping[str, Any]:
        fields: Mapping[str, Any] = {
            "Level": self.dice.randrange(1, 101),
            "Exp": self.dice.randrange(10**6),
            "Name": f"Fresh{self._count()}",
            "Dead": self.dice.choice((True, False)),
            "X": self.dice.randrange(64),
            "UserId": self.dice.choice(self._values.users)[0],
            "CreationDate": "2026-01-31T12:00:00Z",
            "Spells": [{"Slot": 0, "SpellId": self._entry("spells")}],
            "Variables": [{"VariableId": self._entry("variables"), "Value": 1}],
            "Items": [{"Slot": self.dice.randrange(35), "ItemId": self._entry("items"), "Quantity": 1}],
        }
        chosen = self.dice.sample([*fields], self.dice.randrange(1, len(fields)))
        return {name: fields[name] for name in chosen}

    def _count(self) -> int:
        self._new += 1
        return self._new


def _with_token(ask: Ask, authorization: str | None) -> Ask:
    headers = [each for each in ask.headers if each[0] != "Authorization"]
    return replace(ask, headers=(*headers, *([("Authorization", authorization)] if authorization is not None else [])))


def _add_query(target: str, text: str) -> str:
    return f"{target}{'&' if '?' in target else '?'}{text}"


def make_requests(document: Mapping[str, Any], values: Values, count: int, seed: str) -> list[Ask]:
    """Make about `count` requests. Requests that belong together, such as a write and its retry, follow each other."""
    maker = _Maker(values, Random(seed))
    known = list_operations(document)
    quick = [each.name for each in known if each.name not in HASHING]
    least = min(LEAST, count // len(known))
    spare = count - least * len(known)
    quotas = dict.fromkeys((each.name for each in known), least)
    for place in range(spare):
        quotas[quick[place % len(quick)]] += 1
    groups = [group for each in known for group in maker.make_groups(each, quotas[each.name])]
    maker.dice.shuffle(groups)
    return [ask for group in groups for ask in group]
