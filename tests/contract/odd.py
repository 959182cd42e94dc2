"""Unusual but valid requests, answered like the usual ones: extra fields, odd headers, spellings and pages."""

import json
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import msgspec
from good_requests import BY_HANDLER, EXAMPLES, NEW_EACH_TIME, Example, dry_run_path, handler_of
from hostile import JSON, LIMIT, Hostile, pad_body

import long_forms
import people
from gamekeeper.http.accounts import account_shapes
from gamekeeper.http.contract.shapes import list_read_only
from gamekeeper.http.players import player_shapes

POWERS = dict.fromkeys([*account_shapes.Power.__struct_fields__, *account_shapes.ChangedPower.__struct_fields__], True)
SMUGGLED: Mapping[str, object] = {
    **dict.fromkeys(player_shapes.PlayerDocument.__struct_fields__, 99),
    "UserId": people.USER_IDS["Bob"],
    "Id": people.NOBODY_ID,
    "Online": True,
    "Email": "eve@example.test",
    "Power": POWERS,
    "PasswordResetCode": "known",
    **POWERS,
    "Roles": ["users.query", "users.manage", "game.link"],
    "role": "users.manage",
    "users_query": True,
    "users_manage": True,
    "game_link": True,
    "read_only": False,
    "actor_id": people.USER_IDS["Bob"],
    "token_id": people.NOBODY_ID,
    "lookupKey": "Bob",
    "Idempotency-Key": "x",
    "__proto__": {"api": True},
    "\ud800": 1,
}
bodied = [each for each in EXAMPLES if each.route.body not in {None, bytes}]


class Odd(NamedTuple):
    case: Hostile  # the unusual request, which must get a 200
    plain: Hostile | None  # the usual request that must get the same answer; None: not compared


def extra_fields_of(example: Example) -> dict[str, object]:
    """Return fields that the operation ignores: all that it does not define; in our own API read-only ones only."""
    takes = example.route.body
    assert takes is not None
    assert issubclass(takes, msgspec.Struct)
    taken = {each.name.lower() for each in msgspec.structs.fields(takes)}
    ignored = {each.lower() for each in list_read_only(takes)} if example.route.is_own_api else None
    return {
        name: value
        for name, value in SMUGGLED.items()
        # excluded: role names are accepted fields, with and without their dot
        if name.lower().replace(".", "") not in taken
        if ignored is None or name.lower() in ignored
    }


def case(example: Example, about: str, body: bytes, headers: Mapping[bytes, bytes] = JSON) -> Hostile:
    path = dry_run_path(example).encode()
    return Hostile("odd", f"{example.name}: {about}", example.route.method, path, (200,), body, headers)


def whole(example: Example, **more: object) -> bytes:
    return json.dumps({**example.fields, **more}).encode()


def smuggling() -> Iterator[Odd]:
    """Send each operation all extra fields at once, and a share of them alone; `make long` sends each alone."""
    shares = long_forms.choose(8, 1)
    for number, example in enumerate(bodied):
        plain = case(example, "plain", whole(example))
        everything = extra_fields_of(example)
        yield Odd(case(example, "with everything", whole(example, **everything)), _comparable(example, plain))
        for name, value in list(everything.items())[number % shares :: shares] if not _slow(example) else ():
            yield Odd(case(example, f"with {name!a}", whole(example, **{name: value})), _comparable(example, plain))


def _slow(example: Example) -> bool:
    """Return whether the operation hashes a password."""
    return handler_of(example.route).startswith(("credentials.", "tokens.", "accounts.register_user"))


def bodies() -> Iterator[Odd]:
    for example in bodied:
        body, comparable = whole(example), _comparable(example, case(example, "plain", whole(example)))
        deep = whole(example)[:-1] + (b", " if example.body else b"") + b'"deep": ' + b"[" * 31 + b"]" * 31 + b"}"
        odd: dict[str, tuple[bytes, Mapping[bytes, bytes]]] = {
            "a byte order mark": (b"\xef\xbb\xbf" + body, JSON),
            "another charset named": (body, {b"content-type": b"Application/JSON; charset=iso-8859-1"}),
            "no label": (body, {}),
        }
        if not example.route.is_own_api:
            odd["32 levels"] = deep, JSON
            odd["64 KiB"] = pad_body(body, LIMIT), JSON
        for about, (raw, headers) in odd.items():
            yield Odd(case(example, about, raw, headers), comparable)


def _comparable(example: Example, plain: Hostile) -> Hostile | None:
    """Return the usual request, or None if its answer differs each time, such as a log-in or a heartbeat."""
    return None if handler_of(example.route) in {"tokens.issue_token", "link.send_heartbeat", *NEW_EACH_TIME} else plain


def spellings() -> Iterator[Odd]:
    give = BY_HANDLER["items.give_item"]
    plain = case(give, "plain", whole(give))
    for about, more in {
        "a number in a string": {"quantity": "2"},
        "a boolean in a string": {"bankoverflow": "TRUE"},
        "a guid in braces": {"itemid": f"{{{people.COIN.id.upper()}}}"},
        "a guid without hyphens": {"itemid": people.COIN.id.replace("-", "")},
    }.items():
        yield Odd(case(give, about, whole(give, **more)), plain)
    for key in ("ann", "%41nn", people.ANN.id.upper(), f"%7b{people.ANN.id}%7d", people.ANN.id.replace("-", "")):
        path = f"/api/v1/players/{key}/items/give?dryRun=TRUE".encode()
        yield Odd(Hostile("odd", f"key {key}", "POST", path, (200,), whole(give), JSON), plain)
    for about, headers in {
        "255 characters of key": {b"idempotency-key": bytes(range(0x21, 0x7F)) + b"k" * 161},
        "500 characters of reason": {b"x-reason": "ж".encode() * 500},
        "an empty reason": {b"x-reason": b""},
        "another encoding's header": {b"accept-encoding": b"\xff", b"cookie": b"a=b; a=c"},
    }.items():
        yield Odd(case(give, about, whole(give), {**JSON, **headers}), plain)


CASES: list[Odd] = [*smuggling(), *bodies(), *spellings()]
