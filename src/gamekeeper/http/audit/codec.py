"""Convert values of the game's rules to JSON shapes of the API and back. Implements `Codec` of game/core/change.py."""

from collections.abc import Iterable, Mapping, Sequence
from operator import attrgetter
from typing import Any, cast

import msgspec
from msgspec import UNSET, UnsetType

from gamekeeper.game.access import permissions
from gamekeeper.game.access.tokens import TokenPair
from gamekeeper.game.accounts import mails
from gamekeeper.game.audit import undo
from gamekeeper.game.core.change import Attachments, Change, ChangeSide
from gamekeeper.game.core.lookup import ZERO_GUID
from gamekeeper.game.core.refusals import BadField
from gamekeeper.game.lists import search
from gamekeeper.game.players.inventory import BANK, INVENTORY, ItemCounts, SlotAddress, SlotChanges, Slots, Stack
from gamekeeper.game.players.players import REQUIRED, Player
from gamekeeper.game.world.commands import DeliveryState
from gamekeeper.game.world.link import PlayerReport
from gamekeeper.http.access import credential_shapes, role_shapes
from gamekeeper.http.accounts import account_shapes
from gamekeeper.http.audit import history_shapes, side_decoder
from gamekeeper.http.audit.side_decoder import find_unknown, read_slots, read_value
from gamekeeper.http.contract.shapes import encode
from gamekeeper.http.lists import search_shapes
from gamekeeper.http.players import player_shapes, variable_shapes
from gamekeeper.http.players.player_shapes import PLAYER_ATTRIBUTES
from gamekeeper.http.server.caller import Caller
from gamekeeper.http.server.instants import format_http_date, format_instant
from gamekeeper.http.world import codec, link_shapes
from gamekeeper.store.accounts.mails import OutboxMail
from gamekeeper.store.accounts.users import User
from gamekeeper.store.audit import history
from gamekeeper.store.world import catalogue, feed

_ItemSlots = list[player_shapes.ItemSlot]
PLACES_WITHOUT_BAGS = 2  # number of places of a player without bags: inventory and bank
_FIELDS = player_shapes.PlayerDocument.__struct_fields__
_KNOWN_FIELDS = frozenset(_FIELDS)
ITEM, QUANTITY = player_shapes.Sum.__struct_fields__  # field names of an item's id and quantity in all shapes
# length of the beginning by which a change's side is recognised as a list of slots: that of the shorter name
_BEGINNING = 7
_BEGINNINGS = frozenset(f'{{"{name}"'[:_BEGINNING] for name in history_shapes.OnlyItems.__struct_fields__)
_SLOTS_BEGIN = _BEGINNINGS | {each.encode() for each in _BEGINNINGS}
_decode_only_items = msgspec.json.Decoder(history_shapes.OnlyItems).decode
_TIME_POSITIONS = [place for place, name in enumerate(_FIELDS) if name in history_shapes.TIMES]
_get_attributes = attrgetter(*(PLAYER_ATTRIBUTES[name] for name in _FIELDS))
_STORED_FIELDS = [  # fields of a stored player document; those added in a later version may be missing
    (each.name, each.type) if PLAYER_ATTRIBUTES[each.name] in REQUIRED else (each.name, each.type | UnsetType, UNSET)
    for each in msgspec.structs.fields(player_shapes.PlayerDocument)
]
# text of the newest field of a player document: new fields are appended, so a document with it has all fields
_NEWEST_FIELD = b'"%b":' % _FIELDS[-1].encode()
_END_BYTES = 64  # bytes at the end of a player document that are searched for the newest field
_player_decoder = msgspec.json.Decoder(msgspec.defstruct("StoredPlayer", _STORED_FIELDS, kw_only=True))
decode_side = side_decoder.decode_side  # a part of the interface that has its own module


