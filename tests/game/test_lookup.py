"""Lookup keys: guids and names."""

import uuid

from hypothesis import given
from hypothesis import strategies as st

from gamekeeper.game import lookup
from loops import over

ID = "0a1b2c3d-4e5f-4a7b-8c9d-0e1f2a3b4c5d"
PLAIN = ID.replace("-", "")


@given(st.uuids())
def test_every_common_form_of_a_guid_has_one_canonical_form(value: uuid.UUID) -> None:
    for text in (str(value), value.hex, f"{{{value}}}", f"{{{value.hex}}}"):
        for spelling in (text, text.upper()):
            assert lookup.parse_guid(spelling) == str(value)
            assert lookup.parse_key(spelling) == ("id", str(value))


@over(
    "text",
    [
        "",
        "Ann",
        ID[:-1],
        ID + "0",
        PLAIN[:-1],
        PLAIN + "0",
        ID.replace("a", "g"),
        f" {ID}",
        f"{ID}\n",
        f"({ID})",
        f"{{{ID}",
        f"{ID}}}",
        f"urn:uuid:{ID}",
        f"0x{PLAIN}",
        ID.replace("-", "_"),
        f"{PLAIN[:4]}-{PLAIN[4:]}",
        ID.replace("0", "\uff10"),
        ID.replace("1", "\u0661"),
        ID.replace("f", "\uff46"),
    ],
)
def test_text_that_is_not_a_guid_is_a_name(text: str) -> None:
    assert lookup.parse_guid(text) is None
    assert lookup.parse_key(text) == ("name", text)


@given(st.text("0123456789abcdefABCDEF-{}xg", max_size=40))
def test_any_text_is_either_id_or_name(text: str) -> None:
    found = lookup.parse_guid(text)
    assert found is None or found.replace("-", "") == text.lower().strip("{}").replace("-", "")


@given(st.from_regex(r"[A-Za-z0-9]{2,20}", fullmatch=True))
def test_name_has_the_same_fold_in_any_case(name: str) -> None:
    assert lookup.fold(name) == lookup.fold(name.upper()) == lookup.fold(name.swapcase()) == name.lower()


@over("one, other", [("Straße", "STRASSE"), ("ΣΊΣΥΦΟΣ", "σίσυφος"), ("Éa", "éA")])
def test_fold_is_more_than_lower_case(one: str, other: str) -> None:
    assert lookup.fold(one) == lookup.fold(other)


@over("name", ["a", "Ann", "x" * 255, "a/b", "Zoë", "\U0001f409"])
def test_possible_names_are_nameable(name: str) -> None:
    assert lookup.is_nameable(name)


@over("name", ["", "x" * 256, "a\0", "a\nb", "\x7f", "\x85", chr(0xD800), "\ufffd"])
def test_impossible_names_are_not_nameable(name: str) -> None:
    assert not lookup.is_nameable(name)


def test_new_guids_are_canonical_and_differ() -> None:
    one, other = lookup.new_guid(), lookup.new_guid()
    assert one != other
    assert lookup.parse_guid(one) == one
