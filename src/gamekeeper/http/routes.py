"""THE TABLE: one row per operation, the spec's 31 in its order, then ours. `needs`, `does` and `kept` have no default."""

import re
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from enum import Enum
from typing import Any

from msgspec import Struct

from gamekeeper.http import (
    credentials,
    feed,
    finder,
    gameobjects,
    health,
    history,
    info,
    items,
    link,
    mails,
    metrics,
    moderation,
    pages,
    players,
    powers,
    spells,
    tokens,
    users,
    variables,
    wire,
)
from gamekeeper.http.request import LINK_ROOT

KEEPER_ROOT = "/api/keeper/"


class Does(Enum):
    READ = "reads"
    WRITE = "writes"


class Kept(Enum):
    """Whether the caller may keep the answer and ask next time whether it is still the same."""

    NEVER = "never"  # it has a secret in it, or nobody asks for it twice
    CHECKED = "checked"
    UNCODED = "uncoded"  # not by those who see the reset codes in it


READ, WRITE = Does.READ, Does.WRITE
NEVER, CHECKED, UNCODED = Kept.NEVER, Kept.CHECKED, Kept.UNCODED
NOBODY = None  # no token needed
ANY: frozenset[str] = frozenset()  # any good token
QUERY = frozenset({"users.query"})
MANAGE = frozenset({"users.query", "users.manage"})
LINK = frozenset({"game.link"})
BAN, KICK, MUTE = frozenset({"ban"}), frozenset({"kick"}), frozenset({"mute"})


@dataclass(frozen=True, slots=True)
class Route:
    number: int | None  # the spec's
    method: str
    path: str
    needs: frozenset[str] | None  # roles and powers
    does: Does
    kept: Kept
    handler: Callable[..., Coroutine[Any, Any, bytes]]
    takes: type[Struct] | type[bytes] | None  # the body's shape; bytes: the handler reads it itself
    gives: object  # the answer's shape; text: a media type that is not JSON
    asks: type[Struct] | None = None  # what it reads from the query
    successor: str | None = None  # set on deprecated operations

    @property
    def over_link(self) -> bool:
        return self.path.startswith(LINK_ROOT)

    @property
    def is_ours(self) -> bool:
        """Neither the spec's nor the engine's."""
        return self.over_link or self.path.startswith(KEEPER_ROOT)

    @property
    def parameters(self) -> list[str]:
        return re.findall(r"\[(\w+)\]", self.path)