def encode_player(player: Player) -> bytes:
    values = list(_get_attributes(player))
    for place in _TIME_POSITIONS:
        values[place] = format_instant(values[place])
    document = encode(player_shapes.PlayerDocument(*values))
    return document[:-1] + b"," + encode(player.unknown)[1:] if player.unknown else document


def decode_player(document: bytes, last_online: int | None) -> Player:
    record = _player_decoder.decode(document)
    values = zip(_FIELDS, msgspec.structs.astuple(record), strict=True)
    given = {PLAYER_ATTRIBUTES[name]: read_value(name, value) for name, value in values if value is not UNSET}
    unknown = {} if _ends_with_newest_field(document) else find_unknown(document, _KNOWN_FIELDS)
    return Player(**cast("dict[str, Any]", given), last_online=last_online, unknown=unknown)


def _ends_with_newest_field(document: bytes) -> bool:
    """Check cheaply that a player document ends with our newest field: newer versions append theirs after it."""
    newest = document.rfind(_NEWEST_FIELD, -_END_BYTES)
    return newest >= 0 and b"," not in document[newest:]


def fill_in_defaults(document: bytes) -> bytes:
    """Add defaults for the fields that a stored player document lacks."""
    # the first check is cheap, and runs for each player that is read
    if document.rfind(_NEWEST_FIELD, -_END_BYTES) >= 0 or _NEWEST_FIELD in document:
        return document
    return encode_player(decode_player(document, None))


def read_report(body: link_shapes.PutPlayer) -> PlayerReport:
    """Convert a game server's report to the rules' values."""
    _require_unique("Items", [each.Slot for each in body.Items or []])
    _require_unique("Bank", [each.Slot for each in body.Bank or []])
    _require_unique("Bags", [each.Id for each in body.Bags or []])
    _require_unique("Bags", [(bag.Id, each.Slot) for bag in body.Bags or [] for each in bag.Slots])
    _require_unique("Spells", [each.Slot for each in body.Spells or []])
    _require_unique("Variables", [each.VariableId for each in body.Variables or []])
    names = [name for name in link_shapes.PutPlayer.__struct_fields__ if name in PLAYER_ATTRIBUTES]
    given = {name: getattr(body, name) for name in names if getattr(body, name) is not UNSET}
    slots = read_slots(INVENTORY, body.Items or []) | read_slots(BANK, body.Bank or [])
    for bag in body.Bags or []:
        slots |= read_slots(bag.Id, bag.Slots)
    return PlayerReport(
        fields={
            PLAYER_ATTRIBUTES[name]: read_value(name, value) for name, value in given.items() if value is not UNSET
        },
        slots=slots,
        bags={bag.Id: bag.SlotCount for bag in body.Bags or []},
        spells={each.Slot: None if each.SpellId == ZERO_GUID else each.SpellId for each in body.Spells or []},
        variables={each.VariableId: each.Value for each in body.Variables or []},
        applied=read_applied(body.AppliedSeq),
    )


def read_applied(given: int | UnsetType) -> int | None:
    return None if given is UNSET else given


def make_item_slot(slot: int, stack: Stack | None) -> player_shapes.ItemSlot:
    if stack is None:
        return player_shapes.ItemSlot(slot)
    return player_shapes.ItemSlot(slot, stack.bag_id, stack.item_id, stack.quantity, list(stack.buffs))


def number_slots(slots: Iterable[SlotAddress], place: str, size: int) -> range:
    """Return the numbers of the slots that an answer lists for an inventory, bank or bag.

    These are all slots, also empty ones; beyond the size up to the last one with an item.
    """
    last = max((slot for where, slot in slots if where == place), default=-1)
    return range(max(size, last + 1))


def list_named_slots(slots: Slots, names: Mapping[str, str], place: str, size: int) -> list[player_shapes.NamedSlot]:
    """List all slots of an inventory, bank or bag with the names of their items; see `number_slots`."""
    return [make_named_slot(slot, slots.get((place, slot)), names) for slot in number_slots(slots, place, size)]


