"""JSON shapes of player variables."""

from typing import Annotated

from msgspec import Meta, Struct

from gamekeeper.http.wire.scalars import Guid, Long

VariableValue = Annotated[Long | bool, Meta(extra={"is": "value"})]


class SetVariable(Struct):
    value: VariableValue


class Variable(Struct):
    VariableId: Guid
    Value: VariableValue


class Value(Struct):
    value: VariableValue


class ChangedVariable(Struct):
    VariableId: str
    Value: VariableValue | None
