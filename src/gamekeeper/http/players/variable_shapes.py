"""JSON shapes of variables: of players, of the server and of guilds."""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

from msgspec import Meta, Struct

from gamekeeper.http.contract.shapes import Guid, Long, PlainDouble, PlainInt64, describe

VariableValue = Annotated[Long | bool, Meta(extra={"is": "value"})]

# value of a player's variable that is read: an integer, a boolean, a decimal or a text
ReadValue = Long | bool | PlainDouble | str


class SetVariable(Struct):
    value: Annotated[VariableValue, describe("The new value, of the variable's type.")]


class Variable(Struct):
    SENT_TOO: ClassVar = True
    VariableId: Guid
    Value: VariableValue


class PlayerVariable(Struct):
    """A variable of a player as it is read."""

    VariableId: Guid
    Value: ReadValue


class Value(Struct):
    value: ReadValue


class ChangedVariable(Struct):
    VariableId: str
    Value: VariableValue | None


# A value of any type. Whole numbers and decimals share one schema: a whole number fits both.
_ANY_SCHEMA = {
    "anyOf": [{"type": "string"}, {"type": "number", "format": "double"}, {"type": "boolean"}, {"type": "null"}]
}
AnyValue = Annotated[Any, Meta(extra={"is": "any_value"}, extra_json_schema=_ANY_SCHEMA)]
TypeName = Literal["Integer", "Boolean", "String", "Number"]
TypeNumber = Literal[1, 2, 3, 4]
# the engine's numbers of the types
TYPE_NUMBERS: Mapping[str, TypeNumber] = {"Boolean": 1, "Integer": 2, "String": 3, "Number": 4}


class SetAnyVariable(Struct):
    value: Annotated[AnyValue, describe("The new value, of the variable's type.")]


class AnyVariable(Struct):
    VariableId: Guid
    Value: AnyValue


class GuildVariable(Struct):
    """A variable of one guild. `Value` is null if it was never set for this guild."""

    VariableId: Guid
    VariableName: str
    Value: AnyValue


class GuildValue(Struct):
    GuildId: Guid
    VariableId: Guid
    Value: AnyValue


class ServerVariable(Struct):
    """A variable of the server. `Value` is null until it is set for the first time."""

    Name: str
    TextId: str
    Type: TypeNumber
    Value: AnyValue
    Folder: str
    Id: Guid
    TimeCreated: PlainInt64


class ChangedServerVariable(ServerVariable):
    """A variable of the server after a change. A client of the engine looks for `VariableId`."""

    VariableId: Guid


class AnyValueOnly(Struct):
    value: AnyValue


class HeadValueOnly(Struct):
    """A value as the engine's newest version spells it."""

    Value: AnyValue


class GuildVariableObject(Struct):
    """A variable that guilds can have, as the engine lists it."""

    Name: str
    TextId: str
    Type: TypeNumber
    Folder: str
    Id: Guid
    TimeCreated: PlainInt64