def make_named_slot(slot: int, stack: Stack | None, names: Mapping[str, str]) -> player_shapes.NamedSlot:
    each = make_item_slot(slot, stack)
    name = names.get(each.ItemId, player_shapes.DELETED)
    return player_shapes.NamedSlot(each.Slot, each.BagId, each.ItemId, each.Quantity, each.StatBuffs, name)


def encode_given(item_id: str, held: ItemCounts) -> bytes:
    return encode(
        player_shapes.Given(item_id, player_shapes.Quantity(held.inventory + held.bank, held.bank, held.inventory))
    )


def encode_changed_slots(touched: SlotChanges) -> bytes:
    return encode(
        player_shapes.ChangedSlots(
            [
                player_shapes.ChangedSlot(slot, stack.bag_id, stack.item_id, stack.quantity, list(stack.buffs), place)
                if stack
                else player_shapes.ChangedSlot(slot, Container=place)
                for (place, slot), stack in touched.items()
            ]
        )
    )


def encode_user_record(user: User, *, codes: bool) -> bytes:
    powers = permissions.find_powers(user)
    flags = (powers.editor, powers.ban, powers.kick, powers.mute, powers.api)
    return _encode_user(user, account_shapes.Power(*flags, powers.users_query), codes=codes)


def encode_changed_user_record(user: User) -> bytes:
    """Encode an account after a change, never with its reset code: the answer may be stored for retries."""
    powers = permissions.find_powers(user)
    flags = (powers.editor, powers.ban, powers.kick, powers.mute, powers.api)
    return _encode_user(user, account_shapes.ChangedPower(*flags, powers.users_query, powers.users_manage), codes=False)


def read_permissions(body: role_shapes.ChangePowers) -> dict[str, bool]:
    """Return the permissions that a request body sets: name → granted or not."""
    sent = msgspec.structs.asdict(body)
    return {role_shapes.RIGHTS.get(name, name): flag for name, flag in sent.items() if flag is not UNSET}


def encode_token(pair: TokenPair) -> bytes:
    seconds = (pair.expires_at - pair.issued_at) // 1000
    dates = (format_http_date(pair.issued_at), format_http_date(pair.expires_at))
    return encode(credential_shapes.Token(pair.access, "bearer", seconds, pair.refresh, *dates))


def make_feed_changes(changes: Sequence[feed.FeedRow]) -> list[link_shapes.FeedChange]:
    return [_make_feed_change(each) for each in changes]


def make_log_change(
    change: history.HistoryChange, undone_by: int | None, delivered: Sequence[DeliveryState], caller: Caller
) -> history_shapes.ToldChange:
    """Convert a change of the audit log to its wire shape. `Undoable` depends on the caller's permissions."""
    allowed = undo.is_undoable(change) and undo.list_permissions(change) <= caller.permissions
    return history_shapes.ToldChange(
        change.seq,
        format_instant(change.at),
        change.kind,
        change.player_id,
        change.player,
        change.user_id,
        change.user,
        change.actor_id,
        change.actor or None,
        change.over_link,
        _to_raw(change.before),
        _to_raw(change.after),
        change.request_id,
        change.reason,
        change.undoes,
        undone_by,
        allowed and undone_by is None and not caller.read_only,
        None if change.key is None else change.token_id,
        change.key or None,
        [_make_change_delivery(each) for each in delivered],
    )


def _make_change_delivery(each: DeliveryState) -> history_shapes.ChangeDelivery:
    at = None if each.at is None else format_instant(each.at)
    return history_shapes.ChangeDelivery(each.server, each.state, each.reason, at)


def make_search_result(each: search.SearchHit) -> search_shapes.Found:
    return search_shapes.Found(each.kind, each.id, each.name, each.detail, each.match)