# fmt: off
PLAYER, USER, CHANGED = wire.PlayerRecord, wire.UserRecord[wire.Power], wire.UserRecord[wire.ChangedPower]
PLAYERS, SLOTS = wire.Paged[PLAYER], list[wire.NamedSlot]
ENTRIES = wire.Paged[wire.ItemEntry] | wire.Paged[wire.VariableEntry] | wire.Paged[wire.NamedEntry]
OBJECT = wire.ItemObject | wire.VariableObject | wire.NamedEntry
OBJECTS = wire.Paged[wire.ItemObject] | wire.Paged[wire.VariableObject] | wire.Paged[wire.NamedEntry]
KEYED = (
    wire.Legacy[wire.Keyed[wire.ItemObject]]
    | wire.Legacy[wire.Keyed[wire.VariableObject]]
    | wire.Legacy[wire.Keyed[wire.NamedEntry]]
)
P, U, L, K = "/api/v1/players", "/api/v1/users", "/api/link/v1", "/api/keeper/v1"
INFO, GAME = "/api/v1/info", "/api/v1/gameobjects"
ROUTES: tuple[Route, ...] = (
    Route(1, "GET", P, ANY, READ, CHECKED, players.by_name, None, PLAYERS, asks=wire.PlayersQuery),
    Route(2, "GET", f"{P}/rank", ANY, READ, CHECKED, players.by_rank, None, PLAYERS, asks=wire.RankQuery),
    Route(3, "POST", f"{P}/online", ANY, READ, NEVER, players.legacy_online, wire.LegacyPage, wire.Legacy[PLAYER]),
    Route(4, "GET", f"{P}/online/count", ANY, READ, CHECKED, players.online_count, None, wire.OnlineCount),
    Route(5, "GET", f"{P}/[lookupKey]", ANY, READ, CHECKED, players.show, None, PLAYER),
    Route(6, "GET", f"{P}/[lookupKey]/variables", ANY, READ, CHECKED, variables.every, None, list[wire.Variable]),
    Route(7, "GET", f"{P}/[lookupKey]/variables/[variableId]", ANY, READ, CHECKED, variables.one, None, wire.Variable),
    Route(8, "GET", f"{P}/[lookupKey]/variables/[variableId]/value", ANY, READ, CHECKED, variables.value, None, wire.Value),
    Route(9, "POST", f"{P}/[lookupKey]/variables/[variableId]", ANY, WRITE, NEVER, variables.assign, wire.SetVariable, wire.Variable),
    Route(10, "GET", f"{P}/[lookupKey]/items", ANY, READ, CHECKED, items.both, None, wire.Items),
    Route(11, "GET", f"{P}/[lookupKey]/items/inventory", ANY, READ, CHECKED, items.in_inventory, None, SLOTS),
    Route(12, "GET", f"{P}/[lookupKey]/items/bank", ANY, READ, CHECKED, items.in_bank, None, SLOTS),
    Route(13, "GET", f"{P}/bag/[bagId]", ANY, READ, CHECKED, items.in_bag, None, wire.NamedBag),
    Route(14, "POST", f"{P}/[lookupKey]/items/give", ANY, WRITE, NEVER, items.give, wire.GiveItem, wire.Given),
    Route(15, "POST", f"{P}/[lookupKey]/items/take", ANY, WRITE, NEVER, items.take, wire.TakeItem, wire.Taken),
    Route(16, "GET", f"{P}/[lookupKey]/spells", ANY, READ, CHECKED, spells.known, None, list[wire.KnownSpell]),
    Route(17, "POST", f"{P}/[lookupKey]/spells/teach", ANY, WRITE, NEVER, spells.teach, wire.Spell, wire.SpellId),
    Route(18, "POST", f"{P}/[lookupKey]/spells/forget", ANY, WRITE, NEVER, spells.forget, wire.Spell, wire.SpellId),
    Route(19, "POST", P, ANY, READ, NEVER, players.legacy_by_name, wire.LegacyPage, wire.Legacy[PLAYER], successor=P),
    Route(20, "GET", U, QUERY, READ, UNCODED, users.by_name, None, wire.Paged[USER], asks=wire.UsersQuery),
    Route(21, "GET", f"{U}/[lookupKey]", QUERY, READ, UNCODED, users.show, None, USER),
    Route(22, "POST", f"{U}/register", QUERY, WRITE, NEVER, users.register, wire.Register, wire.Registered),
    Route(23, "POST", f"{U}/[lookupKey]/password/validate", QUERY, READ, NEVER, credentials.validate_password, wire.ValidatePassword, wire.Message),
    Route(24, "POST", f"{U}/[lookupKey]/email/change", QUERY, WRITE, NEVER, credentials.change_email, wire.ChangeEmail, CHANGED),
    Route(25, "POST", f"{U}/[lookupKey]/password/change", QUERY, WRITE, NEVER, credentials.change_password, wire.ChangePassword, wire.Message),
    Route(26, "GET", f"{U}/[lookupKey]/password/reset", QUERY, WRITE, NEVER, credentials.request_reset, None, wire.Message),
    Route(27, "GET", f"{U}/[lookupKey]/players", QUERY, READ, CHECKED, users.players_of, None, list[PLAYER]),
    Route(28, "GET", f"{U}/[lookupKey1]/players/[lookupKey2]", QUERY, READ, CHECKED, users.player_of, None, PLAYER),
    Route(29, "POST", f"{U}/[lookupKey]/manage/email/change", MANAGE, WRITE, NEVER, credentials.manage_email, wire.ManageEmail, CHANGED),
    Route(30, "POST", f"{U}/[lookupKey]/manage/password/change", MANAGE, WRITE, NEVER, credentials.manage_password, wire.ManagePassword, wire.Message),
    Route(31, "POST", U, QUERY, READ, NEVER, users.legacy_by_name, wire.LegacyPage, wire.Legacy[USER], successor=U),

    Route(None, "GET", f"{P}/online", ANY, READ, CHECKED, players.online, None, PLAYERS, asks=wire.PlayersQuery),
    Route(None, "GET", f"{P}/[lookupKey]/rank", ANY, READ, CHECKED, players.rank, None, wire.Rank, asks=wire.AroundQuery),
    Route(None, "POST", f"{U}/[lookupKey]/password/reset", QUERY, WRITE, NEVER, credentials.redeem_code, wire.RedeemCode, wire.Message),
    Route(None, "POST", f"{U}/[lookupKey]/admin/ban", QUERY | BAN, WRITE, NEVER, moderation.ban, wire.Penalty, wire.Message),
    Route(None, "POST", f"{U}/[lookupKey]/admin/unban", QUERY | BAN, WRITE, NEVER, moderation.unban, wire.Pardon, wire.Message),
    Route(None, "POST", f"{U}/[lookupKey]/admin/mute", QUERY | MUTE, WRITE, NEVER, moderation.mute, wire.Penalty, wire.Message),
    Route(None, "POST", f"{U}/[lookupKey]/admin/unmute", QUERY | MUTE, WRITE, NEVER, moderation.unmute, wire.Pardon, wire.Message),
    Route(None, "POST", f"{U}/[lookupKey]/admin/kick", QUERY | KICK, WRITE, NEVER, moderation.kick, wire.Pardon, wire.Message),
    Route(None, "POST", f"{P}/[lookupKey]/admin/ban", BAN, WRITE, NEVER, moderation.ban, wire.Penalty, wire.Message),
    Route(None, "POST", f"{P}/[lookupKey]/admin/unban", BAN, WRITE, NEVER, moderation.unban, wire.Pardon, wire.Message),
    Route(None, "POST", f"{P}/[lookupKey]/admin/mute", MUTE, WRITE, NEVER, moderation.mute, wire.Penalty, wire.Message),
    Route(None, "POST", f"{P}/[lookupKey]/admin/unmute", MUTE, WRITE, NEVER, moderation.unmute, wire.Pardon, wire.Message),
    Route(None, "POST", f"{P}/[lookupKey]/admin/kick", KICK, WRITE, NEVER, moderation.kick, wire.Pardon, wire.Message),

    Route(None, "POST", f"{P}/[lookupKey]/name", ANY, WRITE, NEVER, players.rename, wire.Rename, PLAYER),
    Route(None, "POST", f"{P}/[lookupKey]/level", ANY, WRITE, NEVER, players.set_level, wire.SetLevel, PLAYER),
    Route(None, "POST", f"{P}/[lookupKey]/class", ANY, WRITE, NEVER, players.set_class, wire.SetClass, PLAYER),
    Route(None, "DELETE", f"{P}/[lookupKey]", ANY, WRITE, NEVER, players.delete, None, PLAYER),
    Route(None, "POST", f"{U}/[lookupKey]/name", MANAGE, WRITE, NEVER, users.rename, wire.Rename, CHANGED),
    Route(None, "DELETE", f"{U}/[lookupKey]", MANAGE, WRITE, NEVER, users.delete, None, CHANGED),
    Route(None, "POST", "/api/oauth/token", NOBODY, WRITE, NEVER, tokens.log_in, wire.LogIn, wire.Token),
    Route(None, "DELETE", "/api/oauth/token/[username]", ANY, WRITE, NEVER, tokens.revoke_all, None, wire.Revoked),
    Route(None, "DELETE", "/api/oauth/token/[username]/[tokenId]", ANY, WRITE, NEVER, tokens.revoke_one, None, wire.Revoked),
    Route(None, "DELETE", "/api/oauth/tokens/[username]", ANY, WRITE, NEVER, tokens.revoke_all, None, wire.Revoked),
    Route(None, "DELETE", "/api/oauth/tokens/[username]/[tokenId]", ANY, WRITE, NEVER, tokens.revoke_one, None, wire.Revoked),

    Route(None, "GET", "/api/info", NOBODY, READ, CHECKED, info.versions, None, wire.Versions),
    Route(None, "GET", "/api/info/versions", NOBODY, READ, CHECKED, info.version_list, None, list[str]),
    Route(None, "GET", INFO, ANY, READ, CHECKED, info.about, None, wire.Info),
    Route(None, "GET", f"{INFO}/authorized", ANY, READ, CHECKED, info.authorized, None, wire.Authorized),
    Route(None, "GET", f"{INFO}/stats", ANY, READ, NEVER, info.stats, None, wire.ServerStats),
    Route(None, "GET", f"{INFO}/config", ANY, READ, CHECKED, info.config, None, wire.Config),
    Route(None, "GET", f"{INFO}/config/stats", ANY, READ, CHECKED, info.stat_names, None, list[str]),
    Route(None, "GET", f"{GAME}/[type]", ANY, READ, CHECKED, gameobjects.objects, None, OBJECTS, asks=wire.PageQuery),
    Route(None, "POST", f"{GAME}/[type]", ANY, READ, NEVER, gameobjects.legacy_objects, wire.LegacyPage, KEYED),
    Route(None, "GET", f"{GAME}/[type]/names", ANY, READ, CHECKED, gameobjects.object_names, None, wire.Paged[str], asks=wire.PageQuery),
    Route(None, "POST", f"{GAME}/[type]/names", ANY, READ, NEVER, gameobjects.legacy_object_names, None, dict[str, str]),
    Route(None, "GET", f"{GAME}/[type]/[objectId]", ANY, READ, CHECKED, gameobjects.game_object, None, OBJECT),

    Route(None, "PUT", f"{L}/catalogue/[kind]", LINK, WRITE, NEVER, link.put_catalogue, bytes, wire.Count),
    Route(None, "GET", f"{L}/catalogue/[kind]", LINK, READ, CHECKED, link.catalogue_page, None, ENTRIES, asks=wire.PageQuery),
    Route(None, "PUT", f"{L}/players/[id]", LINK, WRITE, NEVER, link.put_player, wire.PutPlayer, PLAYER),
    Route(None, "DELETE", f"{L}/players/[id]", LINK, WRITE, NEVER, link.delete_player, None, PLAYER),
    Route(None, "PUT", f"{L}/servers/[server]", LINK, WRITE, NEVER, link.heartbeat, wire.Lease, wire.ServerState),
    Route(None, "POST", f"{L}/servers/[server]/joined", LINK, WRITE, NEVER, link.joined, wire.Players, wire.Online),
    Route(None, "POST", f"{L}/servers/[server]/left", LINK, WRITE, NEVER, link.left, wire.Players, wire.Online),
    Route(None, "DELETE", f"{L}/servers/[server]", LINK, WRITE, NEVER, link.shut, None, wire.Online),
    Route(None, "GET", f"{L}/changes", LINK, READ, NEVER, feed.changes, None, wire.Changes, asks=wire.FeedQuery),

    Route(None, "GET", f"{K}/changes", ANY, READ, NEVER, history.changes, None, wire.History, asks=wire.HistoryQuery),
    Route(None, "POST", f"{K}/changes/[seq]/undo", ANY, WRITE, NEVER, history.undone, None, wire.Undone, asks=wire.UndoQuery),
    Route(None, "GET", f"{K}/players/[lookupKey]/items", ANY, READ, NEVER, history.items, None, wire.ItemsThen, asks=wire.ThenQuery),
    Route(None, "GET", f"{K}/players/[lookupKey]/spells", ANY, READ, NEVER, history.spells, None, list[wire.KnownSpell], asks=wire.ThenQuery),
    Route(None, "GET", f"{K}/players/[lookupKey]/variables", ANY, READ, NEVER, history.variables, None, list[wire.Variable], asks=wire.ThenQuery),
    Route(None, "POST", f"{K}/users/[lookupKey]/powers", MANAGE, WRITE, NEVER, powers.change, wire.ChangePowers, wire.HeldPowers),
    Route(None, "GET", f"{K}/mails", MANAGE, READ, NEVER, mails.outbox, None, wire.Mails, asks=wire.MailsQuery),
    Route(None, "POST", f"{K}/mails/[mailId]/retry", MANAGE, WRITE, NEVER, mails.retry, None, wire.Message),
    Route(None, "GET", f"{K}/search", ANY, READ, NEVER, finder.find, None, wire.Finds, asks=wire.FindQuery),

    Route(None, "GET", "/api/openapi.json", NOBODY, READ, CHECKED, pages.openapi, None, dict[str, Any]),
    Route(None, "GET", "/api/docs", NOBODY, READ, CHECKED, pages.docs, None, "text/html"),
    Route(None, "GET", "/api/docs/[file]", NOBODY, READ, CHECKED, pages.file, None, "text/*"),
    Route(None, "GET", "/health/live", NOBODY, READ, NEVER, health.live, None, wire.Health),
    Route(None, "GET", "/health/ready", NOBODY, READ, NEVER, health.ready, None, wire.Health),
)
# for an operator's Prometheus, where there is one: no operation of the API, and told of in docs/operating.md alone
METRICS = Route(None, "GET", "/metrics", NOBODY, READ, NEVER, metrics.show, None, "text/plain")
# fmt: on
