"""Approval: rules hold a change until a second person approves it.

A rule names a permission, and for gifts how much of an item an account may give on a UTC day without approval. A
decision matches by the changes that it makes, so an undo counts like any other change. Reports of game servers and
the command line are not held.
"""

import base64
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import msgspec

from gamekeeper.game.accounts.changes import UserDeleted
from gamekeeper.game.audit.changes import BulkJobChanged
from gamekeeper.game.audit.refusals import (
    ApprovalDecided,
    ApprovalExpired,
    MadeKeyOfRequest,
    NoSuchApproval,
    OwnApproval,
    TooManyWaitingApprovals,
)
from gamekeeper.game.core import lookup
from gamekeeper.game.core.change import Change, Unlogged
from gamekeeper.game.core.request import HeldRequest, Rules
from gamekeeper.game.players.changes import ItemsChanged, PlayerChanged, PlayerDeleted
from gamekeeper.ground.instants import HOUR_MS
from gamekeeper.ground.rooms import import_modules
from gamekeeper.ground.settings import BadSetting, variable
from gamekeeper.store.access import api_keys
from gamekeeper.store.audit import approvals
from gamekeeper.store.audit.approvals import EXPIRED, WAITING, Approval
from gamekeeper.store.core.ledger import LedgerEntry
from gamekeeper.store.engine.interface import Reading, Store, Writing

GIVE, TAKE, BULK = "items.give", "items.take", "bulk.run"
SIZED = {GIVE: 10_000, BULK: 100}  # permission of a rule that can have a size → example of a size
RENAME, PROGRESS = "players.rename", "players.progress"
MOST_WAITING = 500  # changes of one account that wait: each keeps the body of its request


def _list_held(change: type[Change]) -> Iterator[str]:
    """List the permissions whose approval rules hold changes of a class or its subclasses."""
    yield change.held_by
    for each in change.__subclasses__():
        yield from _list_held(each)


import_modules("game", "changes")  # they declare the changes
HOLDABLE = sorted({GIVE, TAKE, BULK, RENAME, PROGRESS, *filter(None, _list_held(Change))})


class HeldEntry(msgspec.Struct):
    """One audit log entry of a preview."""

    Kind: str
    PlayerId: str | None
    UserId: str | None
    Before: msgspec.Raw
    After: msgspec.Raw


class ApprovalPage(NamedTuple):
    approvals: list[Approval]
    next: tuple[int, str] | None


def parse_rules(text: str) -> Rules:
    """Parse the setting `approvals`, such as `items.give>10000, people.erase`."""
    found: dict[str, int | None] = {}
    for each in filter(None, (part.strip() for part in text.split(","))):
        permission, sign, most = (part.strip() for part in each.partition(">"))
        known = permission in HOLDABLE and (permission in SIZED or not sign)
        if not known or (sign and not (most.isascii() and most.isdigit() and len(most) <= len(str(2**31)))):
            sizes = " and ".join(f"{name}>{size}" for name, size in SIZED.items())
            allowed = f"permissions out of {', '.join(HOLDABLE)}, with commas between them; {sizes} set a size"
            raise BadSetting(f"{variable('approvals')} has the rule '{each}'; it must be {allowed}.")
        found[permission] = int(most) if sign else None
    return found


def list_gifts(changes: Iterable[Change | Unlogged]) -> Counter[str]:
    """Return how much of each item changes give or, if negative, take."""
    found: Counter[str] = Counter()
    for change in changes:
        if isinstance(change, ItemsChanged):
            for spot, after in change.outcome.changed_slots.items():
                if before := change.slots.get(spot):
                    found[before.item_id] -= before.quantity
                if after:
                    found[after.item_id] += after.quantity
    return found


def list_permissions(changes: Sequence[Change | Unlogged]) -> set[str]:
    """Return the permissions of the rules that hold these changes, without gifts and takes."""
    if any(isinstance(each, UserDeleted) for each in changes):  # the players are deleted with their account
        return {each.held_by for each in changes if isinstance(each, (UserDeleted, PlayerDeleted))}
    found = {each.held_by for each in changes if isinstance(each, Change) and each.held_by}
    for each in changes:
        if isinstance(each, PlayerChanged):
            fields = set(each.sides()[1].player or ())
            found |= {RENAME} if "name" in fields else set()
            found |= {PROGRESS} if fields - {"name"} else set()
    return found


async def find_rule(tx: Writing, rules: Rules, actor_id: str, changes: Sequence[Change | Unlogged]) -> str | None:
    """Return the rule that holds these changes; None: they need no approval. Locks what the account gave today."""
    needed, gifts = list_permissions(changes), list_gifts(changes)
    needed |= {TAKE} if any(each < 0 for each in gifts.values()) else set()
    needed |= {GIVE} if any(each > 0 for each in gifts.values()) else set()
    held = next((each for each in sorted(needed) if each in rules and rules[each] is None), None)
    for change in changes:
        if isinstance(change, BulkJobChanged) and change.is_first_start and held is None:
            held = await _find_rule_of_job(tx, rules, actor_id, change)
    most = rules.get(GIVE)
    if held or most is None:
        return held
    for item_id, quantity in sorted(gifts.items()):
        if quantity > 0 and await approvals.lock_gifts(tx, actor_id, item_id) + quantity > most:
            return f"{GIVE}>{most}"
    return None


