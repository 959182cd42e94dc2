"""Changes of guilds, as games report them."""

from dataclasses import dataclass

from gamekeeper.game.codec import ChangeSide, Codec, GuildState, SubjectIds
from gamekeeper.game.lookup import fold
from gamekeeper.store import guilds
from gamekeeper.store.engine import Writing
from gamekeeper.store.guilds import GuildColumns


async def recount_members(tx: Writing) -> int:
    """Count the members of guilds again whose number is wrong. Return the number of these guilds.

    The locks come first: a member may join or leave meanwhile.
    """
    wrong = [each.id for each in await guilds.find_miscounted(tx)]
    if wrong:
        await guilds.lock_all(tx, wrong)
        guilds.recount(tx, wrong)
    return len(wrong)


@dataclass(frozen=True, slots=True)
class GuildSaved:
    """A guild that was created or changed. Both sides have only the members who joined, left or got another rank."""

    before: GuildState | None
    after: GuildState
    kind = "guild_saved"

    def whose(self) -> SubjectIds:
        return None, None

    def sides(self) -> tuple[ChangeSide | None, ChangeSide]:
        return self.before and ChangeSide(guild=self.before), ChangeSide(guild=self.after)

    def carry_out(self, tx: Writing, _: Codec) -> None:
        new = self.after
        columns = GuildColumns(new.id, new.name, fold(new.name), new.founded_at, new.bank_slots, new.instance_id)
        if self.before is None:
            guilds.insert(tx, columns)
        else:
            guilds.save(tx, columns)
        staying = {each.player_id for each in new.members}
        left = [each.player_id for each in self.before.members if each.player_id not in staying] if self.before else []
        if left:
            guilds.delete_members(tx, left)
        if new.members:
            guilds.save_members(tx, new.members)


@dataclass(frozen=True, slots=True)
class GuildDeleted:
    guild: GuildState
    kind = "guild_deleted"

    def whose(self) -> SubjectIds:
        return None, None

    def sides(self) -> tuple[ChangeSide, ChangeSide | None]:
        return ChangeSide(guild=self.guild), None

    def carry_out(self, tx: Writing, _: Codec) -> None:
        guilds.delete(tx, self.guild.id)
