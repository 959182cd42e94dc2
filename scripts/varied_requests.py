"""Requests over all operations of the API, made at random from its OpenAPI document: valid, repeated, odd and invalid.

The same seed, document and values make the same requests.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from random import Random
from typing import Any

from valid_requests import (
    ACCESS,
    ETAG,
    FORM,
    HASHING,
    JSON,
    NOBODY,
    Ask,
    Described,
    ValidRequests,
    Values,
    list_operations,
)

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


class _Maker(ValidRequests):
    def __init__(self, values: Values, dice: Random) -> None:
        super().__init__(values, dice)
        self._makers: Mapping[str, Callable[[Described], list[Ask]]] = {
            kind: getattr(self, f"_make_{kind}") for kind in KINDS
        }

    def make_groups(self, operation: Described, quota: int) -> Iterator[list[Ask]]:
        while quota > 0:
            (kind,) = self.dice.choices([*KINDS], [*KINDS.values()])
            group = [replace(each, kind=kind) for each in self._makers[kind](operation)][:quota]
            quota -= len(group)
            yield [*(replace(each, kind="before") for each in self._make_before(operation, group[0])), *group]

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

    def _make_read_only(self, operation: Described) -> list[Ask]:
        return [_with_token(self._valid(operation), f"Bearer {self._values.read_only}")]

    def _make_without_permission(self, operation: Described) -> list[Ask]:
        return [_with_token(self._valid(operation), f"Bearer {self._values.without_permission}")]

    def _make_new_token(self, operation: Described) -> list[Ask]:
        return [_with_token(self._valid(operation), f"Bearer {ACCESS}")]

    def _make_no_token(self, operation: Described) -> list[Ask]:
        return [_with_token(self._valid(operation), None)]

    def _make_wrong_token(self, operation: Described) -> list[Ask]:
        wrong = ("Bearer gka_wrong", "Bearer ", f"Bearer {self._values.token}x", f"Bearer {self._values.token} x")
        return [_with_token(self._valid(operation), self.dice.choice(wrong))]

    def _make_odd_scheme(self, operation: Described) -> list[Ask]:
        scheme = self.dice.choice(("bearer", "BEARER", "Basic", "", "Bearer "))
        return [_with_token(self._valid(operation), f"{scheme} {self._values.token}")]

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

    def _make_wrong_method(self, operation: Described) -> list[Ask]:
        method = self.dice.choice(("GET", "POST", "PUT", "DELETE", "PATCH", "TRACE", "PROPFIND", "get"))
        return [replace(self._valid(operation), method=method)]

    def _make_head(self, operation: Described) -> list[Ask]:
        return [replace(self._valid(operation), method="HEAD")]

    def _make_options(self, operation: Described) -> list[Ask]:
        return [replace(self._valid(operation), method="OPTIONS")]

    def _make_preflight(self, operation: Described) -> list[Ask]:
        ask = replace(self._valid(operation), method="OPTIONS", headers=(), body=b"")
        asked = [("Access-Control-Request-Method", operation.method), ("Access-Control-Request-Headers", "x-reason")]
        return [ask.with_headers(("Origin", self._origin()), *asked[: self.dice.randrange(3)])]

    def _make_origin(self, operation: Described) -> list[Ask]:
        return [self._valid(operation).with_headers(("Origin", self._origin()))]

    def _make_close(self, operation: Described) -> list[Ask]:
        return [self._valid(operation).with_headers(("Connection", "close"))]

    def _make_repeated_header(self, operation: Described) -> list[Ask]:
        ask = self._valid(operation)
        repeated = (
            [("Authorization", "Bearer gka_wrong")],
            [("Idempotency-Key", "a"), ("Idempotency-Key", "b")],
            [("X-Reason", "a"), ("X-Reason", "b")],
            [("If-None-Match", '"a"'), ("If-None-Match", ETAG)],
            [("Content-Type", JSON)],
            [("Origin", ORIGIN), ("Origin", ORIGIN)],
        )
        return [ask.with_headers(*self.dice.choice(repeated))]

    def _make_proxied(self, operation: Described) -> list[Ask]:
        sent = (
            [("X-Forwarded-For", "203.0.113.9"), ("X-Forwarded-Proto", "https")],
            [("X-Forwarded-For", "203.0.113.9, 198.51.100.7")],
            [("X-Forwarded-For", "not an address")],
            [("Accept-Encoding", "gzip, br"), ("Accept", "text/html")],
            [("X-Request-Id", "chosen-by-the-caller"), ("Idempotency-Key", "")],
            [("Idempotency-Key", "k" * 256)],
            [("X-Unknown", "x" * 2000)],
        )
        return [self._valid(operation).with_headers(*self.dice.choice(sent))]

    def _origin(self) -> str:
        return self.dice.choice((ORIGIN, "https://other.example", "null"))


def _with_token(ask: Ask, authorization: str | None) -> Ask:
    headers = [each for each in ask.headers if each[0] != "Authorization"]
    return replace(ask, headers=(*headers, *([("Authorization", authorization)] if authorization is not None else [])))


def _add_query(target: str, text: str) -> str:
    return f"{target}{'&' if '?' in target else '?'}{text}"