async def _find_rule_of_job(tx: Writing, rules: Rules, actor_id: str, start: BulkJobChanged) -> str | None:
    """Return the rule that holds the start of a bulk job: its size, or what its changes would be held for together.

    The approval of the start counts for all its changes, so it must not hold less than they would be held.
    """
    for permission in filter(None, (BULK, start.permission)):
        if permission in rules and rules[permission] is None:
            return permission
    most = rules.get(BULK)
    if most is not None and start.job.players > most:
        return f"{BULK}>{most}"
    gifts = rules.get(GIVE)
    if gifts is not None and start.gift is not None:
        item_id, quantity = start.gift
        if await approvals.lock_gifts(tx, actor_id, item_id) + quantity > gifts:
            return f"{GIVE}>{gifts}"
    return None


async def count_gifts(tx: Writing, rules: Rules, actor_id: str, changes: Sequence[Change | Unlogged]) -> None:
    """Count the gifts of a change that is carried out."""
    if rules.get(GIVE) is not None:
        for item_id, quantity in sorted(list_gifts(changes).items()):
            if quantity > 0:
                await approvals.lock_gifts(tx, actor_id, item_id)
                approvals.add_gifts(tx, actor_id, item_id, quantity)


async def require_few_waiting(tx: Reading, actor_id: str) -> None:
    """Refuse to hold more changes of an account. Simultaneous requests may pass the limit by their number."""
    if await approvals.count_waiting_of(tx, actor_id, MOST_WAITING) >= MOST_WAITING:
        raise TooManyWaitingApprovals(most=MOST_WAITING)


def encode_preview(entries: Iterable[LedgerEntry]) -> str:
    rows = [
        HeldEntry(each.kind, each.player_id, each.user_id, _to_raw(each.before), _to_raw(each.after))
        for each in entries
    ]
    return msgspec.json.encode(rows).decode()


def read_preview(approval: Approval) -> list[HeldEntry]:
    return msgspec.json.decode(approval.preview, type=list[HeldEntry])


def hold(
    tx: Writing,
    rule: str,
    hours: int,
    request: HeldRequest,
    entries: Sequence[LedgerEntry],
    state_fingerprint: str,
    key: tuple[str, str] | None,
) -> str:
    """Store a request that waits for approval; return the approval's id."""
    first, approval_id = entries[0], lookup.new_guid()
    new = approvals.NewApproval(
        id=approval_id,
        rule=rule,
        life_ms=hours * HOUR_MS,
        actor_id=first.actor_id or "",
        token_id=first.token_id,
        scope_id=key[0] if key else first.actor_id or "",
        key=key[1] if key else None,
        method=request.method,
        path=request.path,
        query=request.query,
        content_type=request.content_type,
        body=base64.b64encode(request.body).decode(),
        reason=first.reason,
        state_fingerprint=state_fingerprint,
        preview=encode_preview(entries),
        player_id=next((each.player_id for each in entries if each.player_id), None),
        user_id=next((each.user_id for each in entries if each.user_id), None),
    )
    approvals.insert(tx, new)
    return approval_id


async def renew_preview(store: Store, approval_id: str, fingerprint: str, entries: Sequence[LedgerEntry]) -> None:
    """Store what a held change would change now, for another look at it."""

    async def renew(tx: Writing) -> None:
        approvals.renew_preview(tx, approval_id, fingerprint, encode_preview(entries))

    await store.write(renew)


async def find(tx: Reading, approval_id: str) -> Approval:
    found = await approvals.find(tx, approval_id)
    if found is None:
        raise NoSuchApproval(id=approval_id)
    return (await _add_key_makers(tx, [found]))[0]


async def lock_waiting(tx: Reading, approval_id: str) -> None:
    """Lock an approval and require that it waits: of parallel decisions, one finds it waiting."""
    require_waiting(approval_id, await approvals.lock(tx, approval_id))


def require_waiting(approval_id: str, state: str | None) -> None:
    if state is None:
        raise NoSuchApproval(id=approval_id)
    if state == EXPIRED:
        raise ApprovalExpired
    if state != WAITING:
        raise ApprovalDecided(state=state)


def require_other(approval: Approval, account_id: str) -> None:
    """Refuse to let an account decide on its own request, or on that of an API key whose text it knows."""
    if approval.actor_id == account_id:
        raise OwnApproval
    if account_id in {each.id for each in approval.key_makers}:
        raise MadeKeyOfRequest


async def load_page(
    tx: Reading, state: str | None, before: tuple[int, str], limit: int, *, whole: bool = False
) -> ApprovalPage:
    """Load approvals, newest first. `whole`: with previews, and with the bodies of all requests."""
    found = await approvals.read_page(tx, state, before, limit + 1, whole=whole)
    shown = await _add_key_makers(tx, found[:limit])
    return ApprovalPage(shown, (shown[-1].requested_at, shown[-1].id) if len(found) > limit else None)


async def _add_key_makers(tx: Reading, found: Sequence[Approval]) -> list[Approval]:
    """Add the accounts that know the texts of the requesters' API keys."""
    keys = {each.token_id for each in found if each.token_id and each.key_name is not None}
    makers = await api_keys.read_makers(tx, keys) if keys else []
    return [each._replace(key_makers=[maker for maker in makers if maker.key_id == each.token_id]) for each in found]


def _to_raw(side: bytes | str | None) -> msgspec.Raw:
    return msgspec.Raw(b"null" if side is None else side)
