"""THE TABLE: one row per operation, the spec's 31 in its order, then ours. `needs` and `does` have no default."""

from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from enum import Enum
from typing import Any

from msgspec import Struct

from gamekeeper.http import credentials, health, items, link, players, spells, tokens, users, variables, wire


class Does(Enum):
    READ = "reads"
    WRITE = "writes"


READ, WRITE = Does.READ, Does.WRITE
NOBODY = None  # no token needed
ANY: frozenset[str] = frozenset()  # any good token
QUERY = frozenset({"users.query"})
MANAGE = frozenset({"users.query", "users.manage"})
LINK = frozenset({"game.link"})


@dataclass(frozen=True, slots=True)
class Route:
    number: int | None  # the spec's
    method: str
    path: str
    needs: frozenset[str] | None
    does: Does
    handler: Callable[..., Coroutine[Any, Any, bytes]]
    takes: type[Struct] | type[bytes] | None = None  # the body's shape; bytes: the handler reads it itself
    successor: str | None = None  # set on deprecated operations

    @property
    def over_link(self) -> bool:
        return self.path.startswith("/api/link/")


# fmt: off
P, U, L = "/api/v1/players", "/api/v1/users", "/api/link/v1"
ROUTES: tuple[Route, ...] = (
    Route(1, "GET", P, ANY, READ, players.by_name),
    Route(2, "GET", f"{P}/rank", ANY, READ, players.by_rank),
    Route(3, "POST", f"{P}/online", ANY, READ, players.legacy_online, wire.LegacyPage),
    Route(4, "GET", f"{P}/online/count", ANY, READ, players.online_count),
    Route(5, "GET", f"{P}/[lookupKey]", ANY, READ, players.show),
    Route(6, "GET", f"{P}/[lookupKey]/variables", ANY, READ, variables.every),
    Route(7, "GET", f"{P}/[lookupKey]/variables/[variableId]", ANY, READ, variables.one),
    Route(8, "GET", f"{P}/[lookupKey]/variables/[variableId]/value", ANY, READ, variables.value),
    Route(9, "POST", f"{P}/[lookupKey]/variables/[variableId]", ANY, WRITE, variables.assign, wire.SetVariable),
    Route(10, "GET", f"{P}/[lookupKey]/items", ANY, READ, items.both),
    Route(11, "GET", f"{P}/[lookupKey]/items/inventory", ANY, READ, items.in_inventory),
    Route(12, "GET", f"{P}/[lookupKey]/items/bank", ANY, READ, items.in_bank),
    Route(13, "GET", f"{P}/bag/[bagId]", ANY, READ, items.in_bag),
    Route(14, "POST", f"{P}/[lookupKey]/items/give", ANY, WRITE, items.give, wire.GiveItem),
    Route(15, "POST", f"{P}/[lookupKey]/items/take", ANY, WRITE, items.take, wire.TakeItem),
    Route(16, "GET", f"{P}/[lookupKey]/spells", ANY, READ, spells.known),
    Route(17, "POST", f"{P}/[lookupKey]/spells/teach", ANY, WRITE, spells.teach, wire.Spell),
    Route(18, "POST", f"{P}/[lookupKey]/spells/forget", ANY, WRITE, spells.forget, wire.Spell),
    Route(19, "POST", P, ANY, READ, players.legacy_by_name, wire.LegacyPage, successor=P),
    Route(20, "GET", U, QUERY, READ, users.by_name),
    Route(21, "GET", f"{U}/[lookupKey]", QUERY, READ, users.show),
    Route(22, "POST", f"{U}/register", QUERY, WRITE, users.register, wire.Register),
    Route(23, "POST", f"{U}/[lookupKey]/password/validate", QUERY, READ, credentials.validate_password, wire.ValidatePassword),
    Route(24, "POST", f"{U}/[lookupKey]/email/change", QUERY, WRITE, credentials.change_email, wire.ChangeEmail),
    Route(25, "POST", f"{U}/[lookupKey]/password/change", QUERY, WRITE, credentials.change_password, wire.ChangePassword),
    Route(26, "GET", f"{U}/[lookupKey]/password/reset", QUERY, WRITE, credentials.request_reset),
    Route(27, "GET", f"{U}/[lookupKey]/players", QUERY, READ, users.players_of),
    Route(28, "GET", f"{U}/[lookupKey1]/players/[lookupKey2]", QUERY, READ, users.player_of),
    Route(29, "POST", f"{U}/[lookupKey]/manage/email/change", MANAGE, WRITE, credentials.manage_email, wire.ManageEmail),
    Route(30, "POST", f"{U}/[lookupKey]/manage/password/change", MANAGE, WRITE, credentials.manage_password, wire.ManagePassword),
    Route(31, "POST", U, QUERY, READ, users.legacy_by_name, wire.LegacyPage, successor=U),

    Route(None, "GET", f"{P}/online", ANY, READ, players.online),
    Route(None, "POST", f"{U}/[lookupKey]/password/reset", QUERY, WRITE, credentials.redeem_code, wire.RedeemCode),
    Route(None, "POST", "/api/oauth/token", NOBODY, WRITE, tokens.log_in, wire.LogIn),
    Route(None, "DELETE", "/api/oauth/token/[username]", ANY, WRITE, tokens.revoke_all),
    Route(None, "DELETE", "/api/oauth/token/[username]/[tokenId]", ANY, WRITE, tokens.revoke_one),
    Route(None, "DELETE", "/api/oauth/tokens/[username]", ANY, WRITE, tokens.revoke_all),
    Route(None, "DELETE", "/api/oauth/tokens/[username]/[tokenId]", ANY, WRITE, tokens.revoke_one),

    Route(None, "PUT", f"{L}/catalogue/[kind]", LINK, WRITE, link.put_catalogue, bytes),
    Route(None, "GET", f"{L}/catalogue/[kind]", LINK, READ, link.catalogue_page),
    Route(None, "PUT", f"{L}/players/[id]", LINK, WRITE, link.put_player, wire.PutPlayer),
    Route(None, "DELETE", f"{L}/players/[id]", LINK, WRITE, link.delete_player),
    Route(None, "PUT", f"{L}/servers/[server]", LINK, WRITE, link.heartbeat, wire.Lease),
    Route(None, "POST", f"{L}/servers/[server]/joined", LINK, WRITE, link.joined, wire.Players),
    Route(None, "POST", f"{L}/servers/[server]/left", LINK, WRITE, link.left, wire.Players),
    Route(None, "DELETE", f"{L}/servers/[server]", LINK, WRITE, link.shut),

    Route(None, "GET", "/health/live", NOBODY, READ, health.live),
    Route(None, "GET", "/health/ready", NOBODY, READ, health.ready),
)
# fmt: on
