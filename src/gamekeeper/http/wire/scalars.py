"""Types of single values. `extra` is read by bodies.py and queries.py, `extra_json_schema` by openapi.py."""

from typing import Annotated

import msgspec
from msgspec import Meta

ZERO = "00000000-0000-0000-0000-000000000000"
STORABLE = {"pattern": "^[^\\x00-\\x1f\\x7f]*$"}
PRINTABLE = {"pattern": "^[^\\x00-\\x1f\\x7f-\\x9f]*$"}
Guid = Annotated[str, Meta(extra={"is": "guid"}, extra_json_schema={"format": "uuid"})]
Id = Annotated[Guid, Meta(extra={"problem": "must be an id", "blank": True})]  # of a query parameter
Text = Annotated[str, Meta(max_length=255, extra_json_schema=PRINTABLE)]  # written by people
GameText = Annotated[
    str, Meta(max_length=255, extra={"is": "game_text"}, extra_json_schema=STORABLE)
]  # reported by a game
Name = Annotated[str, Meta(extra_json_schema={"format": "name"})]  # a new name; its pattern is a setting
Email = Annotated[str, Meta(extra_json_schema={"format": "email"})]
HIDDEN_SCHEMA = {"format": "password"}  # in the OpenAPI document: forms hide the typed value
PASSWORD_HASH_SCHEMA = {
    "pattern": "^[0-9A-Fa-f]{64}$",
    "description": "The SHA-256 of the password, in hex.",
    **HIDDEN_SCHEMA,
}
PasswordHash = Annotated[str, Meta(extra={"is": "password"}, extra_json_schema=PASSWORD_HASH_SCHEMA)]
Secret = Annotated[str, Meta(max_length=255, extra={"is": "secret"}, extra_json_schema=PRINTABLE | HIDDEN_SCHEMA)]
Instant = Annotated[str, Meta(extra={"is": "instant"}, extra_json_schema={"format": "date-time"})]  # with a UTC offset
Int32 = Annotated[int, Meta(ge=-(2**31), le=2**31 - 1)]
Natural = Annotated[int, Meta(ge=0, le=2**31 - 1)]
Positive = Annotated[int, Meta(ge=1, le=2**31 - 1)]
# An optional field that must not be null: null by mistake would mean a permanent ban, an empty slot or a report without
# AppliedSeq.
NEVER_NULL = Meta(extra={"never_null": True})
LongNatural = Annotated[int, Meta(ge=0, le=2**63 - 1)]
Long = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]
# Integers of answers: the format tells client generators the width; no range is checked.
PlainInt32 = Annotated[int, Meta(extra_json_schema={"format": "int32"})]
PlainInt64 = Annotated[int, Meta(extra_json_schema={"format": "int64"})]
VitalPair = Annotated[list[Int32], Meta(min_length=2, max_length=2, description="Health, mana.")]
FiveNumbers = Annotated[list[Int32], Meta(min_length=5, max_length=5)]
Stats = Annotated[FiveNumbers, Meta(description="Attack, ability power, defense, magic resist, speed.")]
encode = msgspec.json.Encoder().encode
Printable = Annotated[str, Meta(max_length=255, extra_json_schema=PRINTABLE)]
