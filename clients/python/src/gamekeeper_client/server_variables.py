"""Variables of the server: texts, numbers and booleans that a game stores for all players."""

from typing import Any, Literal, Unpack

from msgspec import Struct

from gamekeeper_client.call import Payload
from gamekeeper_client.operation import WriteOptions, operation
from gamekeeper_client.paging import LegacyPage, Page, build_page_query, iterate_pages

ANY: Any = Any  # type of a value; declared as Any, because type checkers do not accept a union as `type`
Value = str | int | float | bool | None


class ServerVariable(Struct, rename="pascal"):
    """A variable of the server. `type` is 1 for a boolean, 2 integer, 3 text and 4 number; `value` None: never set."""

    name: str
    text_id: str
    type: Literal[1, 2, 3, 4]
    value: Any
    folder: str
    id: str
    time_created: int


class ChangedServerVariable(ServerVariable, rename="pascal"):
    variable_id: str


class ServerVariables:
    @operation("GET", "/api/v1/variables")
    def list_server_variables(self, page: int = 0, *, page_size: int | None = None) -> Payload[Page[ServerVariable]]:
        """List one page of the variables of the server, by id.

        Returns the page, with the total number of variables.
        Raises PermissionMissing.
        """
        return Payload(Page[ServerVariable], query=build_page_query(page, page_size))

    iterate_server_variables = iterate_pages(list_server_variables, "Iterate over the variables of the server, by id.")

    @operation("POST", "/api/v1/variables/global")
    def list_server_variables_legacy(self, page: int = 0, count: int = 5) -> Payload[LegacyPage[ServerVariable]]:
        """List variables of the server in the older form; prefer `list_server_variables`.

        count: records per page.
        Returns the page, with the total number of variables.
        Raises BadField, PermissionMissing.
        """
        return Payload(LegacyPage[ServerVariable], body={"page": page, "count": count})

    @operation("GET", "/api/v1/variables/global")
    def list_global_variables(self, page: int = 0, count: int = 5) -> Payload[LegacyPage[ServerVariable]]:
        """List variables of the server in the older form with GET; prefer `list_server_variables`.

        count: records per page.
        Returns the page, with the total number of variables.
        Raises PermissionMissing.
        """
        return Payload(LegacyPage[ServerVariable], query={"page": page, "count": count})

    @operation("GET", "/api/v1/variables/{variable_id}")
    def get_server_variable(self, variable_id: str) -> Payload[ServerVariable]:
        """Get a variable of the server.

        variable_id: id of the variable.
        Returns the variable with its value.
        Raises NoSuchServerVariable, InvalidServerVariable, BadField, PermissionMissing.
        """
        return Payload(ServerVariable)

    @operation("GET", "/api/v1/variables/global/{variable_id}")
    def get_global_variable(self, variable_id: str) -> Payload[ServerVariable]:
        """Get a variable of the server at its older path; prefer `get_server_variable`.

        variable_id: id of the variable.
        Returns the variable with its value.
        Raises NoSuchGlobalVariable, InvalidGlobalVariable, BadField, PermissionMissing.
        """
        return Payload(ServerVariable)

    @operation("GET", "/api/v1/variables/{variable_id}/value")
    def get_server_variable_value(self, variable_id: str) -> Payload[Value]:
        """Get the value of a variable of the server.

        variable_id: id of the variable.
        Returns only the value; None if it was never set.
        Raises NoSuchServerVariable, InvalidServerVariable, BadField, PermissionMissing.
        """
        return Payload(ANY, field="Value")

    @operation("GET", "/api/v1/variables/global/{variable_id}/value")
    def get_global_variable_value(self, variable_id: str) -> Payload[Value]:
        """Get the value of a variable of the server at its older path; prefer `get_server_variable_value`.

        variable_id: id of the variable.
        Returns only the value; None if it was never set.
        Raises NoSuchGlobalVariable, InvalidGlobalVariable, BadField, PermissionMissing.
        """
        return Payload(ANY, field="value")

    @operation("POST", "/api/v1/variables/{variable_id}")
    def set_server_variable(
        self, variable_id: str, value: Value, **options: Unpack[WriteOptions]
    ) -> Payload[ChangedServerVariable]:
        """Set a variable of the server.

        variable_id: id of the variable.
        value: the new value, of the variable's type.
        Returns the variable with its new value.
        Raises NoSuchServerVariable, InvalidServerVariable, WrongValueType, BadField, PermissionMissing.
        """
        return Payload(ChangedServerVariable, body={"value": value})

    @operation("POST", "/api/v1/variables/global/{variable_id}")
    def set_global_variable(
        self, variable_id: str, value: Value, **options: Unpack[WriteOptions]
    ) -> Payload[ChangedServerVariable]:
        """Set a variable of the server at its older path; prefer `set_server_variable`.

        variable_id: id of the variable.
        value: the new value, of the variable's type.
        Returns the variable with its new value.
        Raises NoSuchGlobalVariable, InvalidGlobalVariable, WrongValueType, BadField, PermissionMissing.
        """
        return Payload(ChangedServerVariable, body={"value": value})
