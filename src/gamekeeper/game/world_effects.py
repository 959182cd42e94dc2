"""Changes of the world that belong to no player: the catalogue, and values of variables of the server and of guilds."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gamekeeper.game.codec import ChangeSide, Codec, SubjectIds
from gamekeeper.game.values import Value, encode_value, find_type
from gamekeeper.store import (
    catalogue,
    guild_variables,
    server_variables,
)
from gamekeeper.store.engine import Writing
from gamekeeper.store.guild_variables import GuildValue


@dataclass(frozen=True, slots=True)
class ServerVariablesSet:
    before: Mapping[str, Value | None]
    after: Mapping[str, Value | None]  # variable id → its value after the change; None: as if never set
    kind = "server_variables_set"

    def whose(self) -> SubjectIds:
        return None, None

    def sides(self) -> tuple[ChangeSide, ChangeSide]:
        return ChangeSide(server_variables=self.before), ChangeSide(server_variables=self.after)

    def carry_out(self, tx: Writing, _: Codec) -> None:
        for variable_id, value in self.after.items():
            server_variables.set_value(tx, variable_id, encode_value(value))


@dataclass(frozen=True, slots=True)
class GuildVariablesSet:
    guild_id: str
    before: Mapping[str, Value | None]
    after: Mapping[str, Value | None]  # variable id → its value after the change; None: as if never set
    kind = "guild_variables_set"

    def whose(self) -> SubjectIds:
        return None, None

    def sides(self) -> tuple[ChangeSide, ChangeSide]:
        before, after = (
            {(self.guild_id, each): value for each, value in side.items()} for side in (self.before, self.after)
        )
        return ChangeSide(guild_variables=before), ChangeSide(guild_variables=after)

    def carry_out(self, tx: Writing, _: Codec) -> None:
        rows = [
            GuildValue(self.guild_id, each, find_type(value), encode_value(value) or "")
            for each, value in self.after.items()
            if value is not None
        ]
        if rows:
            guild_variables.save_values(tx, rows)
        unset = [each for each, value in self.after.items() if value is None]
        if unset:
            guild_variables.clear_values(tx, self.guild_id, unset)


@dataclass(frozen=True, slots=True)
class CataloguePut:
    entry_kind: str
    before: Sequence[catalogue.CatalogueEntry]
    after: Sequence[catalogue.CatalogueEntry]
    kind = "catalogue_put"

    def whose(self) -> SubjectIds:
        return None, None

    def sides(self) -> tuple[ChangeSide, ChangeSide]:
        return ChangeSide(catalogue={self.entry_kind: self.before}), ChangeSide(catalogue={self.entry_kind: self.after})

    def carry_out(self, tx: Writing, _: Codec) -> None:
        catalogue.save(tx, self.entry_kind, self.after)