def make_mail(each: OutboxMail, caller: Caller) -> account_shapes.Mail:
    """Convert a mail of the outbox to its wire shape. `Retriable` depends on the caller's token."""
    due, sent = (None if at is None else format_instant(at) for at in (each.next_try_at, each.sent_at))
    times = (format_instant(each.queued_at), format_instant(each.expires_at))
    delivery = (each.state, *times, each.tries, due, sent, each.last_error)
    may = mails.can_retry(each) and not caller.read_only
    return account_shapes.Mail(each.id, each.user_id, each.name, each.kind, each.address, *delivery, may)


def encode_undo(result: undo.UndoResult) -> bytes:
    changes = [_make_done_change(each) for each in result.changes]
    return encode(history_shapes.Undone(result.change.seq, result.change.kind, changes))


def encode_side(side: ChangeSide) -> str:
    """Encode `Before` or `After` of a change for the audit log, with the field names of the API."""
    if side.command or side.server_variables or side.guild or side.guild_variables:
        return encode(_make_world_side(side)).decode()
    carried, banked, bags = _list_places(side) if side.slots or side.bags else ([], [], [])
    if not (side.spells or side.variables or side.sums or side.player or side.user or side.catalogue or side.unknown):
        return encode(history_shapes.LedgerSide(carried, banked, bags)).decode()
    rest = history_shapes.LedgerSide(
        carried,
        banked,
        bags,
        [player_shapes.KnownSpell(slot, spell or ZERO_GUID) for slot, spell in side.spells.items()],
        [variable_shapes.ChangedVariable(each, value) for each, value in side.variables.items()],
        [player_shapes.Sum(item, quantity) for item, quantity in side.sums.items()],
        Attached=_make_attached(side.attached) if any(side.attached) else None,
    )
    if not (side.player or side.user or side.catalogue or side.unknown):
        return encode(rest).decode()
    named = {player_shapes.PLAYER_FIELDS[name]: value for name, value in side.player.items()}
    named |= {account_shapes.USER_FIELDS[name]: value for name, value in side.user.items()}
    fields = {name: _write_value(name, value) for name, value in named.items()}
    fields |= {name.title(): _make_entries(value) for name, value in side.catalogue.items()}
    held = cast("Mapping[str, object]", msgspec.to_builtins(rest))
    return encode({**fields, **side.unknown, **held}).decode()


def _make_world_side(side: ChangeSide) -> object:
    """Make a side of a command, or of a change of no player."""
    if side.command:
        return side.command
    if side.guild:
        return codec.make_side(side.guild)
    values = [variable_shapes.AnyVariable(each, value) for each, value in side.server_variables.items()]
    owned = [variable_shapes.GuildValue(*key, value) for key, value in side.guild_variables.items()]
    return history_shapes.LedgerSide(ServerVariables=values, GuildVariables=owned)


def _make_attached(attached: Attachments) -> history_shapes.AttachedRows:
    joined = attached.membership
    at = None if joined is None or joined.joined_at is None else format_instant(joined.joined_at)
    return history_shapes.AttachedRows(
        [history_shapes.AttachedText(each.variable_id, each.type, each.value) for each in attached.texts],
        joined and history_shapes.AttachedGuild(joined.guild_id, joined.rank, at),
        [history_shapes.AttachedLeftover(each.kind, each.data) for each in attached.leftovers],
    )


def list_personal_fields() -> Sequence[str]:
    return history_shapes.PERSONAL


def count_items(side: bytes | str | None) -> dict[str, int]:
    """Sum up the quantities per item in `Before` or `After` of a change, also in nested lists such as bags."""
    if not side:
        return {}
    if side[:_BEGINNING] in _SLOTS_BEGIN:
        try:
            only = _decode_only_items(side)
        except msgspec.ValidationError:  # there is more than slots
            return _count_nested_items(side)
        return _count_slots([*only.Items, *only.Bank])
    return _count_nested_items(side)


