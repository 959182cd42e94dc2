"""Well-formed requests that are refused: failed log-ins and broken rules."""

import json
from collections.abc import Iterator, Mapping
from urllib.parse import quote

from bad_values import ODD_NAMES, SECRET, ZERO
from good_requests import BY_HANDLER
from hostile import JSON, SWORD, Hostile, variant

import people
from world import SENT


def log_ins() -> Iterator[Hostile]:
    good: Mapping[str, object] = {"grant_type": "password", "username": "Clerk", "password": SENT}
    odd: Mapping[str, Mapping[str, object]] = {
        "no grant": {"grant_type": ""},
        "another grant": {"grant_type": "client_credentials"},
        "grant in capitals": {"grant_type": "PASSWORD"},
        "grant null": {"grant_type": None},
        "no name": {"username": ""},
        "name a list": {"username": ["Clerk"]},
        "name with NUL": {"username": "Clerk\0"},
        "nobody": {"username": "Nobody"},
        "nobody by SQL": {"username": "' OR 1=1 --"},
        "nobody with 8 KB": {"username": "x" * 8192},
        "no API access": {"username": "Ann"},
        "no password": {"password": ""},
        "plain password": {"password": people.PASSWORD},
        "password a number": {"password": 5},
        "password of 8 KB": {"password": SECRET * 128},
        "scope both": {"scope": "read write"},
        "scope admin": {"scope": "users.manage"},
        "scope a list": {"scope": ["read"]},
        "refresh without": {"grant_type": "refresh_token"},
        "refresh with an access token": {"grant_type": "refresh_token", "refresh_token": "gka_" + "a" * 43},
        "refresh with a zero guid": {"grant_type": "refresh_token", "refresh_token": ZERO},
        "refresh with an unknown guid": {"grant_type": "refresh_token", "refresh_token": people.NOBODY_ID},
        "refresh with SQL": {"grant_type": "refresh_token", "refresh_token": "' OR 1=1 --"},
        "refresh with a list": {"grant_type": "refresh_token", "refresh_token": [ZERO]},
    }
    path = BY_HANDLER["tokens.issue_token"].path.encode()
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


def rules() -> Iterator[Hostile]:
    refused: list[tuple[str, Mapping[str, object], int, str]] = [
        ("items.give_item", {"itemid": SWORD, "quantity": 36}, 409, "fit"),
        ("items.give_item", {"itemid": SWORD, "quantity": 2**31 - 1, "bankoverflow": True}, 409, "fit"),
        ("items.give_item", {"itemid": people.COIN.id, "quantity": 2**31 - 1, "bankoverflow": True}, 409, "fit"),
        ("items.take_item", {"itemid": people.COIN.id, "quantity": 251}, 409, "250"),
        ("items.take_item", {"itemid": people.COIN.id, "quantity": 2**31 - 1}, 409, "250"),
        ("items.take_item", {"itemid": people.POUCH.id, "quantity": 1}, 409, "bag"),
        ("spells.teach_spell", {"spellid": people.FIREBALL.id}, 409, "already"),
        ("spells.forget_spell", {"spellid": people.HEAL.id}, 409, "does not know"),
        ("accounts.register_user", {"username": "aNN", "password": SENT, "email": "new@example.test"}, 409, "username"),
        ("accounts.register_user", {"username": "Newest", "password": SENT, "email": "ANN@example.test"}, 409, "email"),
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
        ("link.report_joined", {"Players": people.BOB.id}, 400, "Players"),
        ("link.report_joined", {"Players": [people.NOBODY_ID]}, 404, "player"),
        ("link.report_joined", {"Players": [people.BOB.id, people.NOBODY_ID]}, 404, "player"),
        ("link.report_joined", {"Players": [people.BOB.id] * 10_001}, 400, "Players"),
        ("link.report_left", {"Players": None}, 400, "Players"),
    ]
    for handler, body, status, names in refused:
        raw = json.dumps(body)
        yield variant("rules", BY_HANDLER[handler], raw[:80], status=status, body=raw.encode(), names=names)
    new = json.dumps({"Name": "Zero", "UserId": people.USER_IDS["Ann"]}).encode()
    yield Hostile("rules", "a zero id", "PUT", f"/api/link/v1/players/{ZERO}".encode(), (404,), new, JSON, ZERO)
    for path in ("joined", "left"):
        address = f"/api/link/v1/servers/nowhere/{path}".encode()
        yield Hostile("rules", f"{path} nowhere", "POST", address, (404,), b'{"Players": []}', JSON, "server")
    yield Hostile("rules", "shutting nothing", "DELETE", b"/api/link/v1/servers/nowhere", (404,), names="server")
