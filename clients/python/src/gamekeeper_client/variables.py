"""Variables: values that a game stores for each player. Integers and booleans can be set."""

from typing import Any, Unpack

from msgspec import Struct

from gamekeeper_client.call import Payload
from gamekeeper_client.operation import WriteOptions, operation

# type of a variable's value; declared as Any, because type checkers do not accept a union as `type`
VALUE: Any = int | bool | float | str


class Variable(Struct, rename="pascal"):
    """A variable that is set: an integer or a boolean."""

    variable_id: str
    value: int | bool


class PlayerVariable(Struct, rename="pascal"):
    """A variable of a player as it is read: also a text or a decimal, from an import."""

    variable_id: str
    value: int | bool | float | str


class Variables:
    @operation("GET", "/api/v1/players/{player}/variables")
    def list_variables(self, player: str) -> Payload[list[PlayerVariable]]:
        """List a player's variables.

        Returns the variables with their values.
        Raises NoSuchPlayer, TooManyLongReads, PermissionMissing.
        """
        return Payload(list[PlayerVariable])

    @operation("GET", "/api/v1/players/{player}/variables/{variable_id}")
    def get_variable(self, player: str, variable_id: str) -> Payload[PlayerVariable]:
        """Get one of a player's variables.

        variable_id: id of the variable in the catalogue.
        Returns the variable with its value.
        Raises NoSuchPlayer, NoSuchVariable, BadField, PermissionMissing.
        """
        return Payload(PlayerVariable)

    @operation("GET", "/api/v1/players/{player}/variables/{variable_id}/value")
    def get_variable_value(self, player: str, variable_id: str) -> Payload[int | bool | float | str]:
        """Get the value of one of a player's variables.

        variable_id: id of the variable in the catalogue.
        Returns only the value.
        Raises NoSuchPlayer, NoSuchVariable, BadField, PermissionMissing.
        """
        return Payload(VALUE, field="value")

    @operation("POST", "/api/v1/players/{player}/variables/{variable_id}")
    def set_variable(
        self,
        player: str,
        variable_id: str,
        value: int | bool,  # noqa: FBT001 - a variable can be boolean
        **options: Unpack[WriteOptions],
    ) -> Payload[Variable]:
        """Set one of a player's variables.

        variable_id: id of the variable in the catalogue.
        value: the new value, of the variable's type.
        Returns the variable with its new value.
        Raises NoSuchPlayer, NoSuchVariable, WrongVariableType, ReadOnlyVariable, BadField, PermissionMissing.
        """
        return Payload(Variable, body={"value": value})