def _count_slots(stacks: Sequence[history_shapes.CountedStack]) -> dict[str, int]:
    found: dict[str, int] = {}
    for each in stacks:
        if each.ItemId != ZERO_GUID:
            found[each.ItemId] = found.get(each.ItemId, 0) + each.Quantity
    return found


def _count_nested_items(side: bytes | str) -> dict[str, int]:
    found: dict[str, int] = {}
    waiting: list[Any] = [msgspec.json.decode(side)]
    value: Any
    for value in waiting:  # the list grows in the loop
        if isinstance(value, list):
            waiting += value
        elif isinstance(value, dict):
            record = cast("dict[str, Any]", value)
            if ITEM in record and QUANTITY in record:
                item_id: str = record[ITEM]
                if item_id != ZERO_GUID:
                    found[item_id] = found.get(item_id, 0) + record[QUANTITY]
            else:
                waiting += record.values()
    return found


def _require_unique(field: str, keys: Sequence[object]) -> None:
    """Reject a game server's report that has the same slot, bag, spell or variable twice."""
    if len(set(keys)) < len(keys):
        raise BadField(field=field, problem="has the same slot, bag or variable twice")


def _make_feed_change(change: feed.FeedRow) -> link_shapes.FeedChange:
    sides = (_to_raw(change.before), _to_raw(change.after))
    told = link_shapes.FeedChange(
        change.seq, format_instant(change.at), change.kind, change.player_id, *sides, change.by, change.request_id
    )
    if (target := change.target) is not None:
        told.Server, told.Expired = target.server, target.expired
        told.ExpiresAt = None if target.expires_at is None else format_instant(target.expires_at)
    return told


def _make_done_change(change: Change) -> history_shapes.DoneChange:
    before, after = (side and encode_side(side) for side in change.sides())
    return history_shapes.DoneChange(change.kind, *change.whose(), _to_raw(before), _to_raw(after))


def _to_raw(stored: str | bytes | None) -> msgspec.Raw:
    return msgspec.Raw("null" if stored is None else stored)


def _encode_user(user: User, power: account_shapes.Power | account_shapes.ChangedPower, *, codes: bool) -> bytes:
    code = user.reset_code if codes else None
    muted = user.mute_reason is not None
    ours = (user.ban_reason is not None, format_instant(user.created_at), user.play_time_seconds)
    return encode(
        account_shapes.UserRecord(user.id, user.name, user.email, power, code, muted, user.mute_reason, *ours)
    )


def _write_value(name: str, value: object) -> object:
    if name == account_shapes.USER_FIELDS["quotas"]:
        return [role_shapes.RoleQuota(*each) for each in cast("Sequence[tuple[str, int]]", value)]
    return format_instant(value) if name in history_shapes.TIMES and isinstance(value, int) else value


def _list_places(side: ChangeSide) -> tuple[_ItemSlots, _ItemSlots, list[player_shapes.ChangedBag]]:
    """List the slots of the inventory and of the bank, and the bags with theirs, all in order."""
    carried: _ItemSlots = []
    banked: _ItemSlots = []
    places: dict[str, _ItemSlots] = {INVENTORY: carried, BANK: banked}
    for each in side.bags:
        places[each] = []
    for (place, slot), stack in sorted(side.slots.items()) if len(side.slots) > 1 else side.slots.items():
        places.setdefault(place, []).append(make_item_slot(slot, stack))
    if len(places) == PLACES_WITHOUT_BAGS:
        return carried, banked, []
    del places[INVENTORY], places[BANK]
    bags = sorted(places.items())
    return carried, banked, [player_shapes.ChangedBag(each, side.bags.get(each), slots) for each, slots in bags]


def _make_entries(value: object) -> object:
    if isinstance(value, list):
        entries = cast("list[catalogue.CatalogueEntry]", value)
        return [msgspec.Raw(codec.encode_entry(each)) for each in entries]
    return value
