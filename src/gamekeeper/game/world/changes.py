"""Changes of the world that belong to no player: catalogue, pictures, variables of the server, guilds, and commands.

Commands to the game change no data: the game reads them in the change feed.
"""

from collections.abc import Mapping, Sequence

from msgspec import Struct

from gamekeeper.game.core.change import (
    COMMANDS,
    GLOBAL,
    WORLD,
    Change,
    ChangeSide,
    Codec,
    Command,
    GuildState,
    Kind,
    SubjectIds,
)
from gamekeeper.game.core.lookup import fold
from gamekeeper.game.core.values import Value, encode_value, find_type
from gamekeeper.store.engine.interface import Writing
from gamekeeper.store.engine.statements import as_column, as_table
from gamekeeper.store.world import catalogue, guilds
from gamekeeper.store.world.catalogue import Picture
from gamekeeper.store.world.guilds import GuildColumns, GuildValue


class ServerVariablesSet(Change, Struct, frozen=True):
    before: Mapping[str, Value | None]
    after: Mapping[str, Value | None]  # variable id → its value after the change; None: as if never set
    kind = Kind(
        "server_variables_set",
        "Server variables set",
        WORLD,
        1,
        needs={"world.write"},
        reaction="sets the variables of the server",
        by_undo=True,
    ).name
    held_by = "world.write"

    def sides(self) -> tuple[ChangeSide, ChangeSide]:
        return ChangeSide(server_variables=self.before), ChangeSide(server_variables=self.after)

    def carry_out(self, tx: Writing, _: Codec) -> None:
        for variable_id, value in self.after.items():
            tx.defer(catalogue.SQL.set_server_variable, variable_id, encode_value(value))


class GuildVariablesSet(Change, Struct, frozen=True):
    guild_id: str
    before: Mapping[str, Value | None]
    after: Mapping[str, Value | None]  # variable id → its value after the change; None: as if never set
    kind = Kind(
        "guild_variables_set",
        "Guild variables set",
        WORLD,
        2,
        needs={"world.write"},
        reaction="sets the variables of the guilds",
        by_undo=True,
    ).name
    held_by = "world.write"

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
            tx.defer(guilds.SQL.save_values, as_table(each._asdict() for each in rows))
        unset = [each for each, value in self.after.items() if value is None]
        if unset:
            tx.defer(guilds.SQL.clear_values, self.guild_id, as_column("id", unset))


class CataloguePut(Change, Struct, frozen=True):
    entry_kind: str
    before: Sequence[catalogue.CatalogueEntry]
    after: Sequence[catalogue.CatalogueEntry]
    kind = Kind("catalogue_put", "Catalogue published", GLOBAL, 1, why_not="let the game send the catalogue again").name

    def sides(self) -> tuple[ChangeSide, ChangeSide]:
        return ChangeSide(catalogue={self.entry_kind: self.before}), ChangeSide(catalogue={self.entry_kind: self.after})

    def carry_out(self, tx: Writing, _: Codec) -> None:
        catalogue.save(tx, self.entry_kind, self.after)


async def recount_members(tx: Writing) -> int:
    """Count the members of guilds again whose number is wrong. Return the number of these guilds.

    The locks come first: a member may join or leave meanwhile.
    """
    wrong = [each.id for each in await guilds.find_miscounted(tx)]
    if wrong:
        await guilds.lock_all(tx, wrong)
        guilds.recount(tx, wrong)
    return len(wrong)


class GuildSaved(Change, Struct, frozen=True):
    """A guild that was created or changed. Both sides have only the members who joined, left or got another rank."""

    before: GuildState | None
    after: GuildState
    kind = Kind("guild_saved", "Guild changed", GLOBAL, 9, why_not="change the guild in the game").name

    def sides(self) -> tuple[ChangeSide | None, ChangeSide]:
        return self.before and ChangeSide(guild=self.before), ChangeSide(guild=self.after)

    def carry_out(self, tx: Writing, _: Codec) -> None:
        new = self.after
        columns = GuildColumns(new.id, new.name, fold(new.name), new.founded_at, new.bank_slots, new.instance_id)
        if self.before is None:
            tx.defer(guilds.SQL.insert, *columns)
        else:
            guilds.save(tx, columns)
        staying = {each.player_id for each in new.members}
        left = [each.player_id for each in self.before.members if each.player_id not in staying] if self.before else []
        if left:
            tx.defer(guilds.SQL.delete_members, as_column("id", left))
        if new.members:
            guilds.save_members(tx, new.members)


class GuildDeleted(Change, Struct, frozen=True):
    guild: GuildState
    kind = Kind("guild_deleted", "Guild deleted", GLOBAL, 10, why_not="found the guild again in the game").name

    def sides(self) -> tuple[ChangeSide, ChangeSide | None]:
        return ChangeSide(guild=self.guild), None

    def carry_out(self, tx: Writing, _: Codec) -> None:
        tx.defer(guilds.SQL.delete, self.guild.id)


# commands that the game carries out at most once
Kind(
    "player_killed",
    "Player killed",
    COMMANDS,
    1,
    why_not="the game has carried it out",
    reaction="kills the player, at most once",
    is_sanction=True,
)
Kind(
    "player_warped",
    "Player warped",
    COMMANDS,
    2,
    why_not="the game has carried it out",
    reaction="moves the player, at most once",
)
Kind(
    "chat_sent",
    "Chat message sent",
    COMMANDS,
    3,
    why_not="the message may have been read",
    reaction="shows the message, at most once",
)


class GameCommanded(Command, Struct, frozen=True):
    kind: str  # player_killed, player_warped, chat_sent
    player_id: str | None  # None: a chat message to more than one player
    details: Mapping[str, object]  # field of the API → value
    servers: Sequence[str]  # the game servers that must carry it out
    life_ms: int | None  # time until the command expires, in ms; None: never

    def whose(self) -> SubjectIds:
        return self.player_id, None

    def sides(self) -> tuple[ChangeSide | None, ChangeSide]:
        return None, ChangeSide(command=self.details)


class ItemPicturePut(Change, Struct, frozen=True):
    """A picture that the game published or removed. The audit log has its hash, never its content."""

    item_id: str
    before: str | None  # hash
    after: Picture | None
    kind = Kind(
        "item_picture_put", "Item picture published", GLOBAL, 15, why_not="let the game send the picture again"
    ).name

    def sides(self) -> tuple[ChangeSide, ChangeSide]:
        return self._make_side(self.before), self._make_side(self.after.hash if self.after else None)

    def _make_side(self, picture_hash: str | None) -> ChangeSide:
        return ChangeSide(command={"ItemId": self.item_id, "Hash": picture_hash})

    def carry_out(self, tx: Writing, _: Codec) -> None:
        if self.after is None:
            tx.defer(catalogue.SQL.delete_picture, self.item_id)
        else:
            catalogue.save_picture(tx, self.item_id, self.after)
