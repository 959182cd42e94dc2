"""The audit log: list changes, undo a change, read earlier states; and search for any object."""

from typing import Any, Unpack

from msgspec import Struct

from gamekeeper_client.call import Payload
from gamekeeper_client.items import Bag, ItemSlot
from gamekeeper_client.operation import WriteOptions, operation
from gamekeeper_client.paging import iterate_cursor
from gamekeeper_client.spells import KnownSpell
from gamekeeper_client.variables import Variable

Moment = int | str  # number of a change, or a time such as 2026-11-15T12:00:00Z


class ChangeDelivery(Struct, rename="pascal"):
    """How far one game server has got with a change.

    `state` is waiting, sent, applied, failed, unknown, expired or not_needed.
    """

    server: str
    state: str
    reason: str | None
    at: str | None


class ToldChange(Struct, rename="pascal"):
    """A change of the audit log; `before` and `after` are JSON with the field names of the API."""

    seq: int
    at: str
    kind: str
    player_id: str | None
    player: str | None
    user_id: str | None
    user: str | None
    actor_id: str | None
    by: str | None
    over_link: bool
    before: Any
    after: Any
    request_id: str
    reason: str | None
    undoes: int | None
    undone_by: int | None
    undoable: bool
    key_id: str | None = None
    key: str | None = None
    deliveries: list[ChangeDelivery] = []


class HistoryPage(Struct, rename="pascal"):
    changes: list[ToldChange]
    next: int | None


class DoneChange(Struct, rename="pascal"):
    kind: str
    player_id: str | None
    user_id: str | None
    before: Any
    after: Any


class Undone(Struct, rename="pascal"):
    """Result of an undo: the number and kind of the undone change, and the changes that undid it."""

    undoes: int
    kind: str
    changes: list[DoneChange]


class ItemsThen(Struct):
    inventory: list[ItemSlot]
    bank: list[ItemSlot]
    bags: list[Bag]


class Found(Struct, rename="pascal"):
    """A match of a search; `match` is id, exact, prefix, part or near."""

    kind: str
    id: str
    name: str
    detail: str
    match: str


class History:
    @operation("GET", "/api/keeper/v1/changes")
    def list_history(
        self,
        before: int | None = None,
        *,
        limit: int | None = None,
        player: str | None = None,
        user: str | None = None,
        actor: str | None = None,
        kind: str | None = None,
        item: str | None = None,
        from_: str | None = None,
        to: str | None = None,
        request: str | None = None,
        reason: str | None = None,
    ) -> Payload[HistoryPage]:
        """List changes of the audit log once, newest first. Times are like 2026-11-15T12:00:00Z.

        before: only changes before this number; `next` of the page before.
        limit: return at most this many changes, up to 1000; default 50.
        player: only changes of the player with this id.
        user: only changes of the account with this id.
        actor: only changes that the account with this id made.
        kind: only changes of this kind.
        item: only changes with the item of this id.
        from_: only changes from this time on (`from` in the API).
        to: only changes up to this time.
        request: only changes of the request with this id.
        reason: only changes whose reason contains this text.
        Returns the changes, and the number to pass as `before` for the next page; None at the end.
        Raises BadField, TooManyLongReads, PermissionMissing.
        """
        query = {"player": player, "user": user, "actor": actor, "kind": kind, "item": item, "from": from_, "to": to}
        query |= {"request": request, "reason": reason}
        return Payload(HistoryPage, query={**query, "before": before, "limit": limit})

    iterate_history = iterate_cursor(
        list_history,
        ToldChange,
        lambda page: page.changes,
        "Iterate over changes of the audit log, newest first. Times are like 2026-11-15T12:00:00Z.",
    )

    @operation("POST", "/api/keeper/v1/changes/{seq}/undo")
    def undo_change(self, seq: int, *, force: bool = False, **options: Unpack[WriteOptions]) -> Payload[Undone]:
        """Undo a change, if the values that it set are still the same.

        You need the permission audit.undo and those of the operation that made the change.

        seq: number of the change.
        force: give an item back even if another player may have gained it since.
        Returns the changes that undid it.
        Raises UndoConflict, ItemMovedOn, NotUndoable, AlreadyUndone, NoSuchChange, HistoryTrimmed, NoSuchUser,
        RoleMissing, PowerMissing, Outranked, OwnPowers, NameTaken, UsernameTaken, EmailTaken, PlayerOnline,
        AlreadyBanned, AlreadyMuted, OwnAccount, PermissionMissing, RoleOutOfReach, RoleBeyondQuota, OwnRole,
        HeldByRole, LastManager, ItemNotAllowed, GiftTooLarge, QuotaReached, BadField.
        """
        return Payload(Undone, query={"force": True} if force else None)

    @operation("GET", "/api/keeper/v1/players/{player}/items")
    def get_past_items(self, player: str, at: Moment | None = None) -> Payload[ItemsThen]:
        """Get the inventory, the bank and the bags that a player had. A deleted player is found by id.

        at: number of a change, or a time: the state right after it; default: now.
        Returns every slot of the inventory, the bank and the bags.
        Raises NoSuchPlayer, NotThereThen, HistoryTrimmed, HistoryTooLong, TooManyLongReads, BadField,
        PermissionMissing.
        """
        return Payload(ItemsThen, query={"at": at})

    @operation("GET", "/api/keeper/v1/players/{player}/spells")
    def get_past_spells(self, player: str, at: Moment | None = None) -> Payload[list[KnownSpell]]:
        """Get the spells that a player knew. A deleted player is found by id.

        at: number of a change, or a time: the state right after it; default: now.
        Returns the spells with their slots.
        Raises NoSuchPlayer, NotThereThen, HistoryTrimmed, HistoryTooLong, TooManyLongReads, BadField,
        PermissionMissing.
        """
        return Payload(list[KnownSpell], query={"at": at})

    @operation("GET", "/api/keeper/v1/players/{player}/variables")
    def get_past_variables(self, player: str, at: Moment | None = None) -> Payload[list[Variable]]:
        """Get the variables that a player had. A deleted player is found by id.

        at: number of a change, or a time: the state right after it; default: now.
        Returns the variables with their values.
        Raises NoSuchPlayer, NotThereThen, HistoryTrimmed, HistoryTooLong, TooManyLongReads, BadField,
        PermissionMissing.
        """
        return Payload(list[Variable], query={"at": at})

    @operation("GET", "/api/keeper/v1/search")
    def search(self, q: str, *, limit: int | None = None) -> Payload[list[Found]]:
        """Search players, accounts, the catalogue and changes by id, name or email.

        q: an id, or a part of a name or an email address.
        limit: return at most this many matches; default 20.
        Returns the matches, best match first.
        Raises BadField, TooManyLongReads, PermissionMissing.
        """
        return Payload(list[Found], field="Found", query={"q": q, "limit": limit})
