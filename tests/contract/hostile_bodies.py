"""Hostile bodies for every operation with a body: malformed, of a wrong type, incomplete and too large."""

import json
from collections.abc import Iterator
from dataclasses import replace

from bad_values import BROKEN, FOREIGN
from good_requests import EXAMPLES, Example, handler_of
from hostile import LIMIT, LINK_LIMIT, Hostile, pad_body, variant

from gamekeeper.http.routes import ROUTES

shaped = [each for each in EXAMPLES if each.route.body not in {None, bytes}]
OVER_LINK = {handler_of(each) for each in ROUTES if each.over_link}


def _encode(example: Example) -> dict[str, bytes]:
    whole = json.dumps(example.body)
    return {name: whole.encode(name) for name in ("utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le")}


def bodies() -> Iterator[Hostile]:
    for example in shaped:
        for about, body in (BROKEN | _encode(example)).items():
            yield variant("bodies", example, about, body=body)
        body = json.dumps(example.body or {"page": 0}).encode()
        for kind in FOREIGN:
            headers = {b"content-type": kind}
            yield variant("bodies", example, f"{kind[:40]!r}", status=415, body=body, headers=headers)
        if example.body:
            yield from _incomplete(example)


# fields of the example bodies that may be left out
OPTIONAL = {"bankoverflow", "Level", "mute", "about", "permissions", "readonly", "give", "mapid", "Variables"} | {
    "BankSlotsCount", "InstanceId", "Addresses", "Items", "MostPerRequest", "MostPerDay", "GraceMinutes", "Suspended",
    "Players", "Online", "Warning", "Player", "Thing", "Public", "Gain",
    "HideStaff", "SeasonTitle", "Title",
}  # fmt: skip


def _incomplete(example: Example) -> Iterator[Hostile]:
    whole = example.fields
    needed = [name for name in whole if name not in OPTIONAL]
    for name in needed:
        rest = json.dumps({each: value for each, value in whole.items() if each != name}).encode()
        yield variant("bodies", example, f"no {name}", body=rest, names=name)
        twice = json.dumps({**whole, name.swapcase(): whole[name]}).encode()
        yield variant("bodies", example, f"{name} in two cases", body=twice, names=name.swapcase())
    if needed:
        yield variant("bodies", example, "no body", body=b"")


def sizes() -> Iterator[Hostile]:
    for example in shaped:
        over_link = handler_of(example.route) in OVER_LINK
        if over_link and handler_of(example.route) != "link.put_player":
            continue  # the body of 8 MiB is sent to one operation only, to save time
        limit = LINK_LIMIT if over_link else max(LIMIT, example.route.body_limit)
        body = pad_body(json.dumps(example.body).encode(), limit + 1)
        large = variant("sizes", example, f"{limit + 1} bytes", status=413, body=body, names=str(limit))
        yield large
        yield replace(large, about=f"{large.about}, chunked", chunked=True)
        announced = {b"content-type": b"application/json", b"content-length": b"9" * 30}
        yield replace(large, about=f"{example.name}: announced 30 digits", body=b"{}", headers=announced)
