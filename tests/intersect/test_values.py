import uuid
from datetime import datetime

from gamekeeper.intersect import values
from loops import over

ID = uuid.UUID("00112233-4455-6677-8899-aabbccddeeff")


@over("raw", ID.bytes_le, str(ID), f" {ID} ", "{" + str(ID) + "}", ID.hex.upper())
def test_guid_spellings(raw: object) -> None:
    assert values.parse_guid(raw) == str(ID)
    assert values.encode_guid(str(ID)) == ID.bytes_le


@over("raw", None, 7, "", "no guid", b"", b"short", ID.bytes_le + b"x")
def test_invalid_guids(raw: object) -> None:
    assert values.parse_guid(raw) is None


@over(
    "raw, expected",
    ("1970-01-02 00:00:00", 86_400_000),
    ("1970-01-01 00:00:01.1234567", 1_123),
    ("1970-01-01T00:00:02", 2_000),
    (datetime.fromisoformat("1970-01-01T00:00:03"), 3_000),
    ("0001-01-01 00:00:00", None),
    ("9999-12-31T23:59:59-23:59", 253_402_300_799_999),  # in UTC a time of the year 10000
    ("yesterday", None),
    (None, None),
    (5, None),
)
def test_times(raw: object, expected: int | None) -> None:
    assert values.parse_time(raw) == expected


@over(
    "raw, expected",
    ("[1,2,3,4,5]", (1, 2, 3, 4, 5)),
    ("[1,2]", (1, 2, 0, 0, 0)),
    (f"[{2**40}]", (2**31 - 1, 0, 0, 0, 0)),
    ('["1"]', None),
    ("[true,false]", None),  # would make the player's record unreadable
    ("[" * 100_000, None),
    (None, None),
)
def test_lists_of_numbers(raw: str | None, expected: object) -> None:
    assert values.parse_numbers(raw, 5) == expected


@over(
    "raw, expected",
    ("[0,0,0,0,0]", (0, 0, 0, 0, 0)),
    ('{"StatModifiers":[1,-2,0,0,0]}', (1, -2, 0, 0, 0)),
    ("{}", (0, 0, 0, 0, 0)),
    (None, (0, 0, 0, 0, 0)),
    ("nonsense", None),
)
def test_buffs_of_each_version(raw: str | None, expected: object) -> None:
    assert values.parse_buffs(raw) == expected
