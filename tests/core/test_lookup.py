"""Keys of lookups: guids and names. What names are possible, are the same in any case, and are allowed for new ones."""

import uuid

from hypothesis import given
from hypothesis import strategies as st

from gamekeeper.game.core import lookup
from loops import over

ID = "0a1b2c3d-4e5f-4a7b-8c9d-0e1f2a3b4c5d"
PLAIN = ID.replace("-", "")
NO_GUIDS = [
    *("", "Ann", ID[:-1], ID + "0", PLAIN[:-1], PLAIN + "0", ID.replace("a", "g"), ID.replace("-", "_")),
    *(f" {ID}", f"{ID}\n", f"({ID})", f"{{{ID}", f"{ID}}}", f"urn:uuid:{ID}", f"{PLAIN[:4]}-{PLAIN[4:]}"),
    *(ID.replace("0", "\uff10"), ID.replace("1", "\u0661"), ID.replace("f", "\uff46")),
]


@given(st.uuids())
def test_every_common_form_of_a_guid_has_one_canonical_form(value: uuid.UUID) -> None:
    for text in (str(value), value.hex, f"{{{value}}}", f"{{{value.hex}}}"):
        for spelling in (text, text.upper()):
            assert lookup.parse_guid(spelling) == str(value)
            assert lookup.parse_key(spelling) == ("id", str(value))
    assert lookup.parse_guid(lookup.new_guid()) != lookup.new_guid()


@over("text", *NO_GUIDS)
def test_text_that_is_not_a_guid_is_a_name(text: str) -> None:
    assert lookup.parse_guid(text) is None
    assert lookup.parse_key(text) == ("name", text)


@over("one, other", ("aNN9", "Ann9"), ("Straße", "STRASSE"), ("ΣΊΣΥΦΟΣ", "σίσυφος"), ("Éa", "éA"))
def test_name_has_the_same_fold_in_any_case(one: str, other: str) -> None:
    assert lookup.fold(one) == lookup.fold(other)


def test_names_are_possible_without_control_characters_up_to_255_characters() -> None:
    assert [each for each in ("a", "Ann", "x" * 255, "a/b", "Zoë", "\U0001f409") if not lookup.is_nameable(each)] == []
    impossible = ("", "x" * 256, "a\0", "a\nb", "\x7f", "\x85", chr(0xD800), "\ufffd")
    assert [each for each in impossible if lookup.is_nameable(each)] == []
