"""Types of single JSON values. `extra` is read by bodies.py and queries.py, `extra_json_schema` by openapi.py."""

from typing import Annotated

import msgspec
from msgspec import Meta

ZERO = "00000000-0000-0000-0000-000000000000"
STORABLE = {"pattern": "^[^\\x00-\\x1f\\x7f]*$"}
PRINTABLE = {"pattern": "^[^\\x00-\\x1f\\x7f-\\x9f]*$"}
Guid = Annotated[str, Meta(extra={"is": "guid"}, extra_json_schema={"format": "uuid"})]
Id = Annotated[Guid, Meta(extra={"problem": "must be an id", "blank": True})]  # an id in a query parameter
Text = Annotated[str, Meta(max_length=255, extra_json_schema=PRINTABLE)]  # a text that people write
GameText = Annotated[
    str, Meta(max_length=255, extra={"is": "game_text"}, extra_json_schema=STORABLE)
]  # a text that a game server reports
# a new name of an account or player; its pattern is a setting
Name = Annotated[str, Meta(extra_json_schema={"format": "name"})]
Email = Annotated[str, Meta(extra_json_schema={"format": "email"})]
HIDDEN_SCHEMA = {"format": "password"}  # schema of passwords in the OpenAPI document: forms hide the typed value
PASSWORD_HASH_SCHEMA = {
    "pattern": "^[0-9A-Fa-f]{64}$",
    "description": "The SHA-256 of the password, in hex.",
    **HIDDEN_SCHEMA,
}
PasswordHash = Annotated[str, Meta(extra={"is": "password"}, extra_json_schema=PASSWORD_HASH_SCHEMA)]
Secret = Annotated[str, Meta(max_length=255, extra={"is": "secret"}, extra_json_schema=PRINTABLE | HIDDEN_SCHEMA)]
# a time with a UTC offset
Instant = Annotated[str, Meta(extra={"is": "instant"}, extra_json_schema={"format": "date-time"})]
# a time as the engine's logs have it: UTC without an offset, and without a fraction that is zero
EngineTime = Annotated[
    str, Meta(extra_json_schema={"pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}([.][0-9]+)?$"})
]
Int32 = Annotated[int, Meta(ge=-(2**31), le=2**31 - 1)]
Natural = Annotated[int, Meta(ge=0, le=2**31 - 1)]
Positive = Annotated[int, Meta(ge=1, le=2**31 - 1)]
# An optional field that must not be null: null by mistake would mean a permanent ban, an empty slot or a report without
# AppliedSeq.
NEVER_NULL = Meta(extra={"never_null": True})
LongNatural = Annotated[int, Meta(ge=0, le=2**63 - 1)]
Long = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]
# Integers in answers: the format tells client generators the width; no range is checked.
PlainInt32 = Annotated[int, Meta(extra_json_schema={"format": "int32"})]
PlainInt64 = Annotated[int, Meta(extra_json_schema={"format": "int64"})]
PlainDouble = Annotated[float, Meta(extra_json_schema={"format": "double"})]
VitalPair = Annotated[list[Int32], Meta(min_length=2, max_length=2, description="Health, mana.")]
FiveNumbers = Annotated[list[Int32], Meta(min_length=5, max_length=5)]
Stats = Annotated[FiveNumbers, Meta(description="Attack, ability power, defense, magic resist, speed.")]
encode = msgspec.json.Encoder().encode
Printable = Annotated[str, Meta(max_length=255, extra_json_schema=PRINTABLE)]
