"""Variables of guilds: texts, numbers and booleans that a game stores for each guild."""

from typing import Any, Unpack

from msgspec import Struct

from gamekeeper_client.call import Payload
from gamekeeper_client.operation import WriteOptions, operation
from gamekeeper_client.server_variables import ANY, Value


class GuildVariable(Struct, rename="pascal"):
    """A variable of a guild; `value` None: never set for this guild."""

    variable_id: str
    variable_name: str
    value: Any


class GuildVariables:
    @operation("GET", "/api/v1/guilds/{guild_id}/variables")
    def list_guild_variables(self, guild_id: str) -> Payload[list[GuildVariable]]:
        """List the variables that were ever set for a guild.

        guild_id: id of the guild.
        Returns the variables with their values.
        Raises GuildMissing, TooManyLongReads, PermissionMissing.
        """
        return Payload(list[GuildVariable])

    @operation("GET", "/api/v1/guilds/{guild_id}/variables/{variable_id}")
    def get_guild_variable(self, guild_id: str, variable_id: str) -> Payload[GuildVariable]:
        """Get a variable of a guild.

        guild_id: id of the guild.
        variable_id: id of the variable in the catalogue.
        Returns the variable with its value.
        Raises GuildMissing, InvalidGuildVariable, PermissionMissing.
        """
        return Payload(GuildVariable)

    @operation("GET", "/api/v1/guilds/{guild_id}/variables/{variable_id}/value")
    def get_guild_variable_value(self, guild_id: str, variable_id: str) -> Payload[Value]:
        """Get the value of a variable of a guild.

        guild_id: id of the guild.
        variable_id: id of the variable in the catalogue.
        Returns only the value; None if it was never set.
        Raises GuildMissing, InvalidGuildVariable, PermissionMissing.
        """
        return Payload(ANY, field="value")

    @operation("POST", "/api/v1/guilds/{guild_id}/variables/{variable_id}")
    def set_guild_variable(
        self, guild_id: str, variable_id: str, value: Value, **options: Unpack[WriteOptions]
    ) -> Payload[GuildVariable]:
        """Set a variable of a guild.

        guild_id: id of the guild.
        variable_id: id of the variable in the catalogue.
        value: the new value, of the variable's type.
        Returns the variable with its new value.
        Raises GuildMissing, InvalidGuildVariable, WrongValueType, BadField, PermissionMissing.
        """
        return Payload(GuildVariable, body={"value": value})
