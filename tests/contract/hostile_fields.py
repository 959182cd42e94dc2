"""Hostile fields: every invalid value in every field of a body where it can be sent."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bad_values import (
    NEVER_32_BITS,
    NEVER_A_BOOLEAN,
    NEVER_A_GUID,
    NEVER_A_NAME,
    NEVER_A_PASSWORD,
    NEVER_A_TEXT,
    NEVER_AN_EMAIL,
    NEVER_AN_INTEGER,
    NEVER_NATURAL,
    NEVER_POSITIVE,
    PASSWORDS_THAT_ARE_NO_TEXT,
    SECRET,
    ZERO,
    plain,
    text,
    wide,
)
from good_requests import BY_HANDLER, Example
from hostile import JSON, SWORD, Hostile, variant
from msgspec import Struct

import people
from gamekeeper.http.server.bodies import list_optional_names


@dataclass(frozen=True)
class Place:
    """A field of a body that gets an invalid value, while the other fields are valid."""

    handler: str
    name: str
    around: str = "%s"  # JSON text around the invalid value, if the field is nested in a list or record

    @property
    def example(self) -> Example:
        return BY_HANDLER[self.handler]

    def bad(self, values: Mapping[str, str]) -> Mapping[str, str]:
        """Return the invalid values for this field; null is left out for optional fields, where it is valid."""
        shape = self.example.route.body
        optional = shape is not None and issubclass(shape, Struct) and self.name in list_optional_names(shape)
        unneeded = {"null"} if optional and self.around == "%s" else set[str]()
        return {about: value for about, value in values.items() if about not in unneeded}

    def holding(self, value: str) -> bytes:
        rest = {name: each for name, each in self.example.fields.items() if name != self.name}
        text = json.dumps(rest)
        whole = f'"{self.name}": {self.around % value}'
        return (text[:-1] + (", " if rest else "") + whole + "}").encode("utf-8", "surrogatepass")


def _but_null(values: Mapping[str, str]) -> Mapping[str, str]:
    return {about: value for about, value in values.items() if about != "null"}


# --- fields, with the invalid values for each ----------------------------------------------------------------------

# each with an operation and its field, and with the text around the value
LEGACY_LISTS = (
    *("players.list_online_players", "players.list_players"),
    *("accounts.list_users", "catalogue.list_game_objects"),
)
POSITIVE = ("items.give_item quantity", "items.take_item quantity", "link.put_player Level")
NATURAL = (*(f"{each}_legacy page" for each in LEGACY_LISTS), "moderation.ban duration", "moderation.mute duration")
OF_32_BITS = (*(f"{each}_legacy count" for each in LEGACY_LISTS), "link.put_player StatPoints")
INTEGERS: Sequence[tuple[Place, Mapping[str, str]]] = [
    *((Place(*each.split()), NEVER_POSITIVE) for each in POSITIVE),
    *((Place(*each.split()), NEVER_NATURAL) for each in NATURAL),
    *((Place(*each.split()), NEVER_32_BITS) for each in OF_32_BITS),
    (Place("variables.set_variable", "value"), {k: v for k, v in NEVER_AN_INTEGER.items() if k != "true"}),
    (Place("link.send_heartbeat", "Lease"), NEVER_POSITIVE | plain("3601")),
    (Place("link.put_player", "Exp"), NEVER_AN_INTEGER | plain("-1")),
    (Place("link.put_player", "Gender"), NEVER_NATURAL | plain("2")),
    (Place("link.put_player", "PlayTimeSeconds"), NEVER_AN_INTEGER | plain("-1")),
    (Place("link.put_player", "MaxVitals", "[1, %s]"), NEVER_32_BITS),
    (Place("link.put_player", "BaseStats", "[1, 2, 3, 4, %s]"), NEVER_32_BITS),
    (Place("link.put_player", "Items", '[{"Slot": %s}]'), NEVER_NATURAL),
    (Place("link.put_player", "Bank", f'[{{"Slot": 0, "ItemId": "{SWORD}", "Quantity": %s}}]'), NEVER_NATURAL),
]
BOOLEANS = [
    *(Place("items.give_item", "bankoverflow"), Place("link.put_player", "InBank"), Place("link.put_player", "Dead")),
    *(Place("roles.change_powers", name) for name in ("ban", "usersquery", "gamelink")),
]
GUIDS = [
    *(Place(f"items.{act}_item", "itemid") for act in ("give", "take")),
    *(Place(f"spells.{act}_spell", "spellid") for act in ("teach", "forget")),
    *(Place(f"link.report_{what}", "Players", "[%s]") for what in ("joined", "left")),
    *(Place("link.put_player", name) for name in ("UserId", "ClassId")),
    Place("link.put_player", "Items", '[{"Slot": 1, "ItemId": %s, "Quantity": 1}]'),
    Place("link.put_player", "Spells", '[{"Slot": 1, "SpellId": %s}]'),
    Place("link.put_player", "Variables", '[{"VariableId": %s, "Value": 1}]'),
]
EMAILS = [
    Place("accounts.register_user", "email"),
    *(Place(f"credentials.{act}_email", "new") for act in ("change", "manage")),
]
PASSWORDS = [
    *(Place("accounts.register_user", "password"), Place("credentials.validate_password", "password")),
    *(Place(f"credentials.{act}", "new") for act in ("change_password", "manage_password", "redeem_reset_code")),
    *(Place(f"credentials.change_{what}", "authorization") for what in ("email", "password")),
]


# --- hostile requests for these fields -----------------------------------------------------------------------------


def _put(group: str, place: Place, about: str, value: str, **more: object) -> Hostile:
    given: dict[str, Any] = {"names": place.name, **more}
    return variant(group, place.example, f"{place.name}: {about}", body=place.holding(value), headers=JSON, **given)


def numbers() -> Iterator[Hostile]:
    for place, bad in INTEGERS:
        for about, value in place.bad(bad).items():
            # NaN is not JSON, so the error message names no field
            unreadable = about == "NaN"
            yield _put("numbers", place, about, value, names="JSON" if unreadable else place.name)


def booleans() -> Iterator[Hostile]:
    for place in BOOLEANS:
        yield from (_put("booleans", place, about, value) for about, value in place.bad(NEVER_A_BOOLEAN).items())
    wrong = Place("variables.set_variable", "value")
    for about in ("true", "false", '"True"'):
        yield _put("booleans", wrong, about, about, names=people.KILLS.id)


def guids() -> Iterator[Hostile]:
    for place in GUIDS:
        for about, value in place.bad(NEVER_A_GUID).items():
            yield _put("guids", place, about, value)
    for handler in ("items.give_item", "items.take_item", "spells.teach_spell", "spells.forget_spell"):
        place = next(each for each in GUIDS if each.handler == handler)
        for unknown in (ZERO, people.NOBODY_ID):
            yield _put("guids", place, unknown, text(unknown), status=404, names="id")
    zero = Place("link.put_player", "UserId")
    yield _put("guids", zero, "zero", text(ZERO), status=404, names="user")
    for handler in ("link.report_joined", "link.report_left"):
        yield _put("guids", Place(handler, "Players", "[%s]"), "zero", text(ZERO), status=404, names="player")


def texts() -> Iterator[Hostile]:
    for about, value in NEVER_A_NAME.items():
        names = {"names": "reserved"} if about.startswith("reserved") else {}
        yield _put("texts", Place("accounts.register_user", "username"), about, value, **names)
        if about not in {"a guid", "null"}:
            yield _put("texts", Place("link.put_player", "Name"), about, value, **names)
    for place in EMAILS:
        yield from (_put("texts", place, about, value) for about, value in NEVER_AN_EMAIL.items())
    for name in ("Sprite", "Face"):
        for about, value in {**_but_null(NEVER_A_TEXT), "256 characters": text("x" * 256)}.items():
            yield _put("texts", Place("link.put_player", name), about, value)
    for place in (Place("moderation.mute", "reason"), Place("moderation.kick", "moderator")):
        yield _put("texts", place, "C1 control", text("a\x9b31mb"))
    for about, value in {
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
        yield _put("passwords", Place("credentials.redeem_reset_code", "code"), about, value)


def catalogue() -> Iterator[Hostile]:
    entry = f'[{{"Id": "{SWORD}", "Name": "Sword", "Stackable": false, "%s": %s}}]'
    for name, bad in {
        "MaxStack": NEVER_POSITIVE,
        "BagSlots": {**NEVER_NATURAL, "1001": "1001"},
        "Icon": {**NEVER_A_TEXT, "long": text("x" * 256)},
    }.items():
        for about, value in bad.items():
            if about != "null":
                yield _catalogue(f"{name}: {about}", "items", entry % (name, value), "JSON" if about == "NaN" else name)
    for about, value in NEVER_A_GUID.items():
        yield _catalogue(f"Id: {about}", "spells", f'[{{"Id": {value}, "Name": "x"}}]', "Id")
    for value in ('"Float"', "1", "null"):
        entries = f'[{{"Id": "{people.KILLS.id}", "Name": "x", "Type": {value}}}]'
        yield _catalogue(f"Type: {value}", "variables", entries, "Type")
    twice = f'{{"Id": "{people.HEAL.id}", "Name": "x"}}'
    for about, kind, body, names in (
        ("not an array", "maps", "{}", "array"),
        ("the same twice", "spells", f"[{twice}, {twice}]", "Id"),
        ("zero id", "classes", f'[{{"Id": "{ZERO}", "Name": "x"}}]', "Id"),
        ("no Name", "classes", f'[{{"Id": "{people.WARRIOR.id}"}}]', "Name"),
        ("an array of arrays", "classes", "[[[]]]", "[0]"),
        ("a bag that stacks", "items", entry.replace("false", "true") % ("BagSlots", "1"), "BagSlots"),
    ):
        yield _catalogue(about, kind, body, names)


def _catalogue(about: str, kind: str, body: str, names: str) -> Hostile:
    path = f"/api/link/v1/catalogue/{kind}".encode()
    return Hostile("catalogue", about, "PUT", path, (400,), body.encode("utf-8", "surrogatepass"), JSON, names)
